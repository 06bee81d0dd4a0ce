-- Work that waits for somebody to do it, in the transaction of what made it necessary. A review reads
-- the messages `first` to `last` of a session. `worker` holds the job until `lease_us`; `body` is what
-- the reviewer answered, then, without its words, what came of it; the first `applied` of them are
-- settled, each in one transaction with this row. `told`: whether the session heard of it.
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

-- The ledger: every call of a model. What is reserved counts as spent until it is settled, so that no
-- two workers spend the same budget. Money is in millionths, NULL where no price is known.
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
