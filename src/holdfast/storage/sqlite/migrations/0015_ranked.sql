-- What a search needs to know of an entry that its words were found in, without reading its row.
CREATE INDEX entry_ranked ON entry (number, store, state, hidden, when_us, importance, pinned,
    until_us, extra ->> '$.scope');
