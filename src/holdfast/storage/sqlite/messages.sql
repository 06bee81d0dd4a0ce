-- Every statement about messages, named and described. See queries.sql.

-- name: put_message
INSERT INTO message (number, id, session, place, role, rewound, at_us, said_us, when_us, given_id,
    revision, extra, text, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (number) DO UPDATE SET rewound = excluded.rewound, revision = excluded.revision,
    extra = excluded.extra, text = excluded.text, digest = excluded.digest;

-- name: index_message
INSERT INTO message_terms (rowid, terms) VALUES (?, ?);

-- name: unindex_message
INSERT INTO message_terms (message_terms, rowid, terms) VALUES ('delete', ?, ?);

-- name: use
-- How far a session has come.
SELECT messages, turns, last_us, reviewed FROM session WHERE number = ?;

-- name: count_message
UPDATE session SET messages = messages + 1, turns = turns + ?, last_us = max(last_us, ?)
WHERE number = ?;

-- name: put_reviewed
UPDATE session SET reviewed = ? WHERE number = ?;

-- name: message
SELECT m.number, m.id, s.id, m.place, m.role, m.rewound, m.at_us, m.said_us, m.when_us, m.given_id,
    m.revision, m.extra, m.text
FROM message m JOIN session s ON s.number = m.session WHERE m.id = ?;

-- name: message_given
SELECT m.number, m.id, s.id, m.place, m.role, m.rewound, m.at_us, m.said_us, m.when_us, m.given_id,
    m.revision, m.extra, m.text
FROM message m JOIN session s ON s.number = m.session WHERE m.session = ? AND m.given_id = ?;

-- name: messages
-- Those of a session from a place on, in order.
SELECT m.number, m.id, s.id, m.place, m.role, m.rewound, m.at_us, m.said_us, m.when_us, m.given_id,
    m.revision, m.extra, m.text
FROM message m JOIN session s ON s.number = m.session
WHERE m.session = ? AND m.place >= ? ORDER BY m.place LIMIT ?;

-- name: last_heard
-- The newest that was not taken back, of whoever talks: what an answer stands on.
SELECT m.number, m.id, s.id, m.place, m.role, m.rewound, m.at_us, m.said_us, m.when_us, m.given_id,
    m.revision, m.extra, m.text
FROM message m JOIN session s ON s.number = m.session
WHERE m.session = ? AND m.rewound = 0 AND m.role <> 'system' ORDER BY m.place DESC LIMIT 1;

-- name: untrusted
-- Where the newest words came from that nobody trusts, up to a place.
SELECT extra ->> 'origin' FROM message
WHERE session = ? AND place <= ? AND rewound = 0 AND extra ->> 'trust' = 'low'
ORDER BY place DESC LIMIT 1;

-- name: first_words
-- How a session without a title began.
SELECT substr(text, 1, 400) FROM message
WHERE session = ? AND role = 'user' AND rewound = 0 ORDER BY place LIMIT 1;

-- name: near
-- The messages around one, cut short.
SELECT place, role, substr(text, 1, 400) FROM message
WHERE session = ? AND rewound = 0 AND place BETWEEN ? AND ? AND place <> ? ORDER BY place;

-- name: session_given
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space WHERE e.space = ? AND e.given_id = ?;

-- name: sources
-- The sources that sessions of a space came from, by steps through the index.
WITH RECURSIVE known (source) AS (
    SELECT min(source) FROM session WHERE space = :space
    UNION ALL
    SELECT (SELECT min(source) FROM session WHERE space = :space AND source > known.source)
    FROM known WHERE known.source IS NOT NULL
)
SELECT source FROM known WHERE source IS NOT NULL;

-- name: recent
-- Sessions of a source, the last used first.
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted, e.messages, e.turns, e.last_us
FROM session e JOIN space s ON s.number = e.space
WHERE e.space = ? AND e.source = ? AND e.last_us < ?
ORDER BY e.last_us DESC, e.number DESC;

-- name: best
-- The best of all messages that match, then those of them that may be shown.
SELECT m.number, m.session, m.place, f.rank, 1
FROM (SELECT rowid, rank FROM message_terms WHERE message_terms MATCH :match
    ORDER BY rank LIMIT :limit) f
CROSS JOIN message m ON m.number = f.rowid CROSS JOIN session s ON s.number = m.session
WHERE m.rewound = 0 AND s.space = :space AND s.user = :user AND m.when_us >= :since AND m.when_us < :until
    AND (:roles = '' OR instr(:roles, m.role) > 0)
    AND s.source IN (SELECT value FROM json_each(:sources))
ORDER BY f.rank, m.number DESC;

-- name: all_best
-- The best of each session, of all messages that match: for where the best of all were of too few.
SELECT m.number, m.session, m.place, min(t.rank) AS best, count(*)
FROM message_terms t CROSS JOIN message m ON m.number = t.rowid
CROSS JOIN session s ON s.number = m.session
WHERE t.message_terms MATCH :match AND m.rewound = 0 AND s.space = :space AND s.user = :user
    AND m.when_us >= :since AND m.when_us < :until
    AND (:roles = '' OR instr(:roles, m.role) > 0)
    AND s.source IN (SELECT value FROM json_each(:sources))
GROUP BY m.session ORDER BY best, m.number DESC LIMIT :sessions;

-- name: matching_count
SELECT count(*) FROM (SELECT 1 FROM message_terms WHERE message_terms MATCH ? LIMIT ?);

-- name: session_numbered
SELECT e.number, e.id, e.state, e.title, e.agent, e.user, e.started_us, e.ended_us, e.revision,
    e.lease_us, s.id, s.name, e.source, e.given_id, e.compacted
FROM session e JOIN space s ON s.number = e.space WHERE e.number = ?;

-- name: message_numbered
SELECT m.number, m.id, s.id, m.place, m.role, m.rewound, m.at_us, m.said_us, m.when_us, m.given_id,
    m.revision, m.extra, m.text
FROM message m JOIN session s ON s.number = m.session WHERE m.number = ?;

-- name: outworn
-- Messages of a space from before a time, for a store that keeps them for a time only.
SELECT m.number, m.id, s.id, m.place, m.role, m.rewound, m.at_us, m.said_us, m.when_us, m.given_id,
    m.revision, m.extra, m.text
FROM session s JOIN message m ON m.session = s.number
WHERE s.space = ? AND s.last_us < ? AND m.text <> '' LIMIT ?;

-- name: use_differs
-- Sessions whose counts are not what their messages come to.
SELECT s.number, s.id, count(m.number), max(s.started_us, coalesce(max(m.when_us), s.started_us)),
    coalesce(sum(m.role = 'user' AND m.rewound = 0), 0)
FROM session s LEFT JOIN message m ON m.session = s.number
GROUP BY s.number
HAVING s.messages <> count(m.number) OR s.last_us <> max(s.started_us, coalesce(max(m.when_us), s.started_us))
    OR s.turns <> coalesce(sum(m.role = 'user' AND m.rewound = 0), 0);

-- name: put_use
UPDATE session SET messages = ?, last_us = ?, turns = ? WHERE number = ?;
