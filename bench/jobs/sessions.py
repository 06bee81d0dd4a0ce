"""The archive of conversations, of few sessions or of a hundred thousand: search, list, read."""

from __future__ import annotations

import itertools
import json
from functools import partial
from typing import TYPE_CHECKING

import apsw

import holdfast
from bench import data, floors, vaults
from bench.measure import Candidate, Local, Measured, alternate
from bench.table import Row, Table, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.setting import Setting
    from holdfast.strategies.transcript import Transcript

    Operation = Callable[[int], object]

MESSAGES = 4
SOURCES = (*("cli",) * 8, "mcp", "cron")
OPERATIONS = ("search, 10 sessions", "list, 20 sessions", "show, 1 session")
RAW, OURS = "raw SQLite", "holdfast"

SCHEMA = """
CREATE TABLE session (number INTEGER PRIMARY KEY, title TEXT, source TEXT, last_us INTEGER);
CREATE INDEX session_last ON session (last_us, number, title, source);
CREATE TABLE message (number INTEGER PRIMARY KEY, session INTEGER, place INTEGER, role TEXT,
    when_us INTEGER, text TEXT);
CREATE INDEX message_place ON message (session, place);
CREATE VIRTUAL TABLE terms USING fts5 (text, content='');
"""
FOUND = """
SELECT s.number, s.title, m.place, m.text, min(f.rank) AS best
FROM (SELECT rowid, rank FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT 400) f
JOIN message m ON m.number = f.rowid JOIN session s ON s.number = m.session
GROUP BY s.number ORDER BY best LIMIT 10
"""
RECENT = """
SELECT number, title, source, last_us FROM session ORDER BY last_us DESC, number DESC LIMIT 20
"""
SHOWN = "SELECT place, role, when_us, text FROM message WHERE session = ? ORDER BY place LIMIT 50"


def run(setting: Setting) -> Table:
    sizes = setting.pick((1_000, 100_000), (1_000, 10_000), (20, 40))
    kept = {size: built(setting, size) for size in sizes}
    found = alternate(
        [
            Candidate(name=_name(who, what, size), start=partial(start, kept[size], size, what))
            for what in OPERATIONS
            for size in sizes
            for who, start in ((RAW, _raw), (OURS, _ours))
        ],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(200, 100, 4),
        each=setting.pick(50, 50, 2),
    )
    rows = [row for what in OPERATIONS for size in sizes for row in _rows(found, what, size)]
    if sizes[0] != sizes[-1]:
        rows += [_growth(found, what, *sizes) for what in OPERATIONS]
    return Table(
        job="sessions",
        title=f"conversations of {MESSAGES} messages each, N in all",
        ratio="time to that of raw SQLite with the same words",
        rows=tuple(rows),
        notes=(
            "raw SQLite gives the best 10 sessions with one message each, and bare rows. holdfast",
            "adds a snippet, the messages around, people before automation, and titles.",
        ),
    )


def _rows(found: dict[str, Measured], what: str, size: int) -> list[Row]:
    floor = found[_name(RAW, what, size)]
    return [row_of(found[_name(who, what, size)], floor) for who in (RAW, OURS)]


def _growth(found: dict[str, Measured], what: str, small: int, large: int) -> Row:
    grown = found[_name(OURS, what, large)].times(found[_name(OURS, what, small)])
    return Row(name=f"holdfast, {what}: {large:,} to {small:,}", ratio=grown)


def _name(who: str, what: str, size: int) -> str:
    return f"{who}, {what}, N = {size:,}"


# What is there


def built(setting: Setting, sessions: int) -> Path:
    """The folder of a vault with so many sessions and of a plain file with the same words."""
    return vaults.built(setting, f"sessions-{sessions}", partial(_build, sessions=sessions))


def _build(folder: Path, sessions: int) -> None:
    file = folder / "talks.jsonl"
    with file.open("w") as out:
        for line in _messages(sessions):
            out.write(json.dumps(line) + "\n")
    with holdfast.open(folder / "vault") as vault:
        vault.space().import_sessions(file)
        vault.tidy()
    file.unlink()
    _build_raw(folder / "raw.db", sessions)


def _messages(sessions: int) -> Iterator[dict[str, object]]:
    for number, text in zip(range(sessions * MESSAGES), data.notes(), strict=False):
        session, place = divmod(number, MESSAGES)
        yield {
            "session": f"s{session}",
            "source": SOURCES[session % len(SOURCES)],
            "role": "assistant" if place % 2 else "user",
            "text": text,
            "at": vaults.START_US / 1e6 + number,
        }


def _build_raw(file: Path, sessions: int) -> None:
    conn = floors.connected(file)
    conn.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    conn.execute(SCHEMA)
    source = enumerate(_messages(sessions))
    while batch := list(itertools.islice(source, 10_000)):
        with conn:
            for number, said in batch:
                session, place = divmod(number, MESSAGES)
                when_us = vaults.START_US + number * 1_000_000
                row = (number + 1, session, place + 1, said["role"], when_us, said["text"])
                conn.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?)", row)
                conn.execute(
                    "INSERT INTO terms (rowid, text) VALUES (?, ?)", (number + 1, said["text"])
                )
                if place == MESSAGES - 1:
                    conn.execute(
                        "INSERT INTO session VALUES (?, ?, ?, ?)",
                        (session, said["text"], said["source"], when_us),
                    )
    conn.execute("INSERT INTO terms (terms) VALUES ('optimize')")
    conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    conn.close()


def _queries(sessions: int) -> list[str]:
    return data.queries(50, sessions * MESSAGES)


def _raw(kept: Path, size: int, what: str, _folder: Path) -> Local:
    conn = floors.connected(kept / "raw.db")
    asked = _queries(size)

    def all_of(sql: str, *bindings: object) -> object:
        return conn.execute(sql, bindings).fetchall()

    does: dict[str, Operation] = {
        OPERATIONS[0]: lambda n: all_of(FOUND, asked[n % len(asked)]),
        OPERATIONS[1]: lambda _: all_of(RECENT),
        OPERATIONS[2]: lambda n: all_of(SHOWN, n * 7919 % size),
    }
    return Local(does[what], conn.close)


def _ours(kept: Path, size: int, what: str, _folder: Path) -> Local:
    opened = holdfast.open(kept / "vault")
    archive, asked = opened.space().transcript(), _queries(size)
    ids = _ids(archive)
    does: dict[str, Operation] = {
        OPERATIONS[0]: lambda n: archive.search(asked[n % len(asked)]),
        OPERATIONS[1]: lambda _: archive.recent(),
        OPERATIONS[2]: lambda n: archive.read(ids[n % len(ids)]),
    }
    return Local(does[what], opened.close)


def _ids(archive: Transcript) -> list[str]:
    return [each.session.id for each in archive.recent(limit=500)]
