"""A sentence as the query, and how much of the full ranking's best is in the answer.

The full ranking is the same search without the bounds on what it reads: every text that holds any
of the words, ranked by what each of them is worth.
"""

from __future__ import annotations

from functools import partial
from unittest.mock import patch

import holdfast
from bench import data, floors, remote, vaults
from bench.measure import Candidate, Local, Measured, alternate
from bench.table import Goal, Row, Table, row_of
from holdfast.storage.sqlite import textsearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.setting import Setting
    from holdfast.engine.space import Space

ANY = "raw FTS5, any of the words"
CONTENT = "raw FTS5, any but the small words"
TANTIVY = "tantivy, any of the words"
OURS = "holdfast space.search(…)"
OVERLAP = "holdfast, overlap with the full ranking"
SHOWN = 20
GOALS = ((10.0, 0.95), (30.0, 0.90))
BOUNDS = (
    *("POSTINGS_MAX", "ESSENTIAL", "WEIGHED", "WEIGHED_LOOKED_AT_MAX"),
    "HOLDERS_COUNTED_MAX",
)
UNBOUNDED = dict.fromkeys(BOUNDS, 2**31)

FOUND = """
SELECT note.id, note.when_us, note.text
FROM (SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT 20) AS found
JOIN note ON note.number = found.rowid
"""


def run(setting: Setting) -> Table:
    sizes = setting.pick((100_000, 1_000_000), (10_000, 100_000), (60, 120))
    rows: list[Row] = []
    for size, (milliseconds, overlap) in zip(sizes, GOALS, strict=True):
        asked = data.sentences(setting.pick(100, 50, 5), size)
        found = _measured(setting, size, asked)
        goal = Goal(limit=milliseconds, of="ms")
        for name, one in found.items():
            row = row_of(one, found[ANY]).replace(name=f"{name}, N = {size}")
            if name == OURS:
                row = row.replace(goal=goal, judged=one.each_ns / 1e6)
            rows.append(row)
        compared = asked[: setting.pick(50, 20, 5)]
        rows.append(_overlap_row(setting, size, compared, Goal(limit=overlap, least=True, of="")))
    return Table(
        job="text-sentence",
        title=f"a sentence of about {len(asked[0].split())} words as the query, {SHOWN} answers",
        ratio="time to that of raw FTS5 with OR between the words, best first",
        rows=tuple(rows),
        notes=(
            "Half of a sentence's words stand in one of the notes, the others are drawn as those",
            f"of notes are. The overlap is with the best {SHOWN} of the same search without",
            "bounds on what it reads. holdfast leaves small words (the, of, …) out by itself.",
        ),
    )


def _measured(setting: Setting, size: int, asked: list[str]) -> dict[str, Measured]:
    raw = vaults.raw_rows(setting, size) / "raw.db"
    ours = partial(_ours, vaults.vault(setting, size, stores=1), asked)
    slow = setting.pick(10, 10, 1)
    return alternate(
        [
            Candidate(name=ANY, start=partial(_raw, raw, asked, ()), share=slow),
            Candidate(name=CONTENT, start=partial(_raw, raw, asked, data.SMALL), share=slow),
            Candidate(name=TANTIVY, start=partial(_tantivy, setting, size, asked)),
            Candidate(name=OURS, start=ours),
        ],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(100, 50, 5),
        each=setting.pick(100, 50, 5),
    )


def _overlap_row(setting: Setting, size: int, asked: list[str], goal: Goal) -> Row:
    shares: list[float] = []
    with holdfast.open(vaults.vault(setting, size, stores=1)) as opened:
        space = opened.space(vaults.SPACE)
        for sentence in asked:
            with patch.multiple(textsearch, **UNBOUNDED):
                best = _best(space, sentence)
            shares.append(len(best & _best(space, sentence)) / len(best))
    mean = sum(shares) / len(shares)
    return Row(
        name=f"{OVERLAP}, N = {size}",
        figure=f"{mean:.3f}",
        goal=goal,
        judged=mean,
        remark=f"{len(asked)} sentences, the least {min(shares):.2f}",
    )


def _best(space: Space, sentence: str) -> set[str]:
    return {hit.entry.id for hit in space.search(sentence, match="any", limit=SHOWN).hits}


def _raw(file: Path, asked: list[str], without: Sequence[str], _folder: Path) -> Local:
    conn = floors.connected(file)
    any_of = [
        " OR ".join(f'"{word}"' for word in sentence.split() if word not in without)
        for sentence in asked
    ]
    return Local(lambda n: conn.execute(FOUND, (any_of[n % len(any_of)],)).fetchall(), conn.close)


def _ours(vault: Path, asked: list[str], _folder: Path) -> Local:
    opened = holdfast.open(vault)
    space = opened.space(vaults.SPACE)
    return Local(
        lambda n: space.search(asked[n % len(asked)], match="any", limit=SHOWN), opened.close
    )


def _tantivy(setting: Setting, size: int, asked: list[str], folder: Path) -> remote.Remote:
    return remote.peer(
        *(setting.peers, "tantivy", "tantivy_search", folder),
        entries=size,
        queries=asked,
        all=False,
    )
