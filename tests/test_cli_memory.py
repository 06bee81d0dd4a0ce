"""What the commands say and do: exit code, both streams, JSON, and what they leave on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in, failed, files, ok

from holdfast.model.ids import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

KEY = "raw:" + "5a" * 32
OTHER_KEY = "raw:" + "a5" * 32


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


# Where there is no vault

LOOKS = [
    ["status"],
    ["doctor"],
    ["log"],
    ["log", "--all"],
    ["note", "read"],
    ["context"],
    ["session", "list"],
    ["space", "list"],
    ["space", "show"],
    ["--complete", "note", "save", "--store", ""],
    ["--complete", "note", "read", "--store", ""],
]


@pytest.mark.parametrize("declared", [False, True], ids=["no workspace", "a workspace"])
@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_whoever_only_looks_leaves_nothing_behind(
    cli: Cli, words: list[str], declared: bool
) -> None:
    if declared:
        Path("workspace.yml").write_text("name: app\n")
    before = files(cli.folder)
    assert cli(*words).exit == 0
    assert files(cli.folder) == before
    assert not cli.vault.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["verify"], "vault_not_found"),
        (["doctor", "--repair"], "vault_not_found"),
        (["note", "remove", "a"], "entry_not_found"),
        (["note", "read", "a"], "entry_not_found"),
        (["session", "end", "a"], "session_not_found"),
        (["context", "--session", "a"], "session_not_found"),
        (["note", "read", "--space", "app"], "space_not_found"),
        (["note", "read", "--as-of", "1"], "change_not_found"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_needs_more_than_nothing_is_refused_and_leaves_nothing(
    cli: Cli, words: list[str], code: str
) -> None:
    assert cli.refuses(*words) == code
    assert files(cli.folder) == []


def test_status_says_where_the_memory_will_be(cli: Cli) -> None:
    found = cli.json("status")
    assert (found["space"], "narrative" in found["stores"]) == ("default", True)
    Path("workspace.yml").write_text("name: app\nmemory: {own: []}\n")
    assert cli("status") == ok(
        f"vault  {cli.vault}/vault.db\n"
        "       not made yet: the first write makes it\n"
        "space  app: no stores\n"
    )
    found = cli.json("status")
    assert (found["where"], found["id"], found["seq"]) == (f"{cli.vault}/vault.db", None, 0)
    assert set(found["counts"].values()) == {0}
    assert (found["space"], found["stores"]) == ("app", [])
    assert cli.json("log", "--all") == []


# init and status


def test_init_makes_the_vault_once(cli: Cli) -> None:
    file = f"{cli.vault}/vault.db\n"
    assert cli("init") == ok(file, 'Made a plain vault\nNext: holdfast note save "…"\n')
    assert cli("init") == ok(file, "There is already a plain vault\n")
    assert cli.json("init") == {"vault": file.strip(), "created": False, "encrypted": False}
    assert [file for file in files(cli.folder) if not file.startswith("vault/")] == []
    assert cli.vault.stat().st_mode & 0o777 == 0o700
    other = str(cli.folder / "other")
    assert cli.json("init", "--vault", other)["created"] is True


def test_what_is_written_to_memory_alone_would_be_lost_so_it_is_refused(cli: Cli) -> None:
    assert cli.refuses("note", "save", "x", "--vault", "memory:") == "vault_in_ram"


def test_status_counts_what_there_is(cli: Cli) -> None:
    cli.says("note", "save", "a fact")
    cli.says("note", "save", "gone", "--id", "gone")
    cli.says("note", "remove", "gone")
    cli.says("session", "start")
    found = cli.json("status")
    size = found["storage"]["bytes"]
    assert size == sum((cli.vault / name).stat().st_size for name in ("vault.db", "vault.db-wal"))
    assert cli("status") == ok(
        f"vault  {cli.vault}/vault.db\n"
        f"       plain, {size:,} bytes on disk, schema {found['storage']['schema']}\n"
        "holds  1 entry, 1 space, 1 store, 1 session\n"
        "log    6 changes\n"
        f"space  default: {', '.join(found['stores'])}\n"
    )
    assert "narrative" in found["stores"]
    assert {key: found[key] for key in ("where", "seq", "counts", "space")} == {
        "where": f"{cli.vault}/vault.db",
        "seq": 6,
        "counts": {
            "spaces": 1,
            "stores": 1,
            "sessions": 1,
            "entries": 1,
            "messages": 0,
            "changes": 6,
        },
        "space": "default",
    }


# Notes


@pytest.mark.row("H04", "H05", "H06")
def test_a_note_is_saved_read_and_removed(cli: Cli) -> None:
    save = cli("note", "save", "Uses tabs", "--id", "style-tabs", "--meta", "lang=go")
    assert save == ok("style-tabs\n", "Saved in default/narrative\n")
    cli.clock.advance(seconds=60)
    saved = cli("note", "save", "Deploys go out on Tuesdays")
    assert cli.settled(saved.stdout) == "<entry-4>\n"
    assert cli.settled(cli.says("note", "read")) == (
        "<entry-4>  2026-01-15 12:01  Deploys go out on Tuesdays\n"
        "style-tabs  2026-01-15 12:00  Uses tabs\n"
    )
    assert cli.settled(cli.says("note", "read", "style-tabs")) == (
        "Uses tabs\n\n"
        "id        style-tabs · <entry-3>\n"
        "state     confirmed, revision 3\n"
        "saved     2026-01-15 12:00 UTC\n"
        "origin    user, trust high\n"
        "metadata  lang=go\n"
    )
    assert cli("note", "remove", "style-tabs") == ok("", "Removed default/narrative style-tabs\n")
    again = cli("note", "remove", "style-tabs")
    assert again == ok("", "default/narrative style-tabs was removed before\n")
    assert cli.notes() == ["Deploys go out on Tuesdays"]
    assert cli.notes("--text", "tabs") == []
    assert cli("note", "read", "--text", "tabs") == ok("", "No such notes in default/narrative\n")
    assert cli.refuses("note", "remove", "nothing") == "entry_not_found"


def test_a_note_in_json(cli: Cli) -> None:
    saved = cli.json("note", "save", "a fact", "--id", "x", "--origin", "web", "--agent", "helper")
    entry = saved.pop("entry")
    assert saved == {"outcome": "saved", "advice": [], "fell_out": 0}
    assert entry == {
        "id": next(iter(key for key, name in cli.ids().items() if name == "entry-3")),
        "given_id": "x",
        "kind": "",
        "subject": "",
        "text": "a fact",
        "state": "confirmed",
        "hidden": False,
        "importance": 50,
        "pinned": False,
        "tags": [],
        "refs": [],
        "holds": [],
        "scope": "",
        "facts": {},
        "metadata": {},
        "origin": "web",
        "trust": "low",
        "session": None,
        "bound": False,
        "created": "2026-01-15T12:00:00Z",
        "updated": "2026-01-15T12:00:00Z",
        "said_at": None,
        "when": "2026-01-15T12:00:00Z",
        "until": None,
        "number": 3,
        "revision": 3,
    }
    assert cli.json("note", "read") == {"entries": [entry], "cursor": None}
    assert cli.json("note", "read", "x") == entry
    gone = {**entry, "state": "forgotten", "revision": 4}
    assert cli.json("note", "remove", "x") == {"entry": gone, "outcome": "removed"}
    gone |= {"text": "", "metadata": {}}
    assert cli.json("note", "read", "x") == gone
    assert cli.json("note", "remove", "x") == {"entry": gone, "outcome": "unchanged"}


@pytest.mark.row("H05")
def test_notes_are_selected_by_time_words_and_metadata_and_come_in_pages(cli: Cli) -> None:
    for number in range(5):
        cli.says("note", "save", f"fact {number}", "--meta", f"odd={number % 2}")
        cli.clock.advance(days=1)
    assert cli.notes() == [f"fact {number}" for number in (4, 3, 2, 1, 0)]
    assert cli.notes("--order", "oldest", "--limit", "2") == ["fact 0", "fact 1"]
    assert cli.notes("--since", "2026-01-17", "--until", "2026-01-18") == ["fact 3", "fact 2"]
    assert cli.notes("--meta", "odd=1", "--text", "FACT") == ["fact 3", "fact 1"]
    assert cli.notes("--as-of", "4") == ["fact 1", "fact 0"]
    assert cli.notes("--as-of", "2026-01-15T23:00") == ["fact 0"]
    first = cli("note", "read", "--limit", "3")
    assert [line.split("  ")[2] for line in first.stdout.splitlines()] == [
        "fact 4",
        "fact 3",
        "fact 2",
    ]
    words, cursor = first.stderr.split("--cursor ")
    assert words == "More: add "
    assert cli.notes("--limit", "3", "--cursor", cursor.strip()) == ["fact 1", "fact 0"]


@pytest.mark.row("H08")
def test_advice_does_not_keep_a_note_from_being_saved(cli: Cli) -> None:
    text = "The user said that it ships tomorrow. Also the sky is blue"
    result = cli("note", "save", text, "--id", "x")
    assert result == ok(
        "x\n",
        "Saved in default/narrative\n"
        "warning: leave out 'The user said': say the fact itself [note_preamble]\n"
        "warning: several facts in one note: save each, so that each can be found and removed"
        " alone [note_many_facts]\n"
        "warning: 'tomorrow' will mean something else later: add the date as (YYYY-MM-DD)"
        " [note_undated]\n",
    )
    strict = cli("note", "save", "x" * 501, "--json")
    codes = [json.loads(line)["warning"]["code"] for line in strict.stderr.splitlines()]
    saved = json.loads(strict.stdout)
    assert codes == [advice["code"] for advice in saved["advice"]] == ["note_is_document"]
    assert cli.notes() == ["x" * 501, text]


@pytest.mark.row("H14")
def test_the_same_id_is_the_same_note_or_a_conflict(cli: Cli) -> None:
    assert cli("note", "save", "a fact", "--id", "x") == ok("x\n", "Saved in default/narrative\n")
    again = cli("note", "save", "a fact", "--id", "x")
    assert again == ok("x\n", "Already there in default/narrative\n")
    assert cli.refuses("note", "save", "another", "--id", "x") == "id_taken"
    assert cli.notes() == ["a fact"]


def test_a_key_makes_repeating_harmless(cli: Cli) -> None:
    first = cli("note", "save", "a fact", "--key", "k")
    assert cli("note", "save", "a fact", "--key", "k") == first
    assert cli.refuses("note", "save", "another", "--key", "k") == "key_reused"
    assert cli.notes() == ["a fact"]


def test_a_revision_that_moved_is_a_conflict(cli: Cli) -> None:
    cli.says("note", "save", "a fact", "--id", "x")
    assert cli.refuses("note", "remove", "x", "--expect", "2") == "revision_moved"
    cli.says("note", "remove", "x", "--expect", "3")


def test_text_comes_from_standard_input_whatever_is_in_it(cli: Cli) -> None:
    text = "多行\n\tand \x1b[31mred\n"
    held = cli("note", "save", "-", "--id", "x", "--json", stdin=text)
    cli.says("review", "approve", json.loads(held.stderr)["error"]["proposal"])
    assert cli.json("note", "read", "x")["text"] == text
    assert cli.says("note", "read") == "x  2026-01-15 12:00  多行\\n\\tand \\x1b[31mred\\n\n"
    assert "\x1b" not in cli.says("note", "read", "x") + cli.says("context") + cli.says("log")


@pytest.mark.row("H04")
def test_an_undeclared_store_is_refused_with_the_declared(cli: Cli) -> None:
    Path("workspace.yml").write_text(
        "name: app\nmemory:\n  own:\n    - {name: decisions, strategy: narrative}\n"
        "    - {name: lessons, strategy: narrative}\n"
    )
    assert cli("note", "save", "x", "--store", "lesons") == failed(
        "error: space app declares no narrative store 'lesons'; declared: decisions, lessons"
        " [store_not_declared]\n"
        "hint: use one of these, or declare it under memory.own in workspace.yml\n"
    )
    assert cli("note", "save", "x") == failed(
        "error: space app has several stores of the strategy narrative: decisions, lessons"
        " [store_unnamed]\nhint: say which one, with --store\n"
    )
    assert cli("record", "list") == failed(
        "error: space app declares no store of the strategy records [store_unnamed]\n"
        "hint: add one to memory.own in workspace.yml\n"
    )
    assert cli("note", "save", "x", "--store", "lessons", "--id", "x").stderr == (
        "Saved in app/lessons\n"
    )
    completed = cli.says("--complete", "note", "read", "--store", "")
    assert completed.split() == ["decisions", "lessons"]


@pytest.mark.row("H07")
def test_a_short_term_store_says_what_fell_out(cli: Cli) -> None:
    Path("workspace.yml").write_text(
        "name: app\nmemory:\n  own:\n    - {name: n, type: short_term, strategy: narrative,"
        " keep: 2}\n    - {name: s, type: short_term, strategy: narrative, ttl: session}\n"
    )
    for number in range(3):
        last = cli("note", "save", f"fact {number}", "--store", "n", "--id", f"f{number}")
    assert last == ok("f2\n", "Saved in app/n\n1 older fell out of app/n\n")
    assert cli.notes("--store", "n") == ["fact 2", "fact 1"]
    assert cli.refuses("note", "save", "x", "--store", "s") == "session_needed"
    session = cli.says("session", "start").strip()
    cli.says("note", "save", "x", "--store", "s", HOLDFAST_SESSION=session)
    assert cli.notes("--store", "s") == ["x"]
    cli.says("session", "end", HOLDFAST_SESSION=session)
    assert cli.notes("--store", "s") == []


@pytest.mark.parametrize(
    ("words", "code", "exit"),
    [
        (["note", "save", " "], "text_empty", 1),
        (["note", "save", "x", "--id", " x"], "id_invalid", 1),
        (["note", "save", "x", "--meta", "a=1", "--meta", "a=2"], "option_repeated", 2),
        (["note", "save", "x", "--said-at", "soon"], "value_invalid", 2),
        (["note", "save", "x", "--agent", "a\nb"], "label_invalid", 1),
        (["note", "save", "x", "--user", " "], "label_invalid", 1),
        (["note", "save", "x", "--session", "none"], "session_not_found", 1),
        (["note", "save", "x", "--reason", "x" * 5_000], "reason_too_long", 1),
        (["note", "save", "x", "--space", "nowhere"], "space_not_found", 1),
        (["note", "read", "--cursor", "zzz"], "cursor_invalid", 1),
        (["note", "read", "--limit", "0"], "value_invalid", 2),
        (["session", "list", "--state", "opne"], "value_invalid", 2),
        (["session", "end"], "session_missing", 2),
        (["note", "save", "x", "--as-of", "1"], "option_misplaced", 2),
        (["status", "--as-of", "1"], "option_misplaced", 2),
        (["log", "--as-of", "yesterday"], "option_misplaced", 2),
        (["init", "--as-of", "1"], "option_misplaced", 2),
        (["init", "--reason", "x"], "option_unknown", 2),
        (["space", "init", "nowhere"], "folder_not_found", 1),
        (["space", "adopt"], "workspace_not_found", 1),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else str(value),
)
def test_bad_input_is_named_and_changes_nothing(
    cli: Cli, words: list[str], code: str, exit: int
) -> None:
    cli.says("note", "save", "a fact")
    assert cli.refuses(*words, exit=exit) == code
    assert cli.notes() == ["a fact"]
    assert cli.json("status")["seq"] == 3
    assert [file for file in files(cli.folder) if not file.startswith("vault/")] == []


# Context


@pytest.mark.row("H02", "H03")
def test_a_session_starts_with_the_twenty_newest(cli: Cli) -> None:
    for number in range(25):
        cli.says("note", "save", f"fact {number}", "--id", f"f{number}")
        cli.clock.advance(seconds=number % 3)  # some of one moment: then the later one is newer
    lines = [f"- 2026-01-15 fact {number} [f{number}]" for number in range(24, 4, -1)]
    text = "\n".join(
        [
            "## Notes default/narrative (newest first)",
            *lines,
            "More: memory_read(store='narrative')",
            "",
        ]
    )
    assert cli("context") == ok(text)
    assert cli("context", "--agent", "somebody", "--user", "else") == ok(text)
    assert cli.fresh("context").stdout == text
    found = cli.json("context")
    assert (found["text"], found["budget"]) == (text, None)
    (block,) = found["blocks"]
    assert (block["label"], block["shown"], block["left_out"], block["more"]) == (
        "default/narrative",
        20,
        0,
        True,
    )
    assert 0 < found["tokens"] < len(text)


def test_a_budget_leaves_out_the_oldest_and_says_how_many(cli: Cli) -> None:
    for number in range(5):
        cli.says("note", "save", f"fact {number} {'x' * 40}", "--id", f"f{number}")
    result = cli("context", "--budget", "60")
    shown = [line.split()[3] for line in result.stdout.splitlines() if line.startswith("- ")]
    assert shown == [str(4 - place) for place in range(len(shown))]
    assert 0 < len(shown) < 5
    assert result.stderr == f"default/narrative: {5 - len(shown)} left out by the budget\n"
    assert cli.json("context", "--budget", "60")["tokens"] <= 60
    assert cli("context", "--budget", "1") == ok(
        "", "default/narrative: 5 left out by the budget\n"
    )


@pytest.mark.row("H02")
def test_a_session_keeps_the_context_that_it_was_given(cli: Cli) -> None:
    cli.says("note", "save", "before")
    session = cli.says("session", "start", "Review").strip()
    first = cli("context", "--session", session)
    assert "before" in first.stdout
    cli.says("note", "save", "meanwhile", "--session", session)
    assert cli("context", "--session", session) == first
    assert "meanwhile" in cli.says("context")
    cli.says("session", "end", session)
    assert "meanwhile" in cli.says("context", "--session", session)


def test_a_context_of_the_past(cli: Cli) -> None:
    cli.says("note", "save", "one", "--id", "one")
    cli.says("note", "save", "two", "--id", "two")
    assert "two" in cli.says("context")
    assert "two" not in cli.says("context", "--as-of", "3")
    assert "one" in cli.says("context", "--as-of", "3")
    cli.says("note", "remove", "one")
    assert cli("context", "--as-of", "3") == ok("", "Nothing to show yet\n")


@pytest.mark.row("H02")
def test_every_narrative_store_has_its_block_in_the_declared_order(cli: Cli) -> None:
    Path("workspace.yml").write_text(
        "name: app\nmemory:\n  own:\n    - {name: zeta, strategy: narrative}\n"
        "    - {name: alpha, strategy: narrative}\n"
    )
    cli.says("note", "save", "a", "--store", "alpha", "--id", "a")
    cli.says("note", "save", "z", "--store", "zeta", "--id", "z")
    assert cli.says("context") == (
        "## Notes app/zeta (newest first)\n- 2026-01-15 z [z]\n\n"
        "## Notes app/alpha (newest first)\n- 2026-01-15 a [a]\n"
    )
    assert cli.says("context", "--space", "default") == ""


# Log


def test_the_log_says_what_by_whom_where_and_why(cli: Cli) -> None:
    cli.says("note", "save", "a fact", "--agent", "planner")
    cli.clock.advance(seconds=1)
    cli.says("note", "save", "uses tabs", "--id", "style")
    assert cli.settled(cli.says("log")) == (
        "SEQ  AT                   ACTOR          WHAT          WHERE              TARGET   "
        " SAYS\n"
        "  4  2026-01-15 12:00:01  human:local    add entry     default/narrative  style    "
        " uses tabs\n"
        "  3  2026-01-15 12:00:00  agent:planner  add entry     default/narrative  <entry-3>"
        "  a fact\n"
        "  2  2026-01-15 12:00:00  agent:planner  create store  default            <store-2>"
        "  narrative\n"
        "  1  2026-01-15 12:00:00  agent:planner  create space  default            <space-1>"
        "  default\n"
    )
    cli.says("note", "remove", "style", "--reason", "gofmt decides")
    assert cli.says("log", "--limit", "1") == (
        "SEQ  AT                   ACTOR        WHAT          WHERE              TARGET  SAYS    "
        "     WHY\n"
        "  5  2026-01-15 12:00:01  human:local  forget entry  default/narrative  style   "
        "(forgotten)  gofmt decides\n"
    )
    cli.says("note", "save", f"{'long ' * 30}tail", "--id", "long", "--reason", "to see it cut")
    assert (
        cli.says("log", "--limit", "1")
        .splitlines()[1]
        .endswith(f"  {('long ' * 30)[:59]}…  to see it cut")
    )


def test_the_log_selects(cli: Cli) -> None:
    Path("workspace.yml").write_text(
        "name: app\nmemory: {own: [{name: narrative, strategy: narrative}]}\n"
    )
    cli.says("note", "save", "in app", "--id", "a")
    cli.says("note", "save", "outside", "--space", "default", "--agent", "planner")
    session = cli.says("session", "start", "Review").strip()
    cli.says("note", "save", "in session", "--session", session)

    def says(*args: str, **env: str) -> list[str]:
        found = cli.json("log", *args, **env)
        return [change["after"].get("text", change["kind"]) for change in found]

    assert says() == ["in session", "session", "in app", "store", "space"]
    assert says("--all", "--store", "narrative") == ["in session", "outside", "in app"]
    assert says("--space", "default") == ["outside", "store", "space"]
    assert says("--target", "a") == ["in app"]
    assert says("--all", "--actor", "agent:planner") == ["outside", "store", "space"]
    assert says("--session", session) == ["in session"]
    assert says(HOLDFAST_SESSION=session) == ["in session"]
    assert says("--after", "3", "--limit", "1") == ["in session"]
    assert cli("log", "--target", "nothing") == ok("", "No changes\n")


def test_a_change_in_json(cli: Cli) -> None:
    cli.says("note", "save", "a fact", "--id", "x", "--reason", "because")
    (change,) = cli.json("log", "--limit", "1")
    after = change.pop("after")
    assert (after["text"], after["state"]) == ("a fact", "confirmed")
    assert len(change.pop("digest")) == 64
    assert change == {
        "seq": 3,
        "at": "2026-01-15T12:00:00Z",
        "said_at": None,
        "actor": "human:local",
        "session": None,
        "space": "default",
        "store": "narrative",
        "kind": "entry",
        "target": after["id"],
        "op": "add",
        "prior": None,
        "reason": "because",
    }


# Sessions


def test_sessions_are_started_listed_and_ended(cli: Cli) -> None:
    assert cli("session", "list") == ok("", "No sessions\n")
    started = cli("session", "start", "Review", "--agent", "planner")
    session = started.stdout.strip()
    assert started == ok(f"{session}\n")
    cli.clock.advance(seconds=60)
    cli.says("session", "start")
    assert cli.settled(cli.says("session", "list")) == (
        "SESSION                     STATE  LAST USED         SOURCE  AGENT    MESSAGES  TITLE\n"
        "<session-3>  open   2026-01-15 12:01  cli     local           0\n"
        "<session-2>  open   2026-01-15 12:00  cli     planner         0  Review\n"
    )
    assert cli("session", "end", short(session)) == ok("", f"Session {session} is ended\n")
    assert cli("session", "end", session) == ok("", f"Session {session} is ended\n")
    assert [each["id"] for each in cli.json("session", "list", "--state", "ended")] == [session]
    assert cli.refuses("note", "save", "x", "--session", session) == "session_over"
    (kept,) = cli.json("session", "list", "--state", "ended")
    assert {key: kept[key] for key in ("title", "agent", "user", "space_name", "ended")} == {
        "title": "Review",
        "agent": "planner",
        "user": "local",
        "space_name": "default",
        "ended": "2026-01-15T12:01:00Z",
    }
    cli.clock.advance(days=2)
    assert [each["state"] for each in cli.json("session", "list")] == ["abandoned", "ended"]
