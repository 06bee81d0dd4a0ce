"""Bringing a SQLite file to the newest schema.

`user_version` is the number of the newest step; it is set in the step's own transaction, together
with the step's record, so that an ordinary open reads one number and is done.
"""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from holdfast.errors import Unsupported
from holdfast.storage.migrate import Step, migrate, step_names, steps_in
from holdfast.storage.sqlite.index import bring_index_up_to_date
from holdfast.storage.sqlite.place import sync_folder
from holdfast.storage.sqlite.recipe import copy_file, end_without_log

HERE = Path(__file__).parent
APPLICATION = 0x486C6466  # "Hldf", by which `file` and other programs may know a vault

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


def refuse_strangers(conn: apsw.Connection, file: Path | None) -> None:
    """Raise when a database is another program's. Only looks."""
    ours = conn.pragma("application_id")
    if ours != APPLICATION and (ours or conn.execute("SELECT 1 FROM sqlite_schema").get):
        raise Unsupported(
            "not_a_vault",
            f"{file} is a database of another program",
            hint="name another place; this file was left as it is",
        )


def applied_steps(conn: apsw.Connection) -> dict[int, bytes]:
    known = conn.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").get
    return dict(conn.execute("SELECT number, digest FROM migration")) if known else {}


def expected_schema() -> dict[str, str]:
    """What the steps make, by name: every table, index and virtual table with its text."""
    conn = apsw.Connection(":memory:")
    conn.execute(_RECORDS)
    for step in steps_in(HERE):
        conn.execute(step.sql)
    wanted = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    return {str(name): str(sql) for name, sql in conn.execute(wanted)}


def back_up(conn: apsw.Connection, file: Path | None, number: int) -> None:
    """Copy the file as it is, ciphered where it is ciphered, before its schema changes."""
    if file is None:
        return
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    copy = file.with_name(f"{file.name}.schema-{number}.backup")
    part = copy.with_name(copy.name + ".part")
    copy_file(file, part)
    end_without_log(part)
    part.replace(copy)
    sync_folder(copy.parent)


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
        conn.pragma("application_id", APPLICATION)
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
