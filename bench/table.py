"""What a job found, as one table: rows of figures, what they are held to, and what was missing."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bench.measure import Measured

HEADINGS = ("candidate", "median", "p99", "ratio", "goal", "met")


class Goal(Value):
    """What a row is held to: at most, or at least, so much of `of` (a word for the column)."""

    limit: float
    least: bool = False
    of: str = "×"

    def met(self, value: float) -> bool:
        return value >= self.limit if self.least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.least else '≤'} {self.limit:g} {self.of}".replace(" ×", "×")


class Row(Value):
    """`judged` is the number that the goal is about, where that is not the ratio."""

    name: str
    figure: str = ""
    p99: str = ""
    ratio: float | None = None
    goal: Goal | None = None
    judged: float | None = None
    remark: str = ""

    @property
    def met(self) -> bool | None:
        value = self.ratio if self.judged is None else self.judged
        return None if self.goal is None or value is None else self.goal.met(value)

    def cells(self) -> tuple[str, ...]:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}×"
        met = {None: "", True: "yes", False: "NO"}[self.met]
        goal = "" if self.goal is None else str(self.goal)
        return (self.name, self.figure, self.p99, ratio, goal, met, self.remark)


class Table(Value):
    """`ratio` says what the column of that name means."""

    job: str
    title: str
    ratio: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        rows = [(*HEADINGS, ""), *(row.cells() for row in self.rows)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(HEADINGS))]
        lines = [f"{self.job}: {self.title}", f"  ratio: {self.ratio}", ""]
        for row in rows:
            cells = [
                cell.ljust(width) if place in (0, 4) else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=False))
            ]
            lines.append(f"  {'  '.join(cells)}  {row[-1]}".rstrip())
        lines += ["", *(f"  {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines) + "\n"

    def plain(self) -> dict[str, object]:
        """The table for a JSON file."""
        return {
            "job": self.job,
            "title": self.title,
            "ratio": self.ratio,
            "rows": [_plain(row) for row in self.rows],
            "notes": list(self.notes),
        }


def _plain(row: Row) -> dict[str, object]:
    return {
        "candidate": row.name,
        "median": row.figure,
        "p99": row.p99,
        "ratio": row.ratio,
        "goal": None if row.goal is None else str(row.goal),
        "judged": row.ratio if row.judged is None else row.judged,
        "met": row.met,
        "remark": row.remark,
    }


def row_of(
    measured: Measured,
    floor: Measured,
    goal: Goal | None = None,
    *,
    p99: bool = True,
    remark: str = "",
) -> Row:
    """The usual row: the time of an operation, all costs spread over all of them, and its ratio."""
    if measured.missing:
        return Row(name=measured.name, figure="–", remark=measured.missing)
    return Row(
        name=measured.name,
        figure=duration(measured.each_ns),
        p99=duration(measured.p99_ns) if p99 else "",
        ratio=measured.times(floor),
        goal=goal,
        remark=remark,
    )


def duration(ns: float) -> str:
    """Three digits and the unit that fits them."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= 0.9995 * size:
            return f"{ns / size:#.3g}".rstrip(".") + f" {unit}"
    return f"{ns:.0f} ns"
