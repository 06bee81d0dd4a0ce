from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess

import pytest
from cli_snapshot import command, environment, run, run_in_terminal, run_inside
from hypothesis import given
from hypothesis import strategies as st

from holdfast import __version__
from holdfast.cli.output import fitted, in_a_line, visible, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = "cli_sample:TABLE"
SHOWN = "\\x1b]0;title\\x07\\x9b2J\\u202egnp\nnext\tcell\\udcff"
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)


# Text for people


@given(ANY_TEXT)
def test_nothing_that_steers_a_terminal_gets_through(text: str) -> None:
    for shown, breaks in ((visible(text), "\n\t"), (in_a_line(text), "")):
        steering = [c for c in shown if c not in breaks and (ord(c) < 32 or 127 <= ord(c) < 160)]
        assert steering == []
        assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029") & set(
            shown
        )
        shown.encode()


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "日本語のメモ",
        "naïve café",
        "👩‍👩‍👧‍👦 👍🏽",
        "مرحبا",
        "ภาษาไทย",
        "a\tb\nc",
        "\u200e",
    ],
)
def test_everyday_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("abc", 3),
        ("日本", 4),
        ("cafe\u0301", 4),
        ("ｱ", 1),
        ("Ａ", 2),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("ก็", 1),
        ("👍🏽", 2),
        ("👩‍👩‍👧‍👦", 2),
        ("❤️", 2),
        ("❤", 1),
        ("🇫🇷", 2),
        ("क्‍ष", 2),
        ("a\u200bb", 2),
    ],
)
def test_width_is_what_a_terminal_takes(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.text(max_size=20), st.integers(1, 30))
def test_fitted_text_fits_and_says_when_it_was_cut(text: str, columns: int) -> None:
    cut = fitted(text, columns)
    assert width(cut) <= columns
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))


def test_tables_are_aligned_by_what_is_seen() -> None:
    result = run_inside(["run", "list"], table=SAMPLE)
    assert result.stdout == ("ID  SIZE  TEXT\na      7  日本 café\nbb    12  x\\x1b[2J\n")
    assert (result.exit, result.stderr) == (0, "")


def test_a_table_on_a_narrow_terminal_cuts_its_last_column() -> None:
    shown = run_in_terminal(["act", "wide"], table=SAMPLE, columns=40).stdout
    assert shown == f"ID  TEXT\na   {'x' * 35}…\n"
    assert run(["act", "wide"], table=SAMPLE).stdout == f"ID  TEXT\na   {'x' * 100}\n"


def test_an_empty_table_is_no_data_and_some_words() -> None:
    result = run_inside(["act", "empty"], table=SAMPLE)
    assert (result.stdout, result.stderr) == ("", "no entries yet\n")
    result = run_inside(["act", "empty", "--json"], table=SAMPLE)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_remembered_text_cannot_steer_the_terminal() -> None:
    result = run_inside(["act", "escape"], table=SAMPLE)
    assert result.stdout == f"{SHOWN}\n"
    assert result.stderr == f"{SHOWN}\nwarning: {SHOWN} [hostile]\nhint: {SHOWN}\n"
    shown = run_in_terminal(["act", "escape"], table=SAMPLE, env={"NO_COLOR": "1"}).stdout
    assert shown == result.stdout + result.stderr


def test_json_is_the_same_text_and_as_harmless() -> None:
    result = run_inside(["act", "escape", "--json"], table=SAMPLE)
    text = "\x1b]0;title\x07\x9b2J\u202egnp\r\nnext\tcell\udcff"
    assert json.loads(result.stdout) == {"text": text}
    assert json.loads(result.stderr) == {
        "warning": {"code": "hostile", "message": text, "hint": text}
    }
    assert visible(result.stdout) == result.stdout


def test_raw_content_is_exact_in_a_pipe_and_harmless_on_a_terminal() -> None:
    done = subprocess.run(
        command(["act", "raw"], SAMPLE), env=environment(), capture_output=True, check=True
    )
    assert done.stdout == b"a\x1b[1m\xff\r\n"
    assert run_in_terminal(["act", "raw"], table=SAMPLE).stdout == "a\\x1b[1m\\xff\n"


