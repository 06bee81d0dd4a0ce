"""What storage must offer for runs and for what their agents said."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.model.run import Output, Run
    from holdfast.model.space import SpaceInfo

    class RunReads(Protocol):
        def run(self, run: str) -> Run | None: ...

        def runs_like(self, short: str) -> Sequence[Run]:
            """Those whose id ends so."""
            ...

        def runs(self, space: SpaceInfo, user: str, agent: str | None, limit: int) -> Sequence[Run]:
            """Those of a space for a user, the newest first; of one agent where it is given."""
            ...

        def open_runs(self) -> Sequence[Run]:
            """Those that are created or running, in all spaces, as they came."""
            ...

        def run_output(self, run: Run, after: int, limit: int) -> Sequence[Output]:
            """What the agent said after a place, in order."""
            ...

    class RunWrites(RunReads, Protocol):
        def put_run(self, run: Run) -> None: ...

        def put_output(self, run: Run, output: Output) -> None:
            """Unlogged: what was said changes nothing."""
            ...
