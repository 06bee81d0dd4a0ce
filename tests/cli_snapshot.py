"""Run the command line and look at all that it gives back: exit code, stdout, stderr.

`run` starts a fresh process, as a user does; `run_inside` calls it in this process, which is some
thirty times faster and shows the same; `run_in_terminal` gives it a real terminal and types.
`assert_light` says which modules a command may not import. Nothing of the caller's environment or
home reaches the command but what a test passes in `env`.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from unittest import mock

from holdfast.cli.dispatch import run as dispatch
from holdfast.cli.grammar import load
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

TABLE = "holdfast.cli.commands:TABLE"
HEAVY = (
    *("apsw", "argparse", "asyncio", "click", "cryptography", "dataclasses", "gettext", "inspect"),
    *("json", "logging", "msgspec", "re", "ruamel", "subprocess", "typing"),
)
_START = (
    "import sys; from holdfast.cli.dispatch import run; from holdfast.cli.grammar import load; "
)
_RUN = _START + "sys.exit(run(load(sys.argv.pop(1))))"
_LIST_MODULES = (
    "import sys; out = sys.argv.pop(1); before = set(sys.modules); "
    "from holdfast.cli import main; code = main(); "
    "open(out, 'w').write('\\n'.join(set(sys.modules) - before)); sys.exit(code)"
)


class Result(Value):
    exit: int
    stdout: str
    stderr: str


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "HOME": os.devnull,  # what would be written there fails
        "LC_ALL": "C.UTF-8",
        **(env or {}),
    }


def command(args: Iterable[str], table: str = TABLE) -> list[str]:
    """The argument list that starts the program in a process of its own."""
    if table == TABLE:
        return [sys.executable, "-m", "holdfast", *args]
    return [sys.executable, "-c", _RUN, table, *args]


def run(
    args: Sequence[str],
    stdin: str | bytes = b"",
    env: Mapping[str, str] | None = None,
    *,
    table: str = TABLE,
    cwd: Path | None = None,
) -> Result:
    done = subprocess.run(
        command(args, table),
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env=environment(env),
        cwd=cwd,
        timeout=60,
    )
    return Result(exit=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode())


def run_inside(
    args: Sequence[str],
    stdin: str | bytes = b"",
    env: Mapping[str, str] | None = None,
    *,
    table: str = TABLE,
) -> Result:
    typed = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(typed, "utf-8"),
        "stdout": io.TextIOWrapper(out, "utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, "utf-8", write_through=True),
    }
    with (
        mock.patch.multiple(sys, **streams),
        mock.patch.dict(os.environ, environment(env), clear=True),
    ):
        code = dispatch(load(table), args)
    return Result(exit=code, stdout=out.getvalue().decode(), stderr=err.getvalue().decode())


def run_in_terminal(
    args: Sequence[str],
    typed: str = "",
    env: Mapping[str, str] | None = None,
    *,
    table: str = TABLE,
    columns: int = 80,
) -> Result:
    """With one terminal for all three streams; what it showed comes back as stdout."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    modes = termios.tcgetattr(theirs)
    modes[3] &= ~termios.ECHO  # it comes when the machine has time: before or behind a question
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    os.write(ours, typed.encode())
    started = subprocess.Popen(
        command(args, table), stdin=theirs, stdout=theirs, stderr=theirs, env=environment(env)
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the terminal is gone with its last user
        pass
    os.close(ours)
    return Result(exit=started.wait(60), stdout=shown.decode().replace("\r\n", "\n"), stderr="")


def assert_light(
    args: Sequence[str],
    tmp_path: Path,
    forbidden: Iterable[str] = HEAVY,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a command, which must succeed, and see that it imported nothing that is forbidden.

    Without `site`, so that what an installed package loads at every start is not counted.
    """
    seen = tmp_path / "modules"
    done = subprocess.run(
        [sys.executable, "-S", "-c", _LIST_MODULES, str(seen), *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(env),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    imported = set(seen.read_text().split())
    assert "holdfast.cli.dispatch" in imported
    found = sorted(imported.intersection(forbidden))
    assert not found, f"`holdfast {' '.join(args)}` imports {', '.join(found)}"
