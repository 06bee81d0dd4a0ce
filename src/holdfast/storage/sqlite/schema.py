"""Bringing a SQLite file to the newest schema.

`user_version` is the number of the newest step; it is set in the step's own transaction, together
with the step's record, so that an ordinary open reads one number and is done.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from holdfast.storage.migrate import Step, migrate, pending, step_names, steps_in
from holdfast.storage.sqlite.index import bring_index_up_to_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

HERE = Path(__file__).parent

_RECORDS = """
CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,
    digest BLOB NOT NULL,
    at_us  INTEGER NOT NULL
) STRICT
"""


def bring_up_to_date(conn: apsw.Connection, file: Path | None) -> None:
    """Apply the steps that are missing. The caller holds the vault's lock."""
    where = "the vault in RAM" if file is None else str(file)
    if conn.pragma("user_version") != len(step_names(HERE)):
        migrate(
            steps_in(HERE),
            applied_steps(conn),
            where=where,
            back_up=lambda number: back_up(conn, file, number),
            apply=lambda step: _apply(conn, step),
        )
    bring_index_up_to_date(conn, where)


def applied_steps(conn: apsw.Connection) -> dict[int, bytes]:
    known = conn.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").get
    return dict(conn.execute("SELECT number, digest FROM migration")) if known else {}


def check_steps(conn: apsw.Connection, where: str) -> None:
    """Raise when the steps that the file records are not this program's."""
    pending(steps_in(HERE), applied_steps(conn), where)


def back_up(conn: apsw.Connection, file: Path | None, number: int) -> None:
    """Copy the file as it is, ciphered where it is ciphered, before its schema changes."""
    if file is None:
        return
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    copy = file.with_name(f"{file.name}.schema-{number}.backup")
    part = copy.with_name(copy.name + ".part")
    with file.open("rb") as source, part.open("wb") as target:
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())
    part.replace(copy)
    folder = os.open(copy.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _apply(conn: apsw.Connection, step: Step) -> None:
    conn.execute("BEGIN IMMEDIATE")
    try:
        conn.execute(_RECORDS)
        conn.execute(step.sql)
        conn.execute(
            "INSERT INTO migration VALUES (?, ?, ?, ?)",
            (step.number, step.name, step.digest, time.time_ns() // 1000),
        )
        conn.pragma("user_version", step.number)
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
