"""Jobs and the ledger of model calls in SQLite."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.canonical import canonical_text
from holdfast.core.codec import pack, unpack
from holdfast.model.job import Job, ModelCall, ReviewAnswer, ReviewOutcome, Spent
from holdfast.model.review import Suggestion
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import sealed, session_from, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.model.session import Session
    from holdfast.storage.sqlite.rows import Row

# What a job's body is made of, which must be known before it is read.
BODY = (ReviewAnswer, ReviewOutcome, Suggestion)
STATEMENTS = load(Path(__file__).with_name("jobs.sql"))


class JobReads:
    """`ports.jobs.JobReads` on a connection."""

    _conn: apsw.Connection

    def _jobs(self, name: str, bindings: Any = ()) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def job(self, number: int) -> Job | None:
        row = next(self._jobs("job", (number,)), None)
        return None if row is None else job_from(row)

    def open_jobs(self, limit: int) -> Sequence[Job]:
        return [job_from(row) for row in self._jobs("open_jobs", (limit,))]

    def failed_jobs(self) -> Sequence[Job]:
        return [job_from(row) for row in self._jobs("failed_jobs")]

    def newest_jobs(self, user: str, limit: int) -> Sequence[Job]:
        return [job_from(row) for row in self._jobs("newest_jobs", (user, limit))]

    def untold_jobs(self, session: Session) -> Sequence[Job]:
        return [job_from(row) for row in self._jobs("untold_jobs", (session.number,))]

    def turns_since(self, session: Session, place: int) -> int:
        return next(self._jobs("turns_since", (session.number, place)))[0]

    def unreviewed(self) -> Sequence[Session]:
        return [session_from(row) for row in self._jobs("unreviewed")]

    def spent(self, since_us: int, until_us: int) -> Sequence[Spent]:
        names = Spent.fields_
        found = self._jobs("spent", (since_us, until_us))
        return [Spent(**dict(zip(names, row, strict=True))) for row in found]

    def spent_tokens(self, since_us: int) -> tuple[int, int]:
        tokens, micros = next(self._jobs("spent_tokens", (since_us,)))
        return tokens, micros

    def job_tokens(self, job: int) -> int:
        return next(self._jobs("job_tokens", (job,)))[0]


class JobWrites(JobReads):
    """`ports.jobs.JobWrites` on a connection that is in a transaction."""

    def new_job_number(self) -> int:
        return next(self._jobs("new_job_number"))[0]

    def put_job(self, job: Job) -> None:
        self._conn.execute(STATEMENTS["put_job"], job_row(job))

    def new_call_number(self) -> int:
        return next(self._jobs("new_call_number"))[0]

    def put_call(self, call: ModelCall) -> None:
        columns = (
            *(call.number, to_us(call.at), call.purpose, call.model, call.job, call.state),
            *(call.tokens_in, call.tokens_out, call.micros, call.took_us),
        )
        self._conn.execute(STATEMENTS["put_call"], sealed("model_call", columns))


def job_row(job: Job) -> Row:
    applied = 0 if job.answer is None else len(job.answer.outcomes)
    columns = (
        *(job.number, "review", job.session_number, job.first, job.last, job.user, job.state),
        *(to_us(job.made), None if job.done is None else to_us(job.done), job.worker),
        *(job.lease_us, job.tries, applied, int(job.told)),
        None if job.answer is None else canonical_text(pack(job.answer)),
    )
    return sealed("job", columns)


@whole
def job_from(row: Row) -> Job:
    number, session, session_number, space_name, first, last, user, state, made_us, done_us = row[
        :10
    ]
    worker, lease_us, tries, told, body = row[10:15]
    return Job(
        number=number,
        session=session,
        session_number=session_number,
        space_name=space_name,
        first=first,
        last=last,
        user=user,
        state=state,
        made=from_us(made_us),
        done=None if done_us is None else from_us(done_us),
        worker=worker,
        lease_us=lease_us,
        tries=tries,
        told=bool(told),
        answer=None if body is None else unpack(json.loads(body)),
    )
