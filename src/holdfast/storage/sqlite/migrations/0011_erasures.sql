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
