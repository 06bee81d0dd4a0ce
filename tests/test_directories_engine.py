"""Versioned directories on real folders: what was pushed comes back, and nothing is ever lost."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from directory_sample import Content, fill, held, memory, sound, trees
from hypothesis import given, settings

import holdfast
from holdfast.core.trees.statcache import record_of, rows_of
from holdfast.engine.directories.folder import State, Working, open_folder
from holdfast.engine.directories.layout import stage
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.scan import remember, scan
from holdfast.engine.vault import Vault
from holdfast.errors import (
    Ambiguous,
    Conflict,
    Damaged,
    InvalidInput,
    NotFound,
    Refused,
    StorageFailed,
)
from holdfast.testing import raises

ROT = """
    UPDATE pack SET data = zeroblob(length(data))
    WHERE number = (SELECT pack FROM object WHERE size = 14)
"""


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault") as vault:
        yield vault


@pytest.fixture
def notes(tmp_path: Path, vault: Vault) -> Path:
    root = fill(tmp_path / "notes", {"a.md": b"one\ntwo\nthree\n"})
    memory(vault).init(root)
    memory(vault).push(root)
    return root


@given(first=trees(), second=trees())
@settings(max_examples=25)
def test_any_tree_comes_back_byte_for_byte(
    first: Content, second: Content, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = tmp_path_factory.mktemp("tree")
    with holdfast.open("memory:") as vault:
        here = memory(vault)
        root = fill(where / "notes", first)
        here.init(root)
        assert here.push(root).version.v == 1
        here.clone("notes", where / "one")
        assert held(where / "one") == held(root) == first
        fill(root, second)
        here.push(root)
        here.pull(where / "one")
        assert held(where / "one") == second
        here.pull(root, version="v1")
        assert held(root) == first
        sound(vault)


@pytest.mark.row("A09")
def test_an_empty_directory_is_a_version(tmp_path: Path, vault: Vault) -> None:
    root = fill(tmp_path / "empty", {})
    memory(vault).init(root)
    pushed = memory(vault).push(root)
    assert (pushed.version.v, pushed.version.files, pushed.version.size) == (1, 0, 0)
    memory(vault).clone("empty", tmp_path / "copy")
    assert held(tmp_path / "copy") == {}
    (root / "a").write_bytes(b"a")
    memory(vault).push(root)
    memory(vault).pull(tmp_path / "copy")
    fill(root, {})
    memory(vault).push(root)
    memory(vault).pull(tmp_path / "copy")
    assert held(tmp_path / "copy") == {}
    sound(vault)


@pytest.mark.row("A07")
def test_a_then_b_then_a_makes_three_versions(notes: Path, vault: Vault) -> None:
    here = memory(vault)
    first = here.version("notes")
    assert here.push(notes).outcome == "unchanged"
    fill(notes, {"a.md": b"b"})
    here.push(notes)
    fill(notes, {"a.md": b"one\ntwo\nthree\n"})
    third = here.push(notes)
    assert (third.outcome, third.version.v, third.version.parents) == ("pushed", 3, (2,))
    assert (third.version.tree, third.version.size) == (first.tree, 14)
    assert here.push(notes, force=True).version.v == 4


@pytest.mark.row("A06")
def test_overwriting_keeps_what_it_replaced(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    here.clone("notes", tmp_path / "other")
    fill(tmp_path / "other", {"a.md": b"theirs"})
    theirs = here.push(tmp_path / "other").version
    fill(notes, {"a.md": b"ours"})
    assert here.push(notes, overwrite=True).version.v == 4
    kept = here.version("notes", "v3")
    assert (kept.kind, kept.tree) == ("recovery", theirs.tree)
    here.clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == {"a.md": b"ours"}


@pytest.mark.row("A20")
def test_pushes_that_cross_are_merged(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    other = tmp_path / "other"
    here.clone("notes", other)
    fill(other, {"a.md": b"ONE\ntwo\nthree\n", "theirs": b"t", "d.json": b'{"a": 1}'})
    here.push(other)
    fill(notes, {"a.md": b"one\ntwo\nTHREE\n", "ours": b"o"})
    pushed = here.push(notes)
    assert (pushed.outcome, pushed.behind, pushed.conflicts) == ("merged", True, ())
    assert pushed.version.parents == (2, 3)
    assert here.pull(notes).outcome == "pulled"
    assert held(notes) == {
        "a.md": b"ONE\ntwo\nTHREE\n",
        "ours": b"o",
        "theirs": b"t",
        "d.json": b'{"a": 1}',
    }
    assert here.push(notes).outcome == "unchanged"
    sound(vault)


def test_what_does_not_merge_is_kept_on_both_sides(
    tmp_path: Path, notes: Path, vault: Vault
) -> None:
    here = memory(vault)
    other = tmp_path / "other"
    here.clone("notes", other)
    fill(other, {"a.md": b"theirs\ntwo\nthree\n"})
    here.push(other)
    fill(notes, {"a.md": b"ours\ntwo\nthree\n"})
    pushed = here.push(notes)
    assert [conflict.path for conflict in pushed.conflicts] == ["a.md"]
    here.pull(notes)
    kept = held(notes)
    assert kept.pop("a.md") == b"ours\ntwo\nthree\n"
    assert list(kept.values()) == [b"theirs\ntwo\nthree\n"]
    assert next(iter(kept)).startswith("a.conflict-")


@pytest.mark.row("B13")
def test_parallel_pushes_all_persist(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    folders = [tmp_path / f"worker-{number}" for number in range(6)]
    for folder in folders:
        here.clone("notes", folder)
    gate = threading.Barrier(len(folders))
    failed: list[BaseException] = []

    def work(number: int, folder: Path) -> None:
        try:
            gate.wait()
            for turn in range(4):
                (folder / f"{number}-{turn}").write_bytes(b"%d" % number)
                with (folder / "log.md").open("a") as log:
                    log.write(f"- worker {number} turn {turn}\n")
                memory(vault).push(folder)
        except Exception as exc:  # noqa: BLE001 - shown by the assertion below
            failed.append(exc)

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(folders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    here.clone("notes", tmp_path / "all")
    found = held(tmp_path / "all")
    assert {f"{w}-{t}" for w in range(6) for t in range(4)} <= found.keys()
    everything = b"".join(data for data in found.values() if isinstance(data, bytes))
    for number in range(6):
        for turn in range(4):
            assert f"- worker {number} turn {turn}\n".encode() in everything
    sound(vault)


@pytest.mark.row("A11")
def test_a_pull_keeps_what_was_not_pushed(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    other = tmp_path / "other"
    here.clone("notes", other)
    fill(other, {"a.md": b"ONE\ntwo\nthree\n"})
    here.push(other)
    fill(notes, {"a.md": b"one\ntwo\nmine\n", "new": b"n"})
    assert here.pull(notes).outcome == "merged"
    assert held(notes) == {"a.md": b"ONE\ntwo\nmine\n", "new": b"n"}
    forced = here.pull(notes, force=True)
    assert held(notes) == {"a.md": b"ONE\ntwo\nthree\n"}
    assert forced.recovery is not None
    here.clone("notes", tmp_path / "back", version=f"v{forced.recovery.v}")
    assert held(tmp_path / "back") == {"a.md": b"ONE\ntwo\nmine\n", "new": b"n"}
    assert here.version("notes").v == 2, "the head did not move"


@pytest.mark.row("A12")
def test_a_clone_is_whole_or_not_there(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_bytes(b"x")
    with raises(Refused, "destination_not_empty"):
        here.clone("notes", tmp_path / "full")
    with raises(NotFound, "directory_not_found"):
        here.clone("nothing", tmp_path / "nothing")
    with raises(NotFound, "version_unknown"):
        here.clone("notes", tmp_path / "nothing", version="v9")
    (tmp_path / "hollow").mkdir()
    here.clone("notes", tmp_path / "hollow", version="v1")
    assert held(tmp_path / "hollow") == held(notes)
    assert (tmp_path / "hollow/.holdfast/storage.yaml").read_text() == "name: notes\ntype: memory\n"
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    conn.execute(ROT)
    conn.close()
    with raises(Damaged, "object_damaged"):
        here.clone("notes", tmp_path / "broken")
    expected = {"vault", "notes", "full", "hollow"}
    assert {place.name for place in tmp_path.iterdir()} == expected


@pytest.mark.row("A23")
def test_damage_is_named_and_a_push_heals_it(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    digest = next(iter(scan(open_folder(notes)).paths))
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    conn.execute(ROT)
    assert [p.what for p in vault.verify()] == [f"object {digest}"]
    fill(notes, {"again.md": b"one\ntwo\nthree\n"})
    here.push(notes)
    sound(vault)
    conn.execute("DELETE FROM object WHERE size = 14")
    conn.close()
    (problem,) = vault.verify()
    assert problem.what == f"object {digest}"
    assert "memory notes v" in problem.message
    with raises(Damaged, "object_missing"):
        here.clone("notes", tmp_path / "lost")
    here.push(notes, force=True)
    sound(vault)


def test_a_flipped_row_is_named(tmp_path: Path, notes: Path, vault: Vault) -> None:
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    conn.execute("UPDATE version SET size = 15")
    conn.execute("UPDATE directory SET head = 2")
    conn.close()
    found = {p.what.split()[0] for p in vault.verify() if p.code == "row_damaged"}
    assert found == {"version", "directory"}


@pytest.mark.row("A15", "A16")
def test_versions_by_every_name(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    for n in range(3):
        fill(notes, {"a": b"%d" % n})
        here.push(notes)
    third = here.version("notes", "v3")
    digits = third.tree.removeprefix("sha256:")
    for name in ("v3", digits, digits[:8], "latest~1", third.at.isoformat()):
        assert here.version("notes", name) == third
    for kind in ("memory", "artifact", "volume"):
        of_kind = vault.space().directories(kind)
        root = fill(tmp_path / kind / "things", {"a": b"1"})
        of_kind.init(root)
        of_kind.push(root)
        fill(root, {"a": b"2"})
        of_kind.push(root)
        of_kind.clone("things", tmp_path / kind / "old", version="latest~1")
        assert held(tmp_path / kind / "old") == {"a": b"1"}
        of_kind.pull(root, version="v1")
        assert held(root) == {"a": b"1"}
    with raises(InvalidInput, "version_too_short"):
        here.version("notes", digits[:7])
    with raises(NotFound, "version_unknown"):
        here.version("notes", "0" * 8)
    assert Ambiguous.exit_code == 1


@pytest.mark.row("A21")
def test_limits_hold_before_anything_is_stored(tmp_path: Path, vault: Vault) -> None:
    for limits, content in (
        ("file_bytes: 3", {"a": b"1234"}),
        ("tree_bytes: 5", {"a": b"123", "b": b"123"}),
        ("files: 1", {"a": b"", "b": b""}),
    ):
        root = fill(tmp_path / "limited", content)
        memory(vault).init(root)
        config = root / ".holdfast/storage.yaml"
        config.write_text(f"name: limited\ntype: memory\nlimits: {{{limits}}}\n")
        with raises(Refused, "tree_too_large"):
            memory(vault).push(root)
        assert vault.status().seq == 0


@pytest.mark.row("A22")
def test_what_is_skipped_and_what_is_reported(tmp_path: Path, vault: Vault) -> None:
    root = fill(
        tmp_path / "notes",
        {
            ".git/config": b"g",
            ".gitignore": b"x",
            "sub/.git/x": b"g",
            ".holdfastignore": b"*.tmp\n",
            "a.tmp": b"t",
            "a": b"a",
            "out": ("l", "/etc"),
        },
    )
    os.mkfifo(root / "pipe")
    server = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(root)
    server.bind("sock")
    os.chdir(before)
    server.close()
    memory(vault).init(root)
    assert memory(vault).push(root).left_out == ("pipe", "sock")
    memory(vault).clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == {
        ".gitignore": b"x",
        ".holdfastignore": b"*.tmp\n",
        "a": b"a",
        "out": ("l", "/etc"),
        "sub": None,
    }
    fill(tmp_path / "copy", {"b": b"b"})
    memory(vault).push(tmp_path / "copy")
    (root / "pipe").unlink()
    (root / "sock").unlink()
    memory(vault).pull(root)
    assert (root / ".git/config").read_bytes() == b"g", "a pull leaves alone what is skipped"


def test_nothing_is_written_through_a_link(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    outside = fill(tmp_path / "outside", {"keep": b"k"})
    other = tmp_path / "other"
    here.clone("notes", other)
    fill(other, {"sub/keep": b"overwritten", "sub/new": b"new"})
    here.push(other)
    fill(notes, {"a.md": b"one\ntwo\nthree\n"})
    (notes / "sub").symlink_to(outside)
    pulled = here.pull(notes)
    assert held(outside) == {"keep": b"k"}
    assert [conflict.path for conflict in pulled.conflicts] == ["sub"]
    assert held(notes)["sub/new"] == b"new"


def test_a_name_that_is_not_utf8_is_refused_by_name(tmp_path: Path, vault: Vault) -> None:
    root = fill(tmp_path / "notes", {})
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).write_bytes(b"")
    memory(vault).init(root)
    with raises(InvalidInput, "path_invalid"):
        memory(vault).push(root)
    assert vault.status().seq == 0


@pytest.mark.row("A23")
def test_a_file_that_the_stat_cache_mistook_is_read_again(notes: Path, vault: Vault) -> None:
    """Same size, same times, other bytes: as after a file system that keeps coarse times."""
    working = open_folder(notes)
    big = notes / "big"
    big.write_bytes(b"a" * 2_000_000)
    os.utime(big, ns=(1, 1))
    with working.held():
        found = scan(working)
        big.write_bytes(b"b" * 2_000_000)
        seen = found.seen[""]
        rows = rows_of((notes / name).lstat() for name in seen.names)
        record = record_of(seen.names, rows, seen.digests, {}, found.root, 2**62)
        working.keep_cache({"": record})
        assert scan(working).root == found.root, "the cache is fooled"
    assert memory(vault).push(notes).version.size == 2_000_014
    memory(vault).clone("notes", notes.parent / "copy")
    assert held(notes.parent / "copy") == held(notes)
    sound(vault)


def test_a_link_that_the_stat_cache_knows_is_stored(notes: Path, vault: Vault) -> None:
    fill(notes, {"link": ("l", "somewhere"), "a": b"a"})
    working = open_folder(notes)
    with working.held():
        found = scan(working)
        seen = found.seen[""]
        rows = rows_of((notes / name).lstat() for name in seen.names)
        working.keep_cache({"": record_of(seen.names, rows, seen.digests, {}, found.root, 2**62)})
        assert scan(working).contents == {}, "nothing was read"
    memory(vault).push(notes)
    memory(vault).clone("notes", notes.parent / "copy")
    assert held(notes.parent / "copy") == held(notes)
    (notes / "link").unlink()
    fill(notes, {"link": b"a file"})
    memory(vault).push(notes)


@pytest.mark.row("A23")
def test_a_file_that_never_stops_changing_is_an_error(notes: Path, vault: Vault) -> None:
    count = 0

    def change(what: str, _files: int, _size: int) -> None:
        nonlocal count
        count += 1
        if what == "store":
            (notes / "big").write_bytes(b"%d" % count * 2_000_000)

    (notes / "big").write_bytes(b"a" * 2_000_000)
    with raises(StorageFailed, "file_changing"):
        memory(vault).push(notes, progress=change)
    assert memory(vault).version("notes").v == 1
    memory(vault).push(notes)
    memory(vault).clone("notes", notes.parent / "copy")
    assert held(notes.parent / "copy") == held(notes)
    sound(vault)


@pytest.mark.row("A25")
def test_small_edits_are_small(tmp_path: Path, vault: Vault) -> None:
    def stored() -> int:
        conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
        size = next(conn.execute("SELECT coalesce(sum(length(data)), 0) FROM pack"))[0]
        conn.close()
        return size

    size = 100_000_000
    data = random.Random(3).randbytes(size)
    root = fill(tmp_path / "notes", {"big": data, "copy": data})
    memory(vault).init(root)
    first = memory(vault).push(root)
    assert size < stored() == first.stored_bytes < size + 100_000, "the same content once"
    before = stored()
    (root / "big").write_bytes(data[: size // 2] + b"x" + data[size // 2 :])
    second = memory(vault).push(root)
    assert stored() - before == second.stored_bytes < 1_000_000
    before = stored()
    (root / "copy").rename(root / "moved")
    assert memory(vault).push(root).stored_bytes == stored() - before < 1_000
    memory(vault).clone("notes", tmp_path / "copy")
    for name in ("big", "moved"):
        assert (tmp_path / "copy" / name).read_bytes() == (root / name).read_bytes()


@pytest.mark.row("A05")
def test_a_large_file_is_told_of_piece_by_piece(notes: Path, vault: Vault) -> None:
    (notes / "big").write_bytes(random.Random(6).randbytes(5_000_000))
    told: list[tuple[str, int, int]] = []

    def hear(*what: str | int) -> None:
        told.append(what)  # type: ignore[arg-type]

    memory(vault).push(notes, progress=hear)
    memory(vault).clone("notes", notes.parent / "copy", progress=hear)
    for what, last in (("read", 5_000_000), ("store", 5_000_000), ("write", 5_000_014)):
        sizes = [size for doing, _, size in told if doing == what]
        assert sizes == sorted(sizes)
        assert len(set(sizes)) > 3
        assert sizes[-1] == last


def ticked(working: Working) -> None:
    """Come back when the file system's clock has gone on, so that what was written is settled."""
    now = working.clock_ns()
    while working.clock_ns() <= now:
        pass


