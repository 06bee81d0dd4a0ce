-- Values by key in PostgreSQL. Prefixes, namespaces and keys are bytes: their order is that of code
-- points, whatever the collation, and every character means itself. Times are microseconds since
-- 1970; the server's clock is the one that counts.

-- name: make
CREATE SCHEMA IF NOT EXISTS holdfast;
CREATE SEQUENCE IF NOT EXISTS holdfast.value_revision;
CREATE TABLE IF NOT EXISTS holdfast.value_format (version int PRIMARY KEY);
CREATE TABLE IF NOT EXISTS holdfast.value (
    prefix bytea NOT NULL,
    namespace bytea NOT NULL,
    key bytea NOT NULL,
    revision bigint NOT NULL,
    expires_us bigint,
    size bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (prefix, namespace, key)
);
CREATE INDEX IF NOT EXISTS value_expiry ON holdfast.value (prefix, namespace, expires_us)
    WHERE expires_us IS NOT NULL;
CREATE TABLE IF NOT EXISTS holdfast.value_namespace (
    prefix bytea NOT NULL,
    namespace bytea NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (prefix, namespace)
);
INSERT INTO holdfast.value_format SELECT 1 WHERE NOT EXISTS (SELECT FROM holdfast.value_format);

-- name: is_there
SELECT to_regclass('holdfast.value_format') IS NOT NULL;

-- name: format
SELECT max(version) FROM holdfast.value_format;

-- Whoever changes a namespace has it alone until its commit.
-- name: alone
SELECT pg_advisory_xact_lock(%s), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;

-- name: one
SELECT revision, expires_us, data FROM holdfast.value
WHERE prefix = %(prefix)s AND namespace = %(namespace)s AND key = %(key)s
    AND (expires_us IS NULL OR expires_us > extract(epoch FROM clock_timestamp()) * 1000000);

-- name: held
SELECT key, revision, expires_us, data, size FROM holdfast.value
WHERE prefix = %(prefix)s AND namespace = %(namespace)s AND key = ANY(%(keys)s);

-- name: keys
SELECT key FROM holdfast.value
WHERE prefix = %(prefix)s AND namespace = %(namespace)s
    AND key >= %(first)s AND (%(beyond)s::bytea IS NULL OR key < %(beyond)s)
    AND (expires_us IS NULL OR expires_us > extract(epoch FROM clock_timestamp()) * 1000000)
ORDER BY key;

-- name: snapshot
SELECT key, revision, expires_us, data FROM holdfast.value
WHERE prefix = %(prefix)s AND namespace = %(namespace)s
    AND key >= %(first)s AND (%(beyond)s::bytea IS NULL OR key < %(beyond)s)
    AND (expires_us IS NULL OR expires_us > extract(epoch FROM clock_timestamp()) * 1000000)
ORDER BY key;

-- name: live
SELECT namespace, count(*) FROM holdfast.value
WHERE prefix = %(prefix)s
    AND (expires_us IS NULL OR expires_us > extract(epoch FROM clock_timestamp()) * 1000000)
GROUP BY namespace ORDER BY namespace;

-- name: put
INSERT INTO holdfast.value (prefix, namespace, key, revision, expires_us, size, data)
VALUES (%(prefix)s, %(namespace)s, %(key)s, nextval('holdfast.value_revision'), %(expires_us)s,
    %(size)s, %(data)s)
ON CONFLICT (prefix, namespace, key) DO UPDATE SET revision = excluded.revision,
    expires_us = excluded.expires_us, size = excluded.size, data = excluded.data
RETURNING revision;

-- name: drop
DELETE FROM holdfast.value
WHERE prefix = %(prefix)s AND namespace = %(namespace)s AND key = %(key)s;

-- name: drop_due
DELETE FROM holdfast.value
WHERE prefix = %(prefix)s AND namespace = %(namespace)s AND expires_us <= %(now_us)s
RETURNING size;

-- name: namespaces_due
SELECT DISTINCT namespace FROM holdfast.value
WHERE prefix = %(prefix)s
    AND expires_us <= extract(epoch FROM clock_timestamp()) * 1000000;

-- name: clear
DELETE FROM holdfast.value WHERE prefix = %(prefix)s AND namespace = %(namespace)s;

-- name: forget
DELETE FROM holdfast.value_namespace WHERE prefix = %(prefix)s AND namespace = %(namespace)s;

-- name: used
SELECT bytes FROM holdfast.value_namespace
WHERE prefix = %(prefix)s AND namespace = %(namespace)s;

-- name: use
INSERT INTO holdfast.value_namespace AS known (prefix, namespace, bytes)
VALUES (%(prefix)s, %(namespace)s, %(bytes)s)
ON CONFLICT (prefix, namespace) DO UPDATE SET bytes = known.bytes + excluded.bytes;
