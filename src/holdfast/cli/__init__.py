"""The command line. `main` is the program `holdfast`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    try:
        from holdfast.cli.commands import TABLE
        from holdfast.cli.dispatch import run

        return run(TABLE, argv)
    except KeyboardInterrupt:  # while still starting
        return 130
