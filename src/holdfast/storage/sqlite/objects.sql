-- Every statement about stored contents, named and described. See queries.sql.

-- name: objects
-- Those of a JSON list of hexadecimal names, pack by pack.
SELECT name, is_recipe, size, pack, at, length FROM object
WHERE name IN (SELECT unhex(value) FROM json_each(?)) ORDER BY pack, at;

-- name: knows_objects
SELECT name FROM object WHERE name IN (SELECT unhex(value) FROM json_each(?));

-- name: pack
SELECT form, size, data FROM pack WHERE number = ?;

-- name: put_pack
INSERT INTO pack (form, size, data) VALUES (?, ?, ?) RETURNING number;

-- name: put_object
-- What is there already lies in the new pack from now on, which heals it.
INSERT INTO object (name, is_recipe, size, pack, at, length, stored_us)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET is_recipe = excluded.is_recipe, size = excluded.size,
    pack = excluded.pack, at = excluded.at, length = excluded.length,
    stored_us = excluded.stored_us;

-- name: recipes
SELECT name FROM object INDEXED BY object_recipe WHERE is_recipe = 1;

-- name: objects_with_lengths
SELECT name, length FROM object;

-- name: objects_before
SELECT name FROM object WHERE stored_us < ?;

-- name: drop_object
DELETE FROM object WHERE name = ? AND stored_us < ? RETURNING length;

-- name: loose_packs
-- Packs of which objects use less than there is, with what they use: NULL where there is no object.
SELECT p.number, o.used
FROM pack p LEFT JOIN (SELECT pack, sum(length) AS used FROM object GROUP BY pack) o
    ON o.pack = p.number
WHERE p.number > ? AND coalesce(o.used, -1) < p.size ORDER BY p.number LIMIT ?;

-- name: packed_in
SELECT name, at, length FROM object WHERE pack = ? ORDER BY at;

-- name: move_object
UPDATE object SET at = ? WHERE name = ?;

-- name: put_pack_again
UPDATE pack SET form = ?, size = ?, data = ? WHERE number = ?;

-- name: drop_pack
DELETE FROM pack WHERE number = ?;

-- name: collections
SELECT count FROM collection;

-- name: collected
UPDATE collection SET count = count + 1;

-- name: objects_between
SELECT name, is_recipe, size, pack, at, length FROM object WHERE pack > ? AND pack <= ?
ORDER BY pack, at;

-- name: newest_pack
SELECT max(coalesce((SELECT max(number) FROM pack), 0), coalesce((SELECT max(pack) FROM object), 0));
