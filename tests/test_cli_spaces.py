"""Folders and spaces on the command line, and where the vault is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_snapshot import run_inside
from cli_vault import Cli, cli_in, files, ok

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

KEY = "raw:" + "5a" * 32
OTHER_KEY = "raw:" + "a5" * 32


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


# Spaces


def test_a_folder_becomes_a_space(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cli.folder / "reviews"
    folder.mkdir()
    file = folder / "workspace.yml"
    made = cli("space", "init", str(folder))
    assert made == ok("reviews\n", f"Wrote {file}; stores: narrative\n")
    text = file.read_text()
    assert cli("space", "init", str(folder)) == ok(
        "reviews\n", f"Applied {file}; stores: narrative\n"
    )
    assert file.read_text() == text
    assert cli.refuses("space", "init", str(folder), "--name", "other") == "space_named"
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    assert cli("note", "save", "x", "--id", "x").stderr == "Saved in reviews/narrative\n"
    assert cli("space", "show") == ok(
        "STORE      TYPE       STRATEGY   OPTIONS\nnarrative  long_term  narrative  priority=50\n",
        f"reviews, {folder}\n",
    )
    shown = cli.json("space", "show")
    assert (shown["space"]["name"], shown["space"]["path"]) == ("reviews", str(folder))
    assert [store["name"] for store in shown["stores"]] == ["narrative"]
    assert cli.says("space", "list") == f"SPACE    FOLDER\nreviews  {folder}\n"
    assert [space["name"] for space in cli.json("space", "list")] == ["reviews"]


@pytest.mark.parametrize("name", ["2024", "null", "yes", "0x1f", "1e5", "a_b-c"])
def test_a_name_that_yaml_takes_for_something_else_is_written_as_text(cli: Cli, name: str) -> None:
    Path(name).mkdir()
    cli.says("space", "init", name)
    assert cli.says("space", "init", name) == f"{name}\n"


@pytest.mark.parametrize("name", ["My App", "list", ".hidden", "ünï"])
def test_a_folder_whose_name_cannot_be_a_spaces_says_what_to_do(cli: Cli, name: str) -> None:
    Path(name).mkdir()
    result = cli("space", "init", name)
    assert result.exit == 1
    assert result.stderr.startswith(f"error: the folder's name: '{name}' is")
    assert result.stderr.endswith("hint: give the space one with --name\n")
    assert files(cli.folder) == []
    assert cli.says("space", "init", name, "--name", "app") == "app\n"


@pytest.mark.row("H15")
def test_two_folders_of_one_name_do_not_share_a_memory(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = cli.folder / "a" / "app", cli.folder / "b" / "app"
    for folder in (mine, other):
        folder.mkdir(parents=True)
        (folder / "workspace.yml").write_text("memory: {own: [{name: n, strategy: narrative}]}\n")
    monkeypatch.chdir(mine)
    cli.says("note", "save", "mine")
    monkeypatch.chdir(other)
    for words in (["note", "save", "x"], ["note", "read"], ["context"], ["space", "init"]):
        assert cli.refuses(*words) == "space_elsewhere"
    assert cli("note", "read").stderr == (
        f"error: the space app belongs to {mine}, not to {other} [space_elsewhere]\n"
        "hint: give this one another `name:` in workspace.yml, or move the memory here with"
        " `holdfast space adopt`\n"
    )
    assert cli("space", "adopt") == ok("app\n", f"The space app belongs to {other}\n")
    assert cli.notes() == ["mine"]
    monkeypatch.chdir(mine)
    assert cli.refuses("note", "read") == "space_elsewhere"


@pytest.mark.row("H01")
def test_a_mistake_in_the_file_is_named_by_line_and_changes_nothing(cli: Cli) -> None:
    cli.says("space", "init", "--name", "app")
    before = cli.json("status")["seq"]
    file = cli.folder / "workspace.yml"
    file.write_text("name: app\nmemory:\n  own:\n    - name: x\n      strategy: narative\n")
    for words in (["note", "save", "x"], ["status"], ["context"], ["space", "init"]):
        assert cli.refuses(*words) == "workspace_invalid"
    said = cli("note", "save", "x").stderr
    assert said.startswith(
        f"error: {file}:5: memory.own[0].strategy: there is no strategy 'narative'"
        " [workspace_invalid]\nhint: one of "
    )
    assert "narrative" in said.splitlines()[1]
    file.unlink()
    assert cli.json("status")["seq"] == before


def test_a_folder_that_is_gone_is_said_to_be(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = cli.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (["note", "read"], ["note", "save", "x"], ["space", "init"], ["space", "adopt"]):
        assert cli.refuses(*words) == "folder_unreadable"
    cli.says("note", "save", "x", "--space", "default")


def test_what_is_no_vault_is_not_taken_for_an_empty_one(cli: Cli) -> None:
    file = cli.folder / "file"
    file.write_text("not a folder")
    for words in (["note", "read"], ["note", "save", "x"]):
        assert cli.refuses(*words, "--vault", str(file)) == "where_invalid"
    cli.vault.mkdir()
    (cli.vault / "vault.db").write_bytes(b"not a database" * 100)
    for words in (["note", "read"], ["note", "save", "x"], ["status"], ["verify"]):
        assert cli.refuses(*words) == "vault_damaged"


@pytest.mark.parametrize(
    ("env", "place"),
    [
        ({"XDG_DATA_HOME": "DATA"}, "DATA/holdfast"),
        ({"HOME": "DATA"}, "DATA/.local/share/holdfast"),
        ({"HOME": "DATA", "XDG_DATA_HOME": "relative"}, "DATA/.local/share/holdfast"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="where the data of a user lives on Linux")
def test_the_vault_lives_with_the_users_data(cli: Cli, env: dict[str, str], place: str) -> None:
    data = str(cli.folder / "data")
    given = {name: value.replace("DATA", data) for name, value in env.items()}
    result = run_inside(["note", "save", "x"], env=given)
    assert result.exit == 0, result.stderr
    assert (Path(place.replace("DATA", data)) / "vault.db").is_file()


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_the_vault_must_be_named(cli: Cli, home: str) -> None:
    cli.env = {"HOME": home}
    for words in (["note", "save", "x"], ["note", "read"], ["status"]):
        assert cli.refuses(*words) == "home_unknown"
    assert files(cli.folder) == []


def test_options_of_stores_are_written_as_in_the_file(cli: Cli) -> None:
    assert cli.says("space", "show").splitlines()[-1] == (
        "transcript  long_term  transcript  tool_results=true "
        "automation=batch,ci,cron,subagent,webhook,worker hidden=internal"
    )
