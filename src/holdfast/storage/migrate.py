"""Migrations: numbered SQL files, each applied with its record in one transaction.

The record of a step holds its digest, so that a step that was changed after it was applied is
noticed. Before a file with content is changed, a backup is made beside it. A file that has steps
which this program does not know is refused: it was written by a newer one.
"""

from __future__ import annotations

from holdfast.core.canonical import digest
from holdfast.errors import Damaged, Unsupported
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


class Step(Value):
    """One numbered step of a schema."""

    number: int
    name: str
    sql: str

    @property
    def digest(self) -> bytes:
        return digest("migration", self.sql.encode())


def step_names(folder: Path) -> list[str]:
    """The files of a schema's steps, in order."""
    return sorted(file.name for file in (folder / "migrations").glob("*.sql"))


def steps_in(folder: Path) -> tuple[Step, ...]:
    """The steps of a schema, in order and without a gap."""
    names = step_names(folder)
    steps = tuple(
        Step(
            number=int(name.partition("_")[0]),
            name=name.removesuffix(".sql"),
            sql=(folder / "migrations" / name).read_text("utf-8"),
        )
        for name in names
    )
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        raise Damaged(
            "migrations_broken",
            f"the steps in {folder} are not numbered 1 to {len(steps)}",
            hint="install holdfast again",
        )
    return steps


def pending(steps: Sequence[Step], applied: Mapping[int, bytes], where: str) -> Sequence[Step]:
    """The steps that are still to be applied to a file that has these."""
    newest = max(applied, default=0)
    if newest > len(steps):
        raise Unsupported(
            "schema_newer",
            f"{where} has schema {newest}; this program knows schemas up to {len(steps)}",
            hint="it was written by a newer holdfast: update this one",
        )
    for step in steps[:newest]:
        if applied.get(step.number) != step.digest:
            raise Damaged(
                "schema_differs",
                f"{where}: step {step.name} was applied in another form than this program knows",
                hint="it was made by an unreleased holdfast: open it with that one and export",
            )
    return steps[newest:]


def migrate(
    steps: Sequence[Step],
    applied: Mapping[int, bytes],
    *,
    where: str,
    back_up: Callable[[int], None],
    apply: Callable[[Step], None],
) -> None:
    """Bring a file to the newest schema: a backup when it holds something, then step by step."""
    todo = pending(steps, applied, where)
    if todo and applied:
        back_up(max(applied))
    for step in todo:
        apply(step)
