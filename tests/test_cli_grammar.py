from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from cli_sample import TABLE
from cli_snapshot import run_inside
from cli_table import problems
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.cli.commands import TABLE as REAL
from holdfast.cli.grammar import Argument, Command, Noun, Option, commands_of, nearest
from holdfast.cli.help import reference_markdown
from holdfast.cli.kinds import (
    DURATION,
    JSON,
    NAME,
    PAIR,
    SIZE,
    TEXT,
    TIME,
    UNTIL,
    choice,
    integer,
)
from holdfast.cli.parse import Outside, parse
from holdfast.errors import UsageError
from holdfast.model.times import to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.kinds import Kind

NOW = datetime(2025, 3, 8, 14, 30, 15, tzinfo=UTC)
SAMPLE = "cli_sample:TABLE"


def nothing() -> str:
    pytest.fail("standard input was read")


def read(*words: str, env: dict[str, str] | None = None, stdin: str | None = None) -> Call:
    source = nothing if stdin is None else lambda: stdin
    return parse(TABLE, words, Outside(env=env or {}, now_us=to_us(NOW), stdin=source))


def values(
    *words: str, env: dict[str, str] | None = None, stdin: str | None = None
) -> dict[str, object]:
    call = read(*words, env=env, stdin=stdin)
    return {key: value for key, value in call.values.items() if value not in (None, False, ())}


def refusal(*words: str, env: dict[str, str] | None = None) -> tuple[str, str, str]:
    with pytest.raises(UsageError) as caught:
        read(*words, env=env)
    return caught.value.code, caught.value.message, caught.value.hint


def taken(kind: Kind, text: str) -> object:
    return kind.read(text, to_us(NOW))


# Nouns and verbs


@pytest.mark.parametrize(
    ("words", "noun", "verb"),
    [
        (["note", "save", "s", "t"], "note", "save"),
        (["notes", "keep", "s", "t"], "note", "save"),
        (["memory", "push"], "memory", "push"),
        (["artifact", "push"], "artifact", "push"),
        (["run", "list"], "run", "list"),
        (["run", "scribe", "list"], "run", ""),
        (["run", "--memory", "m", "scribe", "go"], "run", ""),
        (["recall", "x"], "recall", ""),
        (["--space", "a", "note", "--json", "read"], "note", "read"),
        (["-qy", "note", "read"], "note", "read"),
        (["help"], "help", ""),
    ],
)
def test_a_noun_then_a_verb_name_the_command(words: list[str], noun: str, verb: str) -> None:
    call = read(*words)
    assert (call.noun.name, call.command.verb) == (noun, verb)


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ([], ()),
        (["--json"], ()),
        (["--help"], ()),
        (["note", "-h"], ("note",)),
        (["note", "save", "--bogus", "-h", "x"], ("note", "save")),
        (["--help", "run", "scribe", "prompt", "one too many"], ("run",)),
        (["--nonsense", "--help"], ()),
    ],
)
def test_help_is_about_as_much_as_was_said(words: list[str], topic: tuple[str, ...]) -> None:
    call = read(*words)
    assert (call.noun.name, call["topic"]) == ("help", topic)


def test_after_two_dashes_help_is_an_argument() -> None:
    assert values("agent", "add", "a", "--", "prog", "--help", "--", "-x") == {
        "name": "a",
        "command": ("prog", "--help", "--", "-x"),
    }


