"""`Vault`: all that one owner remembers."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.engine import mounts, spaces
from holdfast.engine.history import in_log
from holdfast.engine.space import Space
from holdfast.engine.work import Core, mutate
from holdfast.engine.workspace import checked, parse_workspace, read_text
from holdfast.model.query import check_limit
from holdfast.model.space import DEFAULT_SPACE
from holdfast.model.value import Value
from holdfast.model.write import Caller, Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType
    from typing import Self, Unpack

    from holdfast.engine.directories.collect import Collected
    from holdfast.engine.history import LogQuery
    from holdfast.engine.proposals import Inbox
    from holdfast.engine.work import Work
    from holdfast.model.change import Change
    from holdfast.model.entry import Advice, Json
    from holdfast.model.erasure import Erasure
    from holdfast.model.job import Budget, Job, Spent
    from holdfast.model.problem import Problem
    from holdfast.model.run import Run
    from holdfast.model.space import SpaceInfo, SpaceSpec
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Snapshot


# So long a vault that is closed waits for a review that is under way. A longer one is not lost:
# whoever opens the vault next takes it up.
GRACE_SECONDS = 2.0


class Status(Value):
    """The vault in numbers, all of one moment."""

    where: str
    id: str | None
    seq: int
    counts: Mapping[str, int]
    storage: Mapping[str, Json]


def _applied(work: Work, spec: SpaceSpec, *, adopt: bool) -> tuple[Advice, ...]:
    space = spaces.apply(work, spec, adopt=adopt)
    mounts.check(work.tx, spec, space)
    return mounts.left_without(work.tx, space)


class Vault:
    """One API, whatever is behind it. Use it as a context manager, or close it."""

    def __init__(self, core: Core, caller: Caller) -> None:
        self._core = core
        self.caller = caller

    @property
    def where(self) -> str:
        return self._core.storage.where

    def space(self, name: str = DEFAULT_SPACE) -> Space:
        """A space by its name. Raises NotFound when it does not exist."""
        self._core.storage.read(lambda snapshot: spaces.space_named(snapshot, name))
        return Space(self._core, name, self.caller)

    def spaces(self) -> Sequence[SpaceInfo]:
        return self._core.storage.read(lambda snapshot: snapshot.spaces())

    def declare(
        self, spec: SpaceSpec, *, adopt: bool = False, **write: Unpack[WriteOptions]
    ) -> Space:
        """Apply what a `workspace.yml` says, unless it is what was applied last."""
        spec = checked(spaces.checked(spec))
        advice: tuple[Advice, ...] = ()
        held = write.get("expect") is not None  # to be compared, whatever is applied
        if held or not self._core.storage.read(lambda snap: spaces.is_applied(snap, spec)):
            advice = mutate(
                self._core,
                self.caller.replace(session=None),
                Write(**write),
                "space declare",
                {"name": spec.name, "path": spec.path, "text": spec.text, "adopt": adopt},
                lambda work: _applied(work, spec, adopt=adopt),
            )
        return Space(self._core, spec.name, self.caller, advice=advice)

    def workspace(self, file: Path) -> Space:
        """The space of a `workspace.yml`, which is read only when it is not what was applied."""
        file = Path(os.path.realpath(file))
        text, folder = read_text(file), str(file.parent)
        for space in self.spaces():
            if space.path == folder and space.declared == text:
                return Space(self._core, space.name, self.caller)
        return self.declare(parse_workspace(text, file))

    def inbox(self) -> Inbox:
        """What waits for somebody to decide, in all spaces."""
        from holdfast.engine.proposals import Inbox

        return Inbox(self._core, self.caller, None)

    def prefer(self, preferences: Mapping[str, Json | None], *, preset: str | None = None) -> None:
        """Set preferences for all spaces of the vault; None takes one back."""
        self._core.preferences.change(preferences, preset=preset, space=None)

    def log(self, query: LogQuery) -> Sequence[Change]:
        """The changes of the whole vault, the newest first unless asked otherwise; none of what is
        about another user."""
        return in_log(self._core, query, self.caller)

    def status(self) -> Status:
        storage = self._core.storage

        def unit(snapshot: Snapshot) -> Status:
            vault = snapshot.vault()
            return Status(
                where=storage.where,
                id=None if vault is None else vault.id,
                seq=snapshot.head()[0],
                counts=snapshot.counts(),
                storage=storage.facts(),
            )

        return storage.read(unit)

    def sweep(self) -> Sequence[str]:
        """Let go of what lapsed, as it is done in the background; the ids of the artifacts."""
        from holdfast.engine.artifacts import sweep

        return sweep(self._core)

    def tidy(self) -> None:
        """Do at once what waits for quiet moments: merge the index, seal the log."""
        self._core.storage.tidy()

    def gc(self, *, spare_seconds: int = 3600, dry_run: bool = False) -> Collected:
        """Remove the objects of forgotten directories and interrupted pushes, but none younger;
        with `dry_run` only count them."""
        from holdfast.engine.directories.collect import collect

        return collect(self._core, spare_seconds * 1_000_000, dry_run=dry_run)

    def erasures(self, *, pending: bool = False) -> Sequence[Erasure]:
        """The receipts of what was erased, and what is pending, the oldest first."""
        from holdfast.engine.erasing import erasures

        return erasures(self._core, pending=pending)

    def finish_erasures(self) -> Sequence[Erasure]:
        """Bring pending erasures to their end; those that were pending, as they are now."""
        from holdfast.engine.erasing import finish_all

        return finish_all(self._core, self.caller.replace(session=None))

    def verify(self) -> Iterator[Problem]:
        """Everything that is not as it was written, named row by row. Nothing is changed."""
        return self._core.storage.inspect()

    def repair(self) -> Iterator[str]:
        """Make again what can be made from ground truth; says what it did."""
        return self._core.storage.repair()

    def review(self, *, everything: bool = False) -> Sequence[Job]:
        """Do the reviews that are due, here and now; those that were done.

        `everything`: of sessions with too few turns too.
        """
        from holdfast.engine.reviews import ask_for_all, run_due

        self._core.background.wait()
        if everything:
            ask_for_all(self._core)
        return list(run_due(self._core))

    def finish_runs(self) -> Sequence[Run]:
        """Bring runs to their end whose process is gone, in all spaces; those that were."""
        if not self._core.storage.read(lambda snapshot: snapshot.open_runs()):
            return []
        from holdfast.engine.runs.sweep import sweep

        return sweep(self._core, self.caller)

    def reviews(self, *, limit: int = 20) -> Sequence[Job]:
        """Reviews of the caller's user, in whatever state, the newest first."""
        check_limit(limit)
        user = self.caller.user
        return self._core.storage.read(lambda snapshot: snapshot.newest_jobs(user, limit))

    def costs(
        self, *, since: datetime | None = None, until: datetime | None = None
    ) -> Sequence[Spent]:
        """What calls of models came to, by purpose and model."""
        from holdfast.engine.costs import spent

        return spent(self._core, since, until)

    def budget(self, space: str = DEFAULT_SPACE) -> Budget:
        """What calls of models may still take today, by the settings of a space."""
        from holdfast.engine.costs import budget

        return budget(self._core, self._core.preferences.settings(space))

    def close(self) -> None:
        self._core.background.stop(GRACE_SECONDS)
        try:
            self._core.uses.flush(self._core.storage)
        finally:
            self._core.storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
