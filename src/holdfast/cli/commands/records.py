"""`record`: the stores of records."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import JSON, NAME, PAIR, TEXT, TIME, UNTIL, Kind, choice, integer

_STORE = Option(
    name="--store",
    kind=NAME,
    help="the store; else the one called records, or the only one",
    candidates="holdfast.cli.handlers.records:stores",
)


def _share(text: str, _now_us: int) -> float:
    whole, _, rest = text.partition(".")
    if not (whole + rest).isdigit() or not text.isascii() or len(text) > 20:
        raise ValueError
    share = float(text)
    if share > 1:
        raise ValueError
    return share


_SHARE = Kind(metavar="SHARE", read=_share, form="a number from 0 to 1 such as 0.8")
_ID = Argument(name="ID", kind=NAME, help="its id")
_REVISION = integer(1, metavar="REVISION")
_SUPERSEDES = Option(
    name="--supersedes",
    kind=NAME.replace(metavar="ID"),
    many=True,
    help="a record that this one takes the place of",
)
_ABOUT = (
    Option(
        name="--kind",
        kind=NAME.replace(metavar="KIND"),
        help="what it is: project_fact, constraint, decision, preference, fix, command_result, "
        "task_state, failure, or a kind of the store's own",
        candidates="holdfast.cli.handlers.records:kinds",
    ),
    Option(name="--subject", kind=TEXT, help="the line by which it is found"),
    Option(name="--fields", kind=JSON, help="a structured body, in place of TEXT"),
    Option(name="--tag", kind=NAME.replace(metavar="TAG"), many=True, help="a word to find it by"),
    Option(
        name="--ref",
        kind=NAME.replace(metavar="ID"),
        many=True,
        help="a record that this one refers to",
    ),
    Option(name="--confidence", kind=_SHARE, help="how sure it is"),
    Option(name="--importance", kind=integer(0, 100), help="0 to 100; 50 if nothing is said"),
    Option(name="--source", kind=TEXT, help="where it came from, in words"),
    Option(
        name="--origin",
        kind=choice("user", "agent", "tool", "web", "import"),
        help="where it came from, which decides how far it is trusted; user if nothing is said",
    ),
    Option(name="--since", kind=TIME, help="since when it is true"),
    Option(name="--until", kind=TIME, help="until when it is true"),
    Option(name="--meta", kind=PAIR, many=True, help="metadata"),
)
_ONE_PAGE = (
    Option(name="--limit", kind=integer(1, 50), help="how many; 8 if nothing is preferred"),
    Option(name="--cursor", kind=NAME, help="go on where the last page ended"),
)

RECORD = (
    Command(
        verb="add",
        summary="add a record: a draft of this session",
        handler="holdfast.cli.handlers.records:add",
        mutates=True,
        arguments=(
            Argument(
                name="TEXT",
                help="its body, in Markdown; headings are its sections",
                stdin=True,
                required=False,
            ),
        ),
        options=(
            _STORE,
            *_ABOUT,
            Option(name="--id", kind=NAME, help="an id of your choice, never used again"),
            Option(name="--pin", help="keep it: no reviewer changes it and it does not close"),
            Option(
                name="--scope",
                kind=choice("space", "user", "session", "task"),
                default="space",
                help="whom it is for; that never changes",
            ),
            Option(name="--task", kind=NAME, help="the task that it is for, with --scope task"),
            Option(name="--said-at", kind=TIME, help="when it was said, if not now"),
            _SUPERSEDES,
        ),
        details="Other sessions see it once it is promoted. Adding the same again makes no second "
        "record: it corroborates the first.",
        examples=(
            'holdfast record add "Deploys go out on Tuesdays" --kind decision --id deploys',
            "holdfast record add --id ports --subject Ports --fields '{\"http\": 8080}'",
        ),
    ),
    Command(
        verb="update",
        summary="change a record; earlier versions are kept",
        handler="holdfast.cli.handlers.records:update",
        mutates=True,
        arguments=(
            _ID,
            Argument(name="TEXT", help="what it says now", stdin=True, required=False),
        ),
        options=(
            _STORE,
            *_ABOUT,
            Option(name="--pin", help="keep it: no reviewer changes it and it does not close"),
            Option(name="--unpin", help="take the pin away"),
            _SUPERSEDES,
        ),
        examples=('holdfast record update deploys "Deploys go out on Mondays"',),
    ),
    Command(
        verb="promote",
        summary="show a draft to later sessions",
        handler="holdfast.cli.handlers.records:promote",
        mutates=True,
        arguments=(_ID,),
        options=(_STORE, _SUPERSEDES),
        details="The preset says what it asks for: `balanced` one update or corroboration, "
        "`strict` two, `aggressive` none.",
        examples=("holdfast record promote deploys",),
    ),
    Command(
        verb="read",
        summary="read a record in full",
        handler="holdfast.cli.handlers.records:read",
        arguments=(
            Argument(name="ID", kind=NAME, help="its id, whatever its state", required=False),
        ),
        options=(_STORE, Option(name="--query", kind=TEXT, help="the best record for this")),
        examples=("holdfast record read deploys",),
    ),
    Command(
        verb="search",
        summary="find records: subjects, the best first",
        handler="holdfast.cli.handlers.records:search",
        arguments=(Argument(name="QUERY", help="what to look for", required=False),),
        options=(
            _STORE,
            Option(name="--subject", kind=TEXT, help="words that the subject or a tag has"),
            Option(
                name="--kind", kind=NAME.replace(metavar="KIND"), many=True, help="of this kind"
            ),
            Option(name="--tag", kind=NAME.replace(metavar="TAG"), many=True, help="with this tag"),
            Option(
                name="--state",
                kind=choice("draft", "confirmed", "updated"),
                many=True,
                help="in this state",
            ),
            Option(name="--since", kind=TIME, help="said or made from then on"),
            Option(name="--until", kind=UNTIL, help="said or made before then"),
            Option(name="--task", kind=NAME, help="also what is for this task"),
            Option(name="--closed", help="also what is closed"),
            Option(name="--summary", help="with the first sentence of each"),
            Option(name="--budget", kind=integer(1), help="as many as fit into so many tokens"),
            Option(name="--explain", help="say why each was found"),
            *_ONE_PAGE,
        ),
        examples=("holdfast record search deploy", "holdfast record search --kind decision"),
    ),
    Command(
        verb="expand",
        summary="read one section or field of a record, or one layer",
        handler="holdfast.cli.handlers.records:expand",
        arguments=(
            Argument(name="ID", kind=NAME, help="its id", required=False),
            Argument(
                name="PATH", help="`Setup > Linux`, or of fields `steps[0].name`", required=False
            ),
        ),
        options=(
            _STORE,
            Option(
                name="--layer",
                kind=choice("semantic", "procedural", "episodic"),
                help="the rows of one layer, in place of an id and a path",
            ),
            *_ONE_PAGE,
        ),
        examples=(
            "holdfast record expand ports http",
            "holdfast record expand --layer procedural",
        ),
    ),
    Command(
        verb="list",
        summary="list records by state, the newest first",
        handler="holdfast.cli.handlers.records:list_",
        options=(
            _STORE,
            Option(
                name="--state",
                kind=choice("shown", "draft", "closed", "forgotten", "all"),
                default="shown",
                help="which; drafts are those of the session, or of everybody where none is named",
            ),
            Option(
                name="--kind", kind=NAME.replace(metavar="KIND"), many=True, help="of this kind"
            ),
            Option(name="--limit", kind=integer(1, 1000), default="50", help="how many"),
            Option(name="--cursor", kind=NAME, help="go on where the last page ended"),
        ),
        examples=("holdfast record list", "holdfast record list --state draft"),
    ),
    Command(
        verb="history",
        summary="list the versions of a record, with who, when and why",
        handler="holdfast.cli.handlers.records:history",
        arguments=(_ID,),
        options=(
            _STORE,
            Option(name="--limit", kind=integer(1, 1000), default="100", help="how many"),
        ),
        examples=("holdfast record history deploys",),
    ),
    Command(
        verb="compare",
        summary="show what differs between two versions",
        handler="holdfast.cli.handlers.records:compare",
        arguments=(
            _ID,
            Argument(name="BEFORE", kind=_REVISION, help="else the version before", required=False),
            Argument(name="AFTER", kind=_REVISION, help="else the newest", required=False),
        ),
        options=(_STORE,),
        examples=("holdfast record compare deploys",),
    ),
    Command(
        verb="revert",
        summary="make a record say what it said before",
        handler="holdfast.cli.handlers.records:revert",
        mutates=True,
        arguments=(_ID,),
        options=(
            _STORE,
            Option(name="--to", kind=_REVISION, help="the version; else what it said before"),
        ),
        examples=("holdfast record revert deploys",),
    ),
    Command(
        verb="links",
        summary="show what a record refers to and what refers to it",
        handler="holdfast.cli.handlers.records:links",
        arguments=(_ID,),
        options=(_STORE,),
        examples=("holdfast record links deploys",),
    ),
    Command(
        verb="neighbours",
        summary="show the records around one, along its links",
        handler="holdfast.cli.handlers.records:neighbours",
        arguments=(_ID,),
        options=(
            _STORE,
            Option(name="--depth", kind=integer(1, 5), default="1", help="how many links away"),
            Option(name="--limit", kind=integer(1, 200), default="50", help="how many"),
        ),
        examples=("holdfast record neighbours deploys --depth 2",),
    ),
    Command(
        verb="forget",
        summary="forget a record, or those that a query finds",
        handler="holdfast.cli.handlers.records:forget",
        mutates=True,
        arguments=(Argument(name="ID", kind=NAME, help="its id", required=False),),
        options=(
            _STORE,
            Option(name="--query", kind=TEXT, help="forget what this finds, after asking"),
        ),
        details="It leaves every answer, and no review or import brings it back. With a query the "
        "records are shown first, and just these are forgotten.",
        examples=("holdfast record forget deploys", "holdfast record forget --query staging --yes"),
    ),
)
