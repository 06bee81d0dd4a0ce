"""`profile` and `remember`: the two files that every session knows."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import FOLDER, JSON, NAME, TEXT, TIME, choice, integer

_FILE = Option(name="--file", kind=choice("USER", "MEMORY"), help="one of the two; else both")
_STORE = Option(
    name="--store",
    kind=NAME,
    help="the store; else the one called profile, or the only one",
    candidates="holdfast.cli.handlers.profile:stores",
)
_ORIGIN = Option(
    name="--origin",
    kind=choice("user", "agent", "tool", "web", "import"),
    default="user",
    help="where it came from, which decides how far it is trusted",
)
_IMPORTANCE = Option(
    name="--importance", kind=integer(0, 100), help="what is least important leaves a full file"
)
_LIMIT = Option(name="--limit", kind=integer(1, 1000), default="50", help="how many")
_EMPTY = Option(name="--empty", help="a file without entries means that all of them should go")
_ENTRY = Argument(name="ENTRY", kind=NAME, help="its id, or words that only it has")


def _asks(name: str, about: str) -> Option:
    return Option(name=f"--{name}", kind=TEXT, help=about)


PROFILE = (
    Command(
        verb="show",
        summary="print both files with the ids of their entries",
        handler="holdfast.cli.handlers.profile:show",
        arguments=(_ENTRY.replace(required=False, help="one entry, with all that is known of it"),),
        options=(
            _FILE,
            _STORE,
            Option(name="--markdown", help="print the files as they are exported, without ids"),
        ),
        examples=("holdfast profile show", "holdfast profile show --file USER --markdown"),
    ),
    Command(
        verb="add",
        summary="keep one fact in a file",
        handler="holdfast.cli.handlers.profile:add",
        mutates=True,
        arguments=(Argument(name="TEXT", help="the fact", stdin=True),),
        options=(
            _FILE.replace(default="MEMORY", help="USER: who the user is; MEMORY: what holds here"),
            _STORE,
            _IMPORTANCE.replace(default="50"),
            Option(name="--pinned", help="never let it leave a full file"),
            Option(
                name="--scope",
                kind=choice("space", "user", "session"),
                help="whom it is for; else USER.md is the user's own and MEMORY.md everyone's",
            ),
            Option(name="--said-at", kind=TIME, help="when it was said or became true, if not now"),
            _ORIGIN,
        ),
        details="What is there already is not kept twice. A full file gives up the least "
        "important entries, the oldest first, to the archive, and says which.",
        examples=(
            'holdfast profile add "Deploys run from the main branch"',
            'holdfast profile add "Prefers short answers" --file USER --pinned',
        ),
    ),
    Command(
        verb="replace",
        summary="say something else in place of an entry",
        handler="holdfast.cli.handlers.profile:replace",
        mutates=True,
        arguments=(_ENTRY, Argument(name="TEXT", help="what it says from now on", stdin=True)),
        options=(_FILE, _STORE, _ORIGIN),
        examples=('holdfast profile replace "short answers" "Prefers answers with sources"',),
    ),
    Command(
        verb="remove",
        summary="forget an entry",
        handler="holdfast.cli.handlers.profile:remove",
        mutates=True,
        arguments=(_ENTRY,),
        options=(_FILE, _STORE),
        examples=('holdfast profile remove "answers with sources"',),
    ),
    Command(
        verb="batch",
        summary="do several steps as one",
        handler="holdfast.cli.handlers.profile:batch",
        mutates=True,
        arguments=(
            Argument(name="STEPS", kind=JSON, help="a list of them, as in the example", stdin=True),
        ),
        options=(_STORE, _ORIGIN),
        details="All steps happen or none, and only the size that the files end with counts.",
        examples=(
            """holdfast profile batch '[{"op": "remove", "entry": "main branch"}, """
            """{"op": "add", "file": "USER", "text": "Prefers long answers"}]'""",
        ),
    ),
    Command(
        verb="pin",
        summary="keep an entry from leaving a full file",
        handler="holdfast.cli.handlers.profile:pin",
        mutates=True,
        arguments=(_ENTRY,),
        options=(_STORE, _IMPORTANCE, Option(name="--off", help="it may leave again")),
        examples=(
            'holdfast profile pin "long answers" --importance 80',
            'holdfast profile pin "long answers" --off',
        ),
    ),
    Command(
        verb="archive",
        summary="show what left the files, or search in it",
        handler="holdfast.cli.handlers.profile:archive",
        arguments=(Argument(name="QUERY", help="words to look for", required=False),),
        options=(_FILE, _STORE, _LIMIT),
        examples=("holdfast profile archive", "holdfast profile archive deploy"),
    ),
    Command(
        verb="restore",
        summary="bring an entry back from the archive",
        handler="holdfast.cli.handlers.profile:restore",
        mutates=True,
        arguments=(_ENTRY,),
        options=(_STORE,),
        examples=('holdfast profile restore "long answers"',),
    ),
    Command(
        verb="timeline",
        summary="print what was learned when, the newest first",
        handler="holdfast.cli.handlers.profile:timeline",
        options=(_FILE, _STORE, _LIMIT),
        details="Replace or remove an entry by the id that stands beside it.",
        examples=("holdfast profile timeline --file USER",),
    ),
    Command(
        verb="changes",
        summary="print what is not as it was when the session began",
        handler="holdfast.cli.handlers.profile:changes",
        options=(_STORE,),
        details="Name the session with --session. Its own context stays as it is.",
    ),
    Command(
        verb="reset",
        summary="send the entries of a file to the archive",
        handler="holdfast.cli.handlers.profile:reset",
        mutates=True,
        options=(
            _FILE.replace(required=True, help="which file"),
            _STORE,
            Option(name="--onboarding", help="keep what onboarding asked for, as it was answered"),
            Option(name="--undo", help="take the last reset of the file back"),
        ),
        examples=("holdfast profile reset --file USER --onboarding",),
    ),
    Command(
        verb="onboard",
        summary="say who you are, to begin USER.md with it",
        handler="holdfast.cli.handlers.profile:onboard",
        mutates=True,
        options=(
            _STORE,
            _asks("name", "what you are called"),
            _asks("role", "what you do"),
            _asks("company", "for whom you work"),
            _asks("goals", "what you want to reach"),
            _asks("challenges", "what makes that hard"),
            _asks("tools", "what you work with"),
            _asks("timezone", "your time zone"),
        ),
        details="Without options it asks, where a person is there to answer. What was answered "
        "before is replaced.",
        examples=('holdfast profile onboard --role "Nurse" --timezone Europe/Berlin',),
    ),
    Command(
        verb="export",
        summary="write both files into a folder, as clean Markdown",
        handler="holdfast.cli.handlers.profile:export",
        arguments=(
            Argument(name="DIR", kind=FOLDER, help="the folder; else this one", required=False),
        ),
        options=(_STORE,),
        details="A file that holds edits is not written over: holdfast profile sync takes them in.",
        examples=("holdfast profile export notes",),
    ),
    Command(
        verb="sync",
        summary="take in edits of a folder's files, and write them anew",
        handler="holdfast.cli.handlers.profile:sync",
        mutates=True,
        without=("--expect",),
        arguments=(
            Argument(name="DIR", kind=FOLDER, help="the folder; else this one", required=False),
        ),
        options=(_STORE, _EMPTY),
        details="The files may be edited with any editor, and plain Markdown is read too. Edits "
        "are joined with what changed meanwhile.",
        examples=("holdfast profile sync notes",),
    ),
    Command(
        verb="edit",
        summary="open a file in your editor",
        handler="holdfast.cli.handlers.profile:edit",
        mutates=True,
        options=(_FILE.replace(required=True, help="which file"), _STORE, _EMPTY),
        details="The editor is that of VISUAL or EDITOR. What was written meanwhile is kept.",
    ),
)

REMEMBER = (
    Command(
        verb="",
        summary="keep a fact, or forget one, in so many words",
        handler="holdfast.cli.handlers.profile:remember",
        mutates=True,
        arguments=(Argument(name="TEXT", help="the fact, or the sentence with it", stdin=True),),
        options=(_ORIGIN,),
        details="It comes into USER.md when it is about the person, else into MEMORY.md, as a fact "
        "and not as the sentence.",
        examples=(
            'holdfast remember "Remember that I prefer morning meetings"',
            'holdfast remember "Forget that I prefer morning meetings"',
        ),
    ),
)