def test_quiet_keeps_data_and_errors() -> None:
    result = run_inside(["act", "escape", "--quiet"], table=SAMPLE)
    assert (result.stdout, result.stderr) == (f"{SHOWN}\n", "")
    assert run_inside(["act", "refuse", "-q"], table=SAMPLE).stderr.startswith("error: ")


# A little colour, and progress, for a person who watches


def test_colour_is_for_terminals_only() -> None:
    assert "\x1b[1mUsage:\x1b[0m\n" in run_in_terminal(["help"]).stdout
    assert run_in_terminal(["nope"]).stdout.startswith("\x1b[1;31merror:\x1b[0m unknown command")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in run_in_terminal(["help"], env=env).stdout
    assert "\x1b" not in run(["help"]).stdout + run(["nope"]).stderr


def test_progress_is_written_over_and_only_on_a_terminal() -> None:
    assert run_in_terminal(["act", "progress"], table=SAMPLE).stdout == "half way\r\x1b[Kdone\n"
    assert run_in_terminal(["act", "progress", "-q"], table=SAMPLE).stdout == "done\n"
    result = run(["act", "progress"], table=SAMPLE)
    assert (result.stdout, result.stderr) == ("done\n", "")


# Asking first


@pytest.mark.parametrize(
    ("typed", "code"), [("y\n", 0), ("YES\n", 0), ("n\n", 1), ("\n", 1), ("\x04", 1)]
)
def test_a_person_is_asked(typed: str, code: int) -> None:
    result = run_in_terminal(["act", "ask"], typed, table=SAMPLE, env={"NO_COLOR": "1"})
    assert result.exit == code
    end = "done" if code == 0 else "error: not confirmed; nothing was changed [not_confirmed]"
    gap = "\n" if typed == "\x04" else ""
    assert result.stdout.endswith(f"really? [y/N] {gap}{end}\n")


def test_yes_answers_and_without_a_terminal_nothing_else_does() -> None:
    assert run_inside(["act", "ask", "-y"], table=SAMPLE).stderr == "done\n"
    result = run_inside(["kv", "delete", "a", "b"], "y\n", table=SAMPLE)
    assert (result.exit, result.stdout) == (1, "")
    assert result.stderr == (
        "error: this asks first, and nobody is there to answer: delete a, b? "
        "[confirmation_needed]\n"
        "hint: add `--yes` to go on without being asked\n"
    )
    assert run_in_terminal(["act", "ask", "--json"], "y\n", table=SAMPLE).exit == 1


# How a command ends


@pytest.mark.row("I11")
def test_an_error_is_words_a_code_and_a_hint_on_stderr() -> None:
    result = run(["act", "refuse"], table=SAMPLE)
    assert (result.exit, result.stdout) == (1, "so far\n")
    assert result.stderr == (
        "error: `a` is at revision 8, not 7 [revision_moved]\nhint: read it again\n"
    )
    assert run_inside(["act", "refuse"], table=SAMPLE) == result
    result = run_inside(["act", "refuse", "--json"], table=SAMPLE)
    assert json.loads(result.stderr) == {
        "error": {
            "code": "revision_moved",
            "message": "`a` is at revision 8, not 7",
            "hint": "read it again",
        }
    }


@pytest.mark.row("I11")
def test_wrong_usage_is_json_too_wherever_json_was_asked_for() -> None:
    for words in (["--json", "nope"], ["nope", "--json"], ["--nope", "--json", "x"]):
        result = run_inside(words)
        assert (result.exit, result.stdout) == (2, "")
        assert json.loads(result.stderr)["error"]["code"] in ("command_unknown", "option_unknown")
    assert run_inside(["help", "--", "--json"]).stderr.startswith("error: ")


def test_the_exit_code_of_a_handler_is_kept() -> None:
    assert run_inside(["act", "fail"], table=SAMPLE).exit == 1


