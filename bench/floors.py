"""The floors: the least that anybody could do for the same promise, in plain Python and apsw."""

from __future__ import annotations

import os

import apsw

from bench import data
from bench.measure import Local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

KEPT_BYTES = 5_000_000
RECORD = data.value(0).encode()

VALUES = """
CREATE TABLE IF NOT EXISTS value (
    namespace TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID
"""
SET_VALUE = """
INSERT INTO value (namespace, key, body, revision) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, key) DO UPDATE SET body = excluded.body, revision = excluded.revision
"""


def synced_file(folder: Path) -> Local:
    """200 bytes into a file that has its blocks already, and its sync."""
    size = 4 * 1024 * 1024
    handle = os.open(folder / "file", os.O_RDWR | os.O_CREAT)
    os.write(handle, bytes(size))
    os.fsync(handle)

    def write(number: int) -> None:
        os.pwrite(handle, RECORD, number * len(RECORD) % (size - len(RECORD)))
        os.fdatasync(handle)

    return Local(write, lambda: os.close(handle))


def connected(file: Path) -> apsw.Connection:
    """One that prepares each statement once, as ours do."""
    conn = apsw.Connection(str(file), statementcachesize=200)
    conn.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return conn


def raw_wal(file: Path, *, grows: bool = False) -> apsw.Connection:
    """A connection that syncs its log at each commit. `grows`: the log never starts over.

    Else it has its size before the first write, and each 1,000 pages it is written from its
    beginning again.
    """
    conn = connected(file)
    conn.pragma("journal_mode", "wal")
    conn.pragma("synchronous", "FULL")
    conn.wal_autocheckpoint(0 if grows else 1000)
    if not grows:
        conn.execute(
            "CREATE TABLE filler (body BLOB); INSERT INTO filler VALUES (?)", (bytes(KEPT_BYTES),)
        )
        conn.execute("DROP TABLE filler")
        conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    return conn


def raw_values(folder: Path, *, grows: bool = False) -> Local:
    """One upsert that commits by itself."""
    conn = raw_wal(folder / "raw.db", grows=grows)
    conn.execute(VALUES)

    def write(number: int) -> None:
        conn.execute(SET_VALUE, ("bench", data.key(number), data.value(number), number))

    return Local(write, conn.close)
