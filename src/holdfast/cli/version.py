"""The version, as the package says it; asking the installer's records for it costs 40 ms."""

from __future__ import annotations

import holdfast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output


def show(_call: Call, out: Output) -> None:
    out.emit({"version": holdfast.__version__}, f"holdfast {holdfast.__version__}")
