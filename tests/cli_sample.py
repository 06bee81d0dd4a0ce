"""A small table of commands with everything that the grammar knows, and handlers that show it."""

from __future__ import annotations

import signal
import sys

from holdfast.cli.commands import TABLE as REAL
from holdfast.cli.grammar import Argument, Command, Noun, Option
from holdfast.cli.kinds import (
    COUNT,
    DURATION,
    FOLDER,
    JSON,
    NAME,
    PAIR,
    PATH,
    SIZE,
    TEXT,
    TIME,
    UNTIL,
    choice,
    integer,
)
from holdfast.cli.output import Column
from holdfast.errors import Conflict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output

ECHO = "cli_sample:echo"
STORE = Argument(name="STORE", kind=NAME, help="the store's name", candidates="cli_sample:stores")

NOTE = (
    Command(
        verb="save",
        summary="save an entry",
        handler=ECHO,
        mutates=True,
        aliases=("keep",),
        arguments=(STORE, Argument(name="TEXT", kind=TEXT, help="what to remember", stdin=True)),
        options=(
            Option(name="--id", kind=NAME, help="an id of your choice"),
            Option(name="--body", kind=TEXT, help="more of it", stdin=True),
            Option(name="--tag", short="-t", kind=NAME, many=True, help="a tag"),
        ),
        details="An entry says one thing.\n\nA {noun} is short.",
        examples=('holdfast note save decisions "We ship on Fridays (2025-03-07)"',),
    ),
    Command(
        verb="read",
        summary="read the newest entries",
        handler=ECHO,
        arguments=(STORE.replace(required=False),),
        options=(
            Option(name="--limit", short="-n", kind=integer(1, 50), default="20", help="how many"),
            Option(name="--since", kind=TIME, help="not before this"),
            Option(name="--until", kind=UNTIL, help="not after this"),
            Option(name="--order", kind=choice("newest", "oldest"), help="which first"),
            Option(name="--full", short="-f", help="with all metadata"),
        ),
    ),
)
FILES = (
    Command(
        verb="push",
        summary="push a {noun}",
        handler=ECHO,
        arguments=(
            Argument(name="FOLDER", kind=FOLDER, required=False, help="the {noun}'s folder"),
        ),
        options=(Option(name="--from-file", kind=PATH, help="a list of files"),),
    ),
    Command(
        verb="clone",
        summary="clone a {noun}",
        handler=ECHO,
        arguments=(Argument(name="NAME", kind=NAME, help="its name"),),
        options=(Option(name="--version", kind=NAME, help="the version to clone"),),
    ),
)
RUN = (
    Command(
        verb="",
        summary="run an agent",
        handler=ECHO,
        arguments=(
            Argument(name="AGENT", kind=NAME, help="its name"),
            Argument(name="PROMPT", kind=TEXT, help="what to do"),
        ),
        options=(
            Option(name="--memory", kind=NAME, help="the memory to mount"),
            Option(name="--var", kind=PAIR, many=True, help="a variable"),
            Option(name="--secret", kind=PAIR, many=True, secret=True, help="a secret"),
            Option(name="--timeout", kind=DURATION, help="how long it may take"),
            Option(name="--size", kind=SIZE, help="how much it may write"),
        ),
    ),
    Command(verb="list", summary="list the runs", handler="cli_sample:table"),
)
AGENT = (
    Command(
        verb="add",
        summary="declare an agent",
        handler=ECHO,
        arguments=(
            Argument(name="NAME", kind=NAME, help="its name"),
            Argument(name="COMMAND", kind=TEXT, help="the program", rest=True),
        ),
    ),
)
KV = (
    Command(
        verb="set",
        summary="set a value",
        handler=ECHO,
        mutates=True,
        arguments=(
            Argument(name="KEY", kind=NAME, help="its key"),
            Argument(name="VALUE", kind=JSON, help="its value", stdin=True),
        ),
    ),
    Command(
        verb="delete",
        summary="delete values",
        handler="cli_sample:delete",
        mutates=True,
        arguments=(Argument(name="KEY", kind=NAME, help="a key", many=True),),
    ),
)
RECALL = (
    Command(
        verb="",
        summary="search everything",
        handler=ECHO,
        arguments=(Argument(name="QUERY", kind=TEXT, help="words", many=True),),
        options=(Option(name="--limit", kind=COUNT, default="8", help="how many"),),
    ),
)
RESTORE = (
    Command(
        verb="",
        summary="go back to a moment",
        handler=ECHO,
        mutates=True,
        options=(Option(name="--at", kind=TIME, required=True, help="the moment"),),
    ),
)
ACT = tuple(
    Command(verb=verb, summary=f"{verb} for a test", handler=f"cli_sample:{verb}")
    for verb in (
        "ask",
        "crash",
        "empty",
        "escape",
        "fail",
        "flood",
        "progress",
        "raw",
        "refuse",
        "wait",
        "wide",
    )
)

