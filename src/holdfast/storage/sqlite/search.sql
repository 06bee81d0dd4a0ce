-- Candidates of a search over entries. Parameters that are lists are JSON. `{stores}` and `{states}`
-- are numbers and words of ours, `{scopes}` are parameters, and `{wanted}` is what a search asks for
-- in all but words: `wanted`, and of the conditions behind it those that it has. A limit is one of ours
-- and written out, so that SQLite plans by it.

-- name: wanted
e.store IN ({stores}) AND e.state IN ({states}) AND e.extra ->> '$.scope' IN ({scopes})

-- name: wanted_session
AND (e.state <> 'draft' OR e.session = :session)

-- name: wanted_shown
AND e.hidden = 0

-- name: wanted_importance
AND e.importance >= :importance

-- name: wanted_since
AND e.when_us >= :since

-- name: wanted_until
AND e.when_us < :until

-- name: wanted_kinds
AND e.kind IN (SELECT value FROM json_each(:kinds))

-- name: wanted_tags
AND NOT EXISTS (
    SELECT 1 FROM json_each(:tags) w
    WHERE w.value NOT IN (SELECT value FROM json_each(e.extra, '$.tags')))

-- name: texts
-- What ranking needs of these entries, and whether they are asked for.
SELECT e.number, e.store, t.c0, t.c1, e.when_us, e.importance, e.pinned, coalesce(u.uses, 0),
    e.until_us, {wanted}
FROM json_each(:numbers) n
CROSS JOIN entry e INDEXED BY entry_ranked ON e.number = n.value
CROSS JOIN entry_terms_content t ON t.id = n.value
LEFT JOIN entry_use u ON u.entry = n.value;

-- name: meeting
-- The same of what meets an expression, in `{order}`. `{whole}` are the columns of the entry, where
-- they are wanted too: then its row is read, and else the index `entry_ranked` alone.
SELECT e.number, e.store, t.c0, t.c1, e.when_us, e.importance, e.pinned, coalesce(u.uses, 0),
    e.until_us, {wanted}{whole}
FROM (SELECT rowid AS number FROM entry_terms
    WHERE entry_terms MATCH :match AND rowid < :below {order} LIMIT {limit}) n
CROSS JOIN entry e {by} ON e.number = n.number
CROSS JOIN entry_terms_content t ON t.id = n.number
LEFT JOIN entry_use u ON u.entry = n.number;

-- name: by_ranked
INDEXED BY entry_ranked

-- name: newest_first
ORDER BY rowid DESC

-- name: whole
, e.number, e.id, e.store, e.given_id, e.kind, e.subject, e.text, e.state, e.hidden, e.importance,
    e.pinned, e.session, e.bound, e.created_us, e.updated_us, e.said_us, e.when_us, e.until_us,
    e.extra, e.revision, e.fingerprint

-- name: newest_shown
-- Numbers for a search without words, by the index `entry_newest`.
SELECT number FROM entry
WHERE store = :store AND hidden = 0 AND state IN ('confirmed', 'updated')
    AND when_us >= :since AND when_us < :until
ORDER BY when_us DESC, number DESC LIMIT :limit OFFSET :from;

-- name: newest_other
-- What that index does not have: drafts and what is hidden.
SELECT number FROM entry
WHERE store = :store AND (hidden = 1 OR state = 'draft') AND state <> 'forgotten'
    AND when_us >= :since AND when_us < :until
ORDER BY when_us DESC, number DESC LIMIT :limit OFFSET :from;

-- name: entries_numbered
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry WHERE number IN (SELECT value FROM json_each(?));
