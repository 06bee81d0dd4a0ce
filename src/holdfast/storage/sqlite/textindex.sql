-- The statements of a full-text index; `{index}` is its table. See textindex.py. A limit is one of
-- ours and written out, so that SQLite plans by it.

-- name: put_text
INSERT INTO {index} (rowid, terms, names) VALUES (?, ?, ?);

-- name: change_text
UPDATE {index} SET terms = ?, names = ? WHERE rowid = ?;

-- name: drop_text
DELETE FROM {index} WHERE rowid = ?;

-- name: drop_all_texts
-- What the index keeps of texts; `index_again` throws the index itself away.
DELETE FROM {index}_content;

-- name: put_content
INSERT INTO {index}_content (id, c0, c1) VALUES (?, ?, ?);

-- name: index_again
INSERT INTO {index} ({index}) VALUES ('rebuild');

-- name: merge
-- A bounded step of merging the index's segments.
INSERT INTO {index} ({index}, rank) VALUES ('merge', ?);

-- name: structure
-- FTS5's record of its segments.
SELECT block FROM {index}_data WHERE id = 10;

-- name: numbers
-- As one list in JSON: a row for each takes half as long again.
SELECT json_group_array(number) FROM (
    SELECT rowid AS number FROM {index} WHERE {index} MATCH ? AND rowid < ?
    ORDER BY rowid DESC LIMIT {limit});

-- name: totals
-- FTS5's record of how many rows there are and how many tokens each column has.
SELECT block FROM {index}_data WHERE id = 1;

-- name: newest_text
SELECT max(id) FROM {index}_content;

-- name: counted
-- Of the newest, up to a limit.
SELECT count(*), min(rowid) FROM (
    SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid DESC LIMIT {limit});

-- name: counted_up_to
-- In whatever order they come: one column of a statement that counts several expressions.
(SELECT count(*) FROM (SELECT rowid FROM {index} WHERE {index} MATCH ? LIMIT {limit}))
