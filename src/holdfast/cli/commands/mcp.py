"""`mcp`: the memory for programs that speak the Model Context Protocol."""

from __future__ import annotations

from holdfast.cli.grammar import Command, Option
from holdfast.cli.kinds import integer

_BUDGET = Option(
    name="--budget",
    kind=integer(1, metavar="TOKENS"),
    help="begin with no more of the memory than fits",
)

MCP = (
    Command(
        verb="",
        summary="serve the memory to an agent over standard input and output",
        handler="holdfast.cli.handlers.mcp:serve",
        options=(_BUDGET,),
        details="For programs that speak the Model Context Protocol; they start it themselves. A "
        "connection is a session of its own unless --session names one. Needs the extra `mcp`.",
    ),
    Command(
        verb="show",
        summary="print the configuration with which a client starts it",
        handler="holdfast.cli.handlers.mcp:show",
        options=(_BUDGET,),
        details="JSON, as most clients read it. It names this vault, space and program; --agent "
        "and --user go along, and so does --key-file, but never a key.",
        examples=("holdfast mcp show --agent planner",),
    ),
)
