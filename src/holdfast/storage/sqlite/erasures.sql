-- Every statement about erasing, named and described. See queries.sql.

-- name: erasures
-- The oldest first; of one state where it is given.
SELECT number, id, space, what, state, asked_us, done_us, body, revision FROM erasure
WHERE :state IS NULL OR state = :state ORDER BY number;

-- name: put_erasure
INSERT INTO erasure (number, id, space, what, state, asked_us, done_us, body, revision, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET state = excluded.state, done_us = excluded.done_us,
    body = excluded.body, revision = excluded.revision, digest = excluded.digest;

-- name: bodies_of
SELECT count(*) FROM change
WHERE body IS NOT NULL AND target IN (SELECT value FROM json_each(?));

-- name: erase_bodies
UPDATE change SET salt = NULL, body = NULL
WHERE body IS NOT NULL AND target IN (SELECT value FROM json_each(?)) RETURNING seq;

-- name: erase_answers
-- Those to calls that made a change of a target, and those that name one.
DELETE FROM answer
WHERE EXISTS (SELECT 1 FROM change c JOIN json_each(:targets) t ON t.value = c.target
        WHERE c.seq BETWEEN answer.first_seq AND answer.last_seq)
    OR EXISTS (SELECT 1 FROM json_each(:targets) t WHERE instr(answer.body, t.value))
RETURNING key;

-- name: erase_contexts
DELETE FROM frozen WHERE instr(body, ?) RETURNING session;