def test_what_a_clone_wrote_need_not_be_read(tmp_path: Path, notes: Path, vault: Vault) -> None:
    content: Content = {"a.md": b"one", "sub/run": ("x", b"#!"), "sub/l": ("l", "run"), "e": None}
    fill(notes, content)
    version = memory(vault).push(notes).version
    memory(vault).clone("notes", tmp_path / "copy")
    working = open_folder(tmp_path / "copy")
    ticked(working)
    remember(working, version.root, Objects(vault._core.storage).load)
    read: list[str] = []
    found = scan(working, lambda what, _files, _size: read.append(what))
    assert (found.root, read) == (version.root, [])
    (tmp_path / "copy" / "a.md").write_bytes(b"three")
    (tmp_path / "copy" / "sub/run").chmod(0o600)
    ticked(working)
    remember(working, version.root, Objects(vault._core.storage).load)
    assert scan(working).root == memory(vault).push(tmp_path / "copy").version.root
    memory(vault).clone("notes", tmp_path / "again")
    assert held(tmp_path / "again") == held(tmp_path / "copy"), "other kinds and sizes are read"


def test_a_journal_without_what_it_speaks_of_changes_nothing(
    tmp_path: Path, notes: Path, vault: Vault
) -> None:
    """As after a power cut: the journal is on the disk, the files it names are empty."""
    here, other = memory(vault), tmp_path / "other"
    here.clone("notes", other)
    fill(notes, {"a.md": b"new", "b.md": b"b", "l": ("l", "b.md")})
    second = here.push(notes).version
    working = open_folder(other)
    with working.held():
        found = scan(working)
        objects = Objects(vault._core.storage, found.folders)
        directory = here.find("notes")
        state = State(directory=directory.id, v=second.v)
        stage(working, found, second.root, state, objects, lambda *_: None)
    staged = sorted((other / ".holdfast" / "incoming").iterdir())
    staged[0].write_bytes(b"")
    assert here.status(other).relation == "behind"
    assert held(other) == {"a.md": b"one\ntwo\nthree\n"}
    assert here.pull(other).outcome == "pulled"
    assert held(other) == held(notes)
    for torn in (b"", b"{"):
        (other / ".holdfast" / "pull.json").write_bytes(torn)
        assert here.pull(other).outcome == "unchanged"


