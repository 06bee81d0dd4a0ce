"""Frozen, keyword-only values: what everything inside Holdfast passes around.

A class that derives from `Value` lists its fields as annotations, with defaults where it has them:

    class Version(Value):
        number: int
        message: str = ""

Two values are equal when they have one type and equal fields; a value never changes, and
`replace` makes a changed copy. The type checker sees a frozen dataclass. It is not one, because
`@dataclass` builds each class by compiling text: 1.2 ms a class at every start of the command
line, and 25 ms for the module, where this takes microseconds (docs/decisions/0002).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        return lambda cls: cls


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Value:
    fields_: ClassVar[tuple[str, ...]] = ()
    defaults_: ClassVar[dict[str, Any]] = {}
    required_: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if not name.endswith("_")]
        cls.fields_ = (*(name for name in cls.fields_ if name not in own), *own)
        cls.defaults_ = {name: getattr(cls, name) for name in cls.fields_ if hasattr(cls, name)}
        cls.required_ = frozenset(cls.fields_).difference(cls.defaults_)

    def __init__(self, **given: Any) -> None:
        held = self.__dict__
        held.update(self.defaults_)
        held.update(given)
        if len(held) != len(self.fields_) or not self.required_ <= given.keys():
            raise TypeError(self._misfit(given))

    @classmethod
    def filled_(cls, fields: dict[str, Any]) -> Self:
        """A value of a dictionary that has every field and that nobody else keeps, unchecked: for
        what every search makes, each in one place that names every field."""
        made = cls.__new__(cls)
        object.__setattr__(made, "__dict__", fields)
        return made

    def _misfit(self, given: dict[str, Any]) -> str:
        missing = ", ".join(sorted(self.required_ - given.keys()))
        unknown = ", ".join(sorted(given.keys() - set(self.fields_)))
        parts = [f"missing {missing}"] if missing else []
        parts += [f"unknown {unknown}"] if unknown else []
        return f"{type(self).__name__}: {'; '.join(parts)}"

    def replace(self, **changes: Any) -> Self:
        return type(self)(**{**self.__dict__, **changes})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *(self.__dict__[name] for name in self.fields_)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.fields_)
        return f"{type(self).__name__}({shown})"


class Readable(Value):
    """What is there to be read: `text` is all of it, and the other fields say about it."""

    text: str
