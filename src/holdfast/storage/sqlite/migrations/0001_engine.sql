-- The engine: vault, spaces, stores, sessions, entries, the log and its seals, stored answers,
-- frozen contexts, and the full-text index.
--
-- A row's `number` is the seq of the change that made it, so numbers order rows as they came.
-- Times are whole microseconds since 1970, UTC. `digest` is that of the row's other columns in the
-- order of this file (core/canonical.py, row_digest). Ground truth are all tables but `entry_terms`,
-- which `doctor --repair` makes again from `entry`.

-- The vault itself, one row. `secret` keys the fingerprints, so that they tell nothing outside.
CREATE TABLE vault (
    number       INTEGER PRIMARY KEY CHECK (number = 1),
    id           TEXT NOT NULL,
    created_us   INTEGER NOT NULL,
    secret       BLOB NOT NULL,
    text_version INTEGER NOT NULL,
    digest       BLOB NOT NULL
) STRICT;

-- `path` is the folder of its workspace.yml, `declared` that file's text as it was applied last.
CREATE TABLE space (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL UNIQUE,
    path       TEXT,
    declared   TEXT,
    created_us INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL
) STRICT;

-- `position` is the place in the declaration, NULL once the space no longer declares the store.
CREATE TABLE store (
    number   INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    space    INTEGER NOT NULL REFERENCES space (number),
    name     TEXT NOT NULL,
    type     TEXT NOT NULL CHECK (type IN ('short_term', 'long_term')),
    strategy TEXT NOT NULL,
    options  TEXT NOT NULL,
    position INTEGER,
    revision INTEGER NOT NULL,
    digest   BLOB NOT NULL,
    UNIQUE (space, name)
) STRICT;

-- `lease_us` is a matter of use, not of history: it is outside the digest and the log.
CREATE TABLE session (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    space      INTEGER NOT NULL REFERENCES space (number),
    state      TEXT NOT NULL CHECK (state IN ('open', 'ended', 'abandoned')),
    title      TEXT NOT NULL,
    agent      TEXT NOT NULL,
    user       TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    ended_us   INTEGER,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    lease_us   INTEGER NOT NULL
) STRICT;
CREATE INDEX session_open ON session (lease_us) WHERE state = 'open';

-- `when_us` is when it was said or, without that, made: the order of "newest". `bound` says that
-- the entry's life ends with its session's. `subject` is empty where the
-- text is the line that is shown; `until_us` ends the time that an entry is true for; `extra` holds
-- facts, metadata, tags, origin and trust as JSON.
CREATE TABLE entry (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL,
    store       INTEGER NOT NULL REFERENCES store (number),
    given_id    TEXT,
    kind        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    text        TEXT,
    state       TEXT NOT NULL CHECK (state IN ('draft', 'confirmed', 'updated', 'forgotten')),
    hidden      INTEGER NOT NULL,
    importance  INTEGER NOT NULL,
    pinned      INTEGER NOT NULL,
    session     TEXT,
    bound       INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    updated_us  INTEGER NOT NULL,
    said_us     INTEGER,
    when_us     INTEGER NOT NULL,
    until_us    INTEGER,
    extra       TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    fingerprint BLOB,
    digest      BLOB NOT NULL
) STRICT;
-- One index serves whole ids and the short form of their last eight characters.
CREATE UNIQUE INDEX entry_id ON entry (substr(id, -8), id);
CREATE UNIQUE INDEX entry_given_id ON entry (store, given_id) WHERE given_id IS NOT NULL;
CREATE INDEX entry_newest ON entry (store, when_us, number)
    WHERE hidden = 0 AND state IN ('confirmed', 'updated');
-- What stands at session start of a store whose entries have subjects: read without the rows.
CREATE INDEX entry_subjects ON entry
    (store, importance, when_us, number, until_us, kind, id, given_id, subject)
    WHERE subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated');
CREATE INDEX entry_drafts ON entry (store, session) WHERE state = 'draft';
CREATE INDEX entry_fingerprint ON entry (store, fingerprint);
CREATE INDEX entry_bound ON entry (session) WHERE bound = 1 AND state <> 'forgotten';

-- The log. `body` is canonical JSON of the reason and the after-image; with `salt` it can be erased,
-- which `digest` (of both) survives. `header` is the digest of all other columns but the two.
CREATE TABLE change (
    seq     INTEGER PRIMARY KEY,
    at_us   INTEGER NOT NULL,
    said_us INTEGER,
    actor   TEXT NOT NULL,
    session TEXT,
    space   INTEGER,
    store   INTEGER,
    kind    TEXT NOT NULL,
    target  TEXT NOT NULL,
    op      TEXT NOT NULL,
    prior   INTEGER,
    digest  BLOB NOT NULL,
    header  BLOB NOT NULL,
    salt    BLOB,
    body    TEXT
) STRICT;

-- `digest` is over the headers of first_seq..last_seq and the seal before: the chain.
CREATE TABLE seal (
    number    INTEGER PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    at_us     INTEGER NOT NULL,
    digest    BLOB NOT NULL
) STRICT;

-- The first answer to a call with an idempotency key, to be given again for 30 days.
CREATE TABLE answer (
    actor     TEXT NOT NULL,
    key       TEXT NOT NULL,
    arguments BLOB NOT NULL,
    at_us     INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    body      TEXT NOT NULL,
    digest    BLOB NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_at ON answer (at_us);

-- The context that a session began with, for each budget that it asked for, until it ends.
CREATE TABLE frozen (
    session TEXT NOT NULL,
    budget  INTEGER NOT NULL,
    at_seq  INTEGER NOT NULL,
    body    TEXT NOT NULL,
    digest  BLOB NOT NULL,
    PRIMARY KEY (session, budget)
) STRICT, WITHOUT ROWID;

-- Tokens of core/text, joined by blanks; the rowid is the entry's number. `terms` are those of the
-- text, `names` those of the subject and the tags, then one for the store. They are kept, since a
-- search ranks by them. Segments are merged in quiet moments and not by writers, and deleting
-- removes the terms, not only their use.
CREATE VIRTUAL TABLE entry_terms USING fts5 (terms, names, tokenize='ascii', columnsize=0);
INSERT INTO entry_terms (entry_terms, rank) VALUES ('automerge', 0);
INSERT INTO entry_terms (entry_terms, rank) VALUES ('crisismerge', 256);
INSERT INTO entry_terms (entry_terms, rank) VALUES ('secure-delete', 1);

-- Every term of the index with its place, for `verify`.
CREATE VIRTUAL TABLE entry_places USING fts5vocab (entry_terms, instance);