def test_version_is_an_option_unless_the_command_has_its_own() -> None:
    assert read("note", "read", "-V").noun.name == "version"
    assert values("memory", "clone", "m", "--version", "v12") == {"name": "m", "version": "v12"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nots"], ("command_unknown", "unknown command 'nots'", "did you mean `note`?")),
        (["ntoe"], ("command_unknown", "unknown command 'ntoe'", "did you mean `note`?")),
        (["mem"], ("command_unknown", "unknown command 'mem'", "did you mean `memory`?")),
        (
            ["zzz"],
            ("command_unknown", "unknown command 'zzz'", "`holdfast help` lists the commands"),
        ),
        ([""], ("command_unknown", "unknown command ''", "`holdfast help` lists the commands")),
        (
            ["note", "sav", "--help"],
            ("command_unknown", "`note` has no command 'sav'", "did you mean `note save`?"),
        ),
        (
            ["note"],
            (
                "command_missing",
                "`note` needs a verb: save, read",
                "`holdfast help note` says what each does",
            ),
        ),
        (
            ["note", "read", "--limti", "3"],
            (
                "option_unknown",
                "unknown option '--limti' of `note read`",
                "did you mean `--limit`?",
            ),
        ),
        (
            ["note", "save", "s", "-x marks"],
            (
                "option_unknown",
                "unknown option '-x' of `note save`",
                (
                    "`holdfast help note save` lists the options; "
                    "text that begins with a dash goes after `--`"
                ),
            ),
        ),
        (
            ["note", "read", "--limit"],
            ("value_missing", "`--limit` needs a value", "write `--limit N`"),
        ),
        (
            ["note", "save", "s", "t", "--reason", "--json"],
            ("value_missing", "`--reason` needs a value", "write `--reason=--json`"),
        ),
        (
            ["note", "read", "--full=yes"],
            ("value_unwanted", "`--full` takes no value", "write `--full`"),
        ),
        (
            ["note", "read", "--limit=3", "-n4"],
            ("option_repeated", "`--limit` is given twice", "keep one"),
        ),
        (
            ["note", "save"],
            (
                "argument_missing",
                "`note save` needs `STORE` and `TEXT`",
                "usage: holdfast note save [OPTIONS] STORE TEXT",
            ),
        ),
        (
            ["restore"],
            (
                "argument_missing",
                "`restore` needs `--at TIME`",
                "usage: holdfast restore --at TIME [OPTIONS]",
            ),
        ),
        (
            ["note", "save", "s", "buy", "milk"],
            (
                "argument_unexpected",
                "`note save` takes no 'milk'",
                "put quotes around text of several words",
            ),
        ),
        (
            ["note", "read", "--order", "newset"],
            ("value_invalid", "`--order` cannot be 'newset'", "did you mean `newest`?"),
        ),
        (
            ["kv", "set", "k", "{'a': 1}"],
            (
                "value_invalid",
                (
                    "`VALUE` cannot be '{'a': 1}': "
                    "expecting property name enclosed in double quotes at character 2"
                ),
                'it takes JSON such as 3, "text" or {"a": 1}',
            ),
        ),
        (
            ["run", "a", "b", "--secret", "hunter2"],
            ("value_invalid", "`--secret` is not of its form", "it takes KEY=VALUE"),
        ),
        (
            ["note", "save", "s", "t", "--as-of", "2h"],
            (
                "option_misplaced",
                "`--as-of` looks at the past, and `note save` writes",
                "leave `--as-of` out",
            ),
        ),
        (
            ["note", "save", "s", "-", "--body=-"],
            ("stdin_twice", "`--body` and `TEXT` cannot both be `-`", "keep one of them"),
        ),
        (
            ["note", "read", "--limit", "\x1b[2J"],
            (
                "value_invalid",
                "`--limit` cannot be '\\x1b[2J'",
                "it takes a whole number from 1 to 50",
            ),
        ),
    ],
)
@pytest.mark.row("I11")
def test_wrong_usage_says_what_and_how_to_cure_it(
    words: list[str], said: tuple[str, str, str]
) -> None:
    assert refusal(*words) == said


def test_suggestions_are_near_or_none() -> None:
    names = ["save", "read", "remove"]
    assert [
        nearest(word, names) for word in ("sve", "rea", "reda", "re", "xyz", "s" * 1_000_000)
    ] == [
        "save",
        "read",
        "read",
        "read",
        "",
        "",
    ]


