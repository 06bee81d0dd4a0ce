-- Every statement about artifacts, named and described. See queries.sql.

-- name: artifact
SELECT id, number, content, mime, title, summary, size, lines, state, session, created_us, hours,
    until_us, revision
FROM artifact WHERE id = ? AND store = ?;

-- name: artifact_same
SELECT id, number, content, mime, title, summary, size, lines, state, session, created_us, hours,
    until_us, revision
FROM artifact WHERE store = ? AND content = ? AND state = 'kept';

-- name: newest_artifacts
SELECT id, number, content, mime, title, summary, size, lines, state, session, created_us, hours,
    until_us, revision
FROM artifact INDEXED BY artifact_newest
WHERE store = ? AND state = 'kept' AND (until_us IS NULL OR until_us >= ?)
ORDER BY created_us DESC, number DESC LIMIT ?;

-- name: lapsed_artifacts
SELECT id, number, content, mime, title, summary, size, lines, state, session, created_us, hours,
    until_us, revision, store
FROM artifact INDEXED BY artifact_until
WHERE state = 'kept' AND until_us IS NOT NULL AND until_us <= ? ORDER BY until_us LIMIT ?;

-- name: all_artifacts
SELECT id, number, content, mime, title, summary, size, lines, state, session, created_us, hours,
    until_us, revision
FROM artifact WHERE store = ? ORDER BY number;

-- name: artifact_columns
-- The row as it is sealed, to be sealed again.
SELECT number, id, store, content, mime, title, summary, size, lines, state, session, created_us,
    hours, until_us, revision
FROM artifact WHERE id = ?;

-- name: put_artifact
INSERT INTO artifact (number, id, store, content, mime, title, summary, size, lines, state, session,
    created_us, hours, until_us, revision, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET content = excluded.content, mime = excluded.mime,
    title = excluded.title, summary = excluded.summary, size = excluded.size,
    lines = excluded.lines, state = excluded.state, session = excluded.session,
    created_us = excluded.created_us, hours = excluded.hours, until_us = excluded.until_us,
    revision = excluded.revision, digest = excluded.digest;

-- name: kept_contents
-- What a collector starts from, beside trees: contents of artifacts that changed after a change.
SELECT content FROM artifact WHERE state = 'kept' AND revision > ?;

-- name: artifact_contents
-- Each content that an artifact keeps, with a name for it.
SELECT content, 'artifact ' || id FROM artifact WHERE state = 'kept' ORDER BY number;

-- name: references
SELECT count(*) FROM mention WHERE target = ?;

-- name: mention
INSERT OR IGNORE INTO mention (target, kind, source) VALUES (?, ?, ?);

-- name: unmention
DELETE FROM mention WHERE target = ? AND kind = ? AND source = ?;

-- name: unmention_all
DELETE FROM mention;

-- name: mentions
SELECT target, kind, source FROM mention;

-- name: wrongly_lasting
-- Artifacts that last though nothing refers to them, or that lapse though something does.
SELECT number, id FROM artifact
WHERE state = 'kept'
    AND (until_us IS NULL) <> EXISTS (SELECT 1 FROM mention WHERE target = artifact.id)
ORDER BY number;
