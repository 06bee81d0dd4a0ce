"""What a command says: data to standard output, words to standard error.

With `--json`, standard output holds JSON and nothing else (one document a line when it is no
terminal), and standard error one JSON object a line: errors and warnings; notes and progress are
left out. Everything that came from a memory passes through `visible` on its way to a person, so
that no remembered text can move the cursor, change a title or turn the reading direction: only
`raw` hands content on unchanged, and not to a terminal.
"""

from __future__ import annotations

import sys

from holdfast.errors import HoldfastError, Refused, StorageFailed
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from codecs import IncrementalDecoder
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, TextIO

_ESCAPED = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for first, last in (
        (0, 8),
        (11, 31),
        (127, 159),
        (0x202A, 0x202E),
        (0x2066, 0x2069),
        (0x2028, 0x2029),
    )
    for code in range(first, last + 1)
}
_JSON_ESCAPED = {code: f"\\u{code:04x}" for code in _ESCAPED}
_IN_A_LINE = _ESCAPED | {9: "\\t", 10: "\\n", 13: "\\r"}
_BOLD, _DIM, _CYAN, _RED, _YELLOW = "1", "2", "36", "1;31", "1;33"
OUTPUT_FAILED = "output_failed"
_PROGRESS_SECONDS_MIN = 0.1
_NO_MORE: Mapping[str, object] = {}


def visible(text: str) -> str:
    """The text with line breaks and tabs as they are, and what steers a terminal as `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return _whole(text.replace("\r\n", "\n")).translate(_ESCAPED)


def in_a_line(text: str) -> str:
    """The text in one line: visible, with breaks and tabs escaped too."""
    return text if text.isprintable() else _whole(text).translate(_IN_A_LINE)


def _whole(text: str) -> str:
    """Half a character (a lone surrogate) cannot be written as UTF-8; it is shown escaped."""
    return text.encode(errors="backslashreplace").decode()


def width(text: str) -> int:
    """How many columns the text takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    columns, last, joined = 0, 0, False
    for letter in text:
        if letter == "\ufe0f":  # asks for the emoji form, which is wide
            columns, last = columns + (last == 1), 2
        elif last == 2 and (letter == "\u200d" or "\U0001f3fb" <= letter <= "\U0001f3ff"):
            pass  # part of the emoji before it
        elif category(letter) in ("Mn", "Me", "Cf") or "\u1160" <= letter <= "\u11ff":
            continue
        elif not joined:
            last = 2 if east_asian_width(letter) in "WF" else 1
            columns += last
        joined = letter == "\u200d"
    return columns


def fitted(text: str, columns: int) -> str:
    """The text, or as much of it as fits, with `…` for the rest."""
    if width(text) <= columns:
        return text
    kept = text[: columns - 1]
    while kept and width(kept) > columns - 1:
        kept = kept[:-1]
    return f"{kept}…"


def _plain(value: object) -> str:
    return "" if value is None else str(value)


class Column(Value):
    title: str
    key: str
    right: bool = False
    show: Callable[[Any], str] = _plain


