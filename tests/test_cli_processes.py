"""What only processes and files show: damage, keys, kills, writers beside writers, weight."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from cli_snapshot import assert_light, command, environment
from cli_vault import Cli, cli_in, files, ok

import holdfast
from holdfast.storage.sqlite.storage import SqliteStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = "raw:" + "5a" * 32
OTHER_KEY = "raw:" + "a5" * 32
CURES = {"Cure: restore a backup", "Cure: holdfast doctor --repair"}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


# Verify and doctor


def filled(cli: Cli, key: str | None = None) -> list[str]:
    """Sixty notes, brought into the file itself, so that a flip in it is seen."""
    with holdfast.open(cli.vault, key=key) as vault:
        notes = vault.space().notes()
        entries = [notes.save(f"the {n}th remarkable fact").entry for n in range(60)]
        storage = vault._core.storage
        assert isinstance(storage, SqliteStorage)
        storage._db.exclusive(lambda conn: conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").get)
    return [f"entry {entry.id} (number {entry.number})" for entry in entries]


def flip(file: Path, offset: int) -> None:
    with file.open("r+b") as data:
        data.seek(offset)
        byte = data.read(1)[0]
        data.seek(offset)
        data.write(bytes([byte ^ 1]))


def rows_named(stdout: str) -> set[str]:
    return {line.split(": ")[1] for line in stdout.splitlines()}


@pytest.mark.row("I04")
def test_verify_names_the_row_of_a_flipped_bit(cli: Cli) -> None:
    entries = filled(cli)
    assert cli("verify") == ok("", "Sound: 60 entries, 62 changes\n")
    assert cli("verify", "--json") == ok("[]\n")
    file = cli.vault / "vault.db"
    text = b"the 33th remarkable fact"
    data = file.read_bytes()
    offset = data.find(text)
    seen: set[str] = set()
    while offset >= 0:
        flip(file, offset + 10)
        result = cli.fresh("verify")
        strict = cli("verify", "--json")
        assert (result.exit, strict.exit) == (1, 1)
        named = rows_named(result.stdout)
        assert named == {problem["what"] for problem in json.loads(strict.stdout)}
        assert set() < set(result.stderr.splitlines()) <= CURES
        assert cli("doctor", "--quiet").exit == 1
        assert named <= rows_named("\n".join(cli("doctor").stdout.splitlines()[5:]))
        seen |= named
        flip(file, offset + 10)
        offset = data.find(text, offset + 1)
    assert {entries[33], "change 36"} <= seen
    assert not seen & {*entries[:33], *entries[34:]}
    assert cli("verify").exit == 0


@pytest.mark.row("I04", "I08")
def test_verify_names_the_rows_of_a_flipped_bit_under_a_cipher(cli: Cli) -> None:
    entries = filled(cli, KEY)
    file = cli.vault / "vault.db"
    named: set[str] = set()
    for page in range(1, file.stat().st_size // 4096):
        flip(file, page * 4096 + 2000)
        result = cli("verify", HOLDFAST_KEY=KEY)
        assert result.exit == 1
        if "[vault_damaged]" not in result.stderr:  # else the schema itself: it cannot be opened
            named |= rows_named(result.stdout)
        flip(file, page * 4096 + 2000)
    assert set(entries) <= named
    assert cli.fresh("verify", HOLDFAST_KEY=KEY) == ok("", "Sound: 60 entries, 62 changes\n")


def test_doctor_says_what_runs_and_repairs(cli: Cli) -> None:
    entries = filled(cli)
    lines = cli.says("doctor").splitlines()
    assert lines[0].startswith(f"runs   holdfast {holdfast.__version__}, Python 3.")
    assert [line.split()[0] for line in lines[1:]] == ["vault", "plain,", "holds", "log", "sound"]
    conn = apsw.Connection(str(cli.vault / "vault.db"))
    conn.execute("UPDATE entry SET text = 'a lie' WHERE number = 36")
    conn.close()
    broken = cli("doctor", "--json")
    assert broken.exit == 1
    found = json.loads(broken.stdout)
    assert sorted(found) == ["plugins", "problems", "repaired", "runs", "status"]
    assert entries[33] in {problem["what"] for problem in found["problems"]}
    assert found["repaired"] == []
    repaired = cli("doctor", "--repair")
    assert repaired.exit == 0, repaired.stdout
    assert f"done   {entries[33].split(' (')[0]} was written again from the log" in repaired.stdout
    assert repaired.stdout.endswith("\nsound\n")
    assert cli("verify").exit == 0
    assert cli.notes("--text", "33th") == ["the 33th remarkable fact"]


# Keys


def private(file: Path, text: str) -> str:
    file.write_text(text)
    file.chmod(0o600)
    return str(file)


def test_the_three_mistakes_with_keys_are_three_errors_and_show_no_key(cli: Cli) -> None:
    plain, secret = str(cli.folder / "plain"), str(cli.folder / "secret")
    key_file = private(cli.folder / "key", OTHER_KEY)
    cli.says("note", "save", "a fact", "--vault", plain)
    made = cli("init", "--vault", secret, HOLDFAST_KEY=KEY)
    assert made.stderr.startswith("Made an encrypted vault\n")
    cli.says("note", "save", "a fact", "--vault", secret, HOLDFAST_KEY=KEY)
    assert cli.notes("--vault", secret, HOLDFAST_KEY=KEY) == ["a fact"]
    assert b"a fact" not in b"".join(each.read_bytes() for each in Path(secret).iterdir())
    cases: list[tuple[str, list[str], dict[str, str]]] = [
        ("key_wrong", ["--vault", secret], {"HOLDFAST_KEY": OTHER_KEY}),
        ("key_wrong", ["--vault", secret], {"HOLDFAST_KEY": "swordfish and trout"}),
        ("key_wrong", ["--vault", secret, "--key-file", key_file], {"HOLDFAST_KEY": KEY}),
        ("key_missing", ["--vault", secret], {}),
        ("key_not_needed", ["--vault", plain], {"HOLDFAST_KEY": KEY}),
        ("key_not_needed", ["--vault", plain, "--key-file", key_file], {}),
        ("key_invalid", ["--vault", secret], {"HOLDFAST_KEY": "raw:5a"}),
        ("key_file_unreadable", ["--vault", secret, "--key-file", "nothing"], {}),
    ]
    for code, args, env in cases:
        assert cli.refuses("note", "read", *args, **env) == code
        for words in (["note", "save", "x"], ["verify"]):
            result = cli(*words, *args, HOLDFAST_DEBUG="1", **env)
            assert (result.exit, result.stdout) == (1, "")
            assert f"[{code}]\nhint: " in result.stderr
            assert not [
                key
                for key in (KEY[4:], OTHER_KEY[4:], "swordfish and trout", "raw:5a")
                if key in result.stderr
            ]
    assert cli.notes("--vault", plain) == cli.notes("--vault", secret, HOLDFAST_KEY=KEY)
    Path(key_file).chmod(0o644)
    exposed = ["--vault", secret, "--key-file", key_file]
    assert cli.refuses("note", "read", *exposed) == "key_file_exposed"


def test_a_passphrase_in_a_file_opens_what_it_made(cli: Cli) -> None:
    key_file = private(cli.folder / "key", "correct horse battery staple\n")
    cli.says("note", "save", "a fact", "--key-file", key_file)
    assert cli.fresh("note", "read", "--key-file", key_file).stdout.endswith("a fact\n")
    assert cli.notes(HOLDFAST_KEY="correct horse battery staple") == ["a fact"]
    assert cli.json("status", "--key-file", key_file)["storage"]["encrypted"] is True


# Processes


@pytest.mark.row("I04")
def test_what_was_acknowledged_survives_a_kill(cli: Cli) -> None:
    """Killed the moment it says that it saved, before it could close anything."""
    env = environment({**cli.env, "PYTHONUNBUFFERED": "1"})
    for number in range(5):
        text = f"fact {number}"
        words = command(["note", "save", text, "--id", f"f{number}"])
        with subprocess.Popen(words, stdout=subprocess.PIPE, env=env) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == f"f{number}\n".encode()
            os.kill(writer.pid, signal.SIGKILL)
        read = cli.fresh("note", "read", f"f{number}")
        assert read.exit == 0, read.stderr
        assert read.stdout.splitlines()[0] == text
    assert cli.fresh("verify").exit == 0


SAVE_MANY = """
import sys, holdfast
where, writer, count = sys.argv[1:]
with holdfast.open(where) as vault:
    notes = vault.space().notes()
    for number in range(int(count)):
        notes.save(f"{writer} {number}")
