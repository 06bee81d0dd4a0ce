"""Strategies of other packages, found through the entry points of the group `holdfast.strategies`.

    [project.entry-points."holdfast.strategies"]
    counter = "holdfast_counter"

The name is the strategy's, the value a module (or an object) with all that `ports.Strategy` asks
for. Nothing is looked for until something names a strategy that is not built in, so that no command
pays for packages that it does not use; a built-in name never leads to another package. What cannot
be loaded, is not what it must be, or clashes, is an error that names the package.
"""

from __future__ import annotations

from holdfast.core.forms import NAME_PATTERN, Form
from holdfast.errors import NotFound, Unsupported
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint
    from typing import Any

    from holdfast.ports import Strategy

GROUP = "holdfast.strategies"
HOLDINGS = ("entries", "values", "messages", "contents", "trees")
_FUNCTIONS = ("check", "block", "accept", "tools")
# What running somebody else's module may raise; what ends a program goes on.
_BROKEN = (
    *(ImportError, AttributeError, SyntaxError, TypeError, ValueError, LookupError, NameError),
    *(OSError, RuntimeError, ArithmeticError, AssertionError),
)


class Plugin(Value):
    """A strategy that a package offers, and what is wrong with it, if anything is."""

    name: str
    package: str
    version: str
    value: str
    problem: str = ""


def load(name: str, built_in: Collection[str]) -> Strategy:
    """The strategy of that name from another package."""
    found = [point for point in _points() if point.name == name]
    if not found:
        raise NotFound(
            "strategy_missing",
            f"there is no strategy {shown(name)}: it is not built in, and no package offers it",
            hint=f"install the package that does, or use {', '.join(sorted(built_in))}",
        )
    if problem := _clash(found, built_in):
        raise Unsupported("plugin_clash", problem, hint="uninstall one of them")
    return _loaded(found[0])


def names() -> tuple[str, ...]:
    """The strategies that other packages offer."""
    return tuple(sorted({point.name for point in _points()}))


def plugins(built_in: Collection[str]) -> Iterator[Plugin]:
    """All that is offered, each tried, for `doctor`."""
    by_name: dict[str, list[EntryPoint]] = {}
    for point in _points():
        by_name.setdefault(point.name, []).append(point)
    for name, points in sorted(by_name.items()):
        problem = _clash(points, built_in)
        for point in points:
            yield Plugin(
                name=name,
                package=_package(point),
                version=_version(point),
                value=point.value,
                problem=problem or _fault(point),
            )


def _fault(point: EntryPoint) -> str:
    try:
        _loaded(point)
    except Unsupported as exc:
        return exc.message
    return ""


def _points() -> Sequence[EntryPoint]:
    """By package, so that the order does not depend on how they were installed. A package that is
    on the path twice offers what the first one does."""
    from importlib.metadata import entry_points

    found = {(point.name, _package(point)): point for point in reversed(entry_points(group=GROUP))}
    return [found[key] for key in sorted(found)]


def _clash(points: Sequence[EntryPoint], built_in: Collection[str]) -> str:
    name = points[0].name
    packages = " and ".join(_package(point) for point in points)
    if name in built_in:
        return f"{packages} offers the strategy {name}, which is built in"
    return f"{packages} both offer the strategy {name}" if len(points) > 1 else ""


def _loaded(point: EntryPoint) -> Strategy:
    where = f"the strategy {point.name} of the package {_package(point)} {_version(point)}"
    try:
        strategy: Any = point.load()
    except _BROKEN as exc:
        raise Unsupported(
            "plugin_broken",
            f"{where} cannot be loaded from {point.value}: {type(exc).__name__}: {exc}",
            hint="update or uninstall that package",
        ) from exc
    if fault := lacks(point.name, strategy):
        raise Unsupported(
            "plugin_unfit",
            f"{where} is none: {fault}",
            hint="docs/reference/plugins.md says what a strategy is made of",
        )
    return strategy


def lacks(name: str, strategy: Any) -> str:
    """Why something cannot be the strategy of that name; nothing where it can."""
    from re import match

    if not match(NAME_PATTERN, name):
        return f"{shown(name)} is no name for a strategy"
    if getattr(strategy, "NAME", None) != name:
        return f"its NAME is {getattr(strategy, 'NAME', None)!r}"
    if getattr(strategy, "HOLDS", None) not in HOLDINGS:
        return f"its HOLDS is none of {', '.join(HOLDINGS)}"
    options: Mapping[Any, Any] = getattr(strategy, "OPTIONS", None) or {}
    if not hasattr(options, "items") or set(options) != {"short_term", "long_term"}:
        return "its OPTIONS are not one mapping for short_term and one for long_term"
    for forms in options.values():
        if not hasattr(forms, "items") or not all(isinstance(f, Form) for f in forms.values()):
            return "its OPTIONS are no forms (holdfast.core.forms)"
    missing = [each for each in _FUNCTIONS if not callable(getattr(strategy, each, None))]
    return f"it has no {', '.join(missing)}" if missing else ""


def _package(point: EntryPoint) -> str:
    return "an unnamed package" if point.dist is None else point.dist.name


def _version(point: EntryPoint) -> str:
    return "" if point.dist is None else point.dist.version
