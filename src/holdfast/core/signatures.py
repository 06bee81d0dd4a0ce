"""A function's signature as data: forms of its parameters, from which come the JSON Schema that an
agent is shown and the check of what it sends.

Annotations stand as text, and some of their names are imported for the type checker alone. So they
are read with the words that signatures of tools use, beside the names of the function's module.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from holdfast.core.archive import in_short
from holdfast.core.forms import Form, Group, Misfit
from holdfast.errors import InvalidInput
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.entry import Json

FAULT_CHARS_MAX = 200

_WORDS: dict[str, Any] = {
    "Any": Any,
    "Json": Any,
    "Literal": Literal,
    "Mapping": Mapping,
    "Sequence": Sequence,
    "datetime": datetime,
    "Order": Literal["newest", "oldest"],
    "Role": Literal["user", "assistant", "tool", "system"],
}


class _Names(dict[str, Any]):
    """The words of signatures, and every class of values by its name."""

    def __missing__(self, name: str) -> type[Value]:
        waiting = list(Value.__subclasses__())
        for kind in waiting:
            if kind.__name__ == name:
                return kind
            waiting.extend(kind.__subclasses__())
        raise KeyError(name)


def signature_of(function: Callable[..., object]) -> inspect.Signature:
    """The signature with real types for annotations."""
    found = inspect.signature(function)
    names = getattr(function, "__globals__", {})
    parameters = [
        each.replace(annotation=_type(each.annotation, names)) for each in found.parameters.values()
    ]
    return inspect.Signature(parameters, return_annotation=_type(found.return_annotation, names))


def _type(annotation: Any, names: Mapping[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, {}, _Names({**_WORDS, **names}))  # noqa: S307 - our own source


def arguments_form(signature: inspect.Signature) -> Group:
    """The form of the JSON object that holds the arguments of a call."""
    return Group(
        fields={name: form_of(each.annotation) for name, each in signature.parameters.items()},
        needs=tuple(
            name for name, each in signature.parameters.items() if each.default is each.empty
        ),
    )


def check_arguments(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], named: Mapping[str, Any]
) -> None:
    """Refuse a call that the signature does not take, or whose arguments are of other types."""
    try:
        given = signature.bind(*args, **named).arguments
    except TypeError as exc:
        raise _wrong(signature, f"{name}: {in_short(str(exc), FAULT_CHARS_MAX)}") from None
    for key, value in given.items():
        kind = signature.parameters[key].annotation
        if not _is(value, kind):
            what = " or ".join(dict.fromkeys(map(_name_of, _members(kind))))
            found = "null" if value is None else type(value).__name__
            raise _wrong(signature, f"{name}: {key} must be {what}, not {found}")


def _wrong(signature: inspect.Signature, message: str) -> InvalidInput:
    hint = f"it takes {', '.join(signature.parameters) or 'nothing'}"
    return InvalidInput("arguments_invalid", message, hint=hint)


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a type as annotations name it. Which word it is, is for the callee."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in parts)
    if origin is Literal:
        return isinstance(value, str)
    if origin in (list, tuple, Sequence):
        return isinstance(value, (list, tuple)) and all(_is(each, parts[0]) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and _is(each, parts[1]) for key, each in value.items()
        )
    if kind in (int, float):
        number = int if kind is int else (int, float)
        return isinstance(value, number) and not isinstance(value, bool)
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _name_of(kind: Any) -> str:
    origin = get_origin(kind) or kind
    return _NAMES.get(origin, "any JSON")


_NAMES: dict[Any, str] = {
    **dict.fromkeys((str, Literal), "text"),
    **dict.fromkeys((list, tuple, Sequence), "a list"),
    **dict.fromkeys((dict, Mapping), "an object"),
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    datetime: "a time",
    NoneType: "null",
}


def form_of(kind: Any) -> Form:
    """The form of a parameter's type. What no form knows is any JSON."""
    members = [each for each in _members(kind) if each is not NoneType]
    optional = len(members) < len(_members(kind))
    forms = [_plain_form(each) for each in members]
    unique = [form for place, form in enumerate(forms) if form not in forms[:place]]
    form = unique[0] if len(unique) == 1 else Anything()
    return Optional(of=form) if optional else form


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _plain_form(kind: Any) -> Form:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return Word(choices=tuple(map(str, parts)))
    if origin in (list, tuple, Sequence):
        return ListOf(of=form_of(parts[0]))
    if origin in (dict, Mapping):
        return DictOf(of=form_of(parts[1]))
    return _FORMS.get(kind, Anything())


class Word(Form):
    """Text, empty or not; or one of a few words."""

    choices: tuple[str, ...] = ()

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if not isinstance(value, str):
            raise Misfit(path, f"{path[-1]} must be text", "give a string")
        if self.choices and value not in self.choices:
            cure = f"one of {', '.join(self.choices)}"
            raise Misfit(path, f"{path[-1]} cannot be {shown(value)}", cure)
        return value

    def _schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)} if self.choices else {"type": "string"}


class Number(Form):
    whole: bool = False

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if self.whole and isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            what = "a whole number" if self.whole else "a number"
            raise Misfit(path, f"{path[-1]} must be {what}", "give a number, not in quotes")
        return value

    def _schema(self) -> dict[str, Any]:
        return {"type": "integer" if self.whole else "number"}


class Truth(Form):
    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if not isinstance(value, bool):
            raise Misfit(path, f"{path[-1]} must be true or false", "give it without quotes")
        return value

    def _schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Anything(Form):
    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:  # noqa: ARG002
        return value

    def _schema(self) -> dict[str, Any]:
        return {}


class Optional(Form):
    """May be null, which means the same as leaving it out."""

    of: Form

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        return None if value is None else self.of.read(value, path)

    def _schema(self) -> dict[str, Any]:
        return self.of.schema()


class ListOf(Form):
    of: Form

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if not isinstance(value, list):
            raise Misfit(path, f"{path[-1]} must be a list", "give [...]")
        return [self.of.read(item, (*path, place)) for place, item in enumerate(value)]

    def _schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.schema()}


class DictOf(Form):
    of: Form

    def read(self, value: Any, path: tuple[str | int, ...]) -> Json:
        if not isinstance(value, dict):
            raise Misfit(path, f"{path[-1]} must be an object", "give {...}")
        return {key: self.of.read(item, (*path, key)) for key, item in value.items()}

    def _schema(self) -> dict[str, Any]:
        return {"type": "object"}


_FORMS: dict[Any, Form] = {
    str: Word(),
    datetime: Word(),
    bool: Truth(),
    int: Number(whole=True),
    float: Number(),
}
