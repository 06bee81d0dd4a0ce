"""Where and how large the jobs of one call run."""

from __future__ import annotations

from pathlib import Path

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
FULL, QUICK, TINY = range(3)
ROUNDS = (5, 2, 1)


class Setting(Value):
    """`folder` is emptied at the end; `kept` holds what is built once; `peers` is their venv."""

    folder: Path
    kept: Path = RESULTS
    peers: Path = RESULTS / "peers"
    size: int = FULL
    rounds: int = ROUNDS[FULL]

    def pick(self, full: T, quick: T, tiny: T) -> T:
        return (full, quick, tiny)[self.size]
