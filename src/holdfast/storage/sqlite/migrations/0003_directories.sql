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

-- Contents, folders and parts of what was cut. `name` is the digest of the content behind two bytes
-- that say which algorithm made it and how long it is (12 20: SHA-256), so a row needs no digest of
-- its own. `size` is that of the content, `data` the content in its form.
CREATE TABLE object (
    number    INTEGER PRIMARY KEY,
    name      BLOB NOT NULL UNIQUE,
    form      TEXT NOT NULL CHECK (form IN ('raw', 'zstd', 'recipe')),
    size      INTEGER NOT NULL,
    stored_us INTEGER NOT NULL,
    data      BLOB NOT NULL
) STRICT;

CREATE INDEX object_recipe ON object (name) WHERE form = 'recipe';

-- How often objects were collected: a push that began before counts again what it can rest on.
CREATE TABLE collection (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    count  INTEGER NOT NULL
) STRICT;

INSERT INTO collection VALUES (1, 0);
