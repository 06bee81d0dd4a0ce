-- Every statement about runs and what their agents said. See queries.sql.

-- name: run
SELECT r.number, r.id, r.space, r.agent, r.state, r.session, r.created_us, r.started_us, r.ended_us,
    r.worker, r.body, r.revision, s.name
FROM run r JOIN space s ON s.number = r.space WHERE r.id = ?;

-- name: runs_like
SELECT r.number, r.id, r.space, r.agent, r.state, r.session, r.created_us, r.started_us, r.ended_us,
    r.worker, r.body, r.revision, s.name
FROM run r JOIN space s ON s.number = r.space WHERE substr(r.id, -8) = ? ORDER BY r.number;

-- name: runs
-- Of one space and user, the newest first; of one agent where it is given.
SELECT r.number, r.id, r.space, r.agent, r.state, r.session, r.created_us, r.started_us, r.ended_us,
    r.worker, r.body, r.revision, s.name
FROM run r JOIN space s ON s.number = r.space
    JOIN session e ON e.id = r.session
WHERE r.space = :space AND (:agent IS NULL OR r.agent = :agent) AND e.user = :user
ORDER BY r.number DESC LIMIT :limit;

-- name: open_runs
SELECT r.number, r.id, r.space, r.agent, r.state, r.session, r.created_us, r.started_us, r.ended_us,
    r.worker, r.body, r.revision, s.name
FROM run r JOIN space s ON s.number = r.space
WHERE r.state IN ('created', 'running') ORDER BY r.number;

-- name: put_run
INSERT INTO run (number, id, space, agent, state, session, created_us, started_us, ended_us, worker,
    body, revision, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET state = excluded.state, session = excluded.session,
    started_us = excluded.started_us, ended_us = excluded.ended_us, worker = excluded.worker,
    body = excluded.body, revision = excluded.revision, digest = excluded.digest;

-- name: new_output_number
SELECT coalesce(max(number), 0) + 1 FROM run_output;

-- name: put_output
INSERT INTO run_output (number, run, place, stream, at_us, data, digest) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: run_output
SELECT place, stream, at_us, data FROM run_output WHERE run = ? AND place > ? ORDER BY place LIMIT ?;
