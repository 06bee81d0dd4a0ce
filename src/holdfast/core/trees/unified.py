"""What changed in a file, line by line: hunks as values, and as a unified diff."""

from __future__ import annotations

from io import BytesIO

from holdfast.core.merge.match import match
from holdfast.core.merge.text import is_binary
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Edit = tuple[int, int, int, int]

CONTEXT_LINES = 3
SAME, GONE, NEW = b" ", b"-", b"+"


class Hunk(Value):
    """Lines of both versions that belong together, and where they begin, counted from 0.

    Each line has its end with it, and stands behind SAME, GONE or NEW.
    """

    before: int
    after: int
    lines: tuple[tuple[bytes, bytes], ...]


def hunks(before: bytes, after: bytes, context: int = CONTEXT_LINES) -> Iterator[Hunk]:
    """The changes in order, each with the lines around it."""
    old, new = BytesIO(before).readlines(), BytesIO(after).readlines()
    near: list[Edit] = []
    for edit in _edits(old, new):
        if near and edit[0] - near[-1][1] > 2 * context:
            yield _hunk(old, new, near, context)
            near = []
        near.append(edit)
    if near:
        yield _hunk(old, new, near, context)


def unified(before: bytes, after: bytes, old_name: str, new_name: str) -> Iterator[bytes]:
    """The lines of a unified diff, as other tools read it; nothing where nothing changed."""
    if before == after:
        return
    if is_binary(before) or is_binary(after):
        yield f"Binary files {old_name} and {new_name} differ\n".encode()
        return
    yield f"--- {old_name}\n".encode()
    yield f"+++ {new_name}\n".encode()
    for hunk in hunks(before, after):
        old = _range(hunk.before, sum(mark != NEW for mark, _ in hunk.lines))
        new = _range(hunk.after, sum(mark != GONE for mark, _ in hunk.lines))
        yield f"@@ -{old} +{new} @@\n".encode()
        for mark, line in hunk.lines:
            yield mark + line
            if not line.endswith(b"\n"):
                yield b"\n\\ No newline at end of file\n"


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _edits(old: list[bytes], new: list[bytes]) -> Iterator[Edit]:
    i = j = 0
    for start, new_start, n in [*match(old, new), (len(old), len(new), 0)]:
        if start > i or new_start > j:
            yield i, start, j, new_start
        i, j = start + n, new_start + n


def _hunk(old: list[bytes], new: list[bytes], edits: list[Edit], context: int) -> Hunk:
    first, last = edits[0], edits[-1]
    start = max(0, first[0] - context)
    lines: list[tuple[bytes, bytes]] = []
    at = start
    for i0, i1, j0, j1 in edits:
        lines += [(SAME, line) for line in old[at:i0]]
        lines += [(GONE, line) for line in old[i0:i1]]
        lines += [(NEW, line) for line in new[j0:j1]]
        at = i1
    lines += [(SAME, line) for line in old[at : last[1] + context]]
    return Hunk(before=start, after=first[2] - (first[0] - start), lines=tuple(lines))
