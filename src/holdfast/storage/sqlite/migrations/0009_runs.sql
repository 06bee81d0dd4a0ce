-- Runs: executions of agents. `worker` says who runs it, as in a job; `body` is the rest as JSON. What
-- an agent said is in pieces, in the order in which it was heard, with secrets masked.
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
