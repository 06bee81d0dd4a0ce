"""Candidates take turns, so that whatever disturbs the machine disturbs all of them.

A candidate starts in a fresh folder for each round and does its operations in slices: one of the
first, one of the second, and so on, then round again from the other end. The first round warms
up and is thrown away. Figures are medians over the rounds; a ratio is the median of the rounds'
ratios, so that both of its sides met the same weather.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter_ns

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    class Runner(Protocol):
        """A candidate at work in one folder."""

        def run(self, count: int) -> Sample: ...

        def close(self) -> None: ...


class Missing(Exception):
    """This candidate is not here: not installed, or of no use on this machine."""


class Sample(Value):
    """So many operations: each one's time, the time of all together, and the syncs that it took."""

    ns: tuple[int, ...] = ()
    elapsed_ns: int = 0
    syncs: int = 0

    def __add__(self, other: Sample) -> Sample:
        return Sample(
            ns=self.ns + other.ns,
            elapsed_ns=self.elapsed_ns + other.elapsed_ns,
            syncs=self.syncs + other.syncs,
        )

    @property
    def each_ns(self) -> float:
        return self.elapsed_ns / len(self.ns)

    def part(self, share: float) -> int:
        """The time that this share of the operations did not exceed."""
        return sorted(self.ns)[min(len(self.ns) - 1, int(len(self.ns) * share))]


class Candidate(Value):
    """`share`: it does one of so many operations only, because it is slow."""

    name: str
    start: Callable[[Path], Runner]
    share: int = 1


class Measured(Value):
    """What came of one candidate: a sample for each round, or why there is none."""

    name: str
    rounds: tuple[Sample, ...] = ()
    missing: str = ""

    @property
    def each_ns(self) -> float:
        return median(sample.each_ns for sample in self.rounds)

    @property
    def p50_ns(self) -> float:
        return median(sample.part(0.5) for sample in self.rounds)

    @property
    def p99_ns(self) -> float:
        return median(sample.part(0.99) for sample in self.rounds)

    @property
    def worst_ns(self) -> float:
        return median(max(sample.ns) for sample in self.rounds)

    @property
    def syncs_each(self) -> float:
        return median(sample.syncs / len(sample.ns) for sample in self.rounds)

    def times(self, floor: Measured) -> float | None:
        """How many times the floor's time an operation takes."""
        pairs = zip(self.rounds, floor.rounds, strict=False)
        ratios = [mine.each_ns / its.each_ns for mine, its in pairs]
        return median(ratios) if ratios else None


class Local:
    """A runner in this process: `operation(number)` is what is timed."""

    def __init__(
        self, operation: Callable[[int], object], close: Callable[[], object] = lambda: None
    ) -> None:
        self._operation = operation
        self._close = close
        self._done = 0

    def run(self, count: int) -> Sample:
        operation, clock, ns = self._operation, perf_counter_ns, [0] * count
        for place in range(count):
            start = clock()
            operation(self._done + place)
            ns[place] = clock() - start
        self._done += count
        return Sample(ns=tuple(ns), elapsed_ns=sum(ns))

    def close(self) -> None:
        self._close()


def alternate(
    candidates: Sequence[Candidate], folder: Path, *, rounds: int, count: int, each: int
) -> dict[str, Measured]:
    """Measure them all: `count` operations a round, `each` a slice, and one round to warm up."""
    kept: dict[str, list[Sample]] = {candidate.name: [] for candidate in candidates}
    missing: dict[str, str] = {}
    for number in range(rounds + 1):
        samples = _round(candidates, folder, missing, count, each)
        for name, sample in samples.items():
            if number:
                kept[name].append(sample)
    return {
        name: Measured(name=name, rounds=tuple(samples), missing=missing.get(name, ""))
        for name, samples in kept.items()
    }


def _round(
    candidates: Sequence[Candidate], folder: Path, missing: dict[str, str], count: int, each: int
) -> dict[str, Sample]:
    running: dict[str, tuple[Candidate, Runner]] = {}
    samples: dict[str, Sample] = {}
    place = Path(tempfile.mkdtemp(prefix="round-", dir=folder))
    try:
        for candidate in candidates:
            if candidate.name not in missing:
                try:
                    runner = candidate.start(fresh(place))
                except Missing as why:
                    missing[candidate.name] = str(why)
                    continue
                runner.run(1)
                running[candidate.name] = candidate, runner
                samples[candidate.name] = Sample()
        gc.collect()
        order = list(running)
        for _ in range(max(1, count // each)):
            for name in order:
                candidate, runner = running[name]
                samples[name] += runner.run(max(1, each // candidate.share))
            order.reverse()
    finally:
        for _, runner in running.values():
            runner.close()
        shutil.rmtree(place)
    return samples


def fresh(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))
