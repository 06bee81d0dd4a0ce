"""Three-way merge of text by lines.

Lines are compared without their ends: whether a file has CRLF, and a newline at its end, is merged
as a property of the file. What only one side changed is taken; what both changed alike is taken
once. Where both sides inserted at one place, a *unite* rule may keep both blocks: at the end of a
file (an appended list) always, in Markdown also wherever both blocks are list items. The block
whose lines sort first comes first, which is by date where lines begin with one, and the same
whichever side is called ours. Anything else is a clash.
"""

from __future__ import annotations

from holdfast.model.value import Value

from .match import match
from .threeway import CLASH, THEIRS, Region, apart, regions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Lines = list[bytes]
    Unite = Callable[[Lines, Lines, bool], Lines | None]

_BULLETS = (b"-", b"*", b"+")
_RARE_CONTROLS = bytes({*range(32), 127} - set(b"\b\t\n\f\r\x1b"))


class Clash(Value):
    """Why contents cannot be merged: a reason for programs, a place for people."""

    reason: str
    where: str = ""


class Text(Value):
    """A file as lines; `crlf` and `ended` are None where the file is too short to tell."""

    lines: Lines
    crlf: bool | None
    ended: bool | None


def is_binary(data: bytes) -> bool:
    """Not to be treated as lines: holds NUL, or is not UTF-8 and holds control characters."""
    if b"\0" in data:
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return len(data.translate(None, _RARE_CONTROLS)) < len(data)
    return False


def _has_one_end(data: bytes) -> bool:
    """Whether all lines end alike and no other CR is in it."""
    pairs = data.count(b"\r\n")
    return data.count(b"\r") == pairs and pairs in (0, data.count(b"\n"))


def split_text(data: bytes, *, keep_cr: bool = False) -> Text:
    ends = data.count(b"\n")
    crlf = not keep_cr and 0 < ends == data.count(b"\r\n")
    lines = data.split(b"\r\n" if crlf else b"\n")
    if not lines[-1]:
        lines.pop()
    ended = data.endswith(b"\n") if data else None
    return Text(lines=lines, crlf=crlf if ends else None, ended=ended)


def join_text(text: Text) -> bytes:
    end = b"\r\n" if text.crlf else b"\n"
    return end.join(text.lines) + (end if text.lines and text.ended else b"")


def merge_text(base: bytes, ours: bytes, theirs: bytes, unite: Unite) -> bytes | Clash:
    """The merged text, or where it clashes first."""
    keep_cr = not all(_has_one_end(data) for data in (base, ours, theirs))
    b, o, t = (split_text(data, keep_cr=keep_cr) for data in (base, ours, theirs))
    lines = _merge_lines(b.lines, o.lines, t.lines, unite)
    if isinstance(lines, Clash):
        return lines
    crlf, ended = _pick(b.crlf, o.crlf, t.crlf), _pick(b.ended, o.ended, t.ended)
    return join_text(Text(lines=lines, crlf=crlf, ended=ended))


def merge_new_texts(ours: bytes, theirs: bytes, unite: Unite) -> bytes | Clash:
    """The same for two texts without a base: what they have in common serves as one."""
    first, second = sorted((ours, theirs))
    o, t = split_text(first), split_text(second)
    common = [line for i, _, n in match(o.lines, t.lines) for line in o.lines[i : i + n]]
    base = join_text(Text(lines=common, crlf=o.crlf, ended=o.ended))
    return merge_text(base, first, second, unite)


def _pick(base: bool | None, ours: bool | None, theirs: bool | None) -> bool | None:
    if ours is None or theirs is None:
        return theirs if ours is None else ours
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else True


def _merge_lines(base: Lines, ours: Lines, theirs: Lines, unite: Unite) -> Lines | Clash:
    text_end = len(base)
    while text_end and not base[text_end - 1].strip():
        text_end -= 1
    merged: Lines = []
    for region in regions(base, ours, theirs):
        part = ours[slice(*region.ours)]
        if region.kind == THEIRS:
            part = theirs[slice(*region.theirs)]
        elif region.kind == CLASH:
            if region.base[0] < region.base[1]:
                return Clash(reason="lines", where=_place(region))
            at_end = region.base[0] >= text_end
            united = _unite(part, theirs[slice(*region.theirs)], at_end, unite)
            if united is None:
                return Clash(reason="lines", where=_place(region))
            part = united
        merged += part
    return merged


def _place(region: Region) -> str:
    start, stop = region.base
    if stop <= start + 1:
        return f"line {start + 1}"
    return f"lines {start + 1} to {stop}"


def _unite(ours: Lines, theirs: Lines, at_end: bool, unite: Unite) -> Lines | None:
    """Both insertions. One that holds all of the other, and more, is both of them already."""
    head, left, right, tail = apart(ours, theirs)
    return unite(ours, theirs, at_end) if left and right else head + left + right + tail


def unite_anywhere(ours: Lines, theirs: Lines, at_end: bool) -> Lines | None:  # noqa: ARG001
    """Both blocks; blank lines that they have in common at a seam stay with each of them."""
    head, left, right, tail = apart(ours, theirs)
    while head and not head[-1].strip():
        blank = head.pop()
        left, right = [blank, *left], [blank, *right]
    while tail and not tail[0].strip():
        blank = tail.pop(0)
        left, right = [*left, blank], [*right, blank]
    first, second = sorted((left, right))
    return head + first + second + tail


def unite_at_end(ours: Lines, theirs: Lines, at_end: bool) -> Lines | None:
    return unite_anywhere(ours, theirs, at_end) if at_end else None


def unite_items(ours: Lines, theirs: Lines, at_end: bool) -> Lines | None:  # noqa: ARG001
    """The items of both, once each, where both blocks are items of a Markdown list."""
    head, left, right, tail = apart(ours, theirs)
    first, second = (_items(block) for block in sorted((left, right)))
    if first is None or second is None:
        return None
    known = {b"\n".join(item).rstrip() for item in first}
    fresh = [item for item in second if b"\n".join(item).rstrip() not in known]
    return head + [line for item in first + fresh for line in item] + tail


def unite_markdown(ours: Lines, theirs: Lines, at_end: bool) -> Lines | None:
    return unite_items(ours, theirs, at_end) or unite_at_end(ours, theirs, at_end)


def _items(lines: Lines) -> list[Lines] | None:
    """The lines as list items, each with what is indented below it; None if they are not a list."""
    items: list[Lines] = []
    margin = -1
    for line in lines:
        body = line.lstrip(b" \t")
        indent = len(line) - len(body)
        if not body.strip():
            items.append([line]) if not items else items[-1].append(line)
        elif _is_item(body) and (margin < 0 or indent <= margin + 1):
            margin = indent if margin < 0 else margin
            items.append([line])
        elif 0 <= margin < indent:
            items[-1].append(line)
        else:
            return None
    return items if margin >= 0 else None


def _is_item(body: bytes) -> bool:
    mark, _, _ = body.partition(b" ")
    if mark.rstrip() in _BULLETS:
        return True
    return 1 < len(mark) <= 10 and mark[:-1].isdigit() and mark[-1:] in (b".", b")")