# Arguments and options


def test_options_stand_anywhere_and_mean_the_same() -> None:
    for words in (
        ["note", "read", "diary", "--limit", "5", "--space", "a", "-f"],
        ["--space=a", "note", "read", "-fn5", "diary"],
        ["note", "--space", "a", "read", "-n=5", "--full", "--", "diary"],
    ):
        assert values(*words) == {"store": "diary", "limit": 5, "space": "a", "full": True}


@pytest.mark.parametrize("text", ["-5", "- a list item", "-- so", "---", "", "-é", "a=b", "-"])
def test_text_that_is_no_option_needs_no_care(text: str) -> None:
    assert read("note", "save", "s", text, stdin="-")["text"] == text


@pytest.mark.parametrize("text", ["--reason", "-x", "--help", "--", "-"])
def test_any_text_stands_after_two_dashes(text: str) -> None:
    assert read("note", "save", "--", "s", text, stdin="-")["text"] == text


def test_a_value_that_looks_like_an_option_is_glued_on() -> None:
    assert read("note", "save", "s", "t", "--reason=--help")["reason"] == "--help"


def test_repeated_options_and_arguments_are_tuples_in_order() -> None:
    assert values("recall", "b", "a", "b") == {"query": ("b", "a", "b"), "limit": 8}
    assert values("run", "a", "p", "--var", "X=1", "--var=Y=2=3", "--var", "X=") == {
        "agent": "a",
        "prompt": "p",
        "var": (("X", "1"), ("Y", "2=3"), ("X", "")),
    }
    assert read("note", "save", "s", "t")["tag"] == ()


def test_what_was_not_given_is_none_or_its_default() -> None:
    call = read("note", "read")
    assert (call["store"], call["limit"], call["since"], call["full"]) == (None, 20, None, False)


def test_a_command_that_writes_takes_the_options_for_writing() -> None:
    words = ("note", "save", "s", "t", "--reason", "why", "--key", "k1", "--expect", "7")
    assert values(*words) == {
        "store": "s",
        "text": "t",
        "reason": "why",
        "idempotency_key": "k1",
        "expect": 7,
    }
    assert refusal("note", "read", "--reason", "why")[0] == "option_unknown"


def test_the_environment_stands_in_for_what_was_not_said() -> None:
    env = {
        "HOLDFAST_VAULT": "/v",
        "HOLDFAST_SPACE": "team",
        "HOLDFAST_SESSION": "s1",
        "HOLDFAST_AGENT": "",
        "HOLDFAST_USER": "ada",
        "HOLDFAST_JSON": "1",
    }
    given = values("note", "read", "--user", "bob", env=env)
    assert given == {"vault": "/v", "space": "team", "session": "s1", "user": "bob", "limit": 20}
    assert refusal("note", "read", env={"HOLDFAST_SPACE": "caf\udce9"})[1] == (
        "`HOLDFAST_SPACE` is not UTF-8: byte 0xe9 at offset 3"
    )


def test_a_dash_means_standard_input_where_that_is_declared() -> None:
    assert values("note", "save", "s", "-", stdin="two\nlines\n")["text"] == "two\nlines\n"
    assert values("note", "save", "s", "t", "--body", "-", stdin="b")["body"] == "b"
    assert values("kv", "set", "k", "-", stdin="[1]\n")["value"] == [1]
    assert values("note", "read", "-")["store"] == "-"


def test_standard_input_is_read_last_and_never_quoted() -> None:
    assert refusal("note", "save", "s", "-", "surplus")[0] == "argument_unexpected"
    with pytest.raises(UsageError) as caught:
        read("kv", "set", "k", "-", stdin="hush")
    assert str(caught.value) == (
        "`VALUE` is not of its form: expecting value at character 1 "
        '(hint: it takes JSON such as 3, "text" or {"a": 1})'
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["note", "save", "s", "日本\udcff"], "`TEXT` is not UTF-8: byte 0xff at offset 6"),
        (
            ["note", "save", "s", "t", "--reason=\udce9"],
            "`--reason` is not UTF-8: byte 0xe9 at offset 0",
        ),
        (["caf\udce9"], "unknown command 'caf\\udce9'"),
        (["note", "read", "--\udce9"], "`STORE` is not UTF-8: byte 0xe9 at offset 2"),
    ],
)
def test_bytes_that_are_no_text_are_named(words: list[str], message: str) -> None:
    assert refusal(*words)[1] == message


