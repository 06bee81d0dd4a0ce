"""What was erased is nowhere: every path is asked again, and all that the vault's bytes decode to
is searched by these tests themselves."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from cli_vault import Cli, cli_in, failed, ok
from directory_sample import fill, held, memory, sound

import holdfast
from holdfast.engine.history import LogQuery
from holdfast.engine.vault import Vault
from holdfast.errors import NotFound
from holdfast.storage.objects import unpack
from holdfast.testing import raises

RAW_KEY = "raw:" + "5a" * 32
KILLS = int(os.environ.get("HOLDFAST_KILLS", "6"))
WORKER = Path(__file__).parent / "programs" / "erase_work.py"
SAID = (b"orange elephant", b"purple elephant", b"tangerine", b"codename", b"quiet-notes")


@pytest.fixture(params=[None, RAW_KEY], ids=["plain", "encrypted"])
def key(request: pytest.FixtureRequest) -> str | None:
    return request.param


@pytest.fixture
def vault(tmp_path: Path, key: str | None) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", key=key) as vault:
        yield vault


def decoded(vault: Vault) -> Iterator[tuple[str, bytes]]:
    """Every row of every table as bytes, contents uncompressed; then the files as they lie."""

    def look(snapshot: object) -> list[tuple[str, bytes]]:
        conn: apsw.Connection = snapshot._conn  # type: ignore[attr-defined]
        found: list[tuple[str, bytes]] = []
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
        for (table,) in conn.execute(tables).fetchall():
            for row in conn.execute(f'SELECT * FROM "{table}"'):
                found += [
                    (table, value if isinstance(value, bytes) else str(value).encode())
                    for value in row
                ]
                if table == "pack":
                    found.append((table, unpack(*row[1:4]) or b""))
        assert conn.pragma("freelist_count") == 0
        return found

    yield from vault._core.storage.read(look)
    for file in Path(vault.where).parent.iterdir():
        yield file.name, file.read_bytes()


def standing(vault: Vault, *words: bytes) -> set[tuple[str, bytes]]:
    return {(place, word) for place, data in decoded(vault) for word in words if word in data}


def quiet(tmp_path: Path, vault: Vault) -> Path:
    """A memory that is told of everywhere: versions, a message, a session's context, answers."""
    root = fill(
        tmp_path / "quiet-notes",
        {"MEMORY.md": b"of the orange elephant\n", "codename": b"1", "shared": b"kept by both" * 9},
    )
    here = memory(vault)
    here.init(root)
    here.push(root, message="about the tangerine", key="first", reason="tangerine again")
    fill(root, {"MEMORY.md": b"of the purple elephant\n", "big": b"purple elephant" * 200_000})
    here.push(root)
    return root


@pytest.mark.row("A24", "I07")
def test_what_was_erased_is_nowhere(tmp_path: Path, vault: Vault, key: str | None) -> None:
    here, root = memory(vault), quiet(tmp_path, vault)
    other = fill(tmp_path / "other", {"shared": b"kept by both" * 9})
    here.init(other)
    here.push(other)
    session = vault.space().start_session("work")
    inside = vault.space().seen_by(vault.caller.replace(session=session.id))
    assert "purple elephant" in inside.context().text
    assert {word for _, word in standing(vault, *SAID)} == {*SAID}

    erasure = here.erase("quiet-notes")
    assert erasure.state == "done"
    assert erasure.gone["versions"] == 2
    assert erasure.gone["answers"] == erasure.gone["contexts"] == 1
    assert (erasure.elsewhere, erasure.searched > 0) == ({}, True)
    assert standing(vault, *SAID) == set()
    sound(vault)

    with raises(NotFound, "directory_not_found"):
        here.log("quiet-notes")
    with raises(NotFound, "directory_not_found"):
        here.erase("quiet-notes")
    assert [row.name for row in here.list(hidden=True)] == ["other"]
    here.clone("other", tmp_path / "copy")
    assert held(tmp_path / "copy") == held(other), "what others have too stays"
    assert "elephant" not in inside.context().text, "an erase outranks a session"
    told = [change for change in vault.log(LogQuery()) if change.target in erasure.targets]
    assert {change.after is None for change in told if change.op != "erase"} == {True}
    assert vault.erasures() == [erasure]
    assert root.exists()
    assert here.push(root).version.v == 1, "who pushes it again means it"
    sound(vault)
    with holdfast.open(tmp_path / "vault", key=key) as again:
        sound(again)


