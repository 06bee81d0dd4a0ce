"""Preferences: settings with a name, a form, a default and a value in each preset, in layers.

The layers are, from the weakest to the strongest: built in, the vault's file, the part of that file
that is for one space, the environment, and the call. A layer may choose a preset, which sets every
preference to what the preset says, and may set single preferences on top. What a preference is in
the end, and which layer said so, is a function of the layers and of nothing else.

To have a setting of one's own is to add a line to `core/preference_table.py`.
"""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal, NoReturn

    from holdfast.model.entry import Json

    PreferenceKind = Literal["flag", "whole", "choice", "choices", "text"]

PRESETS = ("strict", "balanced", "aggressive", "disabled")
PRESET = "balanced"
BUILT_IN = "built in"
LABEL_PRESET = "preset"
LABEL_SPACES = "spaces"


class Preference(Value):
    """One setting. `name` has a group and a word, `recall.limit`; `presets` say what differs.

    `high` bounds a number, and the characters of a text.
    """

    name: str
    kind: PreferenceKind
    default: Json
    help: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    presets: Mapping[str, Json] = {}

    def in_preset(self, preset: str) -> Json:
        return self.presets.get(preset, self.default)

    @property
    def form(self) -> str:
        match self.kind:
            case "flag":
                return "true or false"
            case "whole":
                return f"a whole number from {self.low:,} to {self.high:,}"
            case "choice":
                return f"one of {', '.join(self.choices)}"
            case "choices":
                return f"a list of some of {', '.join(self.choices)}"
            case "text":
                return f"a text of at most {self.high:,} characters, in one line"

    def accepts(self, value: Json) -> bool:
        match self.kind:
            case "flag":
                return type(value) is bool
            case "whole":
                return type(value) is int and self.low <= value <= self.high
            case "choice":
                return type(value) is str and value in self.choices
            case "choices":
                return (
                    isinstance(value, list)
                    and all(type(item) is str and item in self.choices for item in value)
                    and len({str(item) for item in value}) == len(value)
                )
            case "text":
                return type(value) is str and len(value) <= self.high and _is_plain(value)


class Layer(Value):
    """What one place says: the preset that it chooses, and single preferences."""

    source: str
    preset: str | None = None
    values: Mapping[str, Json] = {}


class Setting(Value):
    """A preference as it is in the end, and the layer that said so."""

    name: str
    value: Json
    source: str


class Settings(Value):
    """All preferences as they are for one space and one call."""

    preset: str
    preset_source: str
    each: Mapping[str, Setting]

    def flag(self, name: str) -> bool:
        value = self.each[name].value
        assert isinstance(value, bool)
        return value

    def whole(self, name: str) -> int:
        value = self.each[name].value
        assert type(value) is int
        return value

    def word(self, name: str) -> str:
        value = self.each[name].value
        assert isinstance(value, str)
        return value

    def words(self, name: str) -> tuple[str, ...]:
        value = self.each[name].value
        assert isinstance(value, list)
        return tuple(str(item) for item in value)


def resolve(table: Iterable[Preference], layers: Sequence[Layer]) -> Settings:
    """The settings that these layers come to, the weakest layer first."""
    preset, source = PRESET, BUILT_IN
    each = {
        one.name: Setting(name=one.name, value=one.in_preset(PRESET), source=BUILT_IN)
        for one in table
    }
    for layer in layers:
        if layer.preset is not None:
            preset, source = layer.preset, layer.source
            for one in table:
                value = one.in_preset(preset)
                where = f"preset {preset} ({layer.source})"
                each[one.name] = Setting(name=one.name, value=value, source=where)
        for name, value in layer.values.items():
            each[name] = Setting(name=name, value=value, source=layer.source)
    return Settings(preset=preset, preset_source=source, each=each)


