-- Every statement that works on rows, named and described. A `-- name:` line opens a query.

-- name: head
-- The newest change.
SELECT seq, at_us FROM change ORDER BY seq DESC LIMIT 1;

-- name: vault
SELECT number, id, created_us, secret, text_version FROM vault;

-- name: put_vault
INSERT INTO vault (number, id, created_us, secret, text_version, digest) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET text_version = excluded.text_version, digest = excluded.digest;

-- name: spaces
SELECT number, id, name, path, declared, settings, created_us, revision FROM space ORDER BY number;

-- name: space_named
SELECT number, id, name, path, declared, settings, created_us, revision FROM space WHERE name = ?;

-- name: put_space
INSERT INTO space (number, id, name, path, declared, settings, created_us, revision, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET name = excluded.name, path = excluded.path,
    declared = excluded.declared, settings = excluded.settings, revision = excluded.revision, digest = excluded.digest;

-- name: stores
-- The declared in their order, then the withdrawn as they came.
SELECT number, id, space, name, type, strategy, options, position, revision FROM store
WHERE space = ? ORDER BY position IS NULL, position, number;

-- name: store_revision
SELECT revision FROM store WHERE number = ?;

-- name: store_by_number
SELECT t.number, t.id, t.space, t.name, t.type, t.strategy, t.options, t.position, t.revision,
    s.id, s.name
FROM store t JOIN space s ON s.number = t.space WHERE t.number = ?;

-- name: put_store
INSERT INTO store (number, id, space, name, type, strategy, options, position, revision, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET type = excluded.type, options = excluded.options,
    position = excluded.position, revision = excluded.revision, digest = excluded.digest;

-- name: session
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space WHERE e.id = ?;

-- name: sessions
-- The newest first; of one space where it is given.
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space
WHERE :space IS NULL OR e.space = :space ORDER BY e.number DESC;

-- name: sessions_like
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space WHERE substr(e.id, -8) = ? ORDER BY e.number;

-- name: lapsed_sessions
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space
WHERE e.state = 'open' AND e.lease_us < ? ORDER BY e.number;

-- name: put_session
INSERT INTO session (number, id, space, state, title, agent, user, started_us, ended_us, source,
    given_id, compacted, revision, digest, lease_us, last_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?8)
ON CONFLICT (number) DO UPDATE SET state = excluded.state, title = excluded.title,
    compacted = excluded.compacted, ended_us = excluded.ended_us, revision = excluded.revision, digest = excluded.digest,
    lease_us = excluded.lease_us;

-- name: renew_lease
UPDATE session SET lease_us = ? WHERE number = ?;

-- name: entry
-- By its whole id.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry WHERE substr(id, -8) = substr(:id, -8) AND id = :id AND store = :store;

-- name: entries_like
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry INDEXED BY entry_id WHERE substr(id, -8) = :short AND store = :store ORDER BY id;

-- name: entry_given
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry WHERE store = ? AND given_id = ?;

-- name: entries_titled
-- Those not forgotten whose subject begins so. Answered by the index `entry_titled`.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry INDEXED BY entry_titled
WHERE store = :store AND subject >= :low AND subject < :high AND subject <> ''
    AND state <> 'forgotten' ORDER BY subject, number;

-- name: entries_same
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry WHERE store = ? AND fingerprint = ? ORDER BY number;

-- name: entries_bound
-- What ends with a session.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry WHERE session = ? AND bound = 1 AND state <> 'forgotten' ORDER BY number;

-- name: newest
-- What a block needs of the newest entries, by the index `entry_newest`, without a sort.
SELECT id, given_id, when_us, text FROM entry
WHERE store = ? AND hidden = 0 AND state IN ('confirmed', 'updated') AND when_us >= ?
ORDER BY when_us DESC, number DESC LIMIT ?;

-- name: subjects_important
-- The most important first, then the newest; what ended before a moment and what is for somebody
-- else is left out. Answered by the index `entry_subjects` alone.
SELECT id, given_id, when_us, subject, kind, importance FROM entry INDEXED BY entry_subjects
WHERE store = :store AND subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated')
    AND (until_us IS NULL OR until_us > :at) AND extra ->> '$.scope' IN ('', :user, :session)
ORDER BY importance DESC, when_us DESC, number DESC LIMIT :limit;

-- name: subjects_newest
-- The same, the newest first.
SELECT id, given_id, when_us, subject, kind, importance FROM entry INDEXED BY entry_newest
WHERE store = :store AND subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated')
    AND (until_us IS NULL OR until_us > :at) AND extra ->> '$.scope' IN ('', :user, :session)
ORDER BY when_us DESC, number DESC LIMIT :limit;

-- name: subject_count
-- How many there are, as far as anybody wants to know.
SELECT count(*) FROM (
    SELECT 1 FROM entry INDEXED BY entry_subjects
    WHERE store = :store AND subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated')
        AND (until_us IS NULL OR until_us > :at) AND extra ->> '$.scope' IN ('', :user, :session)
    LIMIT :limit
);

-- name: due
-- What ended before a moment, of one kind, the first to end first.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry INDEXED BY entry_due
WHERE store = :store AND kind = :kind AND hidden = :hidden AND until_us <= :at
    AND until_us IS NOT NULL AND state IN ('confirmed', 'updated')
ORDER BY until_us LIMIT :limit;

-- name: called
-- Those of a kind with a subject, whatever the case of its letters, as they came.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry INDEXED BY entry_called
WHERE store = ? AND kind = ? AND subject = ? COLLATE NOCASE AND subject <> '' AND hidden = 0
    AND state IN ('confirmed', 'updated')
ORDER BY number LIMIT ?;

-- name: entries_named
-- By whole ids, a JSON list.
SELECT e.number, e.id, store, given_id, kind, subject, text, state, hidden, importance, pinned,
    session, bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM json_each(:ids) n
CROSS JOIN entry e INDEXED BY entry_id
    ON substr(e.id, -8) = substr(n.value, -8) AND e.id = n.value
WHERE store = :store;

-- name: drafts
-- Those of one session, the oldest first.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry INDEXED BY entry_drafts WHERE store = ? AND session = ? AND state = 'draft'
ORDER BY number;

-- name: drafts_of_all
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry INDEXED BY entry_drafts WHERE store = ? AND state = 'draft' ORDER BY number;

-- name: shown_newest
-- From a cursor on towards the older.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry
WHERE store = :store AND hidden = 0 AND state IN ('confirmed', 'updated')
    AND when_us >= :since AND (when_us, number) < (:when, :number)
ORDER BY when_us DESC, number DESC;

-- name: shown_oldest
-- From a cursor on towards the newer.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry
WHERE store = :store AND hidden = 0 AND state IN ('confirmed', 'updated')
    AND when_us < :until AND (when_us, number) > (:when, :number)
ORDER BY when_us, number;

-- name: matching_newest
-- The same among those that a text matches: matches first, put in order by the index `entry_ranked`
-- alone, and the rows as they are asked for. A sign keeps SQLite from seeking by more than the number.
SELECT e.number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM (SELECT e.number FROM entry_terms t
    CROSS JOIN entry e INDEXED BY entry_ranked ON e.number = t.rowid
    WHERE t.entry_terms MATCH :match AND +e.store = :store AND +e.hidden = 0
        AND +e.state IN ('confirmed', 'updated') AND +e.when_us >= :since
        AND (e.when_us, e.number) < (:when, :number)
    ORDER BY e.when_us DESC, e.number DESC LIMIT -1) m
CROSS JOIN entry e ON e.number = m.number;

-- name: matching_oldest
SELECT e.number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM (SELECT e.number FROM entry_terms t
    CROSS JOIN entry e INDEXED BY entry_ranked ON e.number = t.rowid
    WHERE t.entry_terms MATCH :match AND +e.store = :store AND +e.hidden = 0
        AND +e.state IN ('confirmed', 'updated') AND +e.when_us < :until
        AND (e.when_us, e.number) > (:when, :number)
    ORDER BY e.when_us, e.number LIMIT -1) m
CROSS JOIN entry e ON e.number = m.number;

-- name: beyond_count
-- Everything after the `keep` newest.
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry
WHERE store = ? AND hidden = 0 AND state IN ('confirmed', 'updated')
ORDER BY when_us DESC, number DESC LIMIT -1 OFFSET ?;

-- name: beyond_age
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry
WHERE store = ? AND hidden = 0 AND state IN ('confirmed', 'updated') AND when_us < ?
ORDER BY when_us DESC, number DESC;

-- name: all_entries
SELECT number, id, store, given_id, kind, subject, text, state, hidden, importance, pinned, session,
    bound, created_us, updated_us, said_us, when_us, until_us, extra, revision, fingerprint
FROM entry WHERE store = ? AND number <= ? ORDER BY number;

-- name: was_forgotten
-- Asked for, and not by a rule of the store. An entry and an artifact never share a number.
SELECT 1 FROM entry e JOIN change c ON c.seq = e.revision
WHERE e.number = :number AND e.state = 'forgotten' AND c.op = 'forget'
UNION ALL
SELECT 1 FROM artifact a JOIN change c ON c.seq = a.revision
WHERE a.number = :number AND a.state = 'forgotten' AND c.op = 'forget';

-- name: put_entry
INSERT INTO entry (number, id, store, given_id, kind, subject, text, state, hidden, importance,
    pinned, session, bound, created_us, updated_us, said_us, when_us, until_us, extra, revision,
    fingerprint, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET kind = excluded.kind, subject = excluded.subject,
    text = excluded.text, state = excluded.state, hidden = excluded.hidden,
    importance = excluded.importance, pinned = excluded.pinned, session = excluded.session,
    bound = excluded.bound, updated_us = excluded.updated_us, said_us = excluded.said_us,
    when_us = excluded.when_us, until_us = excluded.until_us, extra = excluded.extra,
    revision = excluded.revision, fingerprint = excluded.fingerprint, digest = excluded.digest;

-- name: record
INSERT INTO change (seq, at_us, said_us, actor, session, space, store, kind, target, op, prior,
    digest, header, salt, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: change
SELECT c.seq, c.at_us, c.said_us, c.actor, c.session, s.name, t.name, c.kind, c.target, c.op,
    c.prior, c.digest, c.body
FROM change c LEFT JOIN space s ON s.number = c.space LEFT JOIN store t ON t.number = c.store
WHERE c.seq = ?;

-- name: changes_newest
SELECT c.seq, c.at_us, c.said_us, c.actor, c.session, s.name, t.name, c.kind, c.target, c.op,
    c.prior, c.digest, c.body
FROM change c LEFT JOIN space s ON s.number = c.space LEFT JOIN store t ON t.number = c.store
WHERE c.seq > ? AND c.seq < ? ORDER BY c.seq DESC;

-- name: changes_oldest
SELECT c.seq, c.at_us, c.said_us, c.actor, c.session, s.name, t.name, c.kind, c.target, c.op,
    c.prior, c.digest, c.body
FROM change c LEFT JOIN space s ON s.number = c.space LEFT JOIN store t ON t.number = c.store
WHERE c.seq > ? AND c.seq < ? ORDER BY c.seq;

-- name: seq_at
-- Times of the log never go back, so the newest at or before a time is found by bisection on seq.
SELECT at_us FROM change WHERE seq = ?;

-- name: answer
-- Those of the last 30 days; older ones wait to be dropped.
SELECT actor, key, arguments, at_us, first_seq, last_seq, body FROM answer
WHERE actor = ? AND key = ? AND at_us >= ?;

-- name: keep_answer
INSERT INTO answer (actor, key, arguments, at_us, first_seq, last_seq, body, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: drop_answers
DELETE FROM answer WHERE at_us < ?;

-- name: frozen
SELECT session, budget, at_seq, body FROM frozen WHERE session = ? AND budget = ?;

-- name: freeze
INSERT INTO frozen (session, budget, at_seq, body, digest) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET at_seq = excluded.at_seq, body = excluded.body, digest = excluded.digest;

-- name: thaw
DELETE FROM frozen WHERE session = ?;

-- name: counts
SELECT 'spaces', count(*) FROM space
UNION ALL SELECT 'stores', count(*) FROM store WHERE position IS NOT NULL
UNION ALL SELECT 'sessions', count(*) FROM session
UNION ALL SELECT 'entries', count(*) FROM entry WHERE hidden = 0 AND state IN ('confirmed', 'updated')
UNION ALL SELECT 'messages', count(*) FROM message
UNION ALL SELECT 'changes', count(*) FROM change;

-- name: newest_seal
SELECT number, first_seq, last_seq, at_us, digest FROM seal ORDER BY number DESC LIMIT 1;

-- name: headers
SELECT seq, at_us, header FROM change WHERE seq > ? ORDER BY seq LIMIT ?;

-- name: put_seal
INSERT INTO seal (number, first_seq, last_seq, at_us, digest) VALUES (?, ?, ?, ?, ?);
