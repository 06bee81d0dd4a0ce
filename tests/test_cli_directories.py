"""`memory`, `artifact` and `volume` as a person types them: streams, exit codes, and the disk."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from cli_snapshot import run_in_terminal
from cli_vault import Cli, cli_in, failed, files, ok

from holdfast.model.tree import DIRECTORY_NAME_RULE

NOUNS = ("memory", "artifact", "volume")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


def enter(name: str) -> Path:
    """Go to a folder, which is made where it is missing."""
    place = Path(name).absolute()
    place.mkdir(exist_ok=True)
    os.chdir(place)
    return place


def notes(cli: Cli, text: str = "one\n") -> Path:
    """A memory with one file and one version, and the shell in its folder."""
    place = enter("my-notes")
    Path("a.md").write_text(text)
    cli.says("memory", "init")
    cli.says("memory", "push")
    return place


# init


@pytest.mark.row("A02")
def test_init_writes_what_the_folder_is_of(cli: Cli) -> None:
    place = enter("my-notes")
    assert cli("memory", "init") == ok(
        "my-notes\n", f"Initialised the memory my-notes in {place}\nNext: holdfast memory push\n"
    )
    assert Path(".holdfast/storage.yaml").read_text() == "name: my-notes\ntype: memory\n"
    assert not cli.vault.exists()
    enter("../My Notes")
    assert cli("memory", "init") == failed(
        "error: the folder's name: 'My Notes' is not a name for a directory "
        "[directory_name_invalid]\n"
        f"hint: give one with --name: {DIRECTORY_NAME_RULE}\n"
    )
    assert files(Path()) == []
    assert cli.json("artifact", "init", "--name", "from-me") == {
        "name": "from-me",
        "type": "artifact",
        "where": str(Path().absolute()),
        "created": True,
    }


@pytest.mark.row("A02")
def test_on_a_terminal_init_asks_for_a_name(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "My Notes"
    place.mkdir()
    os.chdir(place)
    shown = run_in_terminal(["memory", "init"], "by-hand\n", cli.env)
    assert shown.exit == 0
    assert "the folder's name: 'My Notes' is not a name for a directory. Name: " in shown.stdout
    assert (place / ".holdfast/storage.yaml").read_text() == "name: by-hand\ntype: memory\n"


@pytest.mark.row("A02")
def test_another_products_file_is_read_as_ours(cli: Cli) -> None:
    place = enter("app")
    (place / ".vm0").mkdir()
    (place / ".vm0/storage.yaml").write_text("# made long ago\nname: old-notes\ntype: artifact\n")
    assert cli("artifact", "init") == ok(
        "old-notes\n", "Already the artifact old-notes; nothing was changed\n"
    )
    assert files(place) == [".vm0/storage.yaml"]
    assert cli.refuses("memory", "push") == "folder_other_type"
    assert cli.json("artifact", "push")["version"]["v"] == 1
    (place / ".vm0/storage.yaml").unlink()
    assert cli.json("artifact", "status")["name"] == "old-notes", "it knows by itself now"


@pytest.mark.row("A03")
def test_init_again_changes_nothing(cli: Cli) -> None:
    enter("my-notes")
    cli.says("memory", "init")
    before = Path(".holdfast/storage.yaml").stat()
    assert cli("memory", "init") == ok(
        "my-notes\n", "Already the memory my-notes; nothing was changed\n"
    )
    assert cli("artifact", "init") == failed(
        f"error: '{Path().absolute()}' is the memory my-notes, no artifact [folder_other_type]\n"
        "hint: use `holdfast memory`, or another folder\n"
    )
    assert cli.refuses("memory", "init", "--name", "other") == "folder_other_name"
    assert Path(".holdfast/storage.yaml").stat() == before


@pytest.mark.row("A04")
def test_a_bad_name_is_the_same_error_everywhere(cli: Cli) -> None:
    enter("my-notes")
    said = f"[directory_name_invalid]\nhint: {DIRECTORY_NAME_RULE}\n"
    for words in (
        ["init", "--name", "No"],
        ["clone", "No"],
        ["pull", "No"],
        ["log", "No"],
        ["diff", "--name", "No"],
        ["rollback", "--name", "No"],
        ["delete", "No", "--yes"],
    ):
        problem = f"error: 'No' is not a name for a directory {said}"
        assert cli("memory", *words) == failed(problem), words
    Path(".holdfast").mkdir()
    Path(".holdfast/storage.yaml").write_text("name: No\ntype: memory\n")
    assert cli("memory", "push") == failed(f"error: 'No' is not a name for a directory {said}")


# push


@pytest.mark.row("A05", "A07")
def test_push_says_version_files_and_size(cli: Cli) -> None:
    enter("my-notes")
    Path("a.md").write_text("one\n")
    cli.says("memory", "init")
    first = cli("memory", "push", "-m", "first")
    assert first == ok("my-notes v1 84b31322 1 file 4 B\n", "Pushed; 96 B stored\n")
    assert cli("memory", "push") == ok("my-notes v1 84b31322 1 file 4 B\n", "Content unchanged\n")
    Path("a.md").write_text("two\n")
    assert cli("memory", "push").stdout.startswith("my-notes v2 ")
    Path("a.md").write_text("one\n")
    again = cli.json("memory", "push")
    assert (again["outcome"], again["version"]["v"], again["version"]["size"]) == ("pushed", 3, 4)
    assert again["version"]["tree"][7:15] == "84b31322"


@pytest.mark.row("A05")
def test_a_person_sees_how_far_a_long_push_is(cli: Cli) -> None:
    place = notes(cli)
    with (place / "big").open("wb") as target:
        target.truncate(1 << 30)  # a hole: long to hash and quick to make
    os.chdir(place)
    for verb in ("status", "push"):  # the first one keeps what it found
        shown = run_in_terminal(["memory", verb], env=cli.env).stdout
        assert "/s\r\x1b[K" in shown
        what = "read: 0 files, " if verb == "status" else "store: 1 files, "
        assert what in shown
    (place / "big").write_bytes(b"changed")
    for verb in ("status", "push", "pull"):
        quiet = cli.fresh("memory", verb)
        assert "\r" not in quiet.stdout + quiet.stderr, "nobody watches"


@pytest.mark.row("A06")
def test_force_and_overwrite(cli: Cli) -> None:
    place = notes(cli)
    assert cli("memory", "push", "-f").stdout == "my-notes v2 84b31322 1 file 4 B\n"
    cli.says("memory", "clone", "my-notes", "../other")
    enter("../other")
    Path("b.md").write_text("theirs\n")
    cli.says("memory", "push")
    os.chdir(place)
    Path("c.md").write_text("ours\n")
    assert cli.json("memory", "push", "--overwrite")["version"]["files"] == 2
    assert [line.split()[0] for line in cli.says("memory", "log").splitlines()] == [
        *("v5", "v4", "v3", "v2", "v1"),
    ]
    assert cli.says("memory", "log").splitlines()[1].endswith("from v3  recovery")
    cli.says("memory", "clone", "my-notes", "../kept", "--version", "v4")
    assert Path("../kept/b.md").read_text() == "theirs\n"


@pytest.mark.row("A08")
def test_the_same_tree_has_the_same_name_in_every_vault(cli: Cli) -> None:
    trees: set[str] = set()
    envs: list[dict[str, str]] = [{}, {"HOLDFAST_KEY": "raw:" + "5a" * 32}]
    for number, env in enumerate(envs):
        enter(f"../place-{number}")
        for name in ("b", "a", "c") if number else ("c", "b", "a"):
            Path(name).write_text(name)
        Path("b").chmod(0o700 + number)
        env["HOLDFAST_VAULT"] = str(cli.folder / f"vault-{number}")
        cli("memory", "init", **env)
        trees.add(cli.json("memory", "push", **env)["version"]["tree"])
    assert len(trees) == 1


# pull and clone


@pytest.mark.row("A10", "A11")
def test_pull_works_in_place_and_anywhere(cli: Cli) -> None:
    place = notes(cli)
    enter("../elsewhere")
    assert cli("memory", "pull", "my-notes") == ok(
        "my-notes v1 84b31322 1 file 4 B\n", f"Cloned into {Path('my-notes').absolute()}\n"
    )
    other = enter("my-notes")
    Path("a.md").unlink()
    Path("b.md").write_text("two\n")
    cli.says("memory", "push")
    os.chdir(place)
    Path("new.md").write_text("mine\n")
    for words in (["pull"], ["pull", "my-notes"], ["pull", "my-notes", "."], ["pull"]):
        assert cli.says("memory", *words).startswith("my-notes v2 ")
        assert files(place)[-2:] == ["b.md", "new.md"]
    assert not Path("a.md").exists()
    assert Path("new.md").read_text() == "mine\n"
    assert Path(".holdfast/storage.yaml").exists()
    os.chdir(other.parent)
    again = cli("memory", "pull", "my-notes")
    assert again.stderr == "Already up to date\n", "into the folder that the first one made"
    os.chdir(place)
    forced = cli("memory", "pull", "--force")
    assert forced.stderr == (
        f"Pulled into {place}\nWhat was not pushed is kept as the recovery version v3\n"
    )
    assert files(place)[-1] == "b.md"
    assert cli.says("memory", "diff", "latest", "v3") == (
        "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,1 @@\n+mine\n"
    )


@pytest.mark.row("A10")
def test_in_the_wrong_folder_every_verb_says_so(cli: Cli) -> None:
    for verb in ("push", "pull", "status"):
        assert cli.refuses("memory", verb) == "folder_not_initialised"
    for verb in ("log", "rollback", "delete", "diff"):
        assert cli.refuses("memory", verb, exit=2) == "folder_not_initialised"
    place = notes(cli)
    enter("sub")
    assert cli("memory", "push").stderr.endswith(f"hint: go to '{place}', which is one\n")
    assert cli.refuses("memory", "pull", "my-notes", "..", "--version", "v9") == "version_unknown"
    enter("../../other-notes")
    cli.says("memory", "init")
    assert cli.refuses("memory", "pull", "my-notes", ".") == "folder_other_name"


@pytest.mark.row("A12", "A16")
def test_clone_makes_a_folder_or_nothing(cli: Cli) -> None:
    place = notes(cli)
    Path("a.md").write_text("two\n")
    cli.says("memory", "push")
    os.chdir(place.parent)
    assert cli.refuses("memory", "clone", "my-notes") == "destination_not_empty"
    assert cli("memory", "clone", "my-notes", "old", "--version", "v1") == ok(
        "my-notes v1 84b31322 1 file 4 B\n", f"Cloned into {Path('old').absolute()}\n"
    )
    assert Path("old/a.md").read_text() == "one\n"
    assert Path("old/.holdfast/storage.yaml").read_text() == "name: my-notes\ntype: memory\n"
    for words in (["nothing"], ["my-notes", "x", "--version", "v7"], ["my-notes", "old"]):
        assert cli("memory", "clone", *words).exit == 1
    assert sorted(each.name for each in Path().iterdir()) == ["my-notes", "old", "vault"]


# status, list, log, diff, rollback


@pytest.mark.row("A13")
def test_status_compares_the_folder_with_the_head(cli: Cli) -> None:
    enter("my-notes")
    cli.says("memory", "init")
    assert cli("memory", "status") == failed(
        "error: there is no memory 'my-notes' in default [directory_not_found]\n"
        "hint: `holdfast memory push` in its folder makes it, "
        "`holdfast memory list` shows what is there\n"
    )
    Path("a.md").write_text("one\n")
    Path("b.md").write_text("two\n")
    cli.says("memory", "push")
    cli.says("memory", "clone", "my-notes", "../other")
    Path("a.md").write_text("1\n")
    Path("b.md").unlink()
    Path("c\n.md").write_text("")
    assert cli("memory", "status") == ok(
        "memory    my-notes\n"
        "remote    v1 fd35c5a5 2 files 8 B\n"
        "local     ahead: 1 added, 1 modified, 1 deleted\n"
        "  A c\\n.md\n"
        "  M a.md\n"
        "  D b.md\n",
        "Next: holdfast memory push\n",
    )
    cli.says("memory", "push")
    os.chdir("../other")
    assert cli("memory", "status").stdout.splitlines()[2] == (
        "local     behind, from v1: 0 added, 0 modified, 0 deleted"
    )
    Path("d.md").write_text("")
    found = cli.json("memory", "status")
    assert (found["relation"], found["base"], found["version"]["v"]) == ("diverged", 1, 2)
    assert found["added"] == ["d.md"]


@pytest.mark.row("A14")
def test_list_shows_the_head(cli: Cli) -> None:
    assert cli("memory", "list") == ok(
        "", "Nothing yet: `holdfast memory init` and `holdfast memory push` in a folder\n"
    )
    notes(cli)
    Path("b.md").write_bytes(bytes(3000))
    cli.says("memory", "push")
    assert cli("memory", "list") == ok(
        "NAME      TYPE       SIZE  FILES  VERSIONS  UPDATED\n"
        "my-notes  memory  2.9 KiB      2         2  2026-01-15 12:00\n"
    )
    assert cli("artifact", "list").stdout == ""


@pytest.mark.row("A15")
def test_versions_by_every_name_that_they_have(cli: Cli) -> None:
    notes(cli)
    tree = cli.json("memory", "log")[0]["version"]["tree"][7:]
    Path("a.md").write_text("two\n")
    cli.says("memory", "push")
    for name in ("v1", tree, tree[:8], "latest~1"):
        assert cli.says("memory", "diff", name, "v1") == ""
        assert cli.says("memory", "diff", name, "latest").endswith("-one\n+two\n")
    asked = {
        tree[:7]: "version_too_short",
        "0" * 8: "version_unknown",
        "v3": "version_unknown",
        "latest~2": "version_unknown",
        "yesterday": "version_invalid",
        "2001-01-01": "version_unknown",
    }
    assert {name: cli.refuses("memory", "diff", name, "v1") for name in asked} == asked


@pytest.mark.row("A17", "A19")
def test_log_says_who_made_what_of_what(cli: Cli) -> None:
    notes(cli)
    Path("a.md").write_text("two\n")
    Path("b.md").write_text("b\n")
    cli.says("memory", "push", "-m", "after the\nreview", "--agent", "reviewer")
    tree = cli.json("memory", "log")[0]["version"]["tree"][7:15]
    assert cli.says("memory", "log") == (
        f"v2 {tree}  2026-01-15 12:00  agent:reviewer  +1 ~1 -0  from v1  head  "
        "after the\\nreview\n"
        f"v1 84b31322  2026-01-15 12:00  human:local  +1 ~0 -0\n"
    )
    assert cli.says("memory", "log", "my-notes", "--limit", "1").count("\n") == 1


@pytest.mark.row("A18")
def test_diff_and_rollback(cli: Cli) -> None:
    place = notes(cli)
    assert cli("memory", "diff") == ok("", "Nothing differs\n")
    Path("a.md").write_text("one\ntwo\n")
    Path("bin").write_bytes(b"\0")
    assert cli.says("memory", "diff", "--files") == "M a.md\nA bin\n"
    assert cli.says("memory", "diff") == (
        "--- a/a.md\n+++ b/a.md\n@@ -1,1 +1,2 @@\n one\n+two\n"
        "Binary files /dev/null and b/bin differ\n"
    )
    cli.says("memory", "push")
    assert cli("memory", "rollback") == ok(
        "my-notes v3 84b31322 1 file 4 B\n",
        "Rolled back; bring a folder to it with `holdfast memory pull`\n",
    )
    assert cli("memory", "rollback", "v1").stderr == "Content unchanged\n"
    cli.says("memory", "pull")
    assert files(place)[-1] == "a.md"
    assert cli.says("memory", "diff", "v2", "latest", "--files") == "M a.md\nD bin\n"


# What does not merge, what is left out


@pytest.mark.row("A20")
def test_what_does_not_merge_is_listed_and_exits_1(cli: Cli) -> None:
    place = notes(cli)
    cli.says("memory", "clone", "my-notes", "../other")
    enter("../other")
    Path("a.md").write_text("theirs\n")
    cli.says("memory", "push")
    os.chdir(place)
    Path("a.md").write_text("ours\n")
    pushed = cli("memory", "push")
    assert pushed.exit == 1
    assert pushed.stdout.startswith("my-notes v4 ")
    assert "warning: a.md did not merge (" in pushed.stderr
    assert "; the other side's lies in a.conflict-ed9c86a6.md [merge_conflict]" in pushed.stderr
    assert "hint: both are kept: make one of them, then push\n" in pushed.stderr
    assert "This folder is behind: holdfast memory pull\n" in pushed.stderr
    cli.says("memory", "pull")
    assert sorted(Path(name).read_text() for name in files(place) if name[0] == "a") == [
        "ours\n",
        "theirs\n",
    ]


@pytest.mark.row("A21", "A22")
def test_what_is_left_out_is_said_and_what_is_too_large_is_refused(cli: Cli) -> None:
    notes(cli)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
    Path(".holdfastignore").write_text("*.tmp\n")
    Path("x.tmp").write_text("x")
    assert cli("memory", "push").stderr == (
        "warning: pipe is neither a file, a folder nor a link, and was left out "
        "[file_left_out]\nhint: name it in .holdfastignore\n"
        "warning: sock is neither a file, a folder nor a link, and was left out "
        "[file_left_out]\nhint: name it in .holdfastignore\n"
        "Pushed; 144 B stored\n"
    )
    config = Path(".holdfast/storage.yaml")
    config.write_text(config.read_text() + "limits: {file_bytes: 3}\n")
    Path("a.md").write_text("1234")
    assert cli.refuses("memory", "push") == "tree_too_large"
    assert cli.refuses("memory", "status") == "tree_too_large"
    config.write_text("name: my-notes\ntype: memory\nlimits: {files: none}\n")
    assert cli.refuses("memory", "push") == "config_invalid"


@pytest.mark.parametrize("noun", NOUNS)
def test_delete_asks_first(cli: Cli, noun: str) -> None:
    enter("my-notes")
    Path("a.md").write_text("one\n")
    cli.says(noun, "init")
    cli.says(noun, "push")
    assert cli.refuses(noun, "delete") == "confirmation_needed"
    assert cli(noun, "delete", "--level", "hide") == ok("", f"Hid the {noun} my-notes\n")
    assert cli.says(noun, "list") == ""
    assert "my-notes" in cli.says(noun, "list", "--all")
    assert cli(noun, "delete", "--yes") == ok("", f"Forgot the {noun} my-notes\n")
    assert cli.refuses(noun, "log") == "directory_not_found"
    assert cli.says(noun, "list", "--all") == ""
    assert Path("a.md").read_text() == "one\n"
    cli.clock.advance(us=1)
    assert cli.says("gc", "--spare", "0s") == "2 objects, 96 B\n"