@pytest.mark.row("A17", "A19")
def test_the_log_says_who_made_what_of_what(tmp_path: Path, notes: Path, vault: Vault) -> None:
    fill(notes, {"a.md": b"x", "b": b"b"})
    memory(vault).push(notes, message="more", run="run-1")
    newest, oldest = memory(vault).log("notes")
    assert newest.is_head
    assert (newest.added, newest.modified, newest.deleted) == (1, 1, 0)
    version = newest.version
    assert (version.v, version.parents, version.author) == (2, (1,), "human:local")
    assert (version.message, version.run) == ("more", "run-1")
    assert (oldest.version.parents, oldest.added) == ((), 1)


@pytest.mark.row("A18")
def test_diff_and_rollback(notes: Path, vault: Vault) -> None:
    here = memory(vault)
    fill(notes, {"a.md": b"one\n2\nthree\n", "b": b"\0"})
    assert {d.path: d.kind for d in here.diff("notes", folder=notes)} == {
        "a.md": "modified",
        "b": "added",
    }
    here.push(notes)
    first, second = here.diff("notes", "v1", "v2")
    assert b"-two\n+2\n" in first.lines
    assert second.lines == b"Binary files /dev/null and b/b differ\n"
    version, changed = here.rollback("notes", "v1")
    assert (version.v, version.parents, changed) == (3, (2,), True)
    assert here.rollback("notes", "v1")[1] is False
    here.pull(notes)
    assert held(notes) == {"a.md": b"one\ntwo\nthree\n"}