TABLE = REAL.replace(
    options=tuple(
        option.replace(kind=TIME) if option.name == "--as-of" else option for option in REAL.options
    ),
    nouns=(
        Noun(
            name="note",
            summary="terse entries",
            commands="cli_sample:NOTE",
            heading="Sample",
            aliases=("notes",),
        ),
        Noun(
            name="memory",
            summary="files that an agent keeps",
            commands="cli_sample:FILES",
            heading="Sample",
        ),
        Noun(
            name="artifact",
            summary="files that an agent made",
            commands="cli_sample:FILES",
            heading="Sample",
        ),
        Noun(name="run", summary="run an agent", commands="cli_sample:RUN", heading="Sample"),
        Noun(
            name="agent", summary="declared agents", commands="cli_sample:AGENT", heading="Sample"
        ),
        Noun(name="kv", summary="values", commands="cli_sample:KV", heading="Sample"),
        Noun(
            name="recall",
            summary="search everything",
            commands="cli_sample:RECALL",
            heading="Sample",
        ),
        Noun(
            name="restore",
            summary="go back to a moment",
            commands="cli_sample:RESTORE",
            heading="Sample",
        ),
        Noun(name="act", summary="behave badly", commands="cli_sample:ACT", heading="Sample"),
        *(noun for noun in REAL.nouns if noun.heading == "Help" and noun.name != "demo"),
    ),
)


def echo(call: Call, out: Output) -> None:
    given = {
        key: str(value) for key, value in call.values.items() if value not in (None, False, ())
    }
    out.emit({"noun": call.noun.name, "verb": call.command.verb, **given}, repr(given))


def stores(call: Call, _prefix: str) -> list[tuple[str, str]]:
    return [("decisions", f"in {call['space'] or 'default'}"), ("diary", ""), ("bad\nname", "")]


def table(_call: Call, out: Output) -> int:
    rows = [
        {"id": "a", "size": 7, "text": "日本 café"},
        {"id": "bb", "size": 12, "text": "x\x1b[2J"},
    ]
    columns = (Column(title="ID", key="id"), Column(title="SIZE", key="size", right=True))
    out.table(rows, (*columns, Column(title="TEXT", key="text")))
    return 0


def delete(call: Call, out: Output) -> None:
    out.confirm(f"delete {', '.join(call['key'])}?")
    out.emit({"deleted": call["key"]}, "deleted")


def ask(_call: Call, out: Output) -> None:
    out.confirm("really?")
    out.note("done")


def crash(_call: Call, _out: Output) -> None:
    message = "the text of a memory"
    raise KeyError(message)


def empty(_call: Call, out: Output) -> None:
    out.table([], [Column(title="ID", key="id")], empty="no entries yet")


def wide(_call: Call, out: Output) -> None:
    columns = [Column(title="ID", key="id"), Column(title="TEXT", key="text")]
    out.table([{"id": "a", "text": "x" * 100}], columns)


def escape(_call: Call, out: Output) -> None:
    hostile = "\x1b]0;title\x07\x9b2J\u202egnp\r\nnext\tcell\udcff"
    out.emit({"text": hostile}, hostile)
    out.note(hostile)
    out.warn(hostile, code="hostile", hint=hostile)


def fail(_call: Call, _out: Output) -> int:
    return 1


def flood(_call: Call, out: Output) -> None:
    for _ in range(10_000):
        out.emit({}, "a line that nobody reads to its end")


def progress(_call: Call, out: Output) -> None:
    out.progress("half way")
    out.emit({"done": True}, "done")


def raw(_call: Call, out: Output) -> None:
    out.raw(b"a\x1b[1m\xff\r\n")


def refuse(_call: Call, out: Output) -> None:
    out.emit({"so": "far"}, "so far")
    raise Conflict("revision_moved", "`a` is at revision 8, not 7", hint="read it again")


def wait(_call: Call, _out: Output) -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    signal.pause()
