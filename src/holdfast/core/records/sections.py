"""The sections of a Markdown body: its headings, where each begins and ends, and finding one.

Headings are those of CommonMark, with `#` before or a line of `=` or `-` under them; what stands
in fenced code, in a comment or in front matter is none. A section goes on to the next heading of
its level or above, so it holds its subsections. One pass over the lines, however many there are.
"""

from __future__ import annotations

from holdfast.errors import Ambiguous, InvalidInput, NotFound
from holdfast.model.names import check_str, shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

JOIN = " > "
PATHS_NAMED = 10
_INDENT_MAX = 3


class Heading(Value):
    """`path` are the titles from the top down to its own; lines are counted from 0, and those of
    its section are from `first` up to `end`."""

    level: int
    path: tuple[str, ...]
    first: int
    end: int


def headings(text: str) -> list[Heading]:
    lines = text.split("\n")
    open_: list[tuple[int, str, int]] = []  # level, title, place among the found
    found: list[tuple[int, tuple[str, ...], int, int]] = []
    ends: list[int] = []
    for level, title, first in _found(lines):
        while open_ and open_[-1][0] >= level:
            ends[open_.pop()[2]] = first
        open_.append((level, title, len(found)))
        found.append((level, tuple(each[1] for each in open_), first, 0))
        ends.append(len(lines))
    return [
        Heading(level=level, path=path, first=first, end=end)
        for (level, path, first, _), end in zip(found, ends, strict=True)
    ]


def section_text(text: str, heading: Heading) -> str:
    return "\n".join(text.split("\n")[heading.first : heading.end]).rstrip()


def outline(found: Sequence[Heading], limit: int) -> tuple[str, ...]:
    """The paths of the first headings, each so that it finds its section."""
    often: dict[tuple[str, ...], int] = {}
    for each in found:
        often[_folded(each.path)] = often.get(_folded(each.path), 0) + 1
    seen: dict[tuple[str, ...], int] = {}
    paths: list[str] = []
    for each in found[:limit]:
        key = _folded(each.path)
        seen[key] = seen.get(key, 0) + 1
        paths.append(JOIN.join(each.path) + (f"[{seen[key]}]" if often[key] > 1 else ""))
    return tuple(paths)


def find_section(found: Sequence[Heading], path: str | Sequence[str]) -> Heading:
    """The section with this path, or with the only path that ends so. `Setup[2]` is the second."""
    asked = JOIN.join(path) if not isinstance(path, str) else path
    for steps, which in _readings(path):
        fitting = _fitting(found, steps)
        if which is None and len(fitting) > 1:
            raise _ambiguous(found, fitting, asked)
        if fitting and (which or 1) <= len(fitting):
            return fitting[(which or 1) - 1]
    raise NotFound(
        "section_not_found",
        f"there is no section {shown(asked)}" + ("" if found else ", nor any other"),
        hint=f"there is {_names(found)}" if found else "the body has no headings: read it whole",
    )


def _readings(path: str | Sequence[str]) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """What a path may mean: as it stands, then with a count at its end, then cut at slashes."""
    if not isinstance(path, str):
        for step in path:
            check_str(step, "a heading")
        ways = [tuple(path)]
    else:
        ways = [(path,), tuple(path.split(JOIN)), tuple(path.split(">")), tuple(path.split("/"))]
    for steps in dict.fromkeys(ways):
        if not steps or not all(step.strip() for step in steps):
            continue
        yield _folded(steps), None
        title, which = _counted(steps[-1])
        if which is not None:
            yield _folded((*steps[:-1], title)), which
    if not any(steps and all(step.strip() for step in steps) for steps in ways):
        raise InvalidInput(
            "section_invalid", "the path of the section is empty", hint="such as Setup > Linux"
        )


def _counted(title: str) -> tuple[str, int | None]:
    head, bracket, tail = title.rpartition("[")
    digits = tail.removesuffix("]")
    counted = bracket and tail.endswith("]") and digits.isascii() and digits.isdigit()
    if counted and len(digits) < 10 and int(digits):
        return head, int(digits)
    return title, None


