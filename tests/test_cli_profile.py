"""The two files on the command line: exit code, standard output and error to the letter."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_snapshot import run_in_terminal
from cli_vault import Cli, cli_in, failed, ok

import holdfast
from holdfast.engine.history import LogQuery
from holdfast.model.ids import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cli_snapshot import Result


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    (tmp_path / "here").mkdir()
    return cli_in(tmp_path / "here", monkeypatch)


def settled(cli: Cli, result: Result) -> Result:
    """With the ids of entries as the changes that made them."""
    with holdfast.open(cli.vault) as vault:
        changes = vault.log(LogQuery(newest_first=False, limit=1_000))
    shown = {change.target: f"<{change.kind}-{change.seq}>" for change in reversed(changes)}

    def plain(text: str) -> str:
        for name, word in shown.items():
            text = text.replace(short(name), word)
        return text.replace(str(cli.folder), "FOLDER")

    return result.replace(stdout=plain(result.stdout), stderr=plain(result.stderr))


def says(cli: Cli, *args: str, stdin: str = "", **env: str) -> Result:
    return settled(cli, cli(*args, stdin=stdin, **env))


@pytest.mark.row("D01", "D04", "D05", "D07")
def test_a_fact_is_kept_changed_and_removed(cli: Cli) -> None:
    assert cli("profile", "show") == ok(
        "USER.md [0% — 0/1,375 chars]\n\nMEMORY.md [0% — 0/2,200 chars]\n"
    )
    assert not cli.vault.exists()
    assert says(cli, "profile", "add", "Prefers tea", "--file", "USER", "--pinned") == ok(
        "<entry-3>\n", "Added to USER.md [0% — 13/1,375 chars]\n"
    )
    assert says(cli, "profile", "add", "-", stdin="Two cores,\nno swap\n") == ok(
        "<entry-4>\n", "Added to MEMORY.md [1% — 22/2,200 chars]\n"
    )
    assert says(cli, "profile", "add", "prefers  TEA") == ok(
        "<entry-3>\n", "Already in USER.md [0% — 13/1,375 chars]\n"
    )
    assert says(cli, "profile", "add", "Two cores, and no swap") == ok(
        "<entry-5>\n",
        "Added to MEMORY.md [2% — 47/2,200 chars]\n"
        "warning: nearly the same: <entry-4>  Two cores,\\nno swap [profile_near]\n",
    )
    assert says(cli, "profile", "show") == ok(
        "USER.md [0% — 13/1,375 chars]\n* <entry-3>  Prefers tea\n\n"
        "MEMORY.md [2% — 47/2,200 chars]\n  <entry-4>  Two cores,\n            no swap\n"
        "  <entry-5>  Two cores, and no swap\n"
    )
    assert says(cli, "profile", "replace", "and no swap", "Eight cores") == ok(
        "<entry-5>\n", "Replaced in MEMORY.md [1% — 36/2,200 chars]\n"
    )
    assert says(cli, "profile", "remove", "no swap") == ok(
        "", "Removed from MEMORY.md [0% — 13/2,200 chars]\n"
    )
    assert says(cli, "profile", "show", "--markdown") == ok(
        "# USER.md\n\n- Prefers tea\n\n# MEMORY.md\n\n- Eight cores\n"
    )
    assert cli("profile", "show", "--file", "USER", "--markdown").stdout == (
        "# USER.md\n\n- Prefers tea\n"
    )


@pytest.mark.row("D20")
def test_an_entry_with_all_that_is_known_of_it(cli: Cli) -> None:
    session = cli.says("session", "start").strip()
    cli("profile", "add", "Prefers tea", "--file", "USER", "--session", session)
    lines = cli.says("profile", "show", "tea").splitlines()
    ids = {name: word for word, name in cli.ids().items()}
    assert lines == [
        "Prefers tea",
        "",
        f"id          {ids['entry-4']}",
        "file        USER.md",
        "state       confirmed, revision 4",
        "created     2026-01-15 12:00 UTC",
        "updated     2026-01-15 12:00 UTC",
        "origin      user, trust high",
        "importance  50",
        "for         user:local",
        f"session     {ids['session-2']}",
    ]
    entry = cli.json("profile", "show", "tea")
    assert (entry["text"], entry["kind"], entry["trust"]) == ("Prefers tea", "USER", "high")


@pytest.mark.row("D05")
def test_what_is_not_clear_changes_nothing(cli: Cli) -> None:
    cli("profile", "add", "Prefers green tea")
    cli("profile", "add", "Prefers green walls")
    assert cli.refuses("profile", "remove", "green") == "entry_ambiguous"
    assert cli.refuses("profile", "replace", "coffee", "x") == "entry_not_found"
    assert cli.refuses("profile", "add", "x" * 3000) == "entry_too_large"
    assert cli.refuses("profile", "show", "--file", "NOTES", exit=2) == "value_invalid"
    assert settled(cli, cli("profile", "remove", "green")) == failed(
        "error: 'green' is in 2 entries of default/profile: <entry-3>, <entry-4> "
        "[entry_ambiguous]\nhint: use an id, or more of the text\n"
    )


@pytest.mark.row("D08")
def test_a_full_file_says_what_it_gives_up(cli: Cli) -> None:
    (cli.folder / "workspace.yml").write_text(
        "name: app\nmemory:\n  own:\n    - {name: me, strategy: profile, memory_chars_max: 40}\n"
    )
    assert (
        says(cli, "profile", "add", "x" * 20).stderr == "Added to MEMORY.md [55% — 22/40 chars]\n"
    )
    assert says(cli, "profile", "add", "y" * 30) == ok(
        "<entry-4>\n",
        "Added to MEMORY.md [80% — 32/40 chars]\n"
        f"To the archive: <entry-3>  {'x' * 20}\n"
        "warning: MEMORY.md is 80% full: 32/40 chars; join entries that belong together "
        "[profile_filling]\n",
    )
    assert says(cli, "profile", "archive") == ok(f"<entry-3>  {'x' * 20}\n")
    assert says(cli, "profile", "archive", "y" * 30) == ok("", "Nothing such in the archive\n")
    restored = says(cli, "profile", "restore", "x" * 20)
    assert restored.stdout == "<entry-3>\n"
    assert f"To the archive: <entry-4>  {'y' * 30}\n" in restored.stderr
    assert says(cli, "profile", "pin", "xxx").stderr == "Pinned in MEMORY.md [55% — 22/40 chars]\n"
    assert cli.refuses("profile", "add", "z" * 30) == "profile_full"
    assert says(cli, "profile", "pin", "xxx", "--off", "--importance", "9").stderr == (
        "Unpinned in MEMORY.md [55% — 22/40 chars]\n"
    )


@pytest.mark.row("D06")
def test_a_batch_is_one_step(cli: Cli) -> None:
    steps = [{"op": "add", "text": "one"}, {"op": "add", "file": "USER", "text": "two"}]
    assert says(cli, "profile", "batch", json.dumps(steps)) == ok(
        "<entry-3>\n<entry-4>\n",
        "Added to MEMORY.md\nAdded to USER.md\nUSER.md [0% — 5/1,375 chars]\n"
        "MEMORY.md [0% — 5/2,200 chars]\n",
    )
    wrong = json.dumps([{"op": "remove", "entry": "one"}, {"op": "remove", "entry": "six"}])
    assert cli.refuses("profile", "batch", wrong) == "entry_not_found"
    assert cli.refuses("profile", "batch", '"add"') == "batch_invalid"
    assert [len(file["entries"]) for file in cli.json("profile", "show")] == [1, 1]


@pytest.mark.row("D09", "D19")
def test_onboarding_and_reset(cli: Cli) -> None:
    assert cli.refuses("profile", "onboard", exit=2) == "answers_missing"
    assert says(cli, "profile", "onboard", "--role", "Nurse", "--timezone", "UTC") == ok(
        "<entry-3>  Role: Nurse\n<entry-4>  Timezone: UTC\n", "USER.md [2% — 29/1,375 chars]\n"
    )
    assert says(cli, "profile", "onboard", "--role", "Nurse").stderr == "That was known already\n"
    cli("profile", "add", "Prefers tea", "--file", "USER")
    assert says(cli, "profile", "reset", "--file", "USER", "--onboarding") == ok(
        "", "To the archive: <entry-5>  Prefers tea\nUSER.md [2% — 29/1,375 chars]\n"
    )
    assert says(cli, "profile", "reset", "--file", "USER", "--undo") == ok(
        "", "Back in USER.md: <entry-5>  Prefers tea\nUSER.md [3% — 43/1,375 chars]\n"
    )
    assert cli.refuses("profile", "reset", "--file", "USER", "--undo") == "reset_unknown"
    assert cli.refuses("profile", "reset", exit=2) == "argument_missing"
    both = ("profile", "reset", "--file", "USER", "--undo", "--onboarding")
    assert cli.refuses(*both, exit=2) == "options_exclude"


@pytest.mark.row("D09")
def test_onboarding_asks_whoever_is_there(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    answers = "Sam\n\n\n\n\nvim\nUTC\n"
    shown = run_in_terminal(
        ["profile", "onboard"], answers, {"HOLDFAST_VAULT": str(vault)}, columns=100
    )
    assert (shown.exit, "What are you called?" in shown.stdout) == (0, True)
    with holdfast.open(vault) as opened:
        texts = [entry.text for entry in opened.space().profile().read("USER")[0].entries]
    assert texts == ["Name: Sam", "Tools: vim", "Timezone: UTC"]


@pytest.mark.row("D23", "D03")
def test_what_was_learned_when_and_since(cli: Cli) -> None:
    cli("profile", "add", "Prefers tea", "--file", "USER")
    session = cli.says("session", "start").strip()
    cli.clock.advance(days=1, seconds=-60)
    cli("profile", "replace", "tea", "Prefers coffee", "--session", session)
    assert says(cli, "profile", "timeline") == ok(
        "2026-01-16 11:59  USER    changed   <entry-3>  Prefers coffee\n"
        "2026-01-15 12:00  USER    added     <entry-3>  Prefers tea\n"
    )
    assert says(cli, "profile", "changes", "--session", session) == ok(
        "changed   USER    <entry-3>  Prefers coffee\n"
    )
    assert cli.refuses("profile", "changes") == "session_needed"
    assert says(cli, "profile", "show", "--file", "USER", "--as-of", "2026-01-15T13:00") == ok(
        "USER.md [0% — 13/1,375 chars]\n  <entry-3>  Prefers tea\n"
    )


@pytest.mark.row("D01", "D17")
def test_files_go_out_and_come_back(cli: Cli) -> None:
    cli("profile", "add", "one stays here")
    assert says(cli, "profile", "export", "notes") == ok(
        "FOLDER/notes/USER.md\nFOLDER/notes/MEMORY.md\n"
    )
    file = cli.folder / "notes" / "MEMORY.md"
    file.write_text("- one stays here\n- another came by hand\n")
    assert cli.refuses("profile", "export", "notes") == "profile_file_edited"
    assert says(cli, "profile", "sync", "notes") == ok(
        "FOLDER/notes/USER.md\nFOLDER/notes/MEMORY.md\n",
        "Added to MEMORY.md: <entry-4>  another came by hand\nMEMORY.md [1% — 39/2,200 chars]\n",
    )
    file.write_text("")
    assert cli.refuses("profile", "sync", "notes") == "profile_file_empty"
    assert says(cli, "profile", "sync", "notes", "--empty").stderr == (
        "Removed from MEMORY.md: <entry-3>  one stays here\n"
        "Removed from MEMORY.md: <entry-4>  another came by hand\n"
        "MEMORY.md [0% — 0/2,200 chars]\n"
    )


EDITOR = """\
import pathlib, subprocess, sys
path = pathlib.Path(sys.argv[-1])
path.write_text({edit})
{then}
sys.exit({code})
"""


def editor(cli: Cli, edit: str, then: str = "", code: int = 0) -> dict[str, str]:
    program = cli.folder / "editor.py"
    program.write_text(EDITOR.format(edit=edit, then=then, code=code))
    return {"EDITOR": f"{sys.executable} {program}"}


@pytest.mark.row("D17")
def test_an_editor_is_opened_and_what_came_meanwhile_is_kept(cli: Cli) -> None:
    cli("profile", "add", "one is removed")
    cli("profile", "add", "two stays as it is")
    meanwhile = (
        "import holdfast\n"
        f"with holdfast.open({str(cli.vault)!r}) as vault:\n"
        "    vault.space().profile().add('three came meanwhile')\n"
    )
    env = editor(
        cli, "path.read_text().replace('- one is removed\\n', '') + 'a fourth\\n'", meanwhile
    )
    edit = ("profile", "edit", "--file", "MEMORY")
    result = says(cli, *edit, **env)
    assert (result.exit, result.stdout) == (0, "")
    texts = [entry["text"] for entry in cli.json("profile", "show")[1]["entries"]]
    assert sorted(texts) == ["a fourth", "three came meanwhile", "two stays as it is"]
    same = editor(cli, "path.read_text()")
    assert says(cli, *edit, **same).stderr == "Nothing was changed\n"
    empty = editor(cli, "''")
    refused = cli(*edit, **empty)
    assert (refused.exit, "profile_file_empty" in refused.stderr) == (1, True)
    kept = Path(refused.stderr.partition("is kept in ")[2].partition("\n")[0])
    assert kept.read_text() == ""
    kept.unlink()
    assert says(cli, *edit, "--empty", **empty).exit == 0
    assert cli.refuses(*edit, **editor(cli, "'x'", code=3)) == "editor_failed"
    assert cli.refuses(*edit, EDITOR="no/such/editor") == "editor_failed"
    assert cli.refuses(*edit) == "editor_failed"
    assert cli.json("profile", "show")[1]["entries"] == []


@pytest.mark.row("D21")
def test_each_user_has_a_file_of_their_own(cli: Cli) -> None:
    cli("profile", "add", "Is ann", "--file", "USER", "--user", "ann")
    assert cli.says("profile", "show", "--file", "USER", "--user", "ben") == (
        "USER.md [0% — 0/1,375 chars]\n"
    )
    assert cli.refuses("profile", "remove", "Is ann", "--user", "ben") == "entry_not_found"
    assert "Is ann" in cli.says("context", "--user", "ann")
    assert "Is ann" not in cli.says("context", "--user", "ben")


@pytest.mark.row("D10")
def test_what_is_to_be_remembered_is_kept_as_a_fact(cli: Cli) -> None:
    assert says(cli, "remember", "Remember that I prefer morning meetings") == ok(
        "<entry-3>\n", "Remembered in USER.md: Prefers morning meetings\n"
    )
    assert says(cli, "remember", "Make a note that staging resets on Sundays") == ok(
        "<entry-4>\n", "Remembered in MEMORY.md: Staging resets on Sundays\n"
    )
    assert says(cli, "remember", "remember I prefer morning meetings") == ok(
        "", "Known in USER.md: Prefers morning meetings\n"
    )
    assert cli.refuses("remember", "Do you remember that I like tea?") == "nothing_to_remember"
    assert says(cli, "remember", "Forget that I prefer morning meetings") == ok(
        "", "Forgot in USER.md: Prefers morning meetings\n"
    )
    assert says(cli, "remember", "Forget that the moon is made of cheese").stderr == (
        "Nothing known says so: The moon is made of cheese\n"
    )
    done = cli.json("remember", "Remember that I have two cats")
    assert (done["outcome"], done["file"], done["fact"]) == ("remembered", "USER", "Has two cats")


@pytest.mark.row("D10")
def test_a_conversation_may_ask_to_remember(cli: Cli) -> None:
    session = cli.says("session", "start").strip()
    said = says(cli, "session", "say", "user", "Remember that I prefer tea.", "--session", session)
    assert "Remembered in USER.md: Prefers tea" in said.stderr
    assert cli.says("profile", "show", "--file", "USER", "--markdown").endswith("- Prefers tea\n")
