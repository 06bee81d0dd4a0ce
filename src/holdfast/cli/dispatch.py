"""From `sys.argv` to an exit code: find the command in the table, and only then import its handler.

Here is the one place where failures end. What Holdfast raises is said with its message, code and
hint; what it did not foresee is said by type and place only, because the text of such an exception
may hold what somebody remembered, and in full with HOLDFAST_DEBUG=1. Exit codes: 0 done, 1 refused
or failed (or nobody read the output to its end), 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
import time

from holdfast.cli.grammar import load
from holdfast.cli.output import OUTPUT_FAILED, Output, visible
from holdfast.cli.parse import Outside, before_dashes, parse
from holdfast.errors import HoldfastError, InvalidInput, StorageFailed, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.grammar import Table

COMPLETE = "--complete"  # what the shells' scripts call; the words follow, the last one unfinished


def run(table: Table, argv: Sequence[str] | None = None) -> int:
    _open_streams()
    words = _words() if argv is None else list(argv)
    end = _End(Output(os.environ, json="--json" in before_dashes(words)))
    with end:
        outside = Outside(env=os.environ, now_us=time.time_ns() // 1000, stdin=_read_stdin)
        if words[:1] == [COMPLETE]:
            load("holdfast.cli.complete:answer")(table, words[1:], outside, end.out)
        else:
            call = parse(table, words, outside)
            end.out.quiet, end.out.yes = call["quiet"], call["yes"]
            end.code = load(call.command.handler)(call, end.out) or 0
    with end:
        end.out.flush()
    return end.code


def _open_streams() -> None:
    """Make text UTF-8 whatever the locale. What was closed becomes the null device, so that no
    database is ever opened under the number of standard output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8")


def _words() -> list[str]:
    if sys.getfilesystemencoding() == "utf-8":
        return sys.argv[1:]
    return [os.fsencode(word).decode(errors="surrogateescape") for word in sys.argv[1:]]


def _read_stdin() -> str:
    if sys.stdin.isatty():
        sys.stderr.write("reading from the terminal until Ctrl-D\n")
    data = sys.stdin.buffer.read()
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(
            "stdin_not_utf8",
            f"standard input is not UTF-8: byte 0x{data[exc.start]:02x} at offset {exc.start}",
            hint="convert it to UTF-8",
        ) from None


class _End:
    """Turns whatever ends a command into words and an exit code."""

    def __init__(self, out: Output) -> None:
        self.out, self.code = out, 0

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _kind: type[BaseException] | None, exc: BaseException | None, _trace: object
    ) -> bool:
        if exc is None or isinstance(exc, (SystemExit, GeneratorExit)):
            return False
        try:
            self.code = self._said(exc)
        except (BrokenPipeError, StorageFailed):  # nobody listens to the words either
            self.code = 1
            _silence()
        if isinstance(exc, BrokenPipeError) or getattr(exc, "code", "") == OUTPUT_FAILED:
            _silence()
        return True

    def _said(self, exc: BaseException) -> int:
        if isinstance(exc, BrokenPipeError):  # the reader has what it wanted: `| head`
            return 1
        if isinstance(exc, KeyboardInterrupt):
            self.out.note("interrupted")
            return 130
        if not isinstance(exc, UsageError) and os.environ.get("HOLDFAST_DEBUG") == "1":
            from traceback import format_exception

            sys.stderr.write(visible("".join(format_exception(exc))))
        error = exc if isinstance(exc, HoldfastError) else _internal(exc)
        self.out.error(error)
        return error.exit_code


def _internal(exc: BaseException) -> HoldfastError:
    place, trace = "", exc.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith("holdfast."):
            place = f" at {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return HoldfastError(
        "internal",
        f"this should not happen: {type(exc).__name__}{place}",
        hint="please report it, with what `holdfast --version` prints; "
        "HOLDFAST_DEBUG=1 shows the details, which may quote what is remembered",
    )


def _silence() -> None:
    """Let what is still buffered go nowhere, else Python complains about it on its way out."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(null, stream.fileno())
