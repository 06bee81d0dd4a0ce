"""What storage must offer for jobs and for the ledger of model calls."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.model.job import Job, ModelCall, Spent
    from holdfast.model.session import Session

    class JobReads(Protocol):
        def job(self, number: int) -> Job | None: ...

        def open_jobs(self, limit: int) -> Sequence[Job]:
            """Of each session the first that waits or runs, as they came."""
            ...

        def failed_jobs(self) -> Sequence[Job]:
            """Those that were given up."""
            ...

        def newest_jobs(self, user: str, limit: int) -> Sequence[Job]:
            """Those of a user, whatever their state."""
            ...

        def untold_jobs(self, session: Session) -> Sequence[Job]:
            """Those that were done and that the session has not heard of."""
            ...

        def turns_since(self, session: Session, place: int) -> int:
            """What users said after a place and did not take back."""
            ...

        def unreviewed(self) -> Sequence[Session]:
            """Sessions in which a user said something that no review has read."""
            ...

        def spent(self, since_us: int, until_us: int) -> Sequence[Spent]:
            """What was spent from one time on and before another, by purpose and model."""
            ...

        def spent_tokens(self, since_us: int) -> tuple[int, int]:
            """Tokens and millionths of money since a time, with what is reserved."""
            ...

        def job_tokens(self, job: int) -> int: ...

    class JobWrites(JobReads, Protocol):
        def new_job_number(self) -> int: ...

        def put_job(self, job: Job) -> None:
            """Insert or replace. Unlogged: what a job does is in the log."""
            ...

        def new_call_number(self) -> int: ...

        def put_call(self, call: ModelCall) -> None: ...
