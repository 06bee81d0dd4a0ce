"""`recall`: one question to the whole memory of a space."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import integer
from holdfast.model.recall import BUDGET

RECALL = (
    Command(
        verb="",
        summary="ask the whole memory one question",
        handler="holdfast.cli.handlers.recall:recall",
        arguments=(Argument(name="QUERY", help="words, or a whole sentence", stdin=True),),
        options=(
            Option(
                name="--budget",
                kind=integer(1, metavar="TOKENS"),
                default=str(BUDGET),
                help="show no more than fits",
            ),
            Option(name="--explain", help="say of each why it was found where it stands"),
        ),
        details="Every store of the space is asked at once; the best comes first. Plain words and "
        "sentences find what has any of their words that say something; a query with NOT, OR, "
        "quotes or an asterisk is taken by the query language.",
        examples=(
            'holdfast recall "When do we deploy?"',
            "holdfast recall 'deploy NOT staging' --budget 400 --explain",
        ),
    ),
)