# Kinds of values


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (integer(), "-0042", -42),
        (integer(1, 50), "50", 50),
        (choice("a", "b"), "b", "b"),
        (TEXT, "", ""),
        (PAIR, "A==b", ("A", "=b")),
        (JSON, ' {"a": [1, 2.5, null, "é"]} ', {"a": [1, 2.5, None, "é"]}),
        (DURATION, "90s", timedelta(seconds=90)),
        (DURATION, "1H30m", timedelta(minutes=90)),
        (DURATION, "2w1d", timedelta(days=15)),
        (SIZE, "512", 512),
        (SIZE, "0b", 0),
        (SIZE, "64K", 65536),
        (SIZE, "64KiB", 65536),
        (SIZE, "10mb", 10_000_000),
        (SIZE, "1g", 2**30),
        (SIZE, "2TB", 2 * 10**12),
        (TIME, "2025-03-01", datetime(2025, 3, 1, tzinfo=UTC)),
        (TIME, "2025-03-01T14:30", datetime(2025, 3, 1, 14, 30, tzinfo=UTC)),
        (TIME, "2025-03-01 14:30:05.25Z", datetime(2025, 3, 1, 14, 30, 5, 250_000, tzinfo=UTC)),
        (TIME, "2025-03-01T14:30+02:00", datetime(2025, 3, 1, 12, 30, tzinfo=UTC)),
        (TIME, "now", NOW),
        (TIME, "Today", datetime(2025, 3, 8, tzinfo=UTC)),
        (TIME, "yesterday", datetime(2025, 3, 7, tzinfo=UTC)),
        (TIME, "2h", NOW - timedelta(hours=2)),
        (TIME, "2h ago", NOW - timedelta(hours=2)),
        (TIME, "now-1d12h", NOW - timedelta(hours=36)),
        (UNTIL, "2025-02-28", datetime(2025, 2, 28, 23, 59, 59, 999_999, tzinfo=UTC)),
        (UNTIL, "yesterday", datetime(2025, 3, 7, 23, 59, 59, 999_999, tzinfo=UTC)),
        (UNTIL, "2025-03-01T00:00", datetime(2025, 3, 1, tzinfo=UTC)),
        (UNTIL, "2h", NOW - timedelta(hours=2)),
    ],
)
def test_values_of_a_form_are_read(kind: Kind, text: str, value: object) -> None:
    assert taken(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (integer(), ["", "-", "+1", " 1", "1_000", "٣", "1.0", "0x1", "9" * 5000]),
        (integer(1, 50), ["0", "51", "-1"]),
        (NAME, [""]),
        (PAIR, ["", "=", "=v", "key"]),
        (JSON, ["", "NaN", "-Infinity", "1e999", "[" * 100_000, "9" * 5000, "1 2", "{'a': 1}"]),
        (DURATION, ["", "h", "90", "1.5h", "30m1h", "1h1h", "-2h", "2 h", "9" * 30 + "w", "٣h"]),
        (SIZE, ["", "K", "1.5M", "-1", "1X", "1iB", "1KK", "9" * 5000]),
        (
            TIME,
            ["", "soon", "2025-02-30", "2025-13-01", "25:00", "9" * 30 + "w", "9999999w", "-2h"],
        ),
        (TIME, ["0001-01-01T00:00+23:59", "ago", "now-", "now-now"]),
        (UNTIL, ["9999-12-31T23:59:59-23:59", "tomorrow"]),
    ],
)
def test_values_that_are_not_of_the_form_are_refused(kind: Kind, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError):  # noqa: PT011 (the promise is: this and nothing else)
            taken(kind, text)


