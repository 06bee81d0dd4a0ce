-- Entries by subject for whoever asks, entries that end, links, and use.
--
-- `entry_subjects` answers the block of a store by itself, for 100 entries or for a million; whom an
-- entry is for is read from the index too.
DROP INDEX entry_subjects;

CREATE INDEX entry_subjects ON entry
    (store, importance, when_us, number, until_us, kind, id, given_id, subject, extra ->> '$.scope')
    WHERE subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated');

-- What ended, to be closed or let go.
CREATE INDEX entry_due ON entry (store, hidden, until_us)
    WHERE until_us IS NOT NULL AND state IN ('confirmed', 'updated');

-- Which entries refer to an id: the `refs` of the entries' rows, turned around.
CREATE TABLE link (
    target TEXT NOT NULL,
    source INTEGER NOT NULL REFERENCES entry (number),
    PRIMARY KEY (target, source)
) STRICT, WITHOUT ROWID;

-- How often an entry was read or shown by its id, and when last. No change of the log tells of it.
CREATE TABLE entry_use (
    entry   INTEGER PRIMARY KEY REFERENCES entry (number),
    uses    INTEGER NOT NULL,
    last_us INTEGER NOT NULL
) STRICT;
