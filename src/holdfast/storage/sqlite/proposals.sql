-- Every statement about proposals, named and described. See queries.sql.

-- name: proposal
SELECT p.number, p.id, p.space, p.store, p.state, p.held, p.suggestion, p.actor, p.user, p.session,
    p.created_us, p.decided_us, p.decided_by, p.fingerprint, p.passes, p.revision, s.name, t.name,
    t.strategy
FROM proposal p JOIN space s ON s.number = p.space JOIN store t ON t.number = p.store
WHERE p.id = ?;

-- name: proposals_like
SELECT p.number, p.id, p.space, p.store, p.state, p.held, p.suggestion, p.actor, p.user, p.session,
    p.created_us, p.decided_us, p.decided_by, p.fingerprint, p.passes, p.revision, s.name, t.name,
    t.strategy
FROM proposal p JOIN space s ON s.number = p.space JOIN store t ON t.number = p.store
WHERE substr(p.id, -8) = ? ORDER BY p.number;

-- name: proposals_same
-- The newest with this fingerprint.
SELECT p.number, p.id, p.space, p.store, p.state, p.held, p.suggestion, p.actor, p.user, p.session,
    p.created_us, p.decided_us, p.decided_by, p.fingerprint, p.passes, p.revision, s.name, t.name,
    t.strategy
FROM proposal p JOIN space s ON s.number = p.space JOIN store t ON t.number = p.store
WHERE p.store = ? AND p.fingerprint = ? ORDER BY p.number DESC LIMIT 1;

-- name: pending
-- The oldest first; of one space where it is given.
SELECT p.number, p.id, p.space, p.store, p.state, p.held, p.suggestion, p.actor, p.user, p.session,
    p.created_us, p.decided_us, p.decided_by, p.fingerprint, p.passes, p.revision, s.name, t.name,
    t.strategy
FROM proposal p INDEXED BY proposal_pending JOIN space s ON s.number = p.space
    JOIN store t ON t.number = p.store
WHERE p.state = 'pending' AND (:space IS NULL OR p.space = :space) ORDER BY p.number;

-- name: proposals
-- Those of every state, the newest first; of one space where it is given.
SELECT p.number, p.id, p.space, p.store, p.state, p.held, p.suggestion, p.actor, p.user, p.session,
    p.created_us, p.decided_us, p.decided_by, p.fingerprint, p.passes, p.revision, s.name, t.name,
    t.strategy
FROM proposal p JOIN space s ON s.number = p.space JOIN store t ON t.number = p.store
WHERE :space IS NULL OR p.space = :space ORDER BY p.number DESC;

-- name: passes
-- The marks of the texts that a person let into a store, one after the other; by the index alone.
SELECT passes FROM proposal WHERE store = ? AND passes > x'' AND state = 'applied';

-- name: put_proposal
INSERT INTO proposal (number, id, space, store, state, held, suggestion, actor, user, session,
    created_us, decided_us, decided_by, fingerprint, passes, revision, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET state = excluded.state, suggestion = excluded.suggestion,
    decided_us = excluded.decided_us, decided_by = excluded.decided_by,
    fingerprint = excluded.fingerprint, passes = excluded.passes, revision = excluded.revision,
    digest = excluded.digest;