# Whatever comes

WORDS = sorted(
    {
        "-",
        "--",
        "--=",
        "-=",
        "--help",
        "-h",
        "-5",
        "",
        "-nf",
        "2h",
        "{",
        "A=b",
        chr(0xDCFF),
        chr(0xD800),
    }
    | {name for noun in TABLE.nouns for name in (noun.name, *noun.aliases)}
    | {
        name
        for noun in TABLE.nouns
        for one in commands_of(noun)
        for name in (one.verb, *one.aliases)
    }
    | {
        f"{name}{value}"
        for noun in TABLE.nouns
        for one in commands_of(noun)
        for option in (*one.options, *TABLE.options, *TABLE.writing)
        for name in option.names
        for value in ("", "=", "=7", "=x=y")
    }
)
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(WORDS) | ANY_TEXT, max_size=8))
def test_any_list_of_words_is_a_call_or_wrong_usage(words: list[str]) -> None:
    try:
        call = parse(TABLE, words, Outside(env={}, now_us=to_us(NOW), stdin=lambda: "7"))
    except UsageError as exc:
        error = exc
    else:
        assert call.command in commands_of(call.noun)
        expected = {param.key for param in (*call.command.arguments, *call.command.options)}
        assert expected <= call.values.keys()
        return
    assert error.code
    assert (error.message + error.hint).isprintable()


@pytest.mark.parametrize(
    "kind",
    [DURATION, JSON, PAIR, SIZE, TIME, UNTIL, integer(), choice("a")],
    ids=lambda k: k.metavar,
)
@given(text=st.text(max_size=30) | st.from_regex(r"[-+0-9TZWhmsdwkKiB:. ]{1,30}", fullmatch=True))
def test_a_kind_raises_nothing_but_value_errors(kind: Kind, text: str) -> None:
    with suppress(ValueError):
        taken(kind, text)


@given(
    text=st.text(),
    reason=st.none() | st.text(min_size=1),
    tags=st.lists(st.text(min_size=1), max_size=3),
    order=st.randoms(use_true_random=False),
)
def test_what_is_written_is_what_is_read(text, reason, tags, order) -> None:  # type: ignore[no-untyped-def]
    options = [f"--tag={tag}" for tag in tags] + ([f"--reason={reason}"] if reason else [])
    order.shuffle(options)
    cut = order.randrange(len(options) + 1)
    call = read("note", "save", *options[:cut], "s", *options[cut:], "--", text, stdin="-")
    assert (call["text"], call["reason"]) == (text, reason)
    assert call["tag"] == tuple(option[6:] for option in options if option.startswith("--tag="))


# The table, and what is made from it


def test_the_table_of_commands_has_no_faults() -> None:
    assert problems(REAL) == []


def test_faults_of_a_table_are_found() -> None:
    good = Command(verb="list", summary="list them", handler="cli_sample:echo")
    here = Argument(name="STORE", kind=NAME, help="")
    bad = {
        "verb twice": (good, good),
        "verb": (good.replace(verb="frobnicate"),),
        "summary": (good.replace(summary="List them."),),
        "key": (good.replace(arguments=(here.replace(name="SPACE"),)),),
        "hidden": (good.replace(options=(Option(name="--json", help=""),)),),
        "order": (good.replace(arguments=(here.replace(many=True), here.replace(name="B"))),),
        "stdin": (good.replace(arguments=(here.replace(many=True, stdin=True),)),),
        "short": (good.replace(options=(Option(name="--x", short="-xy", help=""),)),),
        "flag": (good.replace(options=(Option(name="--x", many=True, help=""),)),),
    }
    nouns = [
        Noun(name=name, summary="a noun", heading="H", commands=commands)
        for name, commands in bad.items()
    ]
    assert problems(REAL.replace(nouns=(*REAL.nouns, *nouns, nouns[0]))) == [
        "table: verb twice twice",
        "verb twice: list twice",
        "verb: frobnicate is not reserved",
        "summary list: 'List them.' is not a phrase of 1 to 60 characters without a full stop",
        "key list: space names two values",
        "hidden list: --json hides the option of every command",
        "order list: arguments stand as required, optional, many, rest",
        "stdin list: STORE: one of many cannot be standard input",
        "short list: --x: -xy is not short",
        "flag list: --x: a flag is there or not, and no more",
        "verb twice: list twice",
    ]