@pytest.mark.row("A13")
def test_status_tells_every_relation(tmp_path: Path, notes: Path, vault: Vault) -> None:
    here = memory(vault)
    other = tmp_path / "other"
    here.clone("notes", other)
    assert here.status(other).relation == "up to date"
    (other / "new").write_bytes(b"")
    found = here.status(other)
    assert (found.relation, found.added, found.modified, found.deleted) == (
        "ahead",
        ("new",),
        (),
        (),
    )
    fill(notes, {"a.md": b"else"})
    here.push(notes)
    assert here.status(other).relation == "diverged"
    (other / "new").unlink()
    assert here.status(other).relation == "behind"
    other.joinpath("a.md").unlink()
    assert here.status(other).deleted == ("a.md",)


@pytest.mark.row("A24")
def test_a_deleted_directory_is_gone_and_may_be_made_anew(
    tmp_path: Path, notes: Path, vault: Vault
) -> None:
    here = memory(vault)
    here.delete("notes", level="hide")
    assert here.list() == []
    assert [row.name for row in here.list(hidden=True)] == ["notes"]
    fill(notes, {"b": b"b"})
    here.push(notes)
    assert [row.versions for row in here.list()] == [2]
    here.delete("notes")
    with raises(NotFound, "directory_not_found"):
        here.log("notes")
    assert vault.gc(spare_seconds=-1).objects == 4
    assert here.push(notes).version.v == 1
    here.clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == {"b": b"b"}
    sound(vault)


