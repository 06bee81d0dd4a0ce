"""`Runs`: the runs of a space.

space.agents().add("scribe", {"command": ["python", "scribe.py", "{prompt}", "{memory}"]})
run = space.run("scribe", "what did we decide?")
for piece in space.runs().logs(run.id).pieces: ...
"""

from __future__ import annotations

import os
import time

from holdfast.engine import spaces
from holdfast.engine.agents import agent_named, agents_of
from holdfast.engine.directories.scan import silent
from holdfast.engine.runs.execute import Asked, Executor
from holdfast.engine.runs.output import nobody
from holdfast.engine.runs.plan import Inputs, Wanted, joined
from holdfast.engine.runs.sweep import sweep
from holdfast.errors import Ambiguous, Conflict, InvalidInput, NotFound
from holdfast.model.ids import is_id, is_short, short
from holdfast.model.names import check_str, shown
from holdfast.model.query import check_limit
from holdfast.model.run import (
    OPEN_STATES,
    RUN_STATES,
    Agent,
    MountSpec,
    RunLog,
    check_agent_name,
    check_mount,
    mount_from,
)
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal, Unpack

    from holdfast.engine.directories.scan import Progress
    from holdfast.engine.runs.execute import Callee
    from holdfast.engine.runs.output import Sink
    from holdfast.engine.space import Space
    from holdfast.engine.work import Core
    from holdfast.model.run import Laid, Output, Run, RunStart
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Snapshot

    class RunOptions(WriteOptions, total=False):
        """What may be given to a run. `memory` is a name, with a version and a path where wanted;
        False for none. `output` hears the agent while it speaks, with secrets masked."""

        memory: str | Literal[False] | None
        artifacts: Sequence[str]
        volumes: Sequence[str]
        variables: Mapping[str, str]
        secrets: Mapping[str, str]
        env_file: str
        environment: Mapping[str, str] | None
        timeout: float
        output: Sink
        progress: Progress


FOLLOW_S = 0.2
PIECES_MAX = 1_000
UNNAMED = "callable"


