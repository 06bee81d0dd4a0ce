"""Two words in a store of 100,000 notes."""

from __future__ import annotations

from functools import partial

import holdfast
from bench import data, floors, remote, vaults
from bench.measure import Candidate, Local, alternate
from bench.table import Goal, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from bench.setting import Setting

BEST = "raw FTS5, the best 20"
NEWEST = "raw FTS5, the newest 20"
OURS = "holdfast notes.read(text=…)"
SEARCH = "holdfast space.search(…)"
TANTIVY = "tantivy, the best 20"

FOUND = """
SELECT note.id, note.when_us, note.text
FROM (SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY {} LIMIT 20) AS found
JOIN note ON note.number = found.rowid
"""


def run(setting: Setting) -> Table:
    size = setting.pick(100_000, 10_000, 50)
    asked = data.queries(setting.pick(200, 200, 5), size)
    raw = vaults.raw_rows(setting, size) / "raw.db"
    found = alternate(
        [
            Candidate(name=BEST, start=partial(_raw, raw, asked, "rank")),
            Candidate(name=NEWEST, start=partial(_raw, raw, asked, "rowid DESC")),
            Candidate(
                name=OURS, start=partial(_ours, vaults.vault(setting, size, stores=1), asked)
            ),
            Candidate(
                name=SEARCH, start=partial(_search, vaults.vault(setting, size, stores=1), asked)
            ),
            Candidate(name=TANTIVY, start=partial(_tantivy, setting, size, asked)),
        ],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(1_000, 400, 10),
        each=setting.pick(200, 200, 5),
    )
    return Table(
        job="text-search",
        title=f"two words among {size:,} notes of one store, 20 answers with their texts",
        ratio="time to that of raw FTS5, best first",
        rows=tuple(
            row_of(measured, found[BEST], Goal(limit=1.5) if name in (OURS, SEARCH) else None)
            for name, measured in found.items()
        ),
        notes=(
            f"{len(asked)} different queries. notes.read answers the newest first, of one store;",
            "space.search the best first, of all stores, and says why. Both compare its own tokens",
            "(stems, parts of names); raw FTS5 and tantivy compare plain words.",
        ),
    )


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
