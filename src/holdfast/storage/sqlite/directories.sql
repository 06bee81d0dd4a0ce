-- Every statement about versioned directories, named and described. See queries.sql.

-- name: directory_named
SELECT d.number, d.id, d.space, d.name, d.type, d.state, d.hidden, d.head, d.created_us, d.revision,
    s.name
FROM directory d JOIN space s ON s.number = d.space
WHERE s.name = ? AND d.type = ? AND d.name = ? AND d.state = 'kept';

-- name: directories_ever
-- Those of a name, the forgotten among them; an erased one has no name.
SELECT d.number, d.id, d.space, d.name, d.type, d.state, d.hidden, d.head, d.created_us, d.revision,
    s.name
FROM directory d JOIN space s ON s.number = d.space
WHERE s.name = ? AND d.type = ? AND d.name = ? ORDER BY d.number;

-- name: drop_versions
DELETE FROM version WHERE directory = ? RETURNING number;

-- name: knows_directory
SELECT 1 FROM directory WHERE id = ?;

-- name: directories
SELECT d.number, d.id, d.space, d.name, d.type, d.state, d.hidden, d.head, d.created_us, d.revision,
    s.name
FROM directory d JOIN space s ON s.number = d.space
WHERE s.name = ? AND d.type = ? AND d.state = 'kept' ORDER BY d.name;

-- name: put_directory
INSERT INTO directory (number, id, space, name, type, state, hidden, head, created_us, revision,
    digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET name = excluded.name, state = excluded.state, hidden = excluded.hidden,
    head = excluded.head, revision = excluded.revision, digest = excluded.digest;

-- name: versions
-- The newest first.
SELECT number, id, directory, v, tree, files, size, parents, kind, author, run, session, message,
    at_us
FROM version WHERE directory = ? ORDER BY v DESC;

-- name: version
SELECT number, id, directory, v, tree, files, size, parents, kind, author, run, session, message,
    at_us
FROM version WHERE directory = ? AND v = ?;

-- name: newest_version
SELECT coalesce(max(v), 0) FROM version WHERE directory = ?;

-- name: put_version
INSERT INTO version (number, id, directory, v, tree, files, size, parents, kind, author, run,
    session, message, at_us, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: trees_but
-- The trees that are kept whatever becomes of these directories (a JSON list of their numbers).
SELECT DISTINCT v.tree FROM version v JOIN directory d ON d.number = v.directory
WHERE d.state = 'kept' AND d.number NOT IN (SELECT value FROM json_each(?));

-- name: kept_trees
-- What a collector starts from: the trees of versions made after a change.
SELECT DISTINCT v.tree FROM version v JOIN directory d ON d.number = v.directory
WHERE d.state = 'kept' AND v.number > ?;

-- name: version_trees
-- Each tree that a version keeps, with one name for it.
SELECT v.tree, d.type || ' ' || d.name || ' v' || min(v.v)
FROM version v JOIN directory d ON d.number = v.directory
WHERE d.state = 'kept' GROUP BY v.directory, v.tree ORDER BY min(v.number);