@pytest.mark.row("A24")
def test_what_was_forgotten_before_is_erased_with_it(tmp_path: Path, vault: Vault) -> None:
    here, root = memory(vault), quiet(tmp_path, vault)
    here.delete("quiet-notes")
    fill(root, {"a": b"of another elephant"})
    here.push(root)
    here.delete("quiet-notes")
    assert standing(vault, b"quiet-notes")
    assert here.erase("quiet-notes").gone["directories"] == 2
    assert standing(vault, *SAID, b"another elephant") == set()
    sound(vault)


@pytest.mark.row("A24", "I07")
def test_while_a_reader_holds_old_pages_it_is_pending(
    tmp_path: Path, vault: Vault, key: str | None
) -> None:
    if key is not None:
        pytest.skip("the reader of this test has no key")
    here = memory(vault)
    quiet(tmp_path, vault)
    reader = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM version").get == 2
    erasure = here.erase("quiet-notes")
    assert (erasure.state, erasure.done) == ("pending", None)
    with raises(NotFound, "directory_not_found"):
        here.log("quiet-notes")
    assert standing(vault, *SAID), "the old pages are there"
    assert [each.state for each in vault.finish_erasures()] == ["pending"]
    reader.close()
    vault.space().notes().save("life goes on")
    assert [each.state for each in vault.finish_erasures()] == ["done"]
    assert vault.finish_erasures() == []
    assert standing(vault, *SAID) == set()
    sound(vault)


@pytest.mark.row("A24", "I07")
def test_a_dry_run_says_what_would_go_and_changes_nothing(tmp_path: Path, vault: Vault) -> None:
    here = memory(vault)
    quiet(tmp_path, vault)
    other = fill(tmp_path / "other", {"shared": b"kept by both" * 9})
    here.init(other)
    here.push(other)
    seq = vault.status().seq
    reach = here.reach("quiet-notes")
    assert (reach.what, reach.versions, reach.shared) == ("memory", 2, 1)
    assert reach.changes == 5, "the directory, made and moved twice, and its two versions"
    assert vault.status().seq == seq
    gone = here.erase("quiet-notes").gone
    assert (gone["objects"], gone["changes"]) == (reach.objects, reach.changes)
    assert vault.gc(spare_seconds=-1).objects == 0


def test_what_another_memory_says_too_is_counted(tmp_path: Path, vault: Vault) -> None:
    quiet(tmp_path, vault)
    vault.space().notes().save('a note "of the orange elephant"')
    erasure = memory(vault).erase("quiet-notes")
    assert erasure.state == "done"
    assert erasure.elsewhere.keys() >= {"entry", "change"}
    assert set(erasure.elsewhere.values()) == {1}
    assert standing(vault, b"purple elephant", b"codename") == set()


def test_a_body_that_is_gone_without_a_record_is_named(
    tmp_path: Path, vault: Vault, key: str | None
) -> None:
    if key is not None:
        pytest.skip("the forger of this test has no key")
    quiet(tmp_path, vault)
    entry = vault.space().notes().save("a fact").entry
    memory(vault).erase("quiet-notes")
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    conn.execute("UPDATE change SET salt = NULL, body = NULL WHERE target = ?", (entry.id,))
    assert {problem.message for problem in vault.verify()} == {"its body is gone"}
    conn.execute("DELETE FROM erasure")
    conn.close()
    found = {problem.what.split()[0] for problem in vault.verify()}
    assert found == {"change", "erasure"}


def test_in_ram_too(tmp_path: Path) -> None:
    with holdfast.open("memory:") as vault:
        quiet(tmp_path, vault)
        erasure = memory(vault).erase("quiet-notes")
        assert (erasure.state, erasure.elsewhere) == ("done", {})
        sound(vault)


