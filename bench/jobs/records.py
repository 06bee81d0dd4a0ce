"""What a session starts with of a hundred records or a hundred thousand: its size and its time."""

from __future__ import annotations

import itertools
from functools import partial
from random import Random

import apsw

import holdfast
from bench import data, vaults
from bench.measure import Candidate, Local, alternate
from bench.table import Goal, Row, Table, row_of
from holdfast.engine.work import Core, Work
from holdfast.model.entry import IMPORTANCE_MAX, NewEntry
from holdfast.model.write import Caller, Write
from holdfast.storage.sqlite.storage import SqliteStorage
from holdfast.wiring import VAULT_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from bench.measure import Measured
    from bench.setting import Setting
    from holdfast.model.space import Store
    from holdfast.ports import Transaction

RAW = "raw apsw: 3 covering queries"
OURS = "holdfast space.context()"
FIND = "holdfast records.search()"
SUBJECTS_SHOWN = 50
# Words put together by chance now and then read like an instruction.
UNSCREENED = Caller(preferences=(("screening.find", []),))
COUNTED = 1_050
SIZE_GOAL = 1.02
SHOWN = "store = ? AND subject <> '' AND hidden = 0 AND state IN ('confirmed', 'updated')"
SUBJECTS = f"""
SELECT id, given_id, when_us, subject, kind, importance FROM entry INDEXED BY entry_subjects
WHERE {SHOWN} ORDER BY importance DESC, when_us DESC, number DESC LIMIT {SUBJECTS_SHOWN}
"""
NEWEST = f"""
SELECT id, given_id, when_us, subject, kind, importance FROM entry INDEXED BY entry_newest
WHERE {SHOWN} ORDER BY when_us DESC, number DESC LIMIT 1
"""
COUNT = f"""
SELECT count(*) FROM (
    SELECT 1 FROM entry INDEXED BY entry_subjects WHERE {SHOWN} LIMIT {COUNTED}
)
"""


def run(setting: Setting) -> Table:
    sizes = setting.pick((100, 10_000, 100_000), (100, 10_000), (20, 60))
    folders = {size: vault(setting, size) for size in sizes}
    found = alternate(
        [each for size in sizes for each in _candidates(folders[size], size)],
        setting.folder,
        rounds=setting.rounds,
        count=setting.pick(600, 300, 10),
        each=setting.pick(50, 50, 5),
    )
    rows = [row for size in sizes for row in _rows(found, size)]
    small, large = sizes[0], sizes[-1]
    flat = found[_name(OURS, large)].times(found[_name(OURS, small)])
    if flat is not None:
        rows.append(Row(name=f"time, {large:,} to {small:,}", ratio=flat))
    tokens = {size: _tokens(folders[size]) for size in sizes}
    rows += [
        Row(
            name=f"tokens of the context, N = {size:,}",
            figure=f"{tokens[size]:,}",
            ratio=tokens[size] / tokens[small],
            goal=Goal(limit=SIZE_GOAL) if size > small > SUBJECTS_SHOWN else None,
        )
        for size in sizes
    ]
    return Table(
        job="records",
        title="one store of N records: the subjects that a session starts with, and a search",
        ratio="time to that of the raw queries on the same file; tokens to those of the fewest",
        rows=tuple(rows),
        notes=(
            f"{SUBJECTS_SHOWN} subjects, the newest first, then the most important.",
            "records.search gives 8 rows of subject level for two words.",
        ),
    )


def _candidates(folder: Path, size: int) -> list[Candidate]:
    asked = data.queries(50, size)
    return [
        Candidate(name=_name(RAW, size), start=partial(_raw, folder)),
        Candidate(name=_name(OURS, size), start=partial(_ours, folder)),
        Candidate(name=_name(FIND, size), start=partial(_find, folder, asked)),
    ]


def _rows(found: dict[str, Measured], size: int) -> list[Row]:
    floor = found[_name(RAW, size)]
    return [row_of(found[_name(name, size)], floor) for name in (RAW, OURS, FIND)]


def _name(candidate: str, size: int) -> str:
    return f"{candidate}, N = {size:,}"


def _ours(folder: Path, _folder: Path) -> Local:
    opened = holdfast.open(folder)
    space = opened.space()
    return Local(lambda _: space.context(), opened.close)


def _find(folder: Path, asked: list[str], _folder: Path) -> Local:
    opened = holdfast.open(folder)
    records = opened.space().records()
    return Local(lambda n: records.search(asked[n % len(asked)]), opened.close)


def _raw(folder: Path, _folder: Path) -> Local:
    conn = apsw.Connection(str(folder / VAULT_FILE), flags=apsw.SQLITE_OPEN_READONLY)
    ((store,),) = conn.execute("SELECT number FROM store WHERE strategy = 'records'")

    def once(_number: int) -> object:
        conn.execute("BEGIN")
        found = [conn.execute(sql, (store,)).fetchall() for sql in (NEWEST, SUBJECTS, COUNT)]
        conn.execute("COMMIT")
        return found

    return Local(once, conn.close)


def _tokens(folder: Path) -> int:
    with holdfast.open(folder) as opened:
        return opened.space().context().tokens


# Vaults


def vault(setting: Setting, size: int) -> Path:
    """The folder of a vault with so many records, built where it is not there yet."""
    return vaults.built(setting, f"records-{size}", partial(_fill, size=size))


def _fill(folder: Path, *, size: int) -> None:
    clock, chance, source = itertools.count(vaults.START_US, 1_000_000), Random(7), data.notes()
    with holdfast.open(folder) as opened:
        opened.space().records().add("the record that makes the store")
        (store,) = [each for each in opened.space().stores() if each.strategy == "records"]
    storage = SqliteStorage(folder / VAULT_FILE)
    core = Core(storage=storage, clock=lambda: next(clock), random=chance.randbytes)
    for first in range(0, size, vaults.BATCH):
        texts = list(itertools.islice(source, min(vaults.BATCH, size - first)))
        storage.write(partial(_add, core, store, first, texts, chance))
    storage.tidy()
    storage.close()


def _add(
    core: Core, store: Store, first: int, texts: list[str], chance: Random, tx: Transaction
) -> None:
    work = Work(core, tx, UNSCREENED, Write())
    for number, text in enumerate(texts, first):
        new = NewEntry(
            text=text,
            subject=f"{' '.join(text.split()[:4])} {number:06}",
            kind="project_fact",
            importance=chance.randint(0, IMPORTANCE_MAX),
            origin="user",
        )
        work.add(store, new)
