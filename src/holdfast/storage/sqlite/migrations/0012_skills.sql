-- Stored contents that entries hold, and entries by how their subject begins.
--
-- A content is held by each entry one of whose versions names it, from the change on that first
-- did. What nobody holds, and no version of a directory leads to, is collected. The table says what
-- the log says, turned around.
CREATE TABLE holding (
    name  BLOB NOT NULL,
    entry INTEGER NOT NULL REFERENCES entry (number),
    seq   INTEGER NOT NULL,
    PRIMARY KEY (name, entry)
) STRICT, WITHOUT ROWID;

CREATE INDEX holding_seq ON holding (seq);

CREATE INDEX entry_titled ON entry (store, subject) WHERE subject <> '' AND state <> 'forgotten';
