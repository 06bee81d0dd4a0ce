"""Three-way merge of plain data: objects by key, lists as lists, everything else as a whole.

Data is made of dicts, lists, strings, True, False, None and *scalars*: pairs of a type's name and
the value's own text. So the number 1.0 stays 1.0, is not 1, and is not true, and two data are equal
exactly when `==` says so. Objects are merged key by key. In a list, what both sides added at one
place is kept, in the order of its text; an element that both changed is merged in itself; a list in
which nobody wrote anything twice gets nothing twice. The rest raises DataClash.
"""

from __future__ import annotations

from .threeway import CLASH, OURS, THEIRS, apart, regions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    Scalar: TypeAlias = tuple[str, str]
    Key: TypeAlias = str | Scalar | bool | None
    Data: TypeAlias = "dict[Key, Data] | list[Data] | str | bool | Scalar | Missing | None"
    Path: TypeAlias = tuple[str, ...]


class Missing:
    """There is nothing under this key in this version."""


MISSING = Missing()


class DataClash(Exception):
    """Both sides changed one thing differently. `where` is its place, as a JSON pointer."""

    def __init__(self, at: Path) -> None:
        self.where = "".join(["/" + part.replace("~", "~0").replace("/", "~1") for part in at])
        super().__init__(self.where)


def merge_data(base: Data, ours: Data, theirs: Data, at: Path = ()) -> Data:
    if ours == theirs:
        return min(ours, theirs, key=repr) if isinstance(ours, (dict, list)) else ours
    if theirs == base:
        return ours
    if ours == base:
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return _merge_objects(base if isinstance(base, dict) else {}, ours, theirs, at)
    if isinstance(ours, list) and isinstance(theirs, list):
        return _merge_lists(base if isinstance(base, list) else [], ours, theirs, at)
    raise DataClash(at)


def is_deep(data: Data, depth_max: int) -> bool:
    """Whether objects and lists are nested beyond this. All else here may recurse by then."""
    level = [data]
    for _ in range(depth_max + 1):
        objects = [list(value.values()) for value in level if isinstance(value, dict)]
        lists = [value for value in level if isinstance(value, list)]
        level = [element for container in objects + lists for element in container]
    return bool(level)


def text_of(data: Data) -> str:
    """A text that is equal for equal data only, whatever the order of the keys."""
    if isinstance(data, dict):
        return (
            "{" + ",".join(sorted([f"{k!r}:{text_of(value)}" for k, value in data.items()])) + "}"
        )
    if isinstance(data, list):
        return "[" + ",".join([text_of(value) for value in data]) + "]"
    return repr(data)


def _merge_objects(
    base: dict[Key, Data], ours: dict[Key, Data], theirs: dict[Key, Data], at: Path
) -> Data:
    merged: dict[Key, Data] = {}
    for key in _merge_order(list(base), list(ours), list(theirs)):
        b, o, t = (version.get(key, MISSING) for version in (base, ours, theirs))
        value = merge_data(b, o, t, (*at, _name(key)))
        if value is not MISSING:
            merged[key] = value
    return merged


def _name(key: Key) -> str:
    return key[1] if isinstance(key, tuple) else str(key)


def _merge_order(base: list[Key], ours: list[Key], theirs: list[Key]) -> Iterable[Key]:
    """Every key once: in merged order those that the merge of the orders keeps, then the rest."""
    order: list[Key] = []
    for region in regions(base, ours, theirs):
        left, right = ours[slice(*region.ours)], theirs[slice(*region.theirs)]
        if region.kind == CLASH:
            first, second = sorted((left, right), key=repr)
            order += first + second
        else:
            order += right if region.kind == THEIRS else left
    order += sorted({*base, *ours, *theirs}, key=repr)
    return dict.fromkeys(order)


def _merge_lists(base: list[Data], ours: list[Data], theirs: list[Data], at: Path) -> Data:
    texts = [[text_of(element) for element in version] for version in (base, ours, theirs)]
    merged: list[Data] = []
    for region in regions(*texts):
        b, o, t = slice(*region.base), slice(*region.ours), slice(*region.theirs)
        inside = (*at, str(region.ours[0]))
        if region.kind == OURS:
            merged += ours[o]
        elif region.kind == THEIRS:
            merged += theirs[t]
        elif region.kind == CLASH:
            merged += _settle_lists(base[b], ours[o], theirs[t], inside)
        else:
            merged += [
                merge_data(one, one, other, inside)
                for one, other in zip(ours[o], theirs[t], strict=True)
            ]
    if any(len(set(version)) < len(version) for version in texts):
        return merged
    unique: dict[str, Data] = {}
    for element in merged:
        unique.setdefault(text_of(element), element)
    return list(unique.values())


def _settle_lists(base: list[Data], ours: list[Data], theirs: list[Data], at: Path) -> list[Data]:
    if base and len(base) == len(ours) == len(theirs):
        return [merge_data(b, o, t, at) for b, o, t in zip(base, ours, theirs, strict=True)]
    if base:
        raise DataClash(at)
    texts = [text_of(element) for element in ours], [text_of(element) for element in theirs]
    head, left, right, tail = apart(*texts)
    first, second = sorted((left, right))
    pairs = zip(texts[0] + texts[1], ours + theirs, strict=True)
    found = dict(sorted(pairs, key=repr, reverse=True))
    return [found[text] for text in head + first + second + tail]
