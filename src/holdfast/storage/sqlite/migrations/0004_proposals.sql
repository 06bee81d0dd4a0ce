-- Proposals: changes that somebody wants and nobody has applied. `held` says why, as JSON with what
-- screening found; `suggestion` is JSON, NULL once a held text was rejected. `fingerprint` finds the
-- same proposal again; `passes` is that of a text that a person let through, so that it may be
-- written again.
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