def test_a_collector_beside_pushes_takes_nothing(tmp_path: Path, vault: Vault) -> None:
    here = memory(vault)
    root = fill(tmp_path / "notes", {"a": b"0"})
    here.init(root)
    done = threading.Event()
    failed: list[BaseException] = []

    def collect() -> None:
        try:
            while not done.is_set():
                vault.gc(spare_seconds=-1)
        except Exception as exc:  # noqa: BLE001 - shown by the assertion below
            failed.append(exc)

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        chance = random.Random(5)
        for turn in range(15):
            fill(root, {"a": b"%d" % (turn % 3), "big": chance.randbytes(1_500_000)})
            here.push(root)
    finally:
        done.set()
        collector.join()
    assert failed == []
    sound(vault)
    here.clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == held(root)


def test_an_idempotency_key_gives_the_first_answer(notes: Path, vault: Vault) -> None:
    here = memory(vault)
    fill(notes, {"a": b"1"})
    first = here.push(notes, key="k")
    seq = vault.status().seq
    assert here.push(notes, key="k").version == first.version
    assert vault.status().seq == seq
    with raises(Conflict, "revision_moved"):
        fill(notes, {"a": b"2"})
        here.push(notes, expect=1)


def test_a_lost_state_loses_nothing(notes: Path, vault: Vault) -> None:
    fill(notes, {"b": b"b"})
    memory(vault).push(notes)
    open_folder(notes).keep_state(State(directory="another", v=7))
    assert memory(vault).push(notes).outcome == "unchanged"
    (notes / ".holdfast/state.json").write_bytes(b"{torn")
    (notes / "c").write_bytes(b"c")
    pushed = memory(vault).push(notes)
    assert pushed.conflicts == ()
    memory(vault).pull(notes)
    assert held(notes) == {"b": b"b", "c": b"c"}
