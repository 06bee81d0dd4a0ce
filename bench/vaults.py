"""Vaults of a given size, and what raw SQLite would hold of the same notes.

A vault is filled through the engine: each note goes through `narrative.save` with a `Work` of its
own, as `notes.save` does it, and only the commits are shared (1,000 notes each). So its rows,
changes and index entries are those that so many calls would have left, with a clock that ticks once
a second, and with the quiet moment that follows. What is built is kept in `bench/results/` until
the code that shapes rows changes.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
from pathlib import Path
from random import Random

import apsw

import holdfast
from bench import data
from bench.setting import ROOT
from holdfast.engine.preferences import Preferences
from holdfast.engine.work import Core, Work
from holdfast.model.entry import NewEntry
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.model.write import Caller, Write
from holdfast.storage.sqlite.keys import key_from_text
from holdfast.storage.sqlite.storage import SqliteStorage
from holdfast.strategies import STRATEGIES, narrative
from holdfast.wiring import VAULT_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.setting import Setting
    from holdfast.ports import Transaction

SPACE = "bench"
STORES = ("facts", "people", "plans")
RAW_KEY = "raw:" + "5a" * 32
START_US = 1_767_225_600_000_000
NOT_SCREENED = '{"screening": {"find": []}}'  # made-up words may look like anything
BATCH = 1000

# What shapes rows: when one of these changes, what was built before is of no use.
SHAPES = (
    *("storage/sqlite/migrations", "storage/sqlite/rows.py", "storage/sqlite/transaction.py"),
    *("core/images.py", "core/canonical.py", "core/text", "engine/work.py"),
)


def vault(
    setting: Setting, entries: int, *, stores: int = len(STORES), key: str | None = None
) -> Path:
    """The folder of a vault with so many notes, built where it is not there yet."""
    kind = "vault" if key is None else "ciphered"
    name = f"{kind}-{entries}-in-{stores}"
    return built(setting, name, lambda folder: fill(folder, entries, stores, key))


def raw_rows(setting: Setting, entries: int) -> Path:
    """The folder of a plain SQLite file `raw.db` with the same notes: rows, a log, full text."""
    return built(setting, f"raw-{entries}", lambda folder: _fill_raw(folder / "raw.db", entries))


def copied(source: Path, target: Path) -> Path:
    """A copy that is on the disk, so that no write-back of it disturbs what is measured."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    for file in target.rglob("*"):
        if not file.is_file():
            continue
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())
    return target


def built(setting: Setting, name: str, build: Callable[[Path], None]) -> Path:
    place = setting.kept / f"{name}-{_shape()}"
    if not place.exists():
        for old in setting.kept.glob(f"{name}-*"):
            shutil.rmtree(old)
        part = setting.folder / f"{name}.part"
        part.mkdir()
        build(part)
        part.rename(place)
    return place


def _shape() -> str:
    state = hashlib.sha256()
    for name in SHAPES:
        place = ROOT / "src" / "holdfast" / name
        files = sorted(p for p in place.rglob("*") if p.suffix in {".py", ".sql"}) or [place]
        for file in files:
            state.update(file.read_bytes())
    state.update(Path(__file__).with_name("data.py").read_bytes())
    state.update(Path(__file__).read_bytes())
    return state.hexdigest()[:10]


def fill(folder: Path, entries: int, stores: int, key: str | None) -> None:
    clock, chance, caller = itertools.count(START_US, 1_000_000), Random(5), Caller()
    with holdfast.open(folder, key=key) as opened:
        declare(opened)
    storage = SqliteStorage(folder / VAULT_FILE, key=None if key is None else key_from_text(key))
    core = Core(
        storage=storage,
        clock=lambda: next(clock),
        random=chance.randbytes,
        preferences=Preferences(None, NOT_SCREENED),
    )
    space = storage.read(lambda snapshot: snapshot.space_named(SPACE))
    assert space is not None
    used = storage.read(lambda snapshot: snapshot.stores(space))[:stores]

    def unit(tx: Transaction, first: int, texts: Sequence[str]) -> None:
        for number, text in enumerate(texts, first):
            note = NewEntry(text=text, origin="user")
            narrative.save(Work(core, tx, caller, Write()), used[number % stores], note)

    source = data.notes()
    for first in range(0, entries, BATCH):
        texts = list(itertools.islice(source, min(BATCH, entries - first)))
        storage.write(lambda tx, first=first, texts=texts: unit(tx, first, texts))
    storage.tidy()
    storage.close()


def declare(opened: holdfast.Vault) -> None:
    """The space of the benchmarks: three narrative stores."""
    specs = [StoreSpec(name=name, strategy=narrative.NAME) for name in STORES]
    stores = tuple(STRATEGIES[narrative.NAME].check(spec) for spec in specs)
    opened.declare(SpaceSpec(name=SPACE, path=None, text=" ".join(STORES), stores=stores))


def _fill_raw(file: Path, entries: int) -> None:
    conn = apsw.Connection(str(file))
    conn.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    conn.execute(RAW)
    numbered = zip(range(1, entries + 1), data.notes(), strict=False)
    while batch := list(itertools.islice(numbered, 10_000)):
        with conn:
            for number, text in batch:
                when = START_US + number * 1_000_000
                row = (number, f"{number:026}", number % len(STORES) + 1, when, text)
                conn.execute(RAW_NOTE, row)
                conn.execute(RAW_CHANGE, (number, when, text))
                conn.execute(RAW_TERMS, (number, text))
    conn.execute("INSERT INTO terms (terms) VALUES ('optimize')")
    conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    conn.close()


RAW = """
CREATE TABLE note (number INTEGER PRIMARY KEY, id TEXT, store INTEGER, when_us INTEGER, text TEXT);
CREATE UNIQUE INDEX note_id ON note (id);
CREATE INDEX note_newest ON note (store, when_us, number, id, text);
CREATE TABLE change (seq INTEGER PRIMARY KEY, at_us INTEGER, body TEXT);
CREATE VIRTUAL TABLE terms USING fts5 (text, content='');
"""
RAW_NOTE = "INSERT INTO note VALUES (?, ?, ?, ?, ?)"
RAW_CHANGE = "INSERT INTO change VALUES (?, ?, ?)"
RAW_TERMS = "INSERT INTO terms (rowid, text) VALUES (?, ?)"
RAW_NEWEST = """
SELECT id, when_us, text FROM note WHERE store = ? ORDER BY when_us DESC, number DESC LIMIT 20
"""
