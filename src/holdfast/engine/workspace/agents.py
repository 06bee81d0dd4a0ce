"""`agents`: the programs that may be run in a space, each with what it is given.

agents:
  reviewer:
    command: [python, review.py, "{prompt}", "{memory}"]
    volumes: [guidelines:v3]
    timeout: 30m
"""

from __future__ import annotations

from holdfast.core.forms import Flag, Form, Group, Items, Misfit, Named, Text, mapping
from holdfast.errors import InvalidInput
from holdfast.model.duration import seconds_in
from holdfast.model.names import shown
from holdfast.model.run import MountSpec, check_agent_name, check_mount, mount_from
from holdfast.model.tree import DIRECTORY_NAME_PATTERN, check_directory_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.engine.workspace.file import Place
    from holdfast.model.entry import Json

    Path = tuple[str | int, ...]

OURS = "HOLDFAST_"
_VARIABLE = "^[A-Za-z_][A-Za-z0-9_]*$"
_MOUNT_PATTERN = "^[a-z0-9][a-z0-9-]{1,62}[a-z0-9](:.+)?$"


class Argument(Form):
    """One word of a command, which may be empty."""

    def read(self, value: Any, path: Path) -> Json:
        if not isinstance(value, str):
            raise Misfit(path, "this must be text", 'put it in quotes, as "{prompt}"')
        if "\0" in value:
            raise Misfit(path, "it holds a NUL character, which no program can be given", "drop it")
        return str(value)

    def _schema(self) -> dict[str, Any]:
        return {"type": "string"}


class Memory(Form):
    """The name of a memory, or false for none."""

    def read(self, value: Any, path: Path) -> Json:
        if value is False:
            return False
        return _named(str(Text().read(value, path)), path)

    def _schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "pattern": DIRECTORY_NAME_PATTERN}, {"const": False}]}


class Mount(Form):
    """A directory: NAME, NAME:VERSION, NAME:/path, NAME:VERSION:/path, or these as a mapping."""

    extra: Mapping[str, Form] = {}

    def read(self, value: Any, path: Path) -> Json:
        try:
            if isinstance(value, str):
                spec = mount_from(str(value))
                return self._group().read(_fields_of(spec), path)
            found = self._group().read(value, path)
            spec = check_mount(MountSpec(name=str(found["name"]), path=str(found["path"])))
        except InvalidInput as exc:
            raise Misfit(path, exc.message, exc.hint) from None
        return {**found, "path": spec.path}

    def _group(self) -> Group:
        return Group(
            fields={
                "name": Text(about="which one", pattern=DIRECTORY_NAME_PATTERN),
                "version": Text(about="as v12, a tree's digits or a time", default="latest"),
                "path": Argument(about="where in the run's folder", default=""),
                **self.extra,
            },
            needs=("name",),
        )

    def _schema(self) -> dict[str, Any]:
        short = {"type": "string", "pattern": _MOUNT_PATTERN}
        return {"anyOf": [short, self._group().schema()]}


def _fields_of(spec: MountSpec) -> dict[str, Json]:
    return {"name": spec.name, "version": spec.version, "path": spec.path}


class Span(Form):
    """A length of time, read as seconds."""

    def read(self, value: Any, path: Path) -> Json:
        seconds = value if isinstance(value, int) and not isinstance(value, bool) else 0
        if isinstance(value, str):
            try:
                seconds = seconds_in(str(value))
            except ValueError:
                seconds = 0
        if seconds < 1:
            raise Misfit(path, f"{shown(value)} is no length of time", "such as 90s or 1h30m")
        return int(seconds)

    def _schema(self) -> dict[str, Any]:
        text = {"type": "string", "pattern": "^([0-9]+[wdhms])+$"}
        return {"anyOf": [text, {"type": "integer", "minimum": 1}]}


class Variables(Named):
    """What stands in the environment, by name."""

    def read(self, value: Any, path: Path) -> Json:
        for name in mapping(value, path):
            try:
                check_variable(name)
            except InvalidInput as exc:
                raise Misfit((*path, name), exc.message, exc.hint) from None
        return super().read(value, path)


class Setting(Argument):
    """The value of a variable: text, or a number."""

    def read(self, value: Any, path: Path) -> Json:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return super().read(str(value) if is_number else value, path)

    def _schema(self) -> dict[str, Any]:
        return {"type": ["string", "number"]}


class Agents(Named):
    """The agents by their names."""

    def read(self, value: Any, path: Path) -> Json:
        for name in mapping(value, path):
            try:
                check_agent_name(name)
            except InvalidInput as exc:
                raise Misfit((*path, name), exc.message, exc.hint) from None
        return super().read(value, path)


def check_variable(name: str) -> str:
    """The name of a variable, of an environment or of a run."""
    good = name.isascii() and name.replace("_", "a").isalnum() and not name[:1].isdigit()
    if not good:
        raise InvalidInput(
            "variable_name_invalid",
            f"{shown(name)} is not a name for a variable",
            hint="use letters, digits and _, and no digit first",
        )
    if name.startswith(OURS):
        raise InvalidInput(
            "variable_reserved",
            f"{shown(name)} is set by Holdfast itself",
            hint=f"choose a name that does not begin with {OURS}",
        )
    return name


def _named(name: str, path: Path) -> str:
    try:
        return check_directory_name(name)
    except InvalidInput as exc:
        raise Misfit(path, exc.message, exc.hint) from None


class Command(Items):
    """The program and its arguments; no shell reads them."""

    def read(self, value: Any, path: Path) -> Json:
        found = super().read(value, path)
        if not isinstance(found, list) or not found or not found[0]:
            raise Misfit(path, "this names no program", "write [python, agent.py]")
        return found

    def _schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.schema(), "minItems": 1}


_OPTIONAL = {"optional": Flag(about="whether it may be missing", default=False)}

AGENT = Group(
    about="a program that may be run here",
    fields={
        "command": Command(
            about="the program and its arguments, with {prompt}, {memory}, {context}, {artifact}",
            of=Argument(),
        ),
        "instructions": Text(about="what it is told at the start of its context"),
        "memory": Memory(about="the memory that it keeps; else that of its own name; false: none"),
        "artifacts": Items(about="what it works on and that is kept", of=Mount()),
        "volumes": Items(about="what it is given and that is not kept", of=Mount(extra=_OPTIONAL)),
        "environment": Variables(about="variables that it finds", of=Setting()),
        "timeout": Span(about="how long it may take, as 30m"),
        "folder": Text(about="where it starts; else the folder of this file"),
    },
    needs=("command",),
)

FORM = Agents(about="the programs that may be run here, by name", of=AGENT)


def read(value: Mapping[str, Json], place: Place) -> Mapping[str, Json]:  # noqa: ARG001
    return value


def places(place: Place) -> Mapping[str, str]:  # noqa: ARG001
    """An agent is judged by its form alone."""
    return {}
