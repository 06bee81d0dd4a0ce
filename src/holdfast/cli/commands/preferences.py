"""`preferences`: what a vault, a space or a call prefers."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, TEXT, choice

_HERE = Option(name="--here", help="for this space only, not for the whole vault")
_NAMED = "holdfast.cli.handlers.preferences:names"

PREFERENCES = (
    Command(
        verb="show",
        summary="show every preference, and where it comes from",
        handler="holdfast.cli.handlers.preferences:show",
        arguments=(
            Argument(
                name="NAME", kind=NAME, help="one preference", required=False, candidates=_NAMED
            ),
        ),
        options=(Option(name="--schema", help="print the JSON Schema of the file"),),
        details="The layers, from the weakest to the strongest: built in, the vault's file, the "
        "part of that file for this space, HOLDFAST_PREFERENCES (JSON, as in the file), the call.",
        examples=("holdfast preferences show", "holdfast preferences show recall.limit"),
    ),
    Command(
        verb="set",
        summary="set one preference",
        handler="holdfast.cli.handlers.preferences:set_one",
        arguments=(
            Argument(name="NAME", kind=NAME, help="the preference", candidates=_NAMED),
            Argument(
                name="VALUE",
                kind=TEXT,
                help="its value; words of a list with commas between; none to take it back",
                required=False,
            ),
        ),
        options=(_HERE,),
        examples=(
            "holdfast preferences set recall.limit 12",
            "holdfast preferences set disclosure.depth summary --here",
            "holdfast preferences set recall.limit",
        ),
    ),
    Command(
        verb="preset",
        summary="choose a preset",
        handler="holdfast.cli.handlers.preferences:preset",
        arguments=(
            Argument(
                name="PRESET",
                kind=choice("strict", "balanced", "aggressive", "disabled"),
                help="how much is asked before something is believed",
            ),
        ),
        options=(_HERE,),
        details="Single preferences that were set stay set on top of it.",
        examples=("holdfast preferences preset balanced",),
    ),
)
