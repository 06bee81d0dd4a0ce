"""What a session starts with: the 20 newest notes of three stores, of few notes or of a million."""

from __future__ import annotations

from functools import partial

import apsw

import holdfast
from bench import floors, vaults
from bench.measure import Candidate, Local, Measured, alternate
from bench.table import Goal, Row, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from bench.setting import Setting

RAW = "raw apsw: 3 covering queries"
PLAIN = "raw apsw: the same, as one text"
OURS = "holdfast space.context()"


def run(setting: Setting) -> Table:
    sizes = setting.pick((10_000, 1_000_000), (10_000,), (30, 60))
    found = alternate(
        [candidate for size in sizes for candidate in _candidates(setting, size)],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(1_000, 500, 10),
        each=setting.pick(50, 50, 5),
    )
    rows = [row for size in sizes for row in _rows(found, size)]
    small, large = sizes[0], sizes[-1]
    flat = found[_name(OURS, large)].times(found[_name(OURS, small)])
    if small != large and flat is not None:
        rows.append(Row(name=f"holdfast, {large:,} to {small:,}", ratio=flat, goal=Goal(limit=1.1)))
    asked = statements(vaults.vault(setting, small))
    rows.append(Row(name="holdfast, statements a context", figure=str(len(asked))))
    return Table(
        job="context",
        title="3 narrative stores, the 20 newest of each, of N notes in all",
        ratio="time to that of the raw queries on a file of as many notes",
        rows=tuple(rows),
        notes=("Statements: " + " · ".join(" ".join(sql.split())[:48] for sql in asked),),
    )


def _candidates(setting: Setting, size: int) -> list[Candidate]:
    raw = vaults.raw_rows(setting, size) / "raw.db"
    return [
        Candidate(name=_name(RAW, size), start=partial(_raw, raw, as_text=False)),
        Candidate(name=_name(PLAIN, size), start=partial(_raw, raw, as_text=True)),
        Candidate(name=_name(OURS, size), start=partial(ours, vaults.vault(setting, size))),
    ]


def _rows(found: dict[str, Measured], size: int) -> list[Row]:
    floor = found[_name(RAW, size)]
    return [
        row_of(found[_name(name, size)], floor, Goal(limit=2) if name == OURS else None)
        for name in (RAW, PLAIN, OURS)
    ]


def _name(candidate: str, size: int) -> str:
    return f"{candidate}, N = {size:,}"


def ours(vault: Path, _folder: Path, key: str | None = None) -> Local:
    opened = holdfast.open(vault, key=key)
    space = opened.space(vaults.SPACE)
    return Local(lambda _: space.context(), opened.close)


def _raw(file: Path, _folder: Path, *, as_text: bool) -> Local:
    conn = floors.connected(file)

    def once(_number: int) -> object:
        conn.execute("BEGIN")
        found = [
            conn.execute(vaults.RAW_NEWEST, (store,)).fetchall()
            for store in range(1, len(vaults.STORES) + 1)
        ]
        conn.execute("COMMIT")
        return (
            "\n".join(f"- {row[2]} [{row[0]}]" for rows in found for row in rows)
            if as_text
            else found
        )

    return Local(once, conn.close)


def statements(vault: Path) -> list[str]:
    """What one context asks of SQLite."""
    seen: list[str] = []

    def watch(conn: apsw.Connection) -> None:
        conn.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: seen.append(str(event["sql"])))

    apsw.connection_hooks.append(watch)
    try:
        with holdfast.open(vault) as opened:
            space = opened.space(vaults.SPACE)
            space.context()
            seen.clear()
            space.context()
            return list(seen)
    finally:
        apsw.connection_hooks.remove(watch)