def layer_from(
    document: Any, table: Iterable[Preference], source: str, *, more: Iterable[str] = ()
) -> Layer:
    """A layer from its JSON object: groups of preferences, and `preset`.

    `more` are members that are somebody else's business.
    """
    known = {one.name: one for one in table}
    groups = {name.partition(".")[0] for name in known}
    values: dict[str, Json] = {}
    _check_object(document, source, "")
    for group, members in document.items():
        if group == LABEL_PRESET or group in more:
            continue
        if group not in groups:
            _unknown(group, [*groups, LABEL_PRESET, *more], source)
        _check_object(members, source, group)
        for word, value in members.items():
            values[f"{group}.{word}"] = checked(f"{group}.{word}", value, known, source)
    preset = document.get(LABEL_PRESET)
    return Layer(
        source=source,
        preset=None if preset is None else check_preset(preset, source),
        values=values,
    )


def checked(name: str, value: Json, known: Mapping[str, Preference], source: str) -> Json:
    one = known.get(name)
    if one is None:
        _unknown(name, known, source)
    if not one.accepts(value):
        _refuse(source, name, f"{_said(value)} is not {one.form}", f"write {one.form}")
    return value


def check_preset(preset: Json, source: str) -> str:
    if not isinstance(preset, str) or preset not in PRESETS:
        cure = f"one of {', '.join(PRESETS)}"
        _refuse(source, LABEL_PRESET, f"there is no preset {_said(preset)}", cure)
    return preset


def value_from(text: str, one: Preference) -> Json:
    """What a person typed for a preference: `true`, `12`, a word, or words with commas."""
    match one.kind:
        case "flag":
            return {"true": True, "on": True, "yes": True, "false": False, "off": False}.get(
                text.lower(), False if text.lower() == "no" else text
            )
        case "whole":
            digits = text.removeprefix("-")
            return int(text) if digits.isascii() and digits.isdigit() and len(text) < 19 else text
        case "choice" | "text":
            return text
        case "choices":
            return [part.strip() for part in text.split(",") if part.strip()]


def schema(table: Iterable[Preference]) -> dict[str, Json]:
    """The JSON Schema of the file."""
    groups: dict[str, dict[str, Json]] = {}
    for one in table:
        group, _, word = one.name.partition(".")
        groups.setdefault(group, {})[word] = _form(one)
    layer: dict[str, Json] = {
        LABEL_PRESET: {
            "enum": list(PRESETS),
            "default": PRESET,
            "description": "sets every preference; single ones are set on top",
        },
        **{
            group: {"type": "object", "properties": members, "additionalProperties": False}
            for group, members in groups.items()
        },
    }
    closed: dict[str, Json] = {"type": "object", "additionalProperties": False}
    of_space: dict[str, Json] = {**closed, "properties": layer}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "preferences/memory.json",
        **closed,
        "properties": {
            **layer,
            LABEL_SPACES: {"type": "object", "additionalProperties": of_space},
        },
    }


def _form(one: Preference) -> Json:
    form: dict[str, Json] = {"description": one.help, "default": one.default}
    match one.kind:
        case "flag":
            return {"type": "boolean", **form}
        case "whole":
            return {"type": "integer", "minimum": one.low, "maximum": one.high, **form}
        case "choice":
            return {"enum": list(one.choices), **form}
        case "choices":
            items: Json = {"enum": list(one.choices)}
            return {"type": "array", "items": items, "uniqueItems": True, **form}
        case "text":
            return {"type": "string", "maxLength": one.high, **form}


def _is_plain(text: str) -> bool:
    return text.isprintable() and text == text.strip()


def _check_object(value: Any, source: str, name: str) -> None:
    if not isinstance(value, dict):
        _refuse(source, name, "this is no object", 'write {"recall": {"limit": 8}}')


def _unknown(name: str, known: Iterable[str], source: str) -> NoReturn:
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), 1)
    cure = f"did you mean {close[0]}?" if close else "`holdfast preferences show` lists them"
    _refuse(source, "", f"there is no preference {shown(name)}", cure)


def _said(value: Json) -> str:
    from json import dumps

    text = dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _refuse(source: str, name: str, what: str, cure: str) -> NoReturn:
    place = f"{source}: {name}: " if name else f"{source}: "
    raise InvalidInput("preference_invalid", place + what, hint=cure)
