"""The version, as the package says it; asking the installer's records for it costs 40 ms."""

from __future__ import annotations

from holdfast import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output


def show(_call: Call, out: Output) -> None:
    out.emit({"version": __version__}, f"holdfast {__version__}")