@pytest.mark.row("A24", "I07")
def test_killed_in_the_midst_it_is_pending_or_done(tmp_path: Path) -> None:
    chance = random.Random(4)
    for turn in range(KILLS):
        words = [str(tmp_path / "vault"), str(tmp_path / f"{turn}"), f"turn-{turn}"]
        worker = subprocess.Popen(
            [sys.executable, str(WORKER), *words], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        for _ in range(2 + 2 * chance.randrange(3)):  # so that an erasure is what comes next
            worker.stdout.readline()
        for _ in range(chance.randrange(200_000)):
            pass
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        with holdfast.open(tmp_path / "vault") as vault:
            sound(vault)
            assert {each.state for each in vault.finish_erasures()} <= {"done"}
            if vault.erasures(pending=False) and not memory(vault).list():
                assert standing(vault, b"unspeakable") == set()
            for row in memory(vault).list():
                memory(vault).erase(row.name)
            assert standing(vault, b"unspeakable", *(words[2:][0].encode(),)) == set()
            sound(vault)


# As a person types it


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


@pytest.mark.row("A24")
@pytest.mark.parametrize("noun", ["memory", "artifact", "volume"])
def test_three_levels_with_confirmation(cli: Cli, noun: str) -> None:
    root = fill(cli.folder / "my-notes", {"a.md": b"one or another line\n"})
    os.chdir(root)
    cli.says(noun, "init")
    cli.says(noun, "push")
    assert cli(noun, "delete", "--dry-run") == ok(
        f"Would forget the {noun} my-notes: 1 version, 2 contents that only it has (113 B) freed "
        "by `holdfast gc`\n",
        "Not reached: folders it was brought to, backups and other copies\n",
    )
    assert cli(noun, "delete", "--level", "hide") == ok("", f"Hid the {noun} my-notes\n")
    for level in ("forget", "erase"):
        assert cli.refuses(noun, "delete", "--level", level) == "confirmation_needed"
    assert cli(noun, "delete", "--yes") == ok("", f"Forgot the {noun} my-notes\n")
    assert cli.refuses(noun, "status") == "directory_not_found"
    erased = cli(noun, "delete", "my-notes", "--level", "erase", "--yes")
    receipt, state = erased.stdout.split()
    assert (erased.exit, state) == (0, "done")
    assert erased.stderr == (
        "Erased: 1 version, 2 contents, what 5 changes of the log said\n"
        "The file was written anew; looked for in all of its bytes: 2 pieces of what was erased, "
        "found: 0\n"
        "Not reached: folders it was brought to, backups and other copies\n"
    )
    assert cli.says("erasure", "list").splitlines()[1].split()[:3] == [receipt, "done", noun]
    assert cli("erasure", "finish") == ok("", "Nothing is pending\n")
    assert cli.json("erasure", "list")[0]["id"] == receipt
    assert "one or another" not in cli.says("log", "--json")
    assert cli(noun, "delete", "my-notes", "--level", "erase", "--yes") == failed(
        f"error: there is no {noun} 'my-notes' in default, and none was forgotten "
        "[directory_not_found]\n"
        f"hint: `holdfast {noun} list --all` shows what is there\n"
    )
    assert cli("verify").exit == 0
    assert (root / "a.md").read_bytes() == b"one or another line\n"


def test_gc_says_what_it_would_remove(cli: Cli) -> None:
    root = fill(cli.folder / "my-notes", {"a.md": b"one\n"})
    os.chdir(root)
    cli.says("memory", "init")
    cli.says("memory", "push")
    cli.says("memory", "delete", "--yes")
    cli.clock.advance(us=1)
    assert cli("gc", "--spare", "0s", "--dry-run") == ok(
        "2 objects, 96 B\n", "Nothing was removed; the bytes are those before compression\n"
    )
    assert cli.says("gc", "--spare", "0s") == "2 objects, 96 B\n"
    assert cli("gc", "--spare", "0s") == ok(
        "0 objects, 0 B\n", "Nothing to remove; what was stored within --spare is left alone\n"
    )
