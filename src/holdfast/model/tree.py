"""What a versioned directory is made of: names, paths, nodes, changes, names of versions.

A tree is a set of leaves: files, links and empty folders, each under a path. A path is relative,
its parts are joined by `/`, and it is kept exactly as the file system gave it: two names that
differ by case or by Unicode form are two names. Refused are parts that mean another place on some
machine (`..`, `\\`, `C:`), parts that are ours or git's own (`.holdfast`, `.git`), and what is not
UTF-8. Whether a given file system can hold two names side by side is asked when a tree is laid out
(`core.trees.layout`).
"""

from __future__ import annotations

from collections import namedtuple

from holdfast.errors import Ambiguous, InvalidInput, NotFound

from .names import shown as quoted
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import NamedTuple

FILE, PROGRAM, LINK, FOLDER = "f", "x", "l", "d"
DIGEST_TAG = "sha256:"

DIRECTORY_NAME_RULE = (
    "a name has 3 to 64 characters of a-z, 0-9 and -, begins and ends with a letter or digit, "
    "and has no --"
)
DIRECTORY_NAME_PATTERN = "^(?!.*--)[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$"
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
SKIPPED_NAMES = frozenset({".holdfast", ".git"})
RESERVED_PARTS = SKIPPED_NAMES | {"", ".", ".."}
PART_BYTES_MAX = 255
PATH_PARTS_MAX = 100
LINK_BYTES_MAX = 4095
SHORT_HEX = 8
HEX_DIGITS = "0123456789abcdef"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


if TYPE_CHECKING:

    class Node(NamedTuple):
        kind: str
        files: int
        size: int
        digest: str

else:
    Node = namedtuple("Node", "kind files size digest")  # noqa: PYI024 - typing is slow to import
    Node.__doc__ = """What a name in a folder stands for.

    `kind` is FILE, PROGRAM (a file that may be executed), LINK or FOLDER. `digest` names the
    content: a file's bytes, a link's target, a folder's canonical bytes. `files` and `size` count
    the files and links at and below it, and the bytes of their contents. A named tuple, because a
    tree may hold a million.
    """


