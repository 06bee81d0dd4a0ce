"""`session`: stretches of work, and what was said in them."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, PATH, TEXT, TIME, UNTIL, choice, integer

_ID = Argument(name="ID", kind=NAME, help="else that of --session", required=False)
_LIMIT = Option(name="--limit", kind=integer(1, 1000), default="20", help="how many")
_SOURCE = Option(
    name="--source", kind=NAME, many=True, help="only from there, such as cli or claude-code"
)

SESSION = (
    Command(
        verb="start",
        summary="start a session and print its id",
        handler="holdfast.cli.handlers.sessions:start",
        mutates=True,
        arguments=(Argument(name="TITLE", kind=TEXT, help="what it is about", required=False),),
        options=(
            Option(
                name="--source",
                kind=NAME,
                default="cli",
                help="the way in; cron, ci and their like count as automation",
            ),
        ),
        examples=('export HOLDFAST_SESSION=$(holdfast session start "Review")',),
    ),
    Command(
        verb="say",
        summary="keep one message of a session",
        handler="holdfast.cli.handlers.sessions:say",
        mutates=True,
        arguments=(
            Argument(
                name="ROLE",
                kind=choice("user", "assistant", "tool", "system"),
                help="who says it",
            ),
            Argument(name="TEXT", kind=TEXT, help="what is said", stdin=True),
        ),
        options=(
            Option(name="--id", kind=NAME, help="an id of your choice: said again, it is the same"),
            Option(name="--tool", kind=NAME, help="the tool that answers"),
            Option(name="--call", kind=NAME, help="the id of the call that it answers"),
            Option(
                name="--origin",
                kind=choice("user", "agent", "tool", "web", "import"),
                help="where the words came from; else told by the role",
            ),
            Option(name="--said-at", kind=TIME, help="when it was said, if not now"),
        ),
        details="The session is that of `--session` (`HOLDFAST_SESSION`).",
        examples=(
            'export HOLDFAST_SESSION=$(holdfast session start "Review")\n'
            'holdfast session say user "The staging host is eu-7"',
        ),
    ),
    Command(
        verb="list",
        summary="list sessions, the last used first",
        handler="holdfast.cli.handlers.sessions:list_sessions",
        options=(
            Option(
                name="--state",
                kind=choice("open", "ended", "abandoned"),
                help="only those in this state",
            ),
            _SOURCE,
            _LIMIT,
        ),
        details="Sessions that people held come before those of automation.",
    ),
    Command(
        verb="show",
        summary="read what was said in a session",
        handler="holdfast.cli.handlers.sessions:show",
        arguments=(_ID,),
        options=(
            Option(name="--place", kind=integer(1), default="1", help="begin at this message"),
            Option(
                name="--around",
                kind=integer(1),
                help="show this message in the middle",
            ),
            _LIMIT.replace(default="50"),
        ),
        details="Messages are numbered by their places in the session. What was rewound is marked.",
        examples=(
            "export HOLDFAST_SESSION=$(holdfast session start)\nholdfast session show --limit 10",
        ),
    ),
    Command(
        verb="search",
        summary="find what was said, one row a session",
        handler="holdfast.cli.handlers.sessions:search",
        arguments=(Argument(name="QUERY", kind=TEXT, help="words, OR, NOT, “phrases”, begin*"),),
        options=(
            Option(name="--since", kind=TIME, help="only what was said from then on"),
            Option(name="--until", kind=UNTIL, help="only what was said before then"),
            Option(
                name="--role",
                kind=choice("user", "assistant", "tool", "system"),
                many=True,
                help="only what they said",
            ),
            _SOURCE,
            _LIMIT.replace(kind=integer(1, 100), default="10"),
        ),
        details="A result says when it was said. That it was said does not make it true now.",
        examples=("holdfast session search staging --role user --since 30d",),
    ),
    Command(
        verb="end",
        summary="end a session",
        handler="holdfast.cli.handlers.sessions:end",
        mutates=True,
        arguments=(_ID,),
        details="What was bound to its length goes with it. Ending it again changes nothing.",
    ),
    Command(
        verb="rewind",
        summary="take back what was said after a place",
        handler="holdfast.cli.handlers.sessions:rewind",
        mutates=True,
        arguments=(
            Argument(name="PLACE", kind=integer(0), help="the last message that stays; 0 is none"),
            _ID,
        ),
        details="It leaves every search and counts for no review; `show` marks it.",
    ),
    Command(
        verb="compact",
        summary="note that what was said up to a place was summed up",
        handler="holdfast.cli.handlers.sessions:compact",
        mutates=True,
        arguments=(
            Argument(name="PLACE", kind=integer(1), help="the last message that was summed up"),
            _ID,
        ),
        options=(
            Option(
                name="--summary",
                kind=TEXT,
                stdin=True,
                help="the words that the agent sees instead",
            ),
        ),
        details="It stays findable, and a result says so. A summary is trusted no further than the "
        "least trusted of what it sums up.",
    ),
    Command(
        verb="import",
        summary="keep the conversations that another program kept",
        handler="holdfast.cli.handlers.sessions:import_sessions",
        arguments=(Argument(name="PATH", kind=PATH, help="a file, or a folder of JSONL files"),),
        options=(
            Option(
                name="--format",
                kind=choice("auto", "jsonl", "claude-code", "codex"),
                default="auto",
                help="who wrote it; else each file tells",
            ),
            Option(name="--dry-run", help="say what would be done, and do nothing"),
        ),
        details="Importing again changes nothing, and a file that has grown goes on where it "
        "stopped. Says what was left out and why. Nothing is learned from what is imported until "
        "`holdfast review run --all`.",
    ),
)
