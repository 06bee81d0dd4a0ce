"""`memory`, `artifact` and `volume` share these commands; `gc` stands beside them."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import DURATION, FOLDER, NAME, TEXT, choice, integer

_HANDLERS = "holdfast.cli.handlers.directories"
_NAMES = f"{_HANDLERS}:names"
_VERSION_HELP = (
    "`v12`, 8 or more digits of a tree, `latest`, `latest~2`, or a time; else the newest"
)

_MESSAGE = Option(name="--message", short="-m", kind=TEXT, help="what this version is about")
_VERSION = Option(name="--version", kind=NAME, default="latest", help=_VERSION_HELP, into="wanted")
_OF = Option(
    name="--name", kind=NAME, help="the {noun}; else that of this folder", candidates=_NAMES
)
_NAME_OR_HERE = Argument(
    name="NAME", kind=NAME, help="else that of this folder", required=False, candidates=_NAMES
)

COMMANDS = (
    Command(
        verb="init",
        summary="make this folder a versioned {noun}",
        handler=f"{_HANDLERS}:init",
        options=(Option(name="--name", kind=NAME, help="its name; else the folder's"),),
        details="Writes .holdfast/storage.yaml. Nothing is stored before the first push.",
        examples=("holdfast {noun} init --name review-notes",),
    ),
    Command(
        verb="push",
        summary="store what this folder holds as a new version",
        handler=f"{_HANDLERS}:push",
        mutates=True,
        options=(
            _MESSAGE,
            Option(name="--force", short="-f", help="also when nothing changed"),
            Option(
                name="--overwrite",
                help="replace what others pushed meanwhile; it is kept as a recovery version",
            ),
        ),
        details="What others pushed since this folder's last pull is merged. What does not merge "
        "is kept side by side and listed, and the exit code is 1.",
        examples=("holdfast {noun} push", 'holdfast {noun} push -m "after the review"'),
    ),
    Command(
        verb="pull",
        summary="bring a folder to the newest version",
        handler=f"{_HANDLERS}:pull",
        mutates=True,
        arguments=(
            _NAME_OR_HERE,
            Argument(name="DEST", kind=FOLDER, help="else ./NAME", required=False),
        ),
        options=(
            _VERSION,
            Option(
                name="--force",
                short="-f",
                help="give up what was not pushed; it is kept as a recovery version",
            ),
        ),
        details="What was not pushed is merged with the version, and never overwritten.",
        examples=("holdfast {noun} pull", "holdfast {noun} pull review-notes"),
    ),
    Command(
        verb="clone",
        summary="bring the {noun} NAME into a new folder",
        handler=f"{_HANDLERS}:clone",
        arguments=(
            Argument(name="NAME", kind=NAME, help="the {noun}", candidates=_NAMES),
            Argument(name="DEST", kind=FOLDER, help="else ./NAME", required=False),
        ),
        options=(_VERSION,),
        examples=("holdfast {noun} clone review-notes elsewhere",),
    ),
    Command(
        verb="status",
        summary="compare this folder with the newest version",
        handler=f"{_HANDLERS}:status",
        examples=("holdfast {noun} status",),
    ),
    Command(
        verb="list",
        summary="list what there is",
        handler=f"{_HANDLERS}:list_directories",
        options=(Option(name="--all", help="the hidden too"),),
        examples=("holdfast {noun} list",),
    ),
    Command(
        verb="log",
        summary="list the versions, the newest first",
        handler=f"{_HANDLERS}:log",
        arguments=(_NAME_OR_HERE,),
        options=(Option(name="--limit", kind=integer(1, 10_000), default="20", help="how many"),),
        examples=("holdfast {noun} log", "holdfast {noun} log review-notes --limit 5"),
    ),
    Command(
        verb="diff",
        summary="show what differs between versions, or from this folder",
        handler=f"{_HANDLERS}:diff",
        arguments=(
            Argument(
                name="FROM",
                kind=NAME,
                help="else what this folder was last brought to",
                required=False,
            ),
            Argument(name="TO", kind=NAME, help="else this folder", required=False),
        ),
        options=(_OF, Option(name="--files", help="only which files differ")),
        examples=("holdfast {noun} diff", "holdfast {noun} diff v1 latest --files"),
    ),
    Command(
        verb="rollback",
        summary="make a new version with the content of an old one",
        handler=f"{_HANDLERS}:rollback",
        mutates=True,
        arguments=(
            Argument(
                name="VERSION", kind=NAME, help="else the one before the newest", required=False
            ),
        ),
        options=(_OF, _MESSAGE),
        examples=("holdfast {noun} rollback v1",),
    ),
    Command(
        verb="delete",
        summary="hide, forget or erase the {noun} and all its versions",
        handler=f"{_HANDLERS}:delete",
        mutates=True,
        arguments=(_NAME_OR_HERE,),
        options=(
            Option(
                name="--level",
                kind=choice("hide", "forget", "erase"),
                default="forget",
                help="`hide` only leaves it out of `list`, until its next push; `erase` takes it "
                "out of everything that the vault's bytes hold",
            ),
            Option(name="--dry-run", help="only say what it would take"),
        ),
        details="Asks first. The folder stays as it is. What is forgotten is in no answer any "
        "more, and `holdfast gc` frees its space. Erasing also takes what the log says of it, "
        "writes the vault's file anew and gives a receipt; while another program reads old pages "
        "it is pending, the exit code is 1, and `holdfast erasure finish` ends it. Copies and "
        "backups outside the vault are not reached.",
        examples=(
            "holdfast {noun} delete review-notes --yes",
            "holdfast {noun} delete review-notes --level erase --dry-run",
        ),
    ),
)

GC = (
    Command(
        verb="",
        summary="remove contents that nothing leads to",
        handler=f"{_HANDLERS}:gc",
        options=(
            Option(
                name="--spare",
                kind=DURATION,
                default="1h",
                help="leave alone what was stored in this last time",
            ),
            Option(name="--dry-run", help="only say what it would remove"),
        ),
        details="What a version, an artifact or a skill holds stays. Safe beside pushes and pulls "
        "that are under way.",
        examples=("holdfast gc", "holdfast gc --spare 0s --dry-run"),
    ),
)

ERASURE = (
    Command(
        verb="list",
        summary="list the receipts of what was erased, and what is pending",
        handler=f"{_HANDLERS}:list_erasures",
        examples=("holdfast erasure list",),
    ),
    Command(
        verb="finish",
        summary="end the erasures that are pending",
        handler=f"{_HANDLERS}:finish_erasures",
        details="Exits 1 while one of them is pending still, because a reader holds old pages.",
        examples=("holdfast erasure finish",),
    ),
)
