-- The whole schema: the sum of the steps in migrations/, where everything is explained.

CREATE TABLE vault (
    number       INTEGER PRIMARY KEY CHECK (number = 1),
    id           TEXT NOT NULL,
    created_us   INTEGER NOT NULL,
    secret       BLOB NOT NULL,
    text_version INTEGER NOT NULL,
    digest       BLOB NOT NULL
) STRICT;

CREATE TABLE space (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL UNIQUE,
    path       TEXT,
    declared   TEXT,
    created_us INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL
, settings TEXT NOT NULL DEFAULT '{}') STRICT;

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
, source TEXT NOT NULL DEFAULT '', given_id TEXT, compacted INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0, last_us INTEGER NOT NULL DEFAULT 0, reviewed INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX session_open ON session (lease_us) WHERE state = 'open';

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

CREATE UNIQUE INDEX entry_id ON entry (substr(id, -8), id);

CREATE UNIQUE INDEX entry_given_id ON entry (store, given_id) WHERE given_id IS NOT NULL;

CREATE INDEX entry_newest ON entry (store, when_us, number)
    WHERE hidden = 0 AND state IN ('confirmed', 'updated');

CREATE INDEX entry_drafts ON entry (store, session) WHERE state = 'draft';

CREATE INDEX entry_fingerprint ON entry (store, fingerprint);

CREATE INDEX entry_bound ON entry (session) WHERE bound = 1 AND state <> 'forgotten';

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

CREATE TABLE seal (
    number    INTEGER PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    at_us     INTEGER NOT NULL,
    digest    BLOB NOT NULL
) STRICT;

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

