"""The command line. `program` is the program `holdfast`; `main` is what it does."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# A short command makes 20,000 objects while it starts, and hardly any garbage.
GARBAGE_MAX = 100_000


def program() -> int:
    """Run a command and leave at once.

    What it wrote is on disk and what it said is flushed. To take apart what was imported, object by
    object, would take 9 ms of the 54 of a `holdfast context`; to look for garbage, 4.
    """
    gc.set_threshold(GARBAGE_MAX, 20, 20)
    code = main()
    threads = sys.modules.get("threading")
    if threads is None or all(
        thread.daemon or thread is threads.main_thread() for thread in threads.enumerate()
    ):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    try:
        from holdfast.cli.commands import TABLE
        from holdfast.cli.dispatch import run

        return run(TABLE, argv)
    except KeyboardInterrupt:  # while still starting
        return 130
