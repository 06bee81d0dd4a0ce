-- The statements that work on values, named and described. `:at` is the moment that counts as now.

-- name: place
-- What a write needs to know: the namespace, where there is one, and what stands under the key. No
-- row where the store is not what it was.
SELECT n.number, n.revision, n.bytes, n.due_us, v.revision, v.expires_us, octet_length(v.data) FROM store s
LEFT JOIN namespace n ON n.store = s.number AND n.name = ?3
LEFT JOIN value v ON v.namespace = n.number AND v.key = ?4
WHERE s.number = ?1 AND s.revision = ?2;

-- name: add_namespace
INSERT INTO namespace (store, name, revision, digest)
VALUES (?, ?, (SELECT revision FROM revision_floor), x'') RETURNING number, revision;

-- name: seal_namespace
UPDATE namespace SET digest = ? WHERE number = ?;

-- name: keep_namespace
UPDATE namespace SET revision = ?, bytes = ?, due_us = ? WHERE number = ?;

-- name: drop_namespace
DELETE FROM namespace WHERE number = ?;

-- name: raise_floor
UPDATE revision_floor SET revision = max(revision, ?);

-- name: newest_in
SELECT max(revision) FROM value WHERE namespace = ?;

-- name: bytes_in
-- What all keys and values of a namespace come to.
SELECT CAST(total(octet_length(key) + octet_length(data)) AS INTEGER) FROM value
WHERE namespace = ?;

-- name: data
SELECT data FROM value WHERE namespace = ? AND key = ?;

-- name: put
INSERT INTO value (namespace, key, data, revision, expires_us, digest) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace, key) DO UPDATE SET data = excluded.data, revision = excluded.revision,
    expires_us = excluded.expires_us, digest = excluded.digest;

-- name: drop
DELETE FROM value WHERE namespace = ? AND key = ?;

-- name: clear
DELETE FROM value WHERE namespace = ?;

-- name: get
-- The JSON of a value, if its store is still what it was.
SELECT v.data, v.expires_us FROM store s
CROSS JOIN namespace n ON n.store = s.number AND n.name = ?3
CROSS JOIN value v ON v.namespace = n.number AND v.key = ?4
WHERE s.number = ?1 AND s.revision = ?2;

-- name: stored
SELECT v.key, v.data, v.revision, v.expires_us
FROM namespace n CROSS JOIN value v ON v.namespace = n.number AND v.key = :key
WHERE n.store = :store AND n.name = :name AND (v.expires_us IS NULL OR v.expires_us > :at);

-- name: keys
-- A prefix is a range of keys, from itself to the first text that no longer begins so. Only what
-- may have expired is looked up, so that the keys come from their index alone.
SELECT key FROM value
WHERE namespace = (SELECT number FROM namespace WHERE store = :store AND name = :name)
    AND key >= :first AND key < :after AND key NOT IN (
        SELECT key FROM value WHERE namespace = (
            SELECT number FROM namespace WHERE store = :store AND name = :name AND due_us <= :at
        ) AND expires_us <= :at
    )
ORDER BY key LIMIT :most;

-- name: all_keys
SELECT key FROM value
WHERE namespace = (SELECT number FROM namespace WHERE store = :store AND name = :name)
    AND key >= :first AND key NOT IN (
        SELECT key FROM value WHERE namespace = (
            SELECT number FROM namespace WHERE store = :store AND name = :name AND due_us <= :at
        ) AND expires_us <= :at
    )
ORDER BY key LIMIT :most;

-- name: values
SELECT key, data, revision, expires_us FROM value
WHERE namespace = (SELECT number FROM namespace WHERE store = :store AND name = :name)
    AND key >= :first AND key < :after AND (expires_us IS NULL OR expires_us > :at)
ORDER BY key;

-- name: all_values
SELECT key, data, revision, expires_us FROM value
WHERE namespace = (SELECT number FROM namespace WHERE store = :store AND name = :name)
    AND key >= :first AND (expires_us IS NULL OR expires_us > :at)
ORDER BY key;

-- name: live
-- The namespaces of a store and what each holds, without what has expired.
SELECT n.name, count(*), CAST(total(octet_length(v.key) + octet_length(v.data)) AS INTEGER)
FROM namespace n CROSS JOIN value v ON v.namespace = n.number
WHERE n.store = :store AND (v.expires_us IS NULL OR v.expires_us > :at)
GROUP BY n.number ORDER BY n.name;

-- name: totals
-- Keys are counted in their index; only what may have expired is looked up.
WITH held AS MATERIALIZED (
    SELECT (SELECT count(*) FROM value WHERE namespace = n.number)
        - CASE WHEN due_us <= :at THEN (
            SELECT count(*) FROM value WHERE namespace = n.number AND expires_us <= :at
        ) ELSE 0 END AS live
    FROM namespace n WHERE store = :store
)
SELECT count(*), CAST(total(live) AS INTEGER) FROM held WHERE live > 0;

-- name: live_in
-- How many values of one namespace have not expired.
SELECT (SELECT count(*) FROM value WHERE namespace = n.number)
    - CASE WHEN due_us <= :at THEN (
        SELECT count(*) FROM value WHERE namespace = n.number AND expires_us <= :at
    ) ELSE 0 END
FROM namespace n WHERE number = :number;

-- name: due_namespace
-- One that may hold something that has expired.
SELECT number, revision, bytes, due_us FROM namespace
WHERE due_us <= ? ORDER BY due_us LIMIT 1;

-- name: due
SELECT key, revision, octet_length(data) FROM value
WHERE namespace = :number AND expires_us <= :at ORDER BY expires_us LIMIT :most;

-- name: next_due
SELECT min(expires_us) FROM value WHERE namespace = ? AND expires_us IS NOT NULL;

-- name: verify_counts
-- What each namespace's row says beside what its values come to.
SELECT n.number, n.name, n.revision, n.bytes, n.due_us,
    CAST(total(octet_length(v.key) + octet_length(v.data)) AS INTEGER), min(v.expires_us)
FROM namespace n LEFT JOIN value v ON v.namespace = n.number GROUP BY n.number ORDER BY n.number;
