"""Which names a scan leaves out: `.holdfast` and `.git` always, and what `.holdfastignore` says.

The file has gitignore's syntax, as gitignore(5) puts it, and may lie in any folder of the tree: the
last rule that matches decides, of the deepest file that has one; `!` takes a path in again, unless
a folder above it is out. `*`, `?` and classes mean characters, where git means bytes.

Each rule becomes one regular expression in which what a `*` has taken is never given back, except
by the last `*` of a part. That loses no match, since all between two stars is of fixed length, and
it keeps a hostile rule from taking more time than the square of the path's length.
"""

from __future__ import annotations

import re

from holdfast.errors import InvalidInput
from holdfast.model.tree import SKIPPED_NAMES
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

IGNORE_FILE = ".holdfastignore"
IGNORE_BYTES_MAX = 64 * 1024

_SPECIAL = re.compile(r"[*?\[\\]")
_NEVER = "(?!)"
_DIRS, _REST, _STAR = "**/", ".*", "*"
_NAMED_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class Rule(Value):
    """One line. It is about a path from the file's folder on if `anchored`, else about a name.

    `parts` is how many parts such a path has; 0 where `**` leaves it open.
    """

    glob: str
    regex: str
    anchored: bool
    parts: int
    folders_only: bool
    taken_in: bool

    def fits(self, path: str, name: str, is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        return re.fullmatch(self.regex, path if self.anchored else name, re.DOTALL) is not None


class Rules(Value):
    """What one file says: its rules, the last line first, and quick tests that most names fail.

    `folder` is where the file lies: "" or a path that ends with a slash. `paths` holds a test for
    paths of each number of parts that a rule asks for, and under 0 one for all others.
    """

    folder: str
    rules: tuple[Rule, ...]
    names: frozenset[str]
    endings: tuple[str, ...]
    other_names: re.Pattern[str] | None
    paths: dict[int, re.Pattern[str] | None]

    def suspects(self, below: str, names: Iterable[str]) -> set[str]:
        """The names in the folder `below` ours that some rule may fit."""
        found = {name for name in names if name in self.names}
        if self.endings:
            found |= {name for name in names if name.endswith(self.endings)}
        if self.other_names:
            fits = self.other_names.fullmatch
            found |= {name for name in names if fits(name)}
        if path_test := self.paths.get(below.count("/") + 1, self.paths[0]):
            fits = path_test.fullmatch
            found |= {name for name in names if fits(below + name)}
        return found


def parse_rules(folder: str, data: bytes) -> Rules:
    if len(data) > IGNORE_BYTES_MAX:
        message = f"{folder}{IGNORE_FILE} is larger than {IGNORE_BYTES_MAX} bytes"
        raise InvalidInput("ignore_too_large", message, hint="use patterns in place of lists")
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    rules = [rule for line in reversed(text.split("\n")) if (rule := _rule(line))]
    names: list[str] = []
    endings: list[str] = []
    others: list[Rule] = []
    for rule in rules:
        if rule.anchored or _SPECIAL.search(rule.glob, 1):
            others.append(rule)
        elif rule.glob[0] == "*":
            endings.append(rule.glob[1:])
        elif _SPECIAL.match(rule.glob):
            others.append(rule)
        else:
            names.append(rule.glob)
    anchored = [rule for rule in others if rule.anchored]
    return Rules(
        folder=folder,
        rules=tuple(rules),
        names=frozenset(names),
        endings=tuple(endings),
        other_names=_any_of(rule for rule in others if not rule.anchored),
        paths={
            parts: _any_of(rule for rule in anchored if rule.parts in (0, parts))
            for parts in {0, *(rule.parts for rule in anchored)}
        },
    )


def skipped_names(folder: str, names: Mapping[str, bool], levels: Sequence[Rules]) -> set[str]:
    """Of the names in a folder, each with whether it is a folder, those that a scan leaves out.

    `folder` is "" or a path that ends with a slash, and is itself not left out. `levels` are the
    ignore files from the root down to this folder.
    """
    skipped = {name for name in SKIPPED_NAMES if name in names}
    undecided = names.keys() - skipped
    for level in reversed(levels):
        below = folder[len(level.folder) :]
        for name in level.suspects(below, undecided):
            for rule in level.rules:
                if rule.fits(below + name, name, names[name]):
                    undecided.discard(name)
                    if not rule.taken_in:
                        skipped.add(name)
                    break
    return skipped


def _any_of(rules: Iterable[Rule]) -> re.Pattern[str] | None:
    regexes = [rule.regex for rule in rules]
    return re.compile("|".join(regexes), re.DOTALL) if regexes else None


def _rule(line: str) -> Rule | None:
    line = _without_trailing_spaces(line.removesuffix("\r"))
    if line.startswith("#"):
        return None
    taken_in = line.startswith("!")
    glob = line[1:] if taken_in else line
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    if not glob:
        return None
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    tokens = _tokens(glob)
    is_open = _DIRS in tokens or _REST in tokens
    return Rule(
        glob=glob,
        regex=_regex(tokens),
        anchored=anchored,
        parts=0 if is_open or not anchored else tokens.count("/") + 1,
        folders_only=folders_only,
        taken_in=taken_in,
    )


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    escaped = (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return line[: len(kept) + 1] if escaped else kept


def _tokens(glob: str) -> list[str]:
    """Slashes, stars, and regular expressions that stand for one character each."""
    tokens: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        if character == "*":
            token, at = _star(glob, at)
        elif character == "[":
            token, at = _class(glob, at + 1)
        elif character == "\\":
            token, at = re.escape(glob[at + 1]) if glob[at + 1 :] else _NEVER, at + 2
        else:
            token, at = {"?": "[^/]", "/": "/"}.get(character, re.escape(character)), at + 1
        tokens.append(token)
    return tokens


def _star(glob: str, start: int) -> tuple[str, int]:
    """Two or more stars that are a whole part cross slashes; any others are one star."""
    rest = glob[start:].lstrip("*")
    end = len(glob) - len(rest)
    if end - start == 1 or glob[:start][-1:] not in ("", "/") or rest[:1] not in ("", "/"):
        return _STAR, end
    return (_DIRS, end + 1) if rest else (_REST, end)


def _class(glob: str, at: int) -> tuple[str, int]:
    """A class in brackets, from after the first one; one that is not well formed fits nothing."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    items, before, first = "", "", at
    while at == first or glob[at : at + 1] != "]":
        end = glob.find("]", at + 3) if glob.startswith("[:", at) else 0
        if end > 0 and glob[end - 1] == ":":
            item, at, before = _NAMED_CLASSES.get(glob[at + 2 : end - 1], ""), end + 1, ""
        elif glob[at : at + 1] == "-" and before and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(glob, at + 1)
            item = f"{re.escape(before)}-{re.escape(high)}" if before <= high else before
            before = ""
        else:
            before, at = _member(glob, at)
            item = re.escape(before)
        if not item or end < 0:
            return _NEVER, len(glob)
        items += item
    return (f"[^/{items}]" if negated else f"(?!/)[{items}]"), at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    at += glob[at : at + 1] == "\\"
    return glob[at : at + 1], at + 1


def _regex(tokens: list[str]) -> str:
    if _NEVER in tokens:
        return _NEVER
    first, *others = _split(tokens, _DIRS)
    regex = _stretch(first)
    for other in others[:-1]:
        regex += f"(?>(?:[^/]*/)*?{_stretch(other)})"
    return regex + (f"(?:[^/]*/)*?{_stretch(others[-1])}" if others else "")


def _stretch(tokens: list[str]) -> str:
    """Parts of a path, slashes between them, and of no star that crosses slashes but at the end."""
    parts: list[str] = []
    for part in _split(tokens, "/"):
        first, *others = ("".join(run) for run in _split(part, _STAR))
        middle = "".join([f"(?>[^/]*?{run})" for run in others[:-1]])
        parts.append(first + middle + (f"[^/]*{others[-1]}" if others else ""))
    return "/".join(parts)


def _split(tokens: list[str], mark: str) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            runs.append([])
        else:
            runs[-1].append(token)
    return runs
