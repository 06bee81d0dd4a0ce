-- Entries that end, by their kind: those of one kind close and go, others end and stay.
DROP INDEX entry_due;

CREATE INDEX entry_due ON entry (store, kind, hidden, until_us)
    WHERE until_us IS NOT NULL AND state IN ('confirmed', 'updated');

-- Entries by what they are called, whatever the case of its letters.
CREATE INDEX entry_called ON entry (store, kind, subject COLLATE NOCASE, number)
    WHERE subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated');
