"""A profile's file as Markdown: one bullet an entry, written so that every text can be read back.

The further lines of an entry are indented by two blanks, so that they are its text and nothing
else, whatever they look like. A file that somebody wrote by hand is read as they meant it: a list
item is an entry, so is a paragraph, a table or a piece of code; a heading says what the entries
below it are about; a rule, or a line with nothing but `§`, only parts them.
"""

from __future__ import annotations

from holdfast.core.text.patterns import lazily
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INDENT = "  "
# A line right under one that is so long goes on with it; under a shorter one it is another entry.
WRAPPED_CHARS = 50

_ITEM = lazily(r"( ?)([-*+]|[0-9]{1,9}[.)])(?:( +|\t)(.*)|)\Z")
_HEADING = lazily(r" ?(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_RULE = lazily(r" ?(?:-{3,}|\*{3,}|_{3,}|={3,}|§+)[ \t]*\Z")
_FENCE = lazily(r" ?(`{3,}|~{3,})")


class Item(Value):
    """One entry as it stands in a file. `heading` is that of its section, empty under a title."""

    text: str
    heading: str = ""

    @property
    def with_heading(self) -> str:
        """The text as it reads where its section is gone."""
        if not self.heading:
            return self.text
        return f"{self.heading.rstrip(':')}: {self.text}"


def broken(text: str) -> str:
    """With one kind of line break."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def bullet(text: str) -> str:
    """An entry in a file."""
    first, *others = broken(text).split("\n")
    return "\n".join([f"- {first}", *(line and INDENT + line for line in others)])


def written(title: str, texts: Iterable[str]) -> str:
    """The whole file."""
    body = [bullet(text) for text in texts]
    return "\n".join([f"# {title}", "", *body, ""] if body else [f"# {title}", ""])


def key(text: str) -> str:
    """What two texts have in common that are the same to whoever looks at the file."""
    from unicodedata import normalize

    return "\n".join(line.rstrip() for line in normalize("NFC", broken(text).strip()).split("\n"))


def read(text: str) -> tuple[Item, ...]:
    """The entries of a file, in their order."""
    reader = _Reader()
    for line in broken(text.removeprefix("\ufeff")).split("\n"):
        reader.line(line)
    return tuple(reader.end())


def decoded(data: bytes) -> tuple[str, bool]:
    """The text of a file, and whether some of its bytes were in no encoding that it says it has."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), False
    try:
        return data.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        return "\n".join(map(_line_of, data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))), True


def _line_of(data: bytes) -> str:
    """A line that is not UTF-8 is in the encoding that such lines mostly are in."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


class _Reader:
    """Takes a file line by line."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._heading = ""
        self._lines: list[str] = []
        self._blank: list[str] = []  # may be inside of the item, or after it
        self._offset = 0  # of the text of the list item that is open; 0: none is
        self._fence = ""

    def line(self, line: str) -> None:
        if self._fence:
            self._in_fence(line)
        elif self._offset:
            self._in_item(line)
        else:
            self._outside(line)

    def end(self) -> Iterator[Item]:
        self._close()
        yield from self._items

    def _in_item(self, line: str) -> None:
        if not line.strip():
            self._blank.append(line[len(INDENT) :] if line.startswith(INDENT) else "")
            return
        blanks = len(line) - len(line.lstrip(" "))
        if blanks >= len(INDENT) or line.startswith("\t"):
            self._lines += [*self._blank, _dedented(line, blanks, self._offset)]
            self._blank = []
        elif not self._blank and len(self._lines[-1]) >= WRAPPED_CHARS and not _begins(line):
            self._lines.append(line.strip(" "))
        else:
            self._close()
            self._outside(line)

    def _outside(self, line: str) -> None:
        found = _ITEM().match(line)
        if found is not None:
            self._close()
            gap = found[3] or " "
            # Four blanks more would be code; it is taken for what was written with one.
            self._offset = len(found[1]) + len(found[2]) + (len(gap) if gap[0] == " " else 1)
            self._lines = [found[4] or ""]
            return
        fence = _FENCE().match(line)
        if fence is not None:
            self._close()
            self._fence, self._lines = fence[1], [line]
        elif not line.strip() or _RULE().match(line):
            self._close()
        elif (heading := _HEADING().match(line)) is not None:
            self._close()
            self._heading = "" if len(heading[1]) == 1 else (heading[2] or "").strip()
        else:
            self._lines.append(line)

    def _in_fence(self, line: str) -> None:
        self._lines.append(line)
        if line.strip().startswith(self._fence) and not line.strip(" `~"):
            self._fence = ""
            self._close()

    def _close(self) -> None:
        text = "\n".join(self._lines) if self._offset or self._fence else _paragraph(self._lines)
        if text.strip():
            self._items.append(Item(text=text.strip(), heading=self._heading))
        self._lines, self._blank, self._offset, self._fence = [], [], 0, ""


def _begins(line: str) -> bool:
    """Whether something of its own begins there, right under a list item."""
    return any(one().match(line) for one in (_ITEM, _HEADING, _RULE, _FENCE))


def _dedented(line: str, blanks: int, offset: int) -> str:
    return line[1:] if line.startswith("\t") else line[min(blanks, offset) :]


def _paragraph(lines: list[str]) -> str:
    """Lines that were only broken to fit are one; those of a table, code or a quotation are not."""
    if any(line.lstrip()[:1] in ("|", ">", "`", "~") or line.endswith("  ") for line in lines):
        return "\n".join(line.rstrip() for line in lines)
    return " ".join(line.strip() for line in lines)
