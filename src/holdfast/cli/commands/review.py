"""`review`: the inbox, where proposals wait for a person."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, TIME, UNTIL, choice, integer

_ID = Argument(
    name="ID",
    kind=NAME,
    help="its id",
    candidates="holdfast.cli.handlers.review:waiting",
)
_ALL = Option(name="--all", help="the whole vault, not this space alone")

REVIEW = (
    Command(
        verb="run",
        summary="do the reviews that are due",
        handler="holdfast.cli.handlers.reviews:run",
        options=(
            Option(
                name="--all",
                help="what has too few turns for a review too, and what was given up",
            ),
            Option(name="--wait", help="come back when what others are at is done too"),
        ),
        details="A review is due after every 10 turns of a session (`review.turns`). A program "
        "that talks does them by itself; this does what is left now, and here.",
    ),
    Command(
        verb="list",
        summary="list the reviews, the newest first",
        handler="holdfast.cli.handlers.reviews:list_reviews",
        options=(Option(name="--limit", kind=integer(1, 1_000), default="20", help="how many"),),
        details="What waits and what was done, by which reviewer, what came of it, and why it was "
        "not the one that was asked first.",
    ),
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
        summary="show a proposal and why it is held, or a review",
        handler="holdfast.cli.handlers.review:show",
        arguments=(_ID.replace(help="its id; or the number of a review"),),
        options=(_ALL,),
    ),
    Command(
        verb="screen",
        summary="screen again what is remembered already",
        handler="holdfast.cli.handlers.review:screen",
        options=(_ALL,),
        details="What does not pass waits in the inbox: approved, it is shown again; rejected, it "
        "is forgotten. Worth doing after an update, or when `screening.find` was changed.",
        examples=("holdfast review screen",),
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
        details="It is not proposed again. A text that screening held is gone, and what it found "
        "where it stands is forgotten.",
    ),
)

WORKER = (
    Command(
        verb="",
        summary="do what waits in the background, until stopped",
        handler="holdfast.cli.handlers.reviews:worker",
        options=(Option(name="--once", help="do what waits now, and end"),),
        details="No worker needs to run: programs that use the vault do its jobs by themselves. "
        "One helps where these are short or busy. Any number may run.",
        examples=("holdfast worker --once",),
    ),
)
COST = (
    Command(
        verb="",
        summary="show what calls of language models came to",
        handler="holdfast.cli.handlers.reviews:cost",
        options=(
            Option(name="--since", kind=TIME, help="only from then on"),
            Option(name="--until", kind=UNTIL, help="only before then"),
        ),
        details="Money is shown where the price of the model is set (`model.price_in`, "
        "`model.price_out`). Says what is left of the day's budget; where nothing is, the rules "
        "review until the next day (UTC).",
        examples=("holdfast cost --since 7d",),
    ),
)
