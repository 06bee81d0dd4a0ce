"""The forms that declared things take: one description, from which files are checked and from which
the JSON Schema for editors is made, so that the two cannot differ.

A form reads what YAML or JSON gave into plain JSON with what was left out filled in, or raises
`Misfit`, which says where inside it what is wrong and what cures it. Whoever read the file knows on
which line that place stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import OptionInvalid
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.entry import Json
    from holdfast.model.space import StoreSpec, StoreType

    Path = tuple[str | int, ...]

NAME_PATTERN = "^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$"
DAYS_MAX = 36_500


class Misfit(ValueError):
    """What does not have its form, and where in it: keys of mappings and places in lists."""

    def __init__(self, path: Path, message: str, cure: str) -> None:
        super().__init__(message)
        self.path, self.message, self.cure = path, message, cure


class Form(Value):
    """`about` is what an editor shows. Without a value there is `default`, unless that is None."""

    about: str = ""
    default: Json = None

    def read(self, value: Any, path: Path) -> Json:
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """The JSON Schema (draft 7) of the form."""
        about: dict[str, Any] = {"description": self.about} if self.about else {}
        given: dict[str, Any] = {} if self.default is None else {"default": self.default}
        return {**self._schema(), **given, **about}

    def _schema(self) -> dict[str, Any]:
        raise NotImplementedError


class Text(Form):
    """One line or more of text; one of `choices` where there are any, which `noun` names."""

    choices: tuple[str, ...] = ()
    noun: str = "value"
    pattern: str = ""

    def read(self, value: Any, path: Path) -> Json:
        if not isinstance(value, str) or not value:
            raise Misfit(path, "this must be text", "put it in quotes")
        if self.choices and value not in self.choices:
            cure = f"one of {', '.join(self.choices)}"
            raise Misfit(path, f"there is no {self.noun} {shown(value)}", cure)
        return str(value)

    def _schema(self) -> dict[str, Any]:
        if self.choices:
            return {"enum": list(self.choices)}
        return {
            "type": "string",
            **({"pattern": self.pattern} if self.pattern else {"minLength": 1}),
        }


class Whole(Form):
    low: int
    high: int

    def read(self, value: Any, path: Path) -> Json:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(path)
        if not self.low <= value <= self.high:
            raise self._wrong(path)
        return int(value)

    def _wrong(self, path: Path) -> Misfit:
        such = self.low if self.default is None else self.default
        return Misfit(
            path,
            f"{_named(path)} is not a whole number from {self.low:,} to {self.high:,}",
            f"such as {such}",
        )

    def _schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


class Flag(Form):
    def read(self, value: Any, path: Path) -> Json:
        if not isinstance(value, bool):
            raise Misfit(path, f"{_named(path)} is neither true nor false", "write true or false")
        return value

    def _schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Days(Form):
    """A number of whole UTC days, such as 30d, or one of `words`; read as a number or the word."""

    words: tuple[str, ...] = ()

    def read(self, value: Any, path: Path) -> Json:
        if value in self.words:
            return str(value)
        text = str(value).removesuffix("d") if not isinstance(value, bool) else ""
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= DAYS_MAX:
            neither = f"neither whole days nor `{'`, `'.join(self.words)}`"
            what = neither if self.words else "not a number of whole days"
            raise Misfit(path, f"{_named(path)} is {what}: {shown(value)}", "such as 30d")
        return int(text)

    def _schema(self) -> dict[str, Any]:
        days = [
            {"type": "string", "pattern": "^[1-9][0-9]{0,4}d?$"},
            {"type": "integer", "minimum": 1, "maximum": DAYS_MAX},
        ]
        return {"anyOf": [{"enum": list(self.words)}, *days] if self.words else days}


class Scalar(Form):
    """Text, a number, true or false: what a metadata filter compares with."""

    def read(self, value: Any, path: Path) -> Json:
        for kind in (bool, int, float, str):
            if isinstance(value, kind):
                return kind(value)
        raise Misfit(path, f"{_named(path)} is no plain value", "give text, a number or a truth")

    def _schema(self) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


class Items(Form):
    """A list. Where `alone` is true, one item may stand without its list."""

    of: Form
    alone: bool = False

    def read(self, value: Any, path: Path) -> Json:
        if not isinstance(value, (list, tuple)):
            if self.alone:
                return [self.of.read(value, path)]
            raise Misfit(path, "this must be a list", "start each item with `- `")
        return [self.of.read(item, (*path, place)) for place, item in enumerate(value)]

    def _schema(self) -> dict[str, Any]:
        items = {"type": ["array", "null"], "items": self.of.schema()}
        return {"anyOf": [self.of.schema(), items]} if self.alone else items


class Group(Form):
    """A mapping with known keys. What is not there and has no default stays out."""

    fields: Mapping[str, Form]
    needs: tuple[str, ...] = ()

    def read(self, value: Any, path: Path) -> dict[str, Json]:
        found = mapping(value, path)
        for key in found:
            if key not in self.fields:
                raise Misfit((*path, key), *self._unknown(key))
        for key in self.needs:
            if key not in found:
                raise Misfit(path, f"{key} is missing", f"add `{key}: …`")
        made: dict[str, Json] = {}
        for key, form in self.fields.items():
            said = found.get(key) is not None or key in self.needs
            if key in found and (said or isinstance(form, (Text, Whole, Flag))):
                made[key] = form.read(found[key], (*path, key))
            elif form.default is not None:
                made[key] = form.default
        return made

    def _unknown(self, key: str) -> tuple[str, str]:
        from difflib import get_close_matches

        close = get_close_matches(key, self.fields, 1)
        known = ", ".join(self.fields)
        cure = f"did you mean {close[0]}?" if close else f"known are {known}"
        return f"there is no such key as {shown(key)}", cure

    def _schema(self) -> dict[str, Any]:
        needs: dict[str, Any] = {"required": list(self.needs)} if self.needs else {}
        return {
            "type": ["object", "null"] if not self.needs else "object",
            "properties": {key: form.schema() for key, form in self.fields.items()},
            **needs,
            "additionalProperties": False,
        }


class Named(Form):
    """A mapping whose keys are names of the writer's own."""

    of: Form

    def read(self, value: Any, path: Path) -> Json:
        found = mapping(value, path)
        return {key: self.of.read(item, (*path, key)) for key, item in found.items()}

    def _schema(self) -> dict[str, Any]:
        return {"type": ["object", "null"], "additionalProperties": self.of.schema()}


def mapping(value: Any, path: Path) -> dict[str, Any]:
    """The value as a mapping with text for keys; nothing at all is one without any."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Misfit(path, "this must be a mapping of names to values", "write `name: value`")
    for key in value:
        if not isinstance(key, str):
            raise Misfit(path, f"the key {shown(key)} is not text", "put it in quotes")
    return {str(key): item for key, item in value.items()}


def checked_options(spec: StoreSpec, forms: Mapping[StoreType, Mapping[str, Form]]) -> StoreSpec:
    """A declared store with its options checked and completed: what a strategy's `check` does.

    `forms` has the options of each type of store.
    """
    allowed = forms[spec.type]
    for name in spec.options:
        if name not in allowed:
            raise OptionInvalid(
                name,
                f"a {spec.type} {spec.strategy} store has no option {shown(name)}",
                f"one of {', '.join(allowed)}" if allowed else "leave it out",
            )
    try:
        return spec.replace(options=Group(fields=allowed).read(spec.options, ()))
    except Misfit as exc:
        raise OptionInvalid(str(exc.path[0]), exc.message, exc.cure) from None


def _named(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "this")
