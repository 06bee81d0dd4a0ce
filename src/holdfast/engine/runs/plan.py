"""From what a caller asks to a run that may start: which directories in which versions, which
variables and secrets, and what the agent will be told."""

from __future__ import annotations

import json

from holdfast.core.filling import asks_for, filled, names_in, variables_in
from holdfast.core.masking import check_secret
from holdfast.core.trees.tree import EMPTY
from holdfast.engine.directories.desk import Desk, Draft, resolved
from holdfast.engine.workspace.agents import check_variable
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.directory import DIRECTORY_TYPES
from holdfast.model.names import shown
from holdfast.model.run import MountSpec, check_apart, laid_at
from holdfast.model.value import Value
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from holdfast.engine.runs.folder import RunFolder
    from holdfast.engine.work import Core
    from holdfast.model.context import Context
    from holdfast.model.directory import DirectoryType, Version
    from holdfast.model.message import Message
    from holdfast.model.run import Agent, Laid
    from holdfast.model.write import Caller

CONVERSATION_CHARS_MAX = 24_000


class Inputs(Value):
    """What a caller gives a run: by `--var`, `--secret`, a file of variables, the environment."""

    variables: Mapping[str, str] = {}
    secrets: Mapping[str, str] = {}
    env_file: str = ""
    environment: Mapping[str, str] = {}


class Values(Value):
    """What an agent's declaration asks for, with the values that it found."""

    vars: Mapping[str, str]
    secrets: Mapping[str, str]
    handed: Mapping[str, str]

    def all(self) -> Mapping[str, Mapping[str, str]]:
        return {"vars": self.vars, "secrets": self.secrets}


def texts_of(agent: Agent) -> list[str]:
    """Where an agent's declaration may ask for something."""
    versions = [each.version for each in (*agent.artifacts, *agent.volumes)]
    return [*agent.command, *agent.environment.values(), agent.instructions, *versions]


def values_for(agent: Agent, given: Inputs) -> Values:
    """Given by hand comes before the file, and the file before the environment."""
    for name in (*given.variables, *given.secrets):
        check_variable(name)
    file = variables_in(given.env_file)
    texts = texts_of(agent)

    def found(name: str, first: Mapping[str, str]) -> str | None:
        return next((each[name] for each in (first, file, given.environment) if name in each), None)

    secrets = dict(given.secrets)
    for name in names_in(texts, "secrets"):
        value = found(name, given.secrets)
        if value is not None:
            secrets[name] = value
    for name, value in secrets.items():
        check_secret(name, value)
    variables = dict(given.variables)
    for name in names_in(texts, "vars"):
        value = found(name, given.variables)
        if value is not None:
            variables[name] = value
    handed = {**given.variables, **given.secrets}
    return Values(vars=variables, secrets=secrets, handed=handed)


class Wanted(Value):
    """The directories that a run is to have. `memory` is empty where it has none."""

    memory: MountSpec | None
    artifacts: tuple[MountSpec, ...] = ()
    volumes: tuple[MountSpec, ...] = ()

    def all(self) -> list[tuple[DirectoryType, MountSpec]]:
        memory = [] if self.memory is None else [self.memory]
        kinds = zip(DIRECTORY_TYPES, (memory, self.artifacts, self.volumes), strict=True)
        return [(kind, spec) for kind, specs in kinds for spec in specs]


def in_versions(specs: Sequence[MountSpec], values: Values) -> tuple[MountSpec, ...]:
    """The directories with the variables in their versions filled in."""
    return tuple([each.replace(version=filled(each.version, {}, values.all())) for each in specs])


def joined(declared: Sequence[MountSpec], given: Sequence[MountSpec]) -> tuple[MountSpec, ...]:
    """What a call names comes in the place of what is declared under the same name."""
    names = {spec.name for spec in given}
    return (*(spec for spec in declared if spec.name not in names), *given)


def resolve(
    core: Core, space: str, caller: Caller, wanted: Wanted, run: str
) -> list[tuple[Laid, Version]]:
    """The version of each directory that the run begins with. A memory or artifact that is not
    there is made, empty; a volume has to be there unless it is optional."""
    found: list[tuple[Laid, Version]] = []
    for kind, spec in wanted.all():
        desk = Desk(core=core, space=space, type=kind, caller=caller)
        try:
            directory, head, seen = desk.find(spec.name)
        except NotFound:
            if kind == "volume":
                if spec.optional:
                    continue
                raise
            if spec.version != "latest":
                raise
            _make(desk, spec.name, run)
            directory, head, seen = desk.find(spec.name)
        version = head if spec.version == "latest" else resolved(spec.version, seen)
        found.append((laid_at(kind, spec, directory.id, version), version))
    check_apart([laid.path for laid, _ in found])
    return found


