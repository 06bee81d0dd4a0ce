"""The agents that a space declares: in its `workspace.yml`, or, without one, by `agent add`."""

from __future__ import annotations

from holdfast.core.forms import Misfit
from holdfast.engine import spaces
from holdfast.engine.work import Core, Work, mutate
from holdfast.engine.workspace.agents import AGENT
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.names import shown
from holdfast.model.run import Agent, MountSpec, check_agent_name
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Unpack

    from holdfast.model.entry import Json
    from holdfast.model.space import SpaceInfo
    from holdfast.model.write import Caller, WriteOptions
    from holdfast.ports import Snapshot


def agents_of(space: SpaceInfo | None) -> dict[str, Agent]:
    """Those that the space declares, by name."""
    kept: Any = {} if space is None else space.settings.get("agents", {})
    folder = "" if space is None or space.path is None else space.path
    return {name: agent_from(name, said, folder) for name, said in sorted(kept.items())}


def agent_from(name: str, said: Mapping[str, Any], folder: str) -> Agent:
    from pathlib import Path

    start, memory = said.get("folder", ""), said.get("memory", name)
    if folder and not start.startswith("{"):
        start = str(Path(folder) / start)
    return Agent(
        name=name,
        command=tuple(said["command"]),
        instructions=said.get("instructions", ""),
        memory="" if memory is False else memory,
        artifacts=tuple([MountSpec(**each) for each in said.get("artifacts", ())]),
        volumes=tuple([MountSpec(**each) for each in said.get("volumes", ())]),
        environment=dict(said.get("environment", {})),
        timeout_s=said.get("timeout", 0),
        folder=start,
    )


def checked(said: Mapping[str, Json]) -> dict[str, Json]:
    """A declaration as its form reads it."""
    try:
        return AGENT.read(dict(said), ())
    except Misfit as exc:
        where = ".".join(str(part) for part in exc.path)
        message = f"{where}: {exc.message}" if where else exc.message
        raise InvalidInput("agent_invalid", message, hint=exc.cure) from None


def agent_named(space_name: str, known: Mapping[str, Agent], name: str) -> Agent:
    if name not in known:
        names = ", ".join(known)
        there = f"known: {names}" if known else "none is declared yet"
        raise NotFound(
            "agent_unknown",
            f"{space_name} has no agent {shown(name)}; {there}",
            hint=f"holdfast agent add {name} -- COMMAND declares one",
        )
    return known[name]


class Agents:
    """The agents of a space."""

    def __init__(self, core: Core, space: str, caller: Caller) -> None:
        self._core, self._space, self._caller = core, space, caller

    def list(self) -> Sequence[Agent]:
        return list(self._known().values())

    def get(self, name: str) -> Agent:
        return agent_named(self._space, self._known(), name)

    def add(self, name: str, said: Mapping[str, Json], **write: Unpack[WriteOptions]) -> bool:
        """Declare an agent, as `agents:` of a `workspace.yml` would; whether that was new.

        A space with a file declares its agents there.
        """
        check_agent_name(name)
        wanted = checked(said)

        def unit(work: Work) -> bool:
            space = _without_file(work, self._space)
            kept = _kept(space)
            if kept.get(name) == wanted:
                return False
            if name in kept:
                raise Conflict(
                    "agent_exists",
                    f"{self._space} has another agent {shown(name)}",
                    hint=f"holdfast agent remove {name} takes it away first",
                )
            _put(work, space, {**kept, name: wanted})
            return True

        return self._mutate("agent add", {"name": name, "agent": wanted}, unit, write)

    def remove(self, name: str, **write: Unpack[WriteOptions]) -> None:
        """Take an agent away. Its memory and its runs stay."""

        def unit(work: Work) -> None:
            space = _without_file(work, self._space)
            agent_named(self._space, agents_of(space), name)
            _put(work, space, {key: item for key, item in _kept(space).items() if key != name})

        return self._mutate("agent remove", {"name": name}, unit, write)

    def _mutate(self, op: str, meant: dict[str, Json], unit: Any, write: WriteOptions) -> Any:
        caller = self._caller.replace(session=None)
        meant = {"space": self._space, **meant}
        return mutate(self._core, caller, Write(**write), op, meant, unit)

    def _known(self) -> dict[str, Agent]:
        def unit(snapshot: Snapshot) -> dict[str, Agent]:
            return agents_of(spaces.space_named(snapshot, self._space))

        return self._core.storage.read(unit)


def _kept(space: SpaceInfo) -> dict[str, Json]:
    kept: Any = space.settings.get("agents", {})
    return dict(kept)


def _without_file(work: Work, name: str) -> SpaceInfo:
    space = spaces.written_space(work, name)
    if space.path is not None:
        raise Refused(
            "agents_in_file",
            f"the agents of {name} are declared in {space.path}/workspace.yml",
            hint="change `agents:` there, or use holdfast agent in that folder",
        )
    work.expect(space.revision, f"the space {name}")
    return space


def _put(work: Work, space: SpaceInfo, agents: Mapping[str, Json]) -> None:
    settings: dict[str, Json] = {**space.settings, "agents": dict(agents)}
    if not agents:
        del settings["agents"]
    work.put_space(space.replace(settings=settings), space, "declare")
