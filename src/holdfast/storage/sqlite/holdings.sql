-- Every statement about the contents that entries hold, named and described. See queries.sql.

-- name: hold
INSERT INTO holding (name, entry, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: held
-- What entries hold since a change, and what proposals that wait would hold, as hexadecimal names.
SELECT hex(name) FROM holding WHERE seq > ?
UNION
SELECT '1220' || substr(held.value, 8)
FROM proposal p, json_each(p.suggestion, '$.details.holds') held WHERE p.state = 'pending';

-- name: held_by
-- Each content that an entry holds, with one name for it.
SELECT h.name, 'entry ' || e.id FROM holding h JOIN entry e ON e.number = h.entry
GROUP BY h.name ORDER BY min(h.seq);

-- name: said_to_hold
-- What the log says that entries hold, and since when.
SELECT unhex('1220' || substr(held.value, 8)) AS name, whole ->> '$.after.number' AS entry,
    min(seq) AS seq
FROM (SELECT seq, CASE WHEN json_valid(body) THEN body END AS whole FROM change
    WHERE kind = 'entry' AND body LIKE '%"holds":[%'), json_each(whole, '$.after.holds') held
GROUP BY 1, 2;

-- name: unlike
-- The entries of which table and log do not say the same.
WITH said AS (
    SELECT unhex('1220' || substr(held.value, 8)) AS name, whole ->> '$.after.number' AS entry,
        min(seq) AS seq
    FROM (SELECT seq, CASE WHEN json_valid(body) THEN body END AS whole FROM change
        WHERE kind = 'entry' AND body LIKE '%"holds":[%'), json_each(whole, '$.after.holds') held
    GROUP BY 1, 2
)
SELECT entry FROM (
    SELECT * FROM (SELECT name, entry, seq FROM said EXCEPT SELECT name, entry, seq FROM holding)
    UNION ALL
    SELECT * FROM (SELECT name, entry, seq FROM holding EXCEPT SELECT name, entry, seq FROM said)
) GROUP BY entry ORDER BY entry;

-- name: hold_nothing
DELETE FROM holding;
