-- Sessions know where they came from; `given_id` is what the program that held one calls it.
-- Messages up to `compacted` were summed up for the agent that talked. The other four are matters of
-- use, outside the digest and the log: how many messages there are, how many of them count as turns,
-- when the last one was said, and up to which one reviews have read.
ALTER TABLE session ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN given_id TEXT;
ALTER TABLE session ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN last_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN reviewed INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX session_given_id ON session (space, given_id) WHERE given_id IS NOT NULL;
CREATE INDEX session_recent ON session (space, source, last_us, number);

-- What was said. The text stands here only: its change in the log holds the digest of it. `place`
-- counts from 1 in the session; `extra` holds tool calls and what they answer, origin and trust.
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

-- As `entry_terms`; the rowid is the message's number.
CREATE VIRTUAL TABLE message_terms USING fts5 (terms, content='', tokenize='ascii');
INSERT INTO message_terms (message_terms, rank) VALUES ('automerge', 0);
INSERT INTO message_terms (message_terms, rank) VALUES ('crisismerge', 256);
INSERT INTO message_terms (message_terms, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE message_places USING fts5vocab (message_terms, instance);
