"""`artifact`: the directories of that type, and contents under `art_` ids."""

from __future__ import annotations

from holdfast.cli.commands.directories import COMMANDS as DIRECTORIES
from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, PATH, TEXT, integer

_STORE = Option(
    name="--store",
    kind=NAME,
    help="the store; else the one called artifacts, or the only one",
    candidates="holdfast.cli.handlers.artifacts:stores",
)

COMMANDS = (
    *DIRECTORIES,
    Command(
        verb="save",
        summary="keep a content under an id that a note can name",
        handler="holdfast.cli.handlers.artifacts:save",
        mutates=True,
        arguments=(Argument(name="FILE", kind=PATH, help="a file; `-` is standard input"),),
        options=(
            _STORE,
            Option(name="--title", kind=TEXT, help="what it is; else the file's name"),
            Option(name="--summary", kind=TEXT, help="what is in it; else its first words"),
            Option(name="--mime", kind=NAME, help="its type; else told by the file's name"),
        ),
        details="The same content is the same artifact. It is kept for 24 hours, and for as long "
        "as a note, a record or a message names its id.",
        examples=('printf "a long report" | holdfast artifact save - --title "The report"',),
    ),
    Command(
        verb="get",
        summary="print a content, or the newest that there are",
        handler="holdfast.cli.handlers.artifacts:get",
        arguments=(
            Argument(
                name="ID",
                kind=NAME,
                help="as art_…; else all are listed",
                required=False,
                candidates="holdfast.cli.handlers.artifacts:ids",
            ),
        ),
        options=(
            _STORE,
            Option(name="--lines", kind=NAME, help="only these lines, as 120-160 or 120-"),
            Option(name="--bytes", kind=NAME, help="only these bytes, from 0, as 0-999"),
            Option(name="--info", help="what is known of it, and not what it holds"),
            Option(name="--limit", kind=integer(1, 1000), default="20", help="how many to list"),
        ),
        examples=("holdfast artifact get",),
    ),
)
