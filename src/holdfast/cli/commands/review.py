"""`review`: the inbox, where proposals wait for a person."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, choice, integer

_ID = Argument(
    name="ID",
    kind=NAME,
    help="its id",
    candidates="holdfast.cli.handlers.review:waiting",
)
_ALL = Option(name="--all", help="the whole vault, not this space alone")

REVIEW = (
    Command(
        verb="inbox",
        summary="list what waits for a decision",
        handler="holdfast.cli.handlers.review:inbox",
        options=(
            _ALL,
            Option(
                name="--state",
                kind=choice("pending", "applied", "rejected", "stale"),
                default="pending",
                help="which proposals",
            ),
            Option(name="--limit", kind=integer(1, 10_000), default="100", help="how many"),
        ),
        details="A proposal is a change that somebody wants and nobody has applied: what a review "
        "suggests, and what was held back when it was written.",
    ),
    Command(
        verb="show",
        summary="show a proposal, and why it is held",
        handler="holdfast.cli.handlers.review:show",
        arguments=(_ID,),
        options=(_ALL,),
    ),
    Command(
        verb="approve",
        summary="apply a proposal",
        handler="holdfast.cli.handlers.review:approve",
        mutates=True,
        arguments=(_ID,),
        options=(_ALL,),
        details="What screening held is let in by that, here and whenever it is written again. "
        "Refused when what it would change has changed since.",
    ),
    Command(
        verb="reject",
        summary="turn a proposal down",
        handler="holdfast.cli.handlers.review:reject",
        mutates=True,
        arguments=(_ID,),
        options=(_ALL,),
        details="It is not proposed again. A text that screening held is gone.",
    ),
)
