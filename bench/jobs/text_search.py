"""Two words in a store of 100,000 notes: rare ones, and ones that thousands of the notes have."""

from __future__ import annotations

from functools import partial
from statistics import mean, median

import holdfast
from bench import data, floors, remote, vaults
from bench.measure import Candidate, Local, Measured, alternate
from bench.table import Goal, Row, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from bench.setting import Setting

BEST = "raw FTS5, the best 20"
NEWEST = "raw FTS5, the newest 20"
OURS = "holdfast notes.read(text=…)"
SEARCH = "holdfast space.search(…)"
TANTIVY = "tantivy, the best 20"
ABOUT = 200

FOUND = """
SELECT note.id, note.when_us, note.text
FROM (SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY {} LIMIT 20) AS found
JOIN note ON note.number = found.rowid
"""


def run(setting: Setting) -> Table:
    size = setting.pick(100_000, 10_000, 50)
    rows: list[Row] = []
    notes: list[str] = []
    for kind, ranks in (("rare", data.RARE_RANKS), ("common", data.COMMON_RANKS)):
        asked = data.queries(setting.pick(1_000, 400, 5), size, ranks)
        found = _measured(setting, size, asked)
        for name, measured in found.items():
            goal = Goal(limit=1.5) if name in (OURS, SEARCH) else None
            row = row_of(measured, found[BEST], goal)
            rows.append(row.replace(name=f"{kind} words: {name}"))
        notes.append(_about(vaults.raw_rows(setting, size) / "raw.db", kind, ranks, asked))
    return Table(
        job="text-search",
        title=f"two words among {size:,} notes of one store, 20 answers with their texts",
        ratio="time to that of raw FTS5, best first, for the same words",
        rows=tuple(rows),
        notes=(
            *notes,
            "Each round goes once through the queries, with a vault that is opened for it.",
            "notes.read answers the newest first, of one store; space.search the best first, of",
            "all stores, and says why. Both compare its own tokens (stems, parts of names); raw",
            "FTS5 and tantivy compare plain words. Each index has been merged to one segment.",
        ),
    )


def _measured(setting: Setting, size: int, asked: list[str]) -> dict[str, Measured]:
    raw = vaults.raw_rows(setting, size) / "raw.db"
    vault = vaults.vault(setting, size, stores=1)
    return alternate(
        [
            Candidate(name=BEST, start=partial(_raw, raw, asked, "rank")),
            Candidate(name=NEWEST, start=partial(_raw, raw, asked, "rowid DESC")),
            Candidate(name=OURS, start=partial(_ours, vault, asked)),
            Candidate(name=SEARCH, start=partial(_search, vault, asked)),
            Candidate(name=TANTIVY, start=partial(_tantivy, setting, size, asked)),
        ],
        setting.folder,
        rounds=setting.rounds,
        count=len(asked),
        each=setting.pick(200, 200, 5),
    )


def _about(raw: Path, kind: str, ranks: tuple[int, int], asked: list[str]) -> str:
    """What these words are, as raw FTS5 counts them."""
    conn = floors.connected(raw)
    among = asked[:ABOUT]
    words = [word for query in among for word in query.split()]
    held = median(_matches(conn, word) for word in words)
    met = [_matches(conn, query) for query in among]
    conn.close()
    return (
        f"{kind} words: {len(asked):,} queries of words of the ranks {ranks[0]} to"
        f" {ranks[1]:,}; half of the words stand in {held:,.0f} notes or more, half of the queries"
        f" are met by {median(met):,.0f} or more, {mean(met):,.0f} on average."
    )


def _matches(conn: apsw.Connection, words: str) -> int:
    ((count,),) = conn.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (words,))
    return int(str(count))


def _raw(file: Path, asked: list[str], order: str, _folder: Path) -> Local:
    conn, query = floors.connected(file), FOUND.format(order)
    return Local(lambda n: conn.execute(query, (asked[n % len(asked)],)).fetchall(), conn.close)


def _ours(vault: Path, asked: list[str], _folder: Path) -> Local:
    opened = holdfast.open(vault)
    notes = opened.space(vaults.SPACE).notes(vaults.STORES[0])
    return Local(lambda n: notes.read(text=asked[n % len(asked)]), opened.close)


def _search(vault: Path, asked: list[str], _folder: Path) -> Local:
    opened = holdfast.open(vault)
    space = opened.space(vaults.SPACE)
    return Local(lambda n: space.search(asked[n % len(asked)], limit=20), opened.close)


def _tantivy(setting: Setting, size: int, asked: list[str], folder: Path) -> remote.Remote:
    return remote.peer(
        *(setting.peers, "tantivy", "tantivy_search", folder),
        entries=size,
        queries=asked,
        all=True,
    )
