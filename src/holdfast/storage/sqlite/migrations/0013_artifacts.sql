-- Artifacts, and what refers to them. Contents are objects, as those of directories are.
--
-- `until_us` is when an artifact lapses, so many hours after nothing referred to it any more; NULL
-- while something does. It follows from `mention` but for the moment, and the log says nothing of it.
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

-- What a session sees at its start, the newest first.
CREATE INDEX artifact_newest ON artifact (store, created_us, number) WHERE state = 'kept';

-- Whose time may be over.
CREATE INDEX artifact_until ON artifact (until_us)
    WHERE state = 'kept' AND until_us IS NOT NULL;

-- Which entries and messages mention an artifact: their rows, turned around.
CREATE TABLE mention (
    target TEXT NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('entry', 'message')),
    source INTEGER NOT NULL,
    PRIMARY KEY (target, kind, source)
) STRICT, WITHOUT ROWID;