"""


@pytest.mark.row("I05")
def test_two_processes_of_a_thousand_notes_are_two_thousand_notes(cli: Cli) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVE_MANY, str(cli.vault), name, "1000"], env=environment()
        )
        for name in ("one", "two")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert cli.json("status")["counts"]["entries"] == 2_000
    found = [cli.json("note", "read", "--limit", "1000")]
    while found[-1]["cursor"]:
        cursor = found[-1]["cursor"]
        found.append(cli.json("note", "read", "--limit", "1000", "--cursor", cursor))
    texts = [entry["text"] for page in found for entry in page["entries"]]
    for name in ("one", "two"):
        mine = [text for text in texts if text.startswith(name)]
        assert mine == [f"{name} {number}" for number in range(999, -1, -1)]
    assert len(texts) == 2_000
    assert cli("verify").exit == 0


def test_processes_of_the_command_line_take_turns(cli: Cli) -> None:
    words = [command(["note", "save", f"fact {n}", "--id", f"f{n}"]) for n in range(6)]
    started = [
        subprocess.Popen(each, env=environment(cli.env), stdout=subprocess.PIPE) for each in words
    ]
    said = [each.communicate()[0].decode().strip() for each in started]
    assert [each.returncode for each in started] == [0] * 6
    assert said == [f"f{n}" for n in range(6)]
    assert sorted(cli.notes()) == [f"fact {n}" for n in range(6)]


def test_a_fresh_process_says_the_same(cli: Cli) -> None:
    cli.says("note", "save", "a fact", "--id", "x")
    for words in (
        ["note", "read"],
        ["note", "read", "x", "--json"],
        ["note", "read", "nothing"],
        ["context"],
        ["log", "--json"],
        ["status"],
        ["space", "show"],
        ["space", "list"],
        ["session", "list"],
        ["verify"],
        ["status", "--as-of", "1"],
    ):
        assert cli.fresh(*words) == cli(*words)


@pytest.mark.row("I01", "D11")
def test_the_demo_tells_what_is_learned_and_leaves_nothing(cli: Cli) -> None:
    """Whatever the environment, the user's own memory and the folder's space are left alone."""
    Path("workspace.yml").write_text("name: app\n")
    temporary = cli.folder / "tmp"
    temporary.mkdir()
    env = {
        "TMPDIR": str(temporary),
        "HOLDFAST_SESSION": "none",
        "HOLDFAST_SPACE": "app",
        "HOLDFAST_KEY": KEY,
        "HOLDFAST_AGENT": "other",
    }
    result = cli.fresh("demo", "--json", **env)
    assert (result.exit, result.stderr) == (0, "")
    text = json.loads(result.stdout)["text"]
    monday, tuesday, wednesday = (
        text.index(day) for day in ("Monday.", "Tuesday. Another", "Wednesday. The review")
    )
    assert "(nothing yet)" in text[monday:tuesday]
    second = text[tuesday : text.index("> user: The nightly build")]
    third = text[wednesday : text.index("You look at")]
    for fact in ("Place: Bergen", "Role: platform engineer", "Decided: use Postgres"):
        assert fact in second
        assert fact in third
    assert "Launch review 2027-03-04" in second
    assert "constraint: Deploys must never run on Fridays" in second
    assert "Launch review 2027-03-11" in third
    assert "constraint: Deploys must never run on Thursdays or Fridays" in third
    assert "fixed by Renewing the intermediate certificate" in third
    for left_alone in ("Kubernetes", "tabs", "Mallory", "2027-03-04"):
        assert left_alone not in third
    assert text.count("done   rules") == 2
    assert "Sound: 7 entries" in text
    assert files(cli.folder) == ["workspace.yml"]
    shown = cli.fresh("demo", **env)
    assert shown.exit == 0
    assert _without_ids(shown.stdout) == _without_ids(text)


def _without_ids(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for line in lines if not any(part in line for part in ("[", "20", "  done  "))]


# Weight

HEAVY = (
    *("argparse", "asyncio", "base64", "click", "concurrent.futures", "cryptography"),
    *("dataclasses", "hashlib", "holdfast.cli.help", "holdfast.core.terse", "inspect", "logging"),
    *("msgspec", "ruamel"),
    *("socket", "subprocess", "tempfile", "typing", "unicodedata"),
)


@pytest.mark.parametrize(
    "words",
    [
        ["note", "read"],
        ["note", "read", "x"],
        ["note", "read", "--json"],
        ["context"],
        ["context", "--budget", "100", "--json"],
        ["status"],
        ["status", "--json"],
        ["log"],
        ["log", "--json"],
    ],
    ids=" ".join,
)
def test_light_commands_import_nothing_heavy(cli: Cli, words: Sequence[str]) -> None:
    cli.says("note", "save", "a fact", "--id", "x", "--meta", "a=b")
    assert_light(words, cli.folder, HEAVY, cli.env)


def test_a_light_command_in_a_declared_folder_does_not_read_yaml_again(
    cli: Cli, tmp_path: Path
) -> None:
    cli.says("space", "init", "--name", "app")
    cli.says("note", "save", "a fact")
    assert_light(["note", "read"], tmp_path, HEAVY, cli.env)
    assert_light(["context"], tmp_path, HEAVY, cli.env)


# The end of a program

LATE = """
import sys, threading
from holdfast.cli import program

def late(place):
    sys.stdin.read()
    open(place, "w").write("done")

threading.Thread(target=late, args=(sys.argv.pop(),)).start()
sys.exit(program())
"""


def test_a_program_ends_when_its_threads_have(tmp_path: Path) -> None:
    place = tmp_path / "late"
    words = [sys.executable, "-c", LATE, "--version", str(place)]
    run = subprocess.run(
        words, input="", env=environment(), capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr, place.read_text()) == (0, "", "done")
    assert run.stdout == f"holdfast {holdfast.__version__}\n"


def test_all_that_was_said_arrives(cli: Cli) -> None:
    with holdfast.open(cli.vault) as vault:
        notes = vault.space().notes()
        for number in range(400):
            notes.save(f"fact {number} {'x' * 300}")
    words = command(["note", "read", "--limit", "200", "--vault", str(cli.vault), "--json"])
    run = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    found = [entry["text"].split()[1] for entry in json.loads(run.stdout)["entries"]]
    assert found == [str(number) for number in range(399, 199, -1)]
