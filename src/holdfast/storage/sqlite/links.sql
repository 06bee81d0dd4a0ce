-- Links between entries, and how often entries are used.

-- name: referring
-- The entries of a store that refer to an id, as they came.
SELECT e.number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM link l JOIN entry e ON e.number = l.source WHERE l.target = ? AND e.store = ?
ORDER BY l.source;

-- name: link
INSERT INTO link (target, source) VALUES (?, ?);

-- name: unlink
DELETE FROM link WHERE target = ? AND source = ?;

-- name: unlink_all
DELETE FROM link;

-- name: links
SELECT target, source FROM link;

-- name: uses
SELECT uses, last_us FROM entry_use WHERE entry = ?;

-- name: use
INSERT INTO entry_use (entry, uses, last_us) VALUES (?, ?, ?)
ON CONFLICT (entry) DO UPDATE SET uses = uses + excluded.uses,
    last_us = max(last_us, excluded.last_us);