def _make(desk: Desk, name: str, run: str) -> None:
    def attempt() -> None:
        seen = desk.see(name)
        if seen.head is None:
            draft = Draft(root=EMPTY, parents=())
            words = "made for a run that asked for it"
            desk.make(name, seen, [draft], (), Write(), op="push", message=words, run=run)

    desk.repeat(attempt)


# What the agent is told


def places_of(folder: RunFolder, mounts: Iterable[Laid]) -> dict[str, str]:
    """Each directory's path by its place: the first of a type under the type alone too."""
    places: dict[str, str] = {}
    for laid in mounts:
        path = str(folder.path(laid))
        places.setdefault(laid.type, path)
        places[f"{laid.type}:{laid.name}"] = path
    return places


def variables_of(folder: RunFolder, mounts: Iterable[Laid]) -> dict[str, str]:
    """The same as variables: HOLDFAST_MEMORY, HOLDFAST_ARTIFACT_SITE."""
    found: dict[str, str] = {}
    for place, path in places_of(folder, mounts).items():
        found[f"HOLDFAST_{place.replace(':', '_').replace('-', '_').upper()}"] = path
    return found


_KEPT = {
    "memory": "what you remember: read it first, and write there what the next run should know",
    "artifact": "what you work on: what you change there is kept",
    "volume": "given to you: you may change it, and nothing of that is kept",
}


def context_text(
    agent: Agent,
    instructions: str,
    context: Context,
    folder: RunFolder,
    mounts: Sequence[Laid],
    talk: Sequence[Message],
) -> str:
    """What stays the same from run to run stands first, so that a model's cache holds longest."""
    parts = [instructions.strip() or f"You are the agent {agent.name}."]
    if context.text.strip():
        parts.append(context.text.strip())
    if mounts:
        lines = [
            f"- {laid.type} {laid.name} (v{laid.before}), {_KEPT[laid.type]}: {folder.path(laid)}"
            for laid in mounts
        ]
        parts.append("\n".join(["## Your directories", *lines]))
    if talk:
        parts.append("\n\n".join(["## The conversation so far", *_said(talk)]))
    return "\n\n".join(parts) + "\n"


def _said(talk: Sequence[Message]) -> list[str]:
    """The newest messages that fit, in their order; the whole stands in conversation.jsonl."""
    found: list[str] = []
    room = CONVERSATION_CHARS_MAX
    for message in reversed(talk):
        text = f"**{message.role}**: {message.text}"
        room -= len(text)
        if room < 0 and found:
            found.append(f"({len(talk) - len(found)} earlier messages are left out here)")
            break
        found.append(text)
    return found[::-1]


def conversation_text(talk: Sequence[Message]) -> str:
    rows = [
        {"role": each.role, "text": each.text, "at": each.when.isoformat(), "tool": each.tool}
        for each in talk
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def instructions_of(agent: Agent, places: Mapping[str, str], values: Values) -> str:
    return filled(agent.instructions, places, values.all())


def command_of(agent: Agent, places: Mapping[str, str], values: Values) -> list[str]:
    if "artifact" not in places and asks_for(agent.command, "artifact"):
        raise InvalidInput(
            "place_empty",
            f"the command of {agent.name} asks for {{artifact}}, and this run has none",
            hint="give one with --artifact NAME, or declare it",
        )
    return [filled(word, places, values.all()) for word in agent.command]


def folder_of(agent: Agent, places: Mapping[str, str], values: Values) -> str:
    return filled(agent.folder, places, values.all())


def environment_of(
    agent: Agent,
    places: Mapping[str, str],
    values: Values,
    base: Mapping[str, str],
    ours: Mapping[str, str],
) -> dict[str, str]:
    """The caller's environment, then what was given, what is declared, and what is ours."""
    declared = {
        name: filled(value, places, values.all()) for name, value in agent.environment.items()
    }
    return {**base, **values.handed, **declared, **ours}


def env_file_text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise InvalidInput(
            "env_file_unreadable",
            f"{shown(place, 200)}: {why}",
            hint="name a file with NAME=value lines",
        ) from exc


def base_of(desk: Desk, name: str, version: Version) -> int:
    """The version from which changes to this one are merged with what others made: itself, unless
    it is a recovery version, which the head does not come from."""
    seen = desk.see(name)
    base: Version | None = version
    while base is not None and base.kind == "recovery":
        base = seen.find(base.parents[0]) if base.parents else None
    return 0 if base is None else base.v