def _fitting(found: Sequence[Heading], steps: tuple[str, ...]) -> list[Heading]:
    whole: list[Heading] = []
    ending: list[Heading] = []
    for each in found:
        if len(each.path) < len(steps) or _fold(each.path[-1]) != steps[-1]:
            continue
        path = _folded(each.path)
        if path == steps:
            whole.append(each)
        elif path[-len(steps) :] == steps:
            ending.append(each)
    return whole or ending


def _ambiguous(found: Sequence[Heading], fitting: Sequence[Heading], asked: str) -> Ambiguous:
    paths = list(dict.fromkeys(JOIN.join(each.path) for each in fitting))
    if len(paths) == 1:
        cure = f"count them: {paths[0]}[1] to {paths[0]}[{len(fitting)}]"
    else:
        cure = f"say which: {_names(fitting)}"
    what = f"{shown(asked)} fits {len(fitting):,} of {len(found):,} sections"
    return Ambiguous("section_ambiguous", what, hint=cure)


def _names(found: Sequence[Heading]) -> str:
    names = [shown(JOIN.join(each.path)) for each in found[:PATHS_NAMED]]
    more = f" and {len(found) - PATHS_NAMED:,} more" if len(found) > PATHS_NAMED else ""
    return ", ".join(names) + more


def _folded(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_fold, path))


def _fold(title: str) -> str:
    return " ".join(title.casefold().split())


# Reading Markdown


def _found(lines: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    """The headings in order: level, title, and the line that each begins at."""
    fence, comment, paragraph = "", False, -1
    begin = _front_matter(lines)
    for at, raw in enumerate(lines[begin:], begin):
        line = raw.rstrip()
        inner = line.lstrip(" ")
        indent = len(line) - len(inner)
        if comment or fence:
            comment = comment and "-->" not in line
            fence = "" if fence and _closes(fence, inner, indent) else fence
            continue
        if not inner or indent > _INDENT_MAX or inner.startswith("\t"):
            paragraph = -1 if not inner else paragraph
            continue
        if inner.startswith("<!--"):
            comment, paragraph = "-->" not in inner, -1
        elif opened := _fence_of(inner):
            fence, paragraph = opened, -1
        elif hashed := _hashed(inner):
            yield hashed[0], hashed[1], at
            paragraph = -1
        elif paragraph >= 0 and inner[0] in "=-" and not inner.strip(inner[0]):
            title = " ".join(each.strip() for each in lines[paragraph:at])
            yield (1 if inner[0] == "=" else 2), title, paragraph
            paragraph = -1
        elif _begins_no_paragraph(inner):
            paragraph = -1
        elif paragraph < 0:
            paragraph = at


def _front_matter(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, if there is any."""
    if lines[0].rstrip() == "---":
        for at in range(1, len(lines)):
            if lines[at].rstrip() == "---":
                return at + 1
    return 0


def _hashed(inner: str) -> tuple[int, str] | None:
    title = inner.lstrip("#")
    level = len(inner) - len(title)
    if not 1 <= level <= 6 or title[:1] not in ("", " ", "\t"):
        return None
    title = title.strip()
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":  # closing hashes stand behind a blank
        title = bare.rstrip()
    return level, title


def _fence_of(inner: str) -> str:
    for mark in "`~":
        run = inner[: len(inner) - len(inner.lstrip(mark))]
        if len(run) >= 3 and not (mark == "`" and mark in inner[len(run) :]):
            return run
    return ""


def _closes(fence: str, inner: str, indent: int) -> bool:
    is_run = bool(inner) and not inner.strip(fence[0])
    return indent <= _INDENT_MAX and is_run and len(inner) >= len(fence)


def _begins_no_paragraph(inner: str) -> bool:
    """Quotes, lists, tables and rules: a line under them makes no heading of them."""
    head = inner.split(maxsplit=1)[0]
    is_rule = len(inner) >= 3 and inner[0] in "-*_" and not inner.replace(" ", "").strip(inner[0])
    is_item = head in ("-", "*", "+") or (head[:-1].isdigit() and head[-1] in ".)")
    return is_rule or is_item or inner[0] in ">|"
