"""Adding one note to a store of few or many: durable, logged, and found by its words at once."""

from __future__ import annotations

from functools import partial
from statistics import median

import holdfast
from bench import data, floors, remote, vaults
from bench.measure import Candidate, Local, Measured, alternate, fresh
from bench.table import Goal, Row, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.measure import Runner
    from bench.setting import Setting

BARE = "raw apsw: row"
FULL = "raw apsw: row, change, full text"
OURS = "holdfast notes.save"
CHROMA, MEM0 = "Chroma add, ready-made vector", "mem0 add, no model, no embedder"
PEERS_MAX = 10_000


def run(setting: Setting) -> Table:
    sizes = setting.pick((1_000, 10_000, 100_000), (1_000, 10_000), (10, 20))
    found = alternate(
        [candidate for size in sizes for candidate in _candidates(setting, size)],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(1_000, 400, 10),
        each=setting.pick(100, 100, 5),
    )
    small, large = sizes[0], sizes[-1]
    rows = [row for size in sizes for row in _rows(found, size)]
    flat = found[_name(OURS, large)].times(found[_name(OURS, small)])
    assert flat is not None
    rows.append(
        Row(
            name=f"holdfast, {large:,} to {small:,}",
            ratio=flat,
            goal=Goal(limit=1.25),
            remark="flat in N",
        )
    )
    return Table(
        job="add-entry",
        title="one note of about 90 characters, durable, into a store of N",
        ratio="time of one add, checkpoints included, to that of the bare row at the same N",
        rows=tuple(rows),
        notes=(
            "Below each size: how many times faster than each peer, and p99 to p50.",
            f"Peers do a twentieth as many, and only up to {PEERS_MAX:,}.",
        ),
    )


def _candidates(setting: Setting, size: int) -> list[Candidate]:
    saving = Candidate(name=_name(OURS, size), start=partial(ours, setting, size))
    raw = [
        Candidate(name=_name(name, size), start=partial(_raw, setting, size, parts))
        for parts, name in enumerate((BARE, "raw apsw: row, change", FULL), 1)
    ]
    if size > PEERS_MAX:
        return [*raw, saving]
    peers = [
        Candidate(
            name=_name(CHROMA, size), start=_peer(setting, size, "chromadb", "chroma_add"), share=20
        ),
        Candidate(name=_name(MEM0, size), start=_peer(setting, size, "mem0", "mem0_add"), share=20),
    ]
    return [*raw, saving, *peers]


def _rows(found: dict[str, Measured], size: int) -> list[Row]:
    bare, ours = found[_name(BARE, size)], found[_name(OURS, size)]
    names = [name for name in found if name.endswith(_name("", size))]
    rows = [
        row_of(found[name], bare, Goal(limit=3) if found[name] is ours else None) for name in names
    ]
    for name in names:
        if name.startswith((CHROMA, MEM0)) and not found[name].missing:
            faster = found[name].times(ours)
            assert faster is not None
            rows.append(
                Row(
                    name=f"  {name.split()[0]} ÷ holdfast{_name('', size)}",
                    ratio=faster,
                    goal=Goal(limit=20, least=True),
                )
            )
    spread = median(sample.part(0.99) / sample.part(0.5) for sample in ours.rounds)
    rows.append(Row(name=f"  p99 ÷ p50{_name('', size)}", ratio=spread, goal=Goal(limit=5)))
    return rows


def _name(candidate: str, size: int) -> str:
    return f"{candidate}, N = {size:,}"


def ours(setting: Setting, size: int, folder: Path, key: str | None = None) -> Local:
    place = vaults.copied(vaults.vault(setting, size, stores=1, key=key), folder / "vault")
    vault = holdfast.open(place, key=key)
    notes, texts = vault.space(vaults.SPACE).notes(vaults.STORES[0]), data.notes(seed=8)
    return Local(lambda _: notes.save(next(texts)), vault.close)


def _raw(setting: Setting, size: int, parts: int, folder: Path) -> Local:
    vaults.copied(vaults.raw_rows(setting, size), folder)
    conn = floors.raw_wal(folder / "raw.db")
    texts = data.notes(seed=8)

    def add(number: int) -> None:
        text, seq = next(texts), size + 1 + number
        when = vaults.START_US + seq * 1_000_000
        row = (seq, f"{seq:026}", 1, when, text)
        if parts == 1:
            conn.execute(vaults.RAW_NOTE, row)
            return
        conn.execute("BEGIN IMMEDIATE")
        conn.execute(vaults.RAW_NOTE, row)
        conn.execute(vaults.RAW_CHANGE, (seq, when, text))
        if parts == 3:
            conn.execute(vaults.RAW_TERMS, (seq, text))
        conn.execute("COMMIT")

    return Local(add, conn.close)


def _peer(setting: Setting, size: int, package: str, worker: str) -> Callable[[Path], Runner]:
    def work(folder: Path, home: Path) -> remote.Remote:
        return remote.peer(setting.peers, package, worker, folder, home=home, entries=size)

    def start(folder: Path) -> Runner:
        built = vaults.built(
            setting, f"{worker}-{size}", lambda part: work(part, fresh(folder)).close()
        )
        return work(vaults.copied(built, folder / "data"), fresh(folder))

    return start