class Output:
    def __init__(
        self, env: Mapping[str, str], *, json: bool = False, quiet: bool = False, yes: bool = False
    ) -> None:
        self.json, self.quiet, self.yes = json, quiet, yes
        self._out, self._err = sys.stdout, sys.stderr
        plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"
        streams = (self._out, self._err)
        self._coloured = [stream for stream in streams if not plain and stream.isatty()]
        self._progress_shown = False
        self._progress_at = 0.0
        self._decoders: dict[str, IncrementalDecoder] = {}

    # Data

    def emit(self, data: object, human: str | Callable[[], str]) -> None:
        """One result: `data` for programs with `--json`, else `human` for people."""
        if self.json:
            self._json(self._out, data, 2 if self._out.isatty() else None)
        else:
            self.page(visible(human if isinstance(human, str) else human()))

    def table(
        self, rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], *, empty: str = ""
    ) -> None:
        """Rows: a list of objects, whole, with `--json`; else the columns, aligned."""
        if self.json or rows:
            self.emit(list(rows), lambda: self._table(rows, columns))
        elif empty:
            self.note(empty)

    def raw(self, content: str | bytes) -> None:
        """Content as it is, to the byte; on a terminal what can be shown of it."""
        data = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
        self._clear_progress()
        if self._out.isatty():
            self.page(visible(data.decode(errors="backslashreplace")))
        else:
            _reaching(self._out.flush)
            _reaching(self._out.buffer.write, data)

    def live(self, name: Literal["stdout", "stderr"], data: bytes) -> None:
        """A piece of what another program says, at once: to the byte; on a terminal what can be
        shown of it."""
        stream = self._out if name == "stdout" else self._err
        self._clear_progress()
        if stream.isatty():
            from codecs import getincrementaldecoder

            if name not in self._decoders:
                self._decoders[name] = getincrementaldecoder("utf-8")("backslashreplace")
            self._write(stream, visible(self._decoders[name].decode(data)))
        else:
            _reaching(stream.flush)
            _reaching(stream.buffer.write, data)
        _reaching(stream.flush)

    def page(self, text: str) -> None:
        """Text that is known to be safe to show."""
        self._write(self._out, text if text.endswith("\n") or not text else f"{text}\n")

    # Words

    def note(self, words: str) -> None:
        if not self.quiet and not self.json:
            self._write(self._err, f"{visible(words)}\n")

    def warn(self, message: str, *, code: str, hint: str = "") -> None:
        self._say("warning", code, message, hint)

    def error(self, error: HoldfastError) -> None:
        self._say("error", error.code, error.message, error.hint, error.more)

    def progress(self, words: str) -> None:
        """How far long work is: one line, written over, and only while a person watches."""
        if self.quiet or self.json or not self._err.isatty():
            return
        from time import monotonic

        if monotonic() - self._progress_at < _PROGRESS_SECONDS_MIN:
            return
        self._progress_at = monotonic()
        self._write(self._err, fitted(in_a_line(words), self._columns(self._err) - 1))
        self._progress_shown = True
        self._err.flush()

    def confirm(self, question: str) -> None:
        """Come back when a person said yes; else raise, and nothing was changed."""
        if self.yes:
            return
        if not self._is_answered():
            raise Refused(
                "confirmation_needed",
                f"this asks first, and nobody is there to answer: {question}",
                hint="add `--yes` to go on without being asked",
            )
        if self._reply(f"{question} [y/N]").lower() not in ("y", "yes"):
            raise Refused("not_confirmed", "not confirmed; nothing was changed")

    def ask(self, question: str) -> str:
        """What a person answers; nothing where nobody is there to be asked."""
        return self._reply(question) if self._is_answered() else ""

    def _is_answered(self) -> bool:
        return not self.json and sys.stdin.isatty() and self._err.isatty()

    def _reply(self, question: str) -> str:
        self._write(self._err, f"{visible(question)} ")
        self._err.flush()
        reply = sys.stdin.readline()
        if not reply.endswith("\n"):  # Ctrl-D
            self._write(self._err, "\n")
        return reply.strip()

    def bold(self, text: str) -> str:
        """A heading on standard output."""
        return self._paint(self._out, _BOLD, text)

    def flush(self) -> None:
        self._clear_progress()
        _reaching(self._out.flush)

    def _table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> str:
        lines = [[column.title for column in columns]]
        lines += [[in_a_line(column.show(row[column.key])) for column in columns] for row in rows]
        widths = [max(map(width, cells)) for cells in zip(*lines, strict=True)]
        if self._out.isatty() and not columns[-1].right:
            left = self._columns(self._out) - sum(widths[:-1]) - 2 * len(widths[:-1])
            widths[-1] = max(left, 10)
        return "\n".join(
            "  ".join(
                _padded(fitted(cell, columns_), columns_, right=column.right)
                for cell, columns_, column in zip(cells, widths, columns, strict=True)
            ).rstrip()
            for cells in lines
        )

    def _say(
        self, kind: str, code: str, message: str, hint: str, more: Mapping[str, object] = _NO_MORE
    ) -> None:
        if self.json:
            said = {"code": code, "message": message, "hint": hint, **more}
            self._json(self._err, {kind: said})
        elif not self.quiet or kind == "error":
            head = self._paint(self._err, _RED if kind == "error" else _YELLOW, f"{kind}:")
            tail = self._paint(self._err, _DIM, f"[{code}]")
            self._write(self._err, f"{head} {visible(message)} {tail}\n")
            if hint:
                self._write(
                    self._err, f"{self._paint(self._err, _CYAN, 'hint:')} {visible(hint)}\n"
                )

    def _json(self, stream: TextIO, data: object, indent: int | None = None) -> None:
        from json import dumps

        text = dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
        self._write(stream, f"{_whole(text).translate(_JSON_ESCAPED)}\n")

    def _write(self, stream: TextIO, text: str) -> None:
        self._clear_progress()
        _reaching(stream.write, text)

    def _clear_progress(self) -> None:
        if self._progress_shown:
            self._progress_shown = False
            self._err.write("\r\x1b[K")
            self._err.flush()

    def _paint(self, stream: TextIO, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if stream in self._coloured else text

    def _columns(self, stream: TextIO) -> int:
        from os import get_terminal_size

        return max(get_terminal_size(stream.fileno()).columns, 40)


def _reaching(write: Callable[..., object], *what: object) -> None:
    """What could not be written is an error: a command whose answer was lost has not succeeded."""
    try:
        write(*what)
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise StorageFailed(
            OUTPUT_FAILED,
            f"the output could not be written: {exc.strerror}",
            hint="free some space",
        ) from exc


def _padded(text: str, columns: int, *, right: bool) -> str:
    blanks = " " * (columns - width(text))
    return f"{blanks}{text}" if right else f"{text}{blanks}"
