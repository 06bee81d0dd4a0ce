"""`skill`: how things are done, as SKILL.md documents with their files."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import FOLDER, NAME, PATH, TEXT, choice

_STORE = Option(
    name="--store",
    kind=NAME,
    help="the store; else the one called skills, or the only one",
    candidates="holdfast.cli.handlers.skills:stores",
)
_NAME = Argument(
    name="NAME",
    kind=NAME,
    help="the skill's name",
    candidates="holdfast.cli.handlers.skills:names",
)
_ANYWAY = Option(name="--anyway", help="although there is one that is nearly the same")
_OVERWRITE = Option(name="--overwrite", help="replace what differs; the store keeps every version")
_FIND = Option(name="--find", kind=TEXT, required=True, help="the text to replace, found once")

_SAVE = Command(
    verb="save",
    summary="make a skill, or change one",
    handler="holdfast.cli.handlers.skills:save",
    mutates=True,
    arguments=(
        _NAME,
        Argument(name="BODY", help="how it is done, in Markdown", required=False, stdin=True),
    ),
    options=(
        Option(name="--description", kind=TEXT, help="what it does, and when to use it"),
        _ANYWAY,
        _STORE,
        Option(
            name="--origin",
            kind=choice("user", "agent", "tool", "web", "import"),
            default="user",
            help="where it came from; what people wrote is never put away",
        ),
    ),
    details="A new skill needs a description and a body; of one that is there, what is given is "
    "changed.",
    examples=(
        'holdfast skill save release "Run the tests, then tag." --description "How to release"',
        "printf 'Run the tests.\\nThen tag.\\n' | holdfast skill save release -",
    ),
)

_FILES = (
    Command(
        verb="attach",
        summary="add a file to a skill, or replace it",
        handler="holdfast.cli.handlers.skills:attach",
        mutates=True,
        arguments=(_NAME, Argument(name="FILE", kind=PATH, help="the file")),
        options=(
            Option(
                name="--as",
                kind=NAME,
                into="path",
                help="its path in the skill, such as references/forms.md; else its own name",
            ),
            _STORE,
        ),
        examples=(
            "holdfast skill show release SKILL.md > before.md",
            "holdfast skill attach release before.md --as references/before.md",
        ),
    ),
    Command(
        verb="detach",
        summary="take a file out of a skill",
        handler="holdfast.cli.handlers.skills:detach",
        mutates=True,
        arguments=(_NAME, Argument(name="PATH", kind=NAME, help="its path in the skill")),
        options=(_STORE,),
        examples=("holdfast skill detach release references/before.md",),
    ),
)

_READ = (
    Command(
        verb="list",
        summary="list skills with their descriptions",
        handler="holdfast.cli.handlers.skills:listed",
        options=(Option(name="--archived", help="those that were put away too"), _STORE),
        examples=("holdfast skill list",),
    ),
    Command(
        verb="show",
        summary="show a skill, or one of its files",
        handler="holdfast.cli.handlers.skills:show",
        arguments=(
            _NAME,
            Argument(
                name="FILE",
                kind=NAME,
                help="a file of it, to the byte; SKILL.md is one",
                required=False,
            ),
        ),
        options=(_STORE,),
        details="This counts as a use of the skill.",
        examples=("holdfast skill show release", "holdfast skill show release SKILL.md"),
    ),
    Command(
        verb="history",
        summary="show every version of a skill",
        handler="holdfast.cli.handlers.skills:history",
        arguments=(_NAME,),
        options=(_STORE,),
        details="An older version: holdfast skill show NAME --as-of REVISION",
        examples=("holdfast skill history release",),
    ),
)

_FOLDERS = (
    Command(
        verb="import",
        summary="take in skills from folders",
        handler="holdfast.cli.handlers.skills:import_",
        mutates=True,
        arguments=(
            Argument(
                name="FOLDER",
                kind=FOLDER,
                help="a folder with a SKILL.md, or one of such folders; else skills/ of the space",
                required=False,
            ),
        ),
        options=(_OVERWRITE, _ANYWAY, _STORE),
        details="Each skill is taken in by itself; when one is refused, the others are not, and "
        "the exit code is 1. What was deleted before comes back only with --anyway.",
        examples=("holdfast skill import ./skills", "holdfast skill import ./skills/release"),
    ),
    Command(
        verb="export",
        summary="write skills as folders",
        handler="holdfast.cli.handlers.skills:export",
        arguments=(
            Argument(
                name="NAME",
                kind=NAME,
                help="a skill; else all",
                required=False,
                many=True,
                into="names",
                candidates="holdfast.cli.handlers.skills:names",
            ),
        ),
        options=(
            Option(name="--to", kind=FOLDER, help="the folder for them; else skills/ of the space"),
            _OVERWRITE,
            _STORE,
        ),
        examples=(
            "holdfast skill export --to ./skills",
            "holdfast skill export release --to ./other",
        ),
    ),
    Command(
        verb="mirror",
        summary="make a folder of skills and the store alike",
        handler="holdfast.cli.handlers.skills:mirror",
        mutates=True,
        without=("--expect",),
        arguments=(
            Argument(
                name="FOLDER",
                kind=FOLDER,
                help="the folder; else skills/ of the space",
                required=False,
            ),
        ),
        options=(_STORE,),
        details="What changed on one side is brought to the other. What changed on both is left as "
        "it is on both, is listed, and the exit code is 1.",
        examples=("holdfast skill mirror ./skills",),
    ),
)

_LIFE = (
    Command(
        verb="patch",
        summary="replace one place in a skill",
        handler="holdfast.cli.handlers.skills:patch",
        mutates=True,
        arguments=(_NAME,),
        options=(
            _FIND,
            Option(name="--replace", kind=TEXT, required=True, help="what is to stand there"),
            Option(name="--file", kind=NAME, help="in this file of it; else in the SKILL.md"),
            _STORE,
        ),
        examples=('holdfast skill patch release --find "tag." --replace "tag and push."',),
    ),
    *(
        Command(
            verb=verb,
            summary=summary,
            handler=f"holdfast.cli.handlers.skills:{verb}",
            mutates=True,
            arguments=(_NAME,),
            options=(_STORE,),
            examples=(f"holdfast skill {verb} release",),
        )
        for verb, summary in (
            ("pin", "keep the curator from a skill"),
            ("unpin", "let the curator see to a skill"),
            ("archive", "put a skill away, without losing it"),
            ("restore", "bring an archived skill back"),
        )
    ),
    Command(
        verb="curate",
        summary="mark and put away what nobody uses",
        handler="holdfast.cli.handlers.skills:curate",
        mutates=True,
        without=("--expect",),
        options=(Option(name="--dry-run", help="only say what would be done"), _STORE),
        details="Without use for 30 days a skill is stale, after 90 it is archived; the store's "
        "`stale` and `archive` say otherwise. What is pinned or was written by a person stays. "
        "Nothing is deleted, and what is used again comes back.",
        examples=("holdfast skill curate --dry-run", "holdfast skill curate"),
    ),
)

_DELETE = Command(
    verb="delete",
    summary="forget a skill",
    handler="holdfast.cli.handlers.skills:delete",
    mutates=True,
    arguments=(_NAME,),
    options=(_STORE,),
    details="It leaves every answer at once, those about the past too; the log tells that it was "
    "there, and no more.",
    examples=("holdfast skill delete release",),
)

SKILL = (_SAVE, *_FILES, *_READ, *_LIFE, *_FOLDERS, _DELETE)