class Change(Value):
    """What happened at one path between two trees; `before` or `after` is None where it is not."""

    path: str
    before: Node | None
    after: Node | None

    @property
    def kind(self) -> str:
        """`added`, `deleted`, `type`, `mode` (the executable bit alone) or `modified`."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "deleted"
        kinds = {self.before.kind, self.after.kind}
        if len(kinds) == 2 and kinds != {FILE, PROGRAM}:
            return "type"
        return "mode" if self.before.digest == self.after.digest else "modified"


def check_directory_name(name: str) -> str:
    """The name, if a versioned directory may bear it (row A04)."""
    fits = 3 <= len(name) <= 64 and _NAME_CHARS.issuperset(name)
    if fits and name[0] != "-" != name[-1] and "--" not in name:
        return name
    raise InvalidInput(
        "directory_name_invalid",
        f"{quoted(name)} is not a name for a directory",
        hint=DIRECTORY_NAME_RULE,
    )


def part_problem(part: str) -> str:
    """Why a tree cannot hold a file of this name; empty if it can."""
    if part in RESERVED_PARTS:
        return "is reserved" if part in SKIPPED_NAMES else "is empty, or stands for another folder"
    if "/" in part or "\\" in part or "\0" in part:
        return "contains a slash, a backslash or a NUL character"
    if part[1:2] == ":" and part[0] in _LETTERS:
        return "begins like a drive letter"
    try:
        size = len(part) if part.isascii() else len(part.encode())
    except UnicodeEncodeError:
        return "is not UTF-8"
    return f"is longer than {PART_BYTES_MAX} bytes" if size > PART_BYTES_MAX else ""


def check_path(path: str) -> str:
    """The path, if a tree may hold a leaf there."""
    for part in path.split("/"):
        if problem := part_problem(part):
            raise bad_path(path, f"its part {quoted(part)} {problem}")
    return check_depth(path)


def check_depth(path: str) -> str:
    """The path, if it is not too deep; its parts are checked elsewhere."""
    if path.count("/") >= PATH_PARTS_MAX:
        raise bad_path(path, f"it is more than {PATH_PARTS_MAX} folders deep")
    return path


def bad_path(path: str, problem: str) -> InvalidInput:
    hint = "rename it, or name it in .holdfastignore"
    return InvalidInput("path_invalid", f"{quoted(path)} cannot be in a tree: {problem}", hint=hint)


def check_link_target(path: str, target: str) -> str:
    """The target, if a link may be kept with it. It may lead anywhere: see `link_leaves_root`."""
    try:
        size = len(target.encode())
    except UnicodeEncodeError:
        raise bad_path(path, "it is a link whose target is not UTF-8") from None
    if not 0 < size <= LINK_BYTES_MAX or "\0" in target:
        raise bad_path(path, "it is a link whose target is empty, too long or contains NUL")
    return target


def link_leaves_root(path: str, target: str) -> bool:
    """Whether a link at `path` leads out of its tree, as its words say and whatever is on disk."""
    if target.startswith("/") or "\\" in target or target[1:2] == ":":
        return True
    depth = path.count("/")
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def printable(path: str) -> str:
    """The path as one harmless line for a terminal: what does not print is escaped."""
    if path.isprintable():
        return path
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)


def short_hex(digest: str) -> str:
    """The 8 hex digits by which a tree is shown."""
    return digest.removeprefix(DIGEST_TAG)[:SHORT_HEX]


def is_digest(text: str) -> bool:
    body = text.removeprefix(DIGEST_TAG)
    return len(body) == 64 and len(text) == 64 + len(DIGEST_TAG) and not body.strip(HEX_DIGITS)


# --- names of versions (row A15) ----------------------------------------------------------------


class VersionPoint(Value):
    """What is needed of a version to find it by name."""

    number: int
    tree: str
    at: datetime


class ByNumber(Value):
    number: int


class ByTree(Value):
    hex_prefix: str


class Latest(Value):
    back: int = 0


class AtTime(Value):
    at: datetime


VERSION_FORMS = "`v12`, 8 or more hex digits of a tree, `latest`, `latest~2`, or a time"


def parse_version(text: str) -> ByNumber | ByTree | Latest | AtTime:
    """Read the name of a version. A time without a zone is UTC; a date alone is its midnight."""
    if text == "latest":
        return Latest()
    if text.startswith("latest~") and _is_count(text[7:]):
        return Latest(back=int(text[7:]))
    if text[:1] == "v" and _is_count(text[1:]) and text[1] != "0":
        return ByNumber(number=int(text[1:]))
    digits = text.removeprefix(DIGEST_TAG).lower()
    if digits and not digits.strip(HEX_DIGITS) and len(digits) <= 64:
        return _by_tree(text, digits)
    return AtTime(at=_time(text))


def _by_tree(text: str, digits: str) -> ByTree:
    if len(digits) < SHORT_HEX:
        raise InvalidInput(
            "version_too_short",
            f"{quoted(text)} is too short for the name of a tree",
            hint=f"give {SHORT_HEX} or more hex digits, or a number such as v12",
        )
    return ByTree(hex_prefix=digits)


def _time(text: str) -> datetime:
    from datetime import UTC, datetime

    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        problem = f"{quoted(text)} is not the name of a version"
        raise InvalidInput("version_invalid", problem, hint=f"give {VERSION_FORMS}") from None


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def resolve_version(text: str, candidates: Iterable[VersionPoint]) -> VersionPoint:
    """The version that `text` names. A tree's name means the newest version with that tree."""
    wanted = parse_version(text)
    newest_first = sorted(candidates, key=lambda point: -point.number)
    match wanted:
        case ByNumber(number=number):
            found = [point for point in newest_first if point.number == number]
        case ByTree(hex_prefix=digits):
            start = DIGEST_TAG + digits
            found = [point for point in newest_first if point.tree.startswith(start)]
            _refuse_two_trees(text, found)
        case Latest(back=back):
            found = newest_first[back:]
        case AtTime(at=at):
            found = [point for point in newest_first if point.at <= at]
    if found:
        return found[0]
    newest = f"the newest is v{newest_first[0].number}" if newest_first else "there is none yet"
    raise NotFound(
        "version_unknown", f"no version {quoted(text)}: {newest}", hint="`log` lists them"
    )


def _refuse_two_trees(text: str, found: list[VersionPoint]) -> None:
    newest = {point.tree: point for point in reversed(found)}
    if len(newest) > 1:
        points = sorted(newest.values(), key=lambda point: -point.number)
        names = ", ".join(f"v{point.number} ({_hex(point.tree, 16)})" for point in points[:5])
        more = f" and {len(points) - 5} more" if len(points) > 5 else ""
        raise Ambiguous(
            "version_ambiguous",
            f"{quoted(text)} fits more than one tree: {names}{more}",
            hint="give more digits",
        )


def _hex(digest: str, digits: int) -> str:
    return digest.removeprefix(DIGEST_TAG)[:digits]
