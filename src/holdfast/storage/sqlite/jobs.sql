-- Every statement about jobs and the ledger of model calls. See queries.sql.

-- name: job
SELECT j.number, s.id, j.session, p.name, j.first, j.last, j.user, j.state, j.made_us, j.done_us,
    j.worker, j.lease_us, j.tries, j.told, j.body
FROM job j JOIN session s ON s.number = j.session JOIN space p ON p.number = s.space
WHERE j.number = ?;

-- name: open_jobs
-- Of each session the first that waits or runs.
SELECT j.number, s.id, j.session, p.name, j.first, j.last, j.user, j.state, j.made_us, j.done_us,
    j.worker, j.lease_us, j.tries, j.told, j.body
FROM job j JOIN session s ON s.number = j.session JOIN space p ON p.number = s.space
WHERE j.state IN ('waiting', 'running') AND NOT EXISTS (SELECT 1 FROM job e
    WHERE e.kind = j.kind AND e.session = j.session AND e.first < j.first
        AND e.state IN ('waiting', 'running'))
ORDER BY j.number LIMIT ?;

-- name: failed_jobs
SELECT j.number, s.id, j.session, p.name, j.first, j.last, j.user, j.state, j.made_us, j.done_us,
    j.worker, j.lease_us, j.tries, j.told, j.body
FROM job j JOIN session s ON s.number = j.session JOIN space p ON p.number = s.space
WHERE j.state = 'failed' ORDER BY j.number;

-- name: newest_jobs
-- Of one user.
SELECT j.number, s.id, j.session, p.name, j.first, j.last, j.user, j.state, j.made_us, j.done_us,
    j.worker, j.lease_us, j.tries, j.told, j.body
FROM job j JOIN session s ON s.number = j.session JOIN space p ON p.number = s.space
WHERE j.user = ? ORDER BY j.number DESC LIMIT ?;

-- name: untold_jobs
SELECT j.number, s.id, j.session, p.name, j.first, j.last, j.user, j.state, j.made_us, j.done_us,
    j.worker, j.lease_us, j.tries, j.told, j.body
FROM job j JOIN session s ON s.number = j.session JOIN space p ON p.number = s.space
WHERE j.session = ? AND j.state = 'done' AND j.told = 0 ORDER BY j.number;

-- name: new_job_number
SELECT coalesce(max(number), 0) + 1 FROM job;

-- name: put_job
INSERT INTO job (number, kind, session, first, last, user, state, made_us, done_us, worker, lease_us,
    tries, applied, told, body, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET state = excluded.state, done_us = excluded.done_us,
    worker = excluded.worker, lease_us = excluded.lease_us, tries = excluded.tries,
    applied = excluded.applied, told = excluded.told, body = excluded.body,
    digest = excluded.digest;

-- name: turns_since
SELECT count(*) FROM message
WHERE session = ? AND place > ? AND role = 'user' AND rewound = 0;

-- name: unreviewed
-- The few in which more was said than reviews were asked to read, the oldest first.
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space
WHERE e.messages > e.reviewed AND EXISTS (SELECT 1 FROM message m WHERE m.session = e.number
    AND m.place > e.reviewed AND m.role = 'user' AND m.rewound = 0)
ORDER BY e.number;

-- name: new_call_number
SELECT coalesce(max(number), 0) + 1 FROM model_call;

-- name: put_call
INSERT INTO model_call (number, at_us, purpose, model, job, state, tokens_in, tokens_out, micros,
    took_us, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET state = excluded.state, tokens_in = excluded.tokens_in,
    tokens_out = excluded.tokens_out, micros = excluded.micros, took_us = excluded.took_us,
    digest = excluded.digest;

-- name: spent
SELECT purpose, model, count(*), sum(state = 'failed'), sum(tokens_in), sum(tokens_out),
    coalesce(sum(micros), 0), sum(micros IS NULL), sum(took_us)
FROM model_call WHERE at_us >= ? AND at_us < ? GROUP BY purpose, model ORDER BY purpose, model;

-- name: spent_tokens
SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(micros), 0)
FROM model_call WHERE at_us >= ?;

-- name: job_tokens
SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM model_call WHERE job = ?;