CREATE TABLE frozen (
    session TEXT NOT NULL,
    budget  INTEGER NOT NULL,
    at_seq  INTEGER NOT NULL,
    body    TEXT NOT NULL,
    digest  BLOB NOT NULL,
    PRIMARY KEY (session, budget)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE entry_terms USING fts5 (terms, names, tokenize='ascii', columnsize=0);

CREATE VIRTUAL TABLE entry_places USING fts5vocab (entry_terms, instance);

CREATE TABLE namespace (
    number   INTEGER PRIMARY KEY,
    store    INTEGER NOT NULL REFERENCES store (number),
    name     TEXT NOT NULL,
    revision INTEGER NOT NULL,
    due_us   INTEGER,
    digest   BLOB NOT NULL, bytes INTEGER,
    UNIQUE (store, name)
) STRICT;

CREATE INDEX namespace_due ON namespace (due_us) WHERE due_us IS NOT NULL;

CREATE TABLE value (
    number     INTEGER PRIMARY KEY,
    namespace  INTEGER NOT NULL REFERENCES namespace (number),
    key        TEXT NOT NULL,
    data       BLOB NOT NULL,
    revision   INTEGER NOT NULL,
    expires_us INTEGER,
    digest     BLOB NOT NULL,
    UNIQUE (namespace, key)
) STRICT;

CREATE INDEX value_due ON value (namespace, expires_us, key) WHERE expires_us IS NOT NULL;

CREATE TABLE revision_floor (
    number   INTEGER PRIMARY KEY CHECK (number = 1),
    revision INTEGER NOT NULL
) STRICT;

CREATE TABLE directory (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    space      INTEGER NOT NULL REFERENCES space (number),
    name       TEXT NOT NULL,
    type       TEXT NOT NULL CHECK (type IN ('memory', 'artifact', 'volume')),
    state      TEXT NOT NULL CHECK (state IN ('kept', 'forgotten')),
    hidden     INTEGER NOT NULL,
    head       INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX directory_name ON directory (space, type, name) WHERE state = 'kept';

CREATE TABLE version (
    number    INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    directory INTEGER NOT NULL REFERENCES directory (number),
    v         INTEGER NOT NULL,
    tree      TEXT NOT NULL,
    files     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    parents   TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('ordinary', 'recovery')),
    author    TEXT NOT NULL,
    run       TEXT,
    session   TEXT,
    message   TEXT NOT NULL,
    at_us     INTEGER NOT NULL,
    digest    BLOB NOT NULL,
    UNIQUE (directory, v)
) STRICT;

CREATE TABLE pack (
    number INTEGER PRIMARY KEY,
    form   TEXT NOT NULL CHECK (form IN ('raw', 'zstd')),
    size   INTEGER NOT NULL,
    data   BLOB NOT NULL
) STRICT;

CREATE TABLE object (
    name      BLOB PRIMARY KEY,
    is_recipe INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    pack      INTEGER NOT NULL REFERENCES pack (number),
    at        INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    stored_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX object_pack ON object (pack);

CREATE INDEX object_recipe ON object (name) WHERE is_recipe = 1;

CREATE TABLE collection (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    count  INTEGER NOT NULL
) STRICT;

CREATE TABLE proposal (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    space       INTEGER NOT NULL REFERENCES space (number),
    store       INTEGER NOT NULL REFERENCES store (number),
    state       TEXT NOT NULL CHECK (state IN ('pending', 'applied', 'rejected', 'stale')),
    held        TEXT NOT NULL,
    suggestion  TEXT,
    actor       TEXT NOT NULL,
    user        TEXT NOT NULL,
    session     TEXT,
    created_us  INTEGER NOT NULL,
    decided_us  INTEGER,
    decided_by  TEXT,
    fingerprint BLOB NOT NULL,
    passes      BLOB,
    revision    INTEGER NOT NULL,
    digest      BLOB NOT NULL
) STRICT;

CREATE INDEX proposal_pending ON proposal (number) WHERE state = 'pending';

CREATE INDEX proposal_fingerprint ON proposal (store, fingerprint);

CREATE INDEX proposal_passes ON proposal (store, passes) WHERE state = 'applied';

CREATE INDEX entry_subjects ON entry
    (store, importance, when_us, number, until_us, kind, id, given_id, subject, extra ->> '$.scope')
    WHERE subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated');

CREATE TABLE link (
    target TEXT NOT NULL,
    source INTEGER NOT NULL REFERENCES entry (number),
    PRIMARY KEY (target, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry_use (
    entry   INTEGER PRIMARY KEY REFERENCES entry (number),
    uses    INTEGER NOT NULL,
    last_us INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX session_given_id ON session (space, given_id) WHERE given_id IS NOT NULL;

CREATE INDEX session_recent ON session (space, source, last_us, number);

CREATE TABLE message (
    number   INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    session  INTEGER NOT NULL REFERENCES session (number),
    place    INTEGER NOT NULL,
    role     TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    rewound  INTEGER NOT NULL,
    at_us    INTEGER NOT NULL,
    said_us  INTEGER,
    when_us  INTEGER NOT NULL,
    given_id TEXT,
    revision INTEGER NOT NULL,
    extra    TEXT NOT NULL,
    text     TEXT NOT NULL,
    digest   BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX message_place ON message (session, place);

CREATE UNIQUE INDEX message_given_id ON message (session, given_id) WHERE given_id IS NOT NULL;

CREATE VIRTUAL TABLE message_terms USING fts5 (terms, content='', tokenize='ascii');

CREATE VIRTUAL TABLE message_places USING fts5vocab (message_terms, instance);

CREATE TABLE job (
    number   INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL CHECK (kind IN ('review')),
    session  INTEGER NOT NULL REFERENCES session (number),
    first    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    user     TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    made_us  INTEGER NOT NULL,
    done_us  INTEGER,
    worker   TEXT,
    lease_us INTEGER NOT NULL,
    tries    INTEGER NOT NULL,
    applied  INTEGER NOT NULL,
    told     INTEGER NOT NULL,
    body     TEXT,
    digest   BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX job_place ON job (kind, session, first);

CREATE INDEX job_open ON job (number) WHERE state IN ('waiting', 'running');

CREATE INDEX job_untold ON job (session) WHERE state = 'done' AND told = 0;

CREATE TABLE model_call (
    number     INTEGER PRIMARY KEY,
    at_us      INTEGER NOT NULL,
    purpose    TEXT NOT NULL,
    model      TEXT NOT NULL,
    job        INTEGER,
    state      TEXT NOT NULL CHECK (state IN ('reserved', 'done', 'failed')),
    tokens_in  INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    micros     INTEGER,
    took_us    INTEGER NOT NULL,
    digest     BLOB NOT NULL
) STRICT;

CREATE INDEX model_call_at ON model_call (at_us);

CREATE INDEX model_call_job ON model_call (job) WHERE job IS NOT NULL;

CREATE TABLE run (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    space      INTEGER NOT NULL REFERENCES space (number),
    agent      TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('created', 'running', 'succeeded', 'failed', 'timed_out',
        'cancelled', 'killed')),
    session    TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    started_us INTEGER,
    ended_us   INTEGER,
    worker     TEXT NOT NULL,
    body       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL
) STRICT;

CREATE INDEX run_open ON run (number) WHERE state IN ('created', 'running');

CREATE INDEX run_space ON run (space, number);

CREATE TABLE run_output (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number),
    place  INTEGER NOT NULL,
    stream TEXT NOT NULL CHECK (stream IN ('stdout', 'stderr')),
    at_us  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    digest BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX run_output_place ON run_output (run, place);

CREATE INDEX entry_due ON entry (store, kind, hidden, until_us)
    WHERE until_us IS NOT NULL AND state IN ('confirmed', 'updated');

CREATE INDEX entry_called ON entry (store, kind, subject COLLATE NOCASE, number)
    WHERE subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated');

-- What was asked to be erased, and the receipts. `body` is JSON of ids and counts, and no words of
-- what is gone: a change whose body is missing must be of one of the targets.
CREATE TABLE erasure (
    number   INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    space    INTEGER NOT NULL REFERENCES space (number),
    what     TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('pending', 'done')),
    asked_us INTEGER NOT NULL,
    done_us  INTEGER,
    body     TEXT NOT NULL,
    revision INTEGER NOT NULL,
    digest   BLOB NOT NULL
) STRICT;
CREATE INDEX erasure_pending ON erasure (number) WHERE state = 'pending';

CREATE TABLE holding (
    name  BLOB NOT NULL,
    entry INTEGER NOT NULL REFERENCES entry (number),
    seq   INTEGER NOT NULL,
    PRIMARY KEY (name, entry)
) STRICT, WITHOUT ROWID;

CREATE INDEX holding_seq ON holding (seq);

CREATE INDEX entry_titled ON entry (store, subject) WHERE subject <> '' AND state <> 'forgotten';

CREATE TABLE artifact (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL,
    store      INTEGER NOT NULL REFERENCES store (number),
    content    TEXT NOT NULL,
    mime       TEXT NOT NULL,
    title      TEXT NOT NULL,
    summary    TEXT NOT NULL,
    size       INTEGER NOT NULL,
    lines      INTEGER,
    state      TEXT NOT NULL CHECK (state IN ('kept', 'forgotten')),
    session    TEXT,
    created_us INTEGER NOT NULL,
    hours      INTEGER NOT NULL,
    until_us   INTEGER,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX artifact_id ON artifact (id);

CREATE UNIQUE INDEX artifact_content ON artifact (store, content) WHERE state = 'kept';

CREATE INDEX artifact_newest ON artifact (store, created_us, number) WHERE state = 'kept';

CREATE INDEX artifact_until ON artifact (until_us)
    WHERE state = 'kept' AND until_us IS NOT NULL;

CREATE TABLE mention (
    target TEXT NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('entry', 'message')),
    source INTEGER NOT NULL,
    PRIMARY KEY (target, kind, source)
) STRICT, WITHOUT ROWID;

-- What a search needs to know of an entry that its words were found in, without reading its row.
CREATE INDEX entry_ranked ON entry (number, store, state, hidden, when_us, importance, pinned,
    until_us, extra ->> '$.scope');
