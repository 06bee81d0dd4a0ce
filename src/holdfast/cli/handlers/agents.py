"""`holdfast agent`."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.cli.handlers.spaces import edited
from holdfast.cli.opening import folder_unreadable, opened_space, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.engine.agents import agents_of, checked
from holdfast.engine.workspace.edit import with_agent, without_agent
from holdfast.errors import UsageError
from holdfast.model.run import check_agent_name, mount_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.space import Space
    from holdfast.model.entry import Json
    from holdfast.model.run import Agent, MountSpec


def add(call: Call, out: Output) -> None:
    name, said = check_agent_name(call["name"]), _said(call)
    new = False
    with opened_space(call, makes=True) as space:
        home = _home_of(space)
        if home is None:
            folder = str(_here() if call["folder"] is None else Path(call["folder"]).absolute())
            new = space.agents().add(name, {**said, "folder": folder}, **write_options(call))
    if home is not None:
        new = _add_to_file(call, out, name, said, home)
    out.emit({"agent": name, "added": new}, name)
    if new:
        out.note(f'Next: holdfast run {name} "…"')
    else:
        out.note("Declared so already; nothing was changed")


def _add_to_file(call: Call, out: Output, name: str, said: dict[str, Json], home: Path) -> bool:
    """Into the file as a person would write it; where it says so already, it stays as it is."""
    folder = os.path.relpath(call["folder"] or _here(), home)
    if folder != os.curdir:
        said["folder"] = folder
    with opened_space(call) as space:
        info = space.info()
        kept = {} if info is None else info.settings.get("agents", {})
        if isinstance(kept, dict) and kept.get(name) == checked(said):
            return False
    with edited(call, out, lambda text, place: with_agent(text, place, name, said)):
        return True


def _said(call: Call) -> dict[str, Json]:
    if call["memory"] is not None and call["no_memory"]:
        raise UsageError(
            "options_exclude",
            "`--memory` and `--no-memory` exclude each other",
            hint="keep one of them",
        )
    if not call["command"]:
        raise UsageError(
            "argument_missing",
            "`agent add` needs the agent's command",
            hint="write it after `--`: holdfast agent add NAME -- python agent.py {prompt}",
        )
    memory = False if call["no_memory"] else call["memory"]
    timeout = None if call["timeout"] is None else int(call["timeout"].total_seconds())
    said: dict[str, Json] = {
        "command": list(call["command"]),
        "instructions": call["instructions"],
        "memory": memory,
        "artifacts": [_mount(text) for text in call["artifact"]] or None,
        "volumes": [_mount(text) for text in call["volume"]] or None,
        "environment": dict(call["variables"]) or None,
        "timeout": timeout,
    }
    said = {key: value for key, value in said.items() if value is not None}
    checked(said)
    return said


def _mount(text: str) -> Json:
    mount_from(text)
    return text


def _home_of(space: Space) -> Path | None:
    """The folder of the space's workspace.yml."""
    info = space.info()
    return None if info is None or info.path is None else Path(info.path)


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as exc:
        raise folder_unreadable(exc) from exc


def list_agents(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        rows = [_row(agent) for agent in space.agents().list()]
    out.table(rows, _COLUMNS, empty="No agents: holdfast agent add NAME -- COMMAND declares one")


def _row(agent: Agent) -> dict[str, Json]:
    row = plain(agent)
    assert isinstance(row, dict)
    return row


def _command(words: list[str]) -> str:
    import shlex

    return " ".join(word if word[:1] == "{" else shlex.quote(word) for word in words)


_COLUMNS = (
    Column(title="AGENT", key="name"),
    Column(title="MEMORY", key="memory"),
    Column(title="COMMAND", key="command", show=_command),
)


def show(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        agent = space.agents().get(call["which"])
    out.emit(plain(agent), lambda: "\n".join(_lines(agent)))


def _lines(agent: Agent) -> list[str]:
    lines = [
        f"agent         {agent.name}",
        f"command       {in_a_line(_command(list(agent.command)))}",
        f"memory        {agent.memory or 'none'}",
    ]
    lines += [f"artifact      {_place(spec)}" for spec in agent.artifacts]
    lines += [f"volume        {_place(spec)}" for spec in agent.volumes]
    lines += [
        f"variable      {in_a_line(f'{name}={value}')}" for name, value in agent.environment.items()
    ]
    lines += [f"timeout       {agent.timeout_s} s"] if agent.timeout_s else []
    lines += [f"folder        {agent.folder}"] if agent.folder else []
    lines += [f"instructions  {in_a_line(agent.instructions)}"] if agent.instructions else []
    return lines


def _place(spec: MountSpec) -> str:
    path = f" at /{spec.path}" if spec.path else ""
    return f"{spec.name} {spec.version}{path}{', optional' * spec.optional}"


def remove(call: Call, out: Output) -> None:
    name = call["which"]
    with opened_space(call) as space:
        space.agents().get(name)
        home = _home_of(space)
        if home is None:
            space.agents().remove(name, **write_options(call))
    if home is not None:
        with edited(call, out, lambda text, place: without_agent(text, place, name)):
            pass
    out.emit({"agent": name, "removed": True}, "")
    out.note(f"Removed the agent {name}; its memory and its runs stay")


def names(call: Call, _prefix: str) -> list[tuple[str, str]]:
    """The agents that a completion offers."""
    with opened_space(call) as space:
        found = agents_of(space.info())
    return [(agent.name, _command(list(agent.command))) for agent in found.values()]
