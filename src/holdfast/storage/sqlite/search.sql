-- Candidates of a search over entries. Parameters that are lists are JSON.

-- name: texts
-- What ranking needs of these entries, of those that are asked for in all but their words.
SELECT e.number, e.store, t.c0, t.c1, e.when_us, e.importance, e.pinned, coalesce(u.uses, 0),
    e.until_us
FROM json_each(:numbers) n
CROSS JOIN entry e ON e.number = n.value
CROSS JOIN entry_terms_content t ON t.id = n.value
LEFT JOIN entry_use u ON u.entry = n.value
WHERE e.store IN (SELECT value FROM json_each(:stores))
    AND e.state IN (SELECT value FROM json_each(:states))
    AND (e.state <> 'draft' OR e.session = :session)
    AND e.extra ->> '$.scope' IN (SELECT value FROM json_each(:scopes))
    AND e.hidden <= :hidden AND e.importance >= :importance
    AND e.when_us >= :since AND e.when_us < :until
    AND (:kinds IS NULL OR e.kind IN (SELECT value FROM json_each(:kinds)))
    AND (:tags IS NULL OR NOT EXISTS (
        SELECT 1 FROM json_each(:tags) w
        WHERE w.value NOT IN (SELECT value FROM json_each(e.extra, '$.tags'))));

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