class Runs:
    """Executions of agents, with what each found and what became of it."""

    def __init__(self, core: Core, space: Space) -> None:
        self._core, self._space = core, space

    def start(
        self,
        agent: str | Callee,
        prompt: str,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Run an agent to its end: one that the space declares, or a function of a `Task`."""
        self.sweep()
        declared, call = self._agent(agent)
        wanted = Wanted(
            memory=_memory(declared, options.get("memory")),
            artifacts=joined(declared.artifacts, _specs(options.get("artifacts", ()))),
            volumes=joined(declared.volumes, _specs(options.get("volumes", ()))),
        )
        return self._executed(declared, call, prompt, wanted, options)

    def continue_(
        self,
        run: str,
        prompt: str,
        *,
        call: Callee | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Another run in the same conversation, with the newest of every directory."""
        before = self._ended(run)
        wanted = _wanted_again(before, lambda _: "latest")
        how: RunStart = "continued"
        return self._again(before, how, prompt, call, wanted, options)

    def resume(
        self,
        run: str,
        prompt: str,
        *,
        call: Callee | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Another run from where this one ended: with what was said by then, and every directory
        in the version that it had. What has become of them since is merged afterwards."""
        before = self._ended(run)
        wanted = _wanted_again(before, lambda laid: f"v{laid.after or laid.before}")
        return self._again(before, "resumed", prompt, call, wanted, options)

    def list(
        self, *, agent: str | None = None, state: str | None = None, limit: int = 20
    ) -> Sequence[Run]:
        """The newest first."""
        check_limit(limit)
        if state not in (None, *RUN_STATES):
            raise InvalidInput(
                "state_invalid",
                f"{shown(state)} is no state of a run",
                hint=f"one of {', '.join(RUN_STATES)}",
            )
        self.sweep()

        def unit(snapshot: Snapshot) -> Sequence[Run]:
            space = spaces.space_named(snapshot, self._space.name)
            if space is None:
                return []
            most = limit if state is None else 1_000_000
            found = snapshot.runs(space, self._space.caller.user, agent, most)
            return [each for each in found if state in (None, each.state)][:limit]

        return self._core.storage.read(unit)

    def get(self, run: str) -> Run:
        """By its id or short form, as it is now."""
        self.sweep()
        return self._core.storage.read(lambda snapshot: self._named(snapshot, run))

    def logs(self, run: str) -> RunLog:
        """What the agent said, as far as it is kept."""
        found = self.get(run)
        pieces: list[Output] = []
        while more := self._pieces(found, pieces[-1].place if pieces else 0):
            pieces += more
        return RunLog(
            run=found.id, state=found.state, pieces=tuple(pieces), left_out=found.lost_bytes
        )

    def follow(self, run: str, *, wait: Callable[[float], object] = time.sleep) -> Iterator[Output]:
        """The same as it is said, until the run is over."""
        found, place = self.get(run), 0
        while True:
            is_open = found.state in OPEN_STATES
            while more := self._pieces(found, place):
                place = more[-1].place
                yield from more
            if not is_open:
                return
            wait(FOLLOW_S)
            found = self.get(found.id)

    def sweep(self) -> Sequence[Run]:
        """`vault.finish_runs()`."""
        return sweep(self._core, self._space.caller)

    def _pieces(self, run: Run, after: int) -> Sequence[Output]:
        return self._core.storage.read(lambda snapshot: snapshot.run_output(run, after, PIECES_MAX))

    def _agent(self, agent: str | Callee) -> tuple[Agent, Callee | None]:
        if isinstance(agent, str):
            return self._declared(agent), None
        name = getattr(agent, "__name__", UNNAMED).strip("_<>").replace("_", "-").lower()
        try:
            check_agent_name(name)
        except InvalidInput:
            name = UNNAMED
        return Agent(name=name, command=(), memory=name), agent

    def _declared(self, name: str) -> Agent:
        check_str(name, "the agent")

        def unit(snapshot: Snapshot) -> Agent:
            known = agents_of(spaces.space_named(snapshot, self._space.name))
            return agent_named(self._space.name, known, name)

        return self._core.storage.read(unit)

    def _ended(self, name: str) -> Run:
        run = self.get(name)
        if run.state in OPEN_STATES:
            raise Conflict(
                "run_open",
                f"run {run.id} is {run.state}",
                hint=f"wait for its end: holdfast run logs {short(run.id)} --follow",
            )
        return run

    def _again(
        self,
        before: Run,
        how: RunStart,
        prompt: str,
        call: Callee | None,
        wanted: Wanted,
        given: RunOptions,
    ) -> Run:
        if call is None:
            agent = self._declared(before.agent)
        else:
            agent = Agent(name=before.agent, command=())
        return self._executed(agent, call, prompt, wanted, given, how, before)

    def _executed(
        self,
        agent: Agent,
        call: Callee | None,
        prompt: str,
        wanted: Wanted,
        given: RunOptions,
        how: RunStart = "new",
        before: Run | None = None,
    ) -> Run:
        timeout = given.get("timeout", 0) or agent.timeout_s
        if timeout and call is not None:
            raise InvalidInput(
                "timeout_of_callable",
                "a function in this process cannot be ended when its time is over",
                hint="declare a command for what may have to be ended",
            )
        environment = given.get("environment")
        asked = Asked(
            agent=agent,
            call=call,
            prompt=prompt,
            wanted=wanted,
            inputs=Inputs(
                variables=given.get("variables", {}),
                secrets=given.get("secrets", {}),
                env_file=given.get("env_file", ""),
                environment=dict(os.environ) if environment is None else environment,
            ),
            timeout_s=timeout,
            started_as=how,
            previous=before,
            sink=given.get("output", nobody),
            progress=given.get("progress", silent),
        )
        conditions = Write(
            reason=given.get("reason", ""), expect=given.get("expect"), key=given.get("key")
        )
        return Executor(self._core, self._space).execute(asked, conditions)

    def _is_own(self, snapshot: Snapshot, run: Run) -> bool:
        """Whether it ran for the caller's user."""
        session = snapshot.session(run.session)
        return session is not None and session.user == self._space.caller.user

    def _named(self, snapshot: Snapshot, name: str) -> Run:
        check_str(name, "the run")
        whole = snapshot.run(name) if is_id(name) else None
        found = [] if whole is None else [whole]
        if is_short(name):
            found = list(snapshot.runs_like(name))
        found = [
            each
            for each in found
            if each.space_name == self._space.name and self._is_own(snapshot, each)
        ]
        if len(found) > 1:
            ids = ", ".join(each.id for each in found)
            raise Ambiguous(
                "run_ambiguous", f"{shown(name)} fits the runs {ids}", hint="use a whole id"
            )
        if not found:
            raise NotFound(
                "run_not_found",
                f"{self._space.name} has no run {shown(name)}",
                hint="holdfast run list shows them",
            )
        return found[0]


def _specs(texts: Sequence[str]) -> tuple[MountSpec, ...]:
    return tuple([mount_from(text) for text in texts])


def _memory(agent: Agent, given: str | Literal[False] | None) -> MountSpec | None:
    if given is False or (given is None and not agent.memory):
        return None
    return check_mount(mount_from(given)) if given else MountSpec(name=agent.memory)


def _wanted_again(run: Run, version: Callable[[Laid], str]) -> Wanted:
    def specs(kind: str) -> tuple[MountSpec, ...]:
        return tuple(
            [
                MountSpec(name=laid.name, version=version(laid), path=laid.path)
                for laid in run.mounts
                if laid.type == kind
            ]
        )

    memory = specs("memory")
    return Wanted(
        memory=memory[0] if memory else None,
        artifacts=specs("artifact"),
        volumes=specs("volume"),
    )
