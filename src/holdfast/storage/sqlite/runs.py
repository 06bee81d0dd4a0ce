"""Runs and what their agents said in SQLite: `ports.runs`."""

from __future__ import annotations

from pathlib import Path

from holdfast.core.canonical import canonical_text
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import sealed, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import apsw

    from holdfast.model.run import Output, Run
    from holdfast.model.space import SpaceInfo
    from holdfast.storage.sqlite.rows import Row

_statements: dict[str, Any] = {}


def _statement(name: str) -> Any:
    """Read when the first run is asked for: most programs have nothing to do with any."""
    if not _statements:
        _statements.update(load(Path(__file__).with_name("runs.sql")))
    return _statements[name]


class RunReads:
    """`ports.runs.RunReads` on a connection."""

    _conn: apsw.Connection

    def _runs(self, name: str, bindings: Any = ()) -> Iterator[Run]:
        return map(run_from, fetch(self._conn, _statement(name), bindings))

    def run(self, run: str) -> Run | None:
        return next(self._runs("run", (run,)), None)

    def runs_like(self, short: str) -> Sequence[Run]:
        return list(self._runs("runs_like", (short,)))

    def runs(self, space: SpaceInfo, user: str, agent: str | None, limit: int) -> Sequence[Run]:
        asked: Mapping[str, Any] = {
            "space": space.number,
            "user": user,
            "agent": agent,
            "limit": limit,
        }
        return list(self._runs("runs", asked))

    def open_runs(self) -> Sequence[Run]:
        return list(self._runs("open_runs"))

    def run_output(self, run: Run, after: int, limit: int) -> Sequence[Output]:
        from holdfast.model.run import Output

        found = fetch(self._conn, _statement("run_output"), (run.number, after, limit))
        return [
            Output(place=place, stream=stream, at=from_us(at_us), data=data)
            for place, stream, at_us, data in found
        ]


class RunWrites(RunReads):
    """`ports.runs.RunWrites` on a connection that is in a transaction."""

    def put_run(self, run: Run) -> None:
        self._conn.execute(_statement("put_run"), _run_row(run))

    def put_output(self, run: Run, output: Output) -> None:
        number = next(fetch(self._conn, _statement("new_output_number")))[0]
        columns = (
            *(number, run.number, output.place, output.stream, to_us(output.at), output.data),
        )
        self._conn.execute(_statement("put_output"), sealed("run_output", columns))


def _run_row(run: Run) -> Row:
    from holdfast.core.images import run_body

    columns = (
        *(run.number, run.id, run.space_number, run.agent, run.state, run.session),
        to_us(run.created),
        None if run.started is None else to_us(run.started),
        None if run.ended is None else to_us(run.ended),
        *(run.worker, canonical_text(run_body(run)), run.revision),
    )
    return sealed("run", columns)


def _fields(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(item) if isinstance(item, list) else item for key, item in said.items()}


@whole
def run_from(row: Row) -> Run:
    import json

    from holdfast.model.run import Laid, Run

    number, run_id, space, agent, state, session, created_us, started_us, ended_us = row[:9]
    worker, text, revision, space_name = row[9:]
    body = json.loads(text)
    mounts = tuple([Laid(**_fields(each)) for each in body.pop("mounts")])
    rest = _fields(body)
    return Run(
        **rest,
        id=run_id,
        number=number,
        space_number=space,
        space_name=space_name,
        agent=agent,
        state=state,
        session=session,
        mounts=mounts,
        worker=worker,
        created=from_us(created_us),
        started=None if started_us is None else from_us(started_us),
        ended=None if ended_us is None else from_us(ended_us),
        revision=revision,
    )
