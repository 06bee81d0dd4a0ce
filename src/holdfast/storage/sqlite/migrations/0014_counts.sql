-- A write of a value writes the value alone: its namespace's row only where a value goes, where a
-- limit on bytes is kept, or where a value is the first to expire.
--
-- `revision` is not less than that of any value that has gone: a key that is made begins after it,
-- and goes on from there. `bytes` (of keys and values, all that are stored) is NULL until a limit
-- asks for it, and from then on kept true by every write. How many values there are is counted when
-- it is asked. `bytes` and `due_us` can be made again from `value`; the digest leaves all three out.
ALTER TABLE namespace DROP COLUMN entries;
ALTER TABLE namespace DROP COLUMN bytes;
ALTER TABLE namespace ADD COLUMN bytes INTEGER;