NOTE_SAVE = """\
Save an entry.

Also called `keep`.

Usage:
  holdfast note save [OPTIONS] STORE TEXT

An entry says one thing.

A note is short.

Arguments:
  STORE  the store's name
  TEXT   what to remember; `-` reads standard input

Options:
      --id NAME    an id of your choice
      --body TEXT  more of it; `-` reads standard input
  -t, --tag NAME   a tag; may be repeated

Options for writing:
  --reason TEXT      why, for the log
  --key NAME         a key of your choice: the same call with the same key
                     changes nothing more
  --expect REVISION  the revision that you saw; refuse if it is no longer that

Examples:
  holdfast note save decisions "We ship on Fridays (2025-03-07)"
"""
NOTE = """\
Terse entries.

Also called `notes`.

Usage:
  holdfast note VERB [OPTIONS]

Verbs:
  save STORE TEXT  save an entry
  read [STORE]     read the newest entries

`holdfast help note VERB` explains a verb.
"""


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["help", "note", "save"], NOTE_SAVE),
        (["notes", "keep", "--help"], NOTE_SAVE),
        (["note", "--help"], NOTE),
        (["help", "notes"], NOTE),
    ],
)
def test_help_pages(words: list[str], page: str) -> None:
    result = run_inside(words, table=SAMPLE)
    assert (result.exit, result.stdout, result.stderr) == (0, page, "")


def test_the_front_page_names_every_noun_option_and_variable() -> None:
    text = run_inside([], table=SAMPLE).stdout
    assert text == run_inside(["help"], table=SAMPLE).stdout
    assert text == run_inside(["-h"], table=SAMPLE).stdout
    for part in (
        "\nSample:\n  note      terse entries\n  memory    files that an agent keeps\n",
        "\nHelp:\n  completion  print a shell's completion script\n  help        explain a",
        "\n      --agent NAME     the agent that writes [env: HOLDFAST_AGENT]\n",
        "\n  -q, --quiet          say nothing but results and errors\n",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 80


def test_help_for_what_does_not_exist_is_wrong_usage() -> None:
    for words, code in ((["no"], "command_unknown"), (["a", "b", "c"], "argument_unexpected")):
        result = run_inside(["help", *words], table=SAMPLE)
        assert (result.exit, result.stdout) == (2, "")
        assert f"[{code}]\n" in result.stderr


def test_the_reference_page_has_every_command_once() -> None:
    page = reference_markdown(TABLE)
    titles = [line for line in page.splitlines() if line.startswith("### ")]
    assert titles == [
        f"### holdfast {noun.name} {command.verb}".rstrip()
        for noun in TABLE.nouns
        for command in commands_of(noun)
    ]
    assert "| `--order newest\\|oldest` | which first |" in page
    assert "```text\nholdfast agent add [OPTIONS] NAME -- COMMAND...\n```" in page
    assert run_inside(["help", "--all", "--format", "markdown"], table=SAMPLE).stdout == page


def test_shared_commands_speak_of_their_noun() -> None:
    assert "Push a memory." in run_inside(["memory", "push", "-h"], table=SAMPLE).stdout
    assert "the artifact's folder" in run_inside(["artifact", "push", "-h"], table=SAMPLE).stdout
