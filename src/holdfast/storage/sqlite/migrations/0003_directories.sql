-- Versioned directories. `head` is the version (its v) that a folder is brought to; 0 before any.
CREATE TABLE directory (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    space      INTEGER NOT NULL REFERENCES space (number),
    name       TEXT NOT NULL,
    type       TEXT NOT NULL CHECK (type IN ('memory', 'artifact', 'volume')),
    state      TEXT NOT NULL CHECK (state IN ('kept', 'forgotten')),
    hidden     INTEGER NOT NULL,
    head       INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    digest     BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX directory_name ON directory (space, type, name) WHERE state = 'kept';

-- A version never changes. `tree` is the digest of its root folder, `parents` a JSON array of v.
CREATE TABLE version (
    number    INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    directory INTEGER NOT NULL REFERENCES directory (number),
    v         INTEGER NOT NULL,
    tree      TEXT NOT NULL,
    files     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    parents   TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('ordinary', 'recovery')),
    author    TEXT NOT NULL,
    run       TEXT,
    session   TEXT,
    message   TEXT NOT NULL,
    at_us     INTEGER NOT NULL,
    digest    BLOB NOT NULL,
    UNIQUE (directory, v)
) STRICT;

-- Bytes of contents that were stored together, as they are or compressed; `size` is that of all of
-- them. What of it no object refers to is dropped by a collection.
CREATE TABLE pack (
    number INTEGER PRIMARY KEY,
    form   TEXT NOT NULL CHECK (form IN ('raw', 'zstd')),
    size   INTEGER NOT NULL,
    data   BLOB NOT NULL
) STRICT;

-- Contents, folders and parts of what was cut. `name` is the digest of the content behind two bytes
-- that say which algorithm made it and how long it is (12 20: SHA-256), so a row needs no digest of
-- its own. The object lies in its pack, `length` bytes from `at`; `size` is that of the content, of
-- which a recipe lists the parts.
CREATE TABLE object (
    name      BLOB PRIMARY KEY,
    is_recipe INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    pack      INTEGER NOT NULL REFERENCES pack (number),
    at        INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    stored_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX object_pack ON object (pack);
CREATE INDEX object_recipe ON object (name) WHERE is_recipe = 1;

-- How often objects were collected: a push that began before counts again what it can rest on.
CREATE TABLE collection (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    count  INTEGER NOT NULL
) STRICT;

INSERT INTO collection VALUES (1, 0);
