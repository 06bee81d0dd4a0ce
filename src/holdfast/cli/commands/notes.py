"""`note`: the narrative stores."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, PAIR, TEXT, TIME, UNTIL, choice, integer

_STORE = Option(
    name="--store",
    kind=NAME,
    help="the store; else the one called narrative, or the only one",
    candidates="holdfast.cli.handlers.notes:stores",
)
_META = Option(name="--meta", kind=PAIR, many=True, help="metadata")

NOTE = (
    Command(
        verb="save",
        summary="remember one fact",
        handler="holdfast.cli.handlers.notes:save",
        mutates=True,
        arguments=(Argument(name="TEXT", help="the fact", stdin=True),),
        options=(
            _STORE,
            Option(
                name="--id", kind=NAME, help="an id of your choice, never used for another note"
            ),
            _META,
            Option(name="--said-at", kind=TIME, help="when it was said or became true, if not now"),
            Option(
                name="--origin",
                kind=choice("user", "agent", "tool", "web", "import"),
                default="user",
                help="where it came from, which decides how far it is trusted",
            ),
        ),
        examples=(
            'holdfast note save "Deploys go out on Tuesdays"',
            'holdfast note save "Uses tabs" --id style-tabs --meta lang=go',
        ),
    ),
    Command(
        verb="read",
        summary="read notes, the newest first",
        handler="holdfast.cli.handlers.notes:read",
        arguments=(
            Argument(name="ID", kind=NAME, help="one note, whatever its state", required=False),
        ),
        options=(
            _STORE,
            Option(name="--text", kind=TEXT, help="only notes with these words"),
            Option(name="--since", kind=TIME, help="only notes from then on"),
            Option(name="--until", kind=UNTIL, help="only notes before then"),
            _META,
            Option(name="--limit", kind=integer(1, 1000), default="20", help="how many"),
            Option(name="--cursor", kind=NAME, help="go on where the last page ended"),
            Option(
                name="--order",
                kind=choice("newest", "oldest"),
                default="newest",
                help="which come first",
            ),
        ),
        examples=("holdfast note read", "holdfast note read --text deploy --since 7d"),
    ),
    Command(
        verb="remove",
        summary="forget a note",
        handler="holdfast.cli.handlers.notes:remove",
        mutates=True,
        arguments=(Argument(name="ID", kind=NAME, help="its id"),),
        options=(_STORE,),
        details="It leaves every answer at once, those about the past too; the log tells that it "
        "was there, and no more. Removing it again changes nothing.",
        examples=("holdfast note remove style-tabs",),
    ),
)
