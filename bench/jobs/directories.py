"""A folder of small files, and one large one, through the steps of its life, beside git, restic and
borg.

In each round every candidate does a step in turn, then all do the next one. The floors are the
least that a step needs, in this process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter_ns

from bench import data
from bench.measure import Measured, Missing, Sample
from bench.peers_directories import Borg, Command, Git, Library, Restic
from bench.table import Goal, Row, Table, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.peers_directories import Peer
    from bench.setting import Setting

COMMAND, LIBRARY = "holdfast memory …", "holdfast, as a library"
PEERS: dict[str, type[Peer]] = {
    "git": Git,
    "restic": Restic,
    "borg": Borg,
    COMMAND: Command,
    LIBRARY: Library,
}
FLOORS = {
    "first push": "read + hash",
    "nothing changed": "scandir + stat",
    "clone into an empty folder": "create + write",
    "one byte inserted": "read + cut + hash",
}
BOTH = ("restic", "borg")
# step: how the ratio is taken, of whom, the goal
GOALS: tuple[tuple[str, Sequence[str], Goal], ...] = (
    ("first push", BOTH, Goal(limit=0.4, of="× the better of restic and borg")),
    ("nothing changed", ("git",), Goal(limit=2.5, of="× git")),
    ("nothing changed", BOTH, Goal(limit=0.1, of="× the better of restic and borg")),
    ("1 % edited, push", ("git",), Goal(limit=0.6, of="× git")),
    ("1 % edited, pull", ("git",), Goal(limit=0.3, of="× git")),
    ("clone into an empty folder", ("floor",), Goal(limit=1.7, of="× the floor")),
    ("one byte inserted", ("borg",), Goal(limit=0.5, of="× borg")),
)
STORED_GOALS = {
    "first push": ("git", Goal(limit=1.15, of="× git's bytes")),
    "one byte inserted": ("restic", Goal(limit=1.0, of="× restic's bytes")),
}


class Found:
    """Times and bytes by step and candidate, a figure a round."""

    def __init__(self) -> None:
        self.ns: dict[str, dict[str, list[int]]] = {}
        self.bytes: dict[str, dict[str, list[int]]] = {}
        self.missing: dict[str, str] = {}

    def time(self, step: str, name: str, does: Callable[[], object]) -> None:
        start = perf_counter_ns()
        does()
        self.ns.setdefault(step, {}).setdefault(name, []).append(perf_counter_ns() - start)

    def weigh(self, step: str, name: str, size: int) -> None:
        self.bytes.setdefault(step, {}).setdefault(name, []).append(size)

    def measured(self, step: str, name: str) -> Measured:
        times = self.ns.get(step, {}).get(name, [])
        times = times[1:] or times  # the first round warms up
        rounds = tuple(Sample(ns=(each,), elapsed_ns=each) for each in times)
        return Measured(name=name, rounds=rounds, missing=self.missing.get(name, ""))


def run(setting: Setting) -> Table:
    rows: list[Row] = []
    for count in setting.pick((1_000, 10_000), (1_000,), (20,)):
        found = Found()
        source = _files(setting, count)
        for number in range(setting.rounds + setting.pick(1, 1, 0)):
            _round(setting, found, source, number, _small_steps)
        rows += _rows(found, f"{count:,} files")
    found = Found()
    source = _large(setting)
    for number in range(setting.rounds + setting.pick(1, 1, 0)):
        _round(setting, found, source, number, _large_steps)
    rows += _rows(found, f"{source.stat().st_size // 1_000_000:,} MB")
    return Table(
        job="directories",
        title="folders of files of 1 to 8 KB, and one large file, in versions",
        ratio="time to that of the floor of the step; in lines of goals, as the goal says",
        rows=tuple(rows),
        notes=(
            "git pushes to a bare repository beside it; it flushes packs and no loose objects",
            "restic encrypts; what it and borg restore, they write anew",
            "stored: all files of a repository; all pages of a vault, and not its log of 4 MB",
        ),
    )


def _round(
    setting: Setting,
    found: Found,
    source: Path,
    number: int,
    steps: Callable[[Found, Path, Path, dict[str, Peer]], None],
) -> None:
    place = Path(tempfile.mkdtemp(prefix="round-", dir=setting.folder))
    peers: dict[str, Peer] = {}
    names = list(PEERS) if number % 2 else list(reversed(PEERS))
    try:
        for name in names:
            try:
                own = place / str(list(PEERS).index(name))
                own.mkdir()
                peers[name] = PEERS[name](own)
            except Missing as why:
                found.missing[name] = str(why)
                continue
            peers[name].begin(source if source.is_dir() else source.parent)
        steps(found, source, place, peers)
    finally:
        for peer in peers.values():
            peer.close()
        shutil.rmtree(place)


def _small_steps(found: Found, source: Path, place: Path, peers: dict[str, Peer]) -> None:
    paths = _paths(source)
    found.time("first push", "floor", lambda: _read(paths))
    for name, peer in peers.items():
        found.time("first push", name, peer.push)
        found.weigh("first push", name, peer.bytes_stored())
    found.time("nothing changed", "floor", lambda: _look(source))
    for name, peer in peers.items():
        found.time("nothing changed", name, peer.unchanged)
    contents = {path.relative_to(source): path.read_bytes() for path in paths}
    step = "clone into an empty folder"
    found.time(step, "floor", lambda: _write(place / "written", contents))
    for name, peer in peers.items():
        found.time(step, name, lambda peer=peer: peer.clone(peer.other))
    for name, peer in peers.items():
        for path in paths[::100]:
            with (peer.work / path.relative_to(source)).open("ab") as file:
                file.write(b"one more line\n")
        found.time("1 % edited, push", name, peer.push)
    for name, peer in peers.items():
        found.time("1 % edited, pull", name, peer.pull)


def _large_steps(found: Found, source: Path, _place: Path, peers: dict[str, Peer]) -> None:
    step = "one byte inserted"
    content = source.read_bytes()
    middle = len(content) // 2
    for peer in peers.values():
        peer.push()
        (peer.work / source.name).write_bytes(content[:middle] + b"x" + content[middle:])
    found.time(step, "floor", lambda: _cut(source))
    for name, peer in peers.items():
        before = peer.bytes_stored()
        found.time(step, name, peer.push)
        found.weigh(step, name, peer.bytes_stored() - before)


# Floors


def _paths(source: Path) -> list[Path]:
    return sorted(path for path in source.rglob("*") if path.is_file())


def _read(paths: Iterable[Path]) -> None:
    for path in paths:
        with open(path, "rb", 0) as file:  # noqa: PTH123 - the quick way
            sha256(file.read()).digest()


def _look(source: Path) -> None:
    folders = [str(source)]
    while folders:
        with os.scandir(folders.pop()) as found:
            for entry in found:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)


def _write(place: Path, contents: dict[Path, bytes]) -> None:
    made: set[Path] = set()
    for path, content in contents.items():
        if path.parent not in made:
            (place / path.parent).mkdir(parents=True)
            made.add(path.parent)
        with open(place / path, "xb", 0) as file:  # noqa: PTH123 - the quick way
            file.write(content)


def _cut(source: Path) -> None:
    from pyfastcdc import FastCDC

    with source.open("rb") as file:
        for chunk in FastCDC(avg_size=262_144, min_size=65_536, max_size=1_048_576).cut_stream(
            file
        ):
            sha256(chunk.data).digest()


# Data


def _files(setting: Setting, count: int) -> Path:
    """A hundred files a folder, of made-up words as frequent as those of natural text."""
    place = setting.kept / f"directories-{count}"
    if not place.exists():
        chance, words = Random(5), data.vocabulary()
        weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
        making = place.with_name(f"{place.name}.part")
        shutil.rmtree(making, ignore_errors=True)
        for number in range(count):
            folder = making / f"folder-{number // 100:04}"
            folder.mkdir(parents=True, exist_ok=True)
            size = chance.randrange(1_000, 8_000)
            text = " ".join(chance.choices(words, cum_weights=weights, k=size // 4))
            (folder / f"note-{number % 100:02}.md").write_text(text[:size] + "\n")
        making.rename(place)
    return place


def _large(setting: Setting) -> Path:
    size = setting.pick(100_000_000, 20_000_000, 3_000_000)
    place = setting.kept / f"directories-large-{size}" / "large.bin"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.parent.with_suffix(".part")
        part.write_bytes(Random(9).randbytes(size))
        part.rename(place)
    return place


# What came of it


def _rows(found: Found, what: str) -> list[Row]:
    rows: list[Row] = []
    for step in found.ns:
        floor = found.measured(step, "floor")
        names = [*(["floor"] if floor.rounds else []), *PEERS]
        for name in names:
            row = row_of(
                found.measured(step, name), floor, p99=False, remark=_stored(found, step, name)
            )
            said = FLOORS.get(step, "") if name == "floor" else name
            rows.append(row.replace(name=f"{what}, {step}: {said}"))
        rows += _goals(found, what, step)
    return rows


def _stored(found: Found, step: str, name: str) -> str:
    sizes = found.bytes.get(step, {}).get(name, [])
    return f"{median(sizes) / 1e6:.2f} MB stored" if sizes else ""


def _goals(found: Found, what: str, step: str) -> list[Row]:
    rows: list[Row] = []
    for name, short in ((COMMAND, "command"), (LIBRARY, "library")):
        for of_step, others, goal in GOALS:
            mine = found.measured(step, name)
            ratios = [mine.times(found.measured(step, other)) for other in others]
            known = [ratio for ratio in ratios if ratio is not None]
            if of_step == step:
                worst = max(known) if known else None
                rows.append(Row(name=f"{what}, {step}: goal, {short}", ratio=worst, goal=goal))
    if step in STORED_GOALS:
        other, goal = STORED_GOALS[step]
        mine, its = (found.bytes[step].get(name, []) for name in (COMMAND, other))
        ratio = median(mine) / median(its) if its else None
        rows.append(Row(name=f"{what}, {step}: goal, stored", ratio=ratio, goal=goal))
    return rows