@pytest.mark.row("I11")
def test_a_bug_is_reported_without_the_text_that_it_carries() -> None:
    result = run_inside(["act", "crash"], table=SAMPLE)
    assert (result.exit, result.stdout) == (1, "")
    message, hint = result.stderr.splitlines()
    assert message.startswith("error: this should not happen: KeyError at holdfast.cli.dispatch:")
    assert message.endswith(" [internal]")
    assert hint.startswith("hint: please report it, with what `holdfast --version` prints; ")
    debug = run_inside(["act", "crash", "-q"], env={"HOLDFAST_DEBUG": "1"}, table=SAMPLE)
    assert debug.stderr.startswith("Traceback (most recent call last):\n")
    assert "KeyError: 'the text of a memory'\n" in debug.stderr


@pytest.mark.row("I11")
def test_an_interrupt_is_130_without_a_traceback() -> None:
    started = subprocess.Popen(
        command(["act", "wait"], SAMPLE),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"ready\n"
    started.send_signal(signal.SIGINT)
    assert started.communicate(timeout=60) == (b"", b"interrupted\n")
    assert started.returncode == 130


def shell(script: str, *words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a script in which $H is the program; its exit code, and all that it wrote to stderr."""
    done = subprocess.run(
        ["bash", "-c", script.replace("$H", shlex.join(command(words, SAMPLE)))],
        env=environment(env),
        capture_output=True,
        timeout=60,
    )
    return done.returncode, done.stderr.decode()


def test_a_reader_that_leaves_early_is_met_in_silence() -> None:
    assert shell("$H | head -1 >/dev/null; exit ${PIPESTATUS[0]}", "act", "flood") == (1, "")
    for words in (["nope"], ["version"], ["act", "escape"]):
        nobody, ours = os.pipe()
        os.close(nobody)
        done = subprocess.run(
            command(words, SAMPLE), env=environment(), stdout=ours, stderr=ours, timeout=60
        )
        os.close(ours)
        assert done.returncode == 1


def test_output_that_cannot_be_written_is_a_failure() -> None:
    for words in (["version"], ["act", "flood"], ["act", "raw"]):
        code, said = shell("$H >/dev/full", *words)
        assert (code, said) == (
            1,
            (
                "error: the output could not be written: No space left on device [output_failed]\n"
                "hint: free some space\n"
            ),
        )


def test_closed_streams_are_no_crash() -> None:
    assert shell("$H >&-", "version") == (0, "")
    assert shell("$H <&- 2>&-", "nope") == (2, "")
    assert shell("$H 2>/dev/full", "nope") == (1, "")
    assert shell("$H <&-", "note", "save", "s", "-") == (0, "")


def test_standard_input_must_be_utf8() -> None:
    result = run_inside(["note", "save", "s", "-"], b"caf\xe9", table=SAMPLE)
    assert (result.exit, result.stdout) == (1, "")
    assert result.stderr == (
        "error: standard input is not UTF-8: byte 0xe9 at offset 3 [stdin_not_utf8]\n"
        "hint: convert it to UTF-8\n"
    )
    assert "日本\n" in run(["note", "save", "s", "-"], "日本\r\n", table=SAMPLE).stdout.replace(
        "\\r\\n", "\n"
    )


def test_arguments_that_are_no_text_are_wrong_usage() -> None:
    done = subprocess.run(
        [*map(os.fsencode, command(["note", "save", "s"], SAMPLE)), b"caf\xe9"],
        env=environment(),
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "error: `TEXT` is not UTF-8: byte 0xe9 at offset 3 [value_not_utf8]\n"
        "hint: convert it to UTF-8\n"
    )


def test_text_is_utf8_whatever_the_locale() -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = run(["recall", "日本", "--json"], env=env, table=SAMPLE)
    assert json.loads(result.stdout)["query"] == "('日本',)"
    assert "日本" in result.stdout


def test_version_is_that_of_the_package(request: pytest.FixtureRequest) -> None:
    import tomllib

    root: Path = request.config.rootpath
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    for words in (["--version"], ["version"], ["-V", "--quiet"]):
        assert run(words).stdout == f"holdfast {__version__}\n"


def test_a_fresh_process_and_this_one_show_the_same() -> None:
    for words in (["help"], ["help", "help"], ["version", "--json"], ["nope"], ["completion"]):
        assert run(words) == run_inside(words)
