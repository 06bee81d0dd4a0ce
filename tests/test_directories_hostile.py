"""Versioned directories among odd trees, hostile neighbours and failing disks: what comes back is
what was there, nothing leaves its folder, and what cannot be done is said and leaves the old state.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from cli_vault import cli_in
from directory_sample import Content, fill, held, memory, names, sound
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.folder import encode_folder
from holdfast.core.trees.tree import EMPTY
from holdfast.engine.directories.folder import open_folder
from holdfast.engine.directories.layout import lay_out_new
from holdfast.engine.directories.objects import Objects
from holdfast.engine.directories.scan import silent
from holdfast.engine.vault import Vault
from holdfast.errors import Conflict, Damaged, InvalidInput, Refused, StorageFailed
from holdfast.model.tree import FOLDER, LINK, Node
from holdfast.testing import ManualClock, raises
from holdfast.wiring import open_vault

MIB = 1024 * 1024
FULL_DISK = Path(__file__).parent / "programs" / "full_disk.py"
ELSEWHERE = ["CON", "aux.txt", "end. ", "a.", "a<b>|?*", "-rf", "~", "$HOME", "a\nb", "\u202etxt"]
TWINS = ["Name", "name", "NAME", "\u00e9", "e\u0301", "\u1e9e", "ss"]


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


# Odd trees

sizes = st.sampled_from([0, 1, 4095, 65_535, 65_536, MIB - 1, MIB, MIB + 1, 3 * MIB])
contents = (
    st.binary(max_size=300)
    | sizes.map(lambda size: random.Random(size).randbytes(size))
    | sizes.map(bytes)
    | st.binary(max_size=64).map(lambda data: ("x", data))
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).map(
        lambda target: ("l", target[:200])
    )
    | st.none()
)


@st.composite
def odd_trees(draw: st.DrawFn) -> Content:
    found: Content = {}
    part = names | st.sampled_from(ELSEWHERE + TWINS)
    for parts in draw(st.lists(st.lists(part, min_size=1, max_size=12), max_size=10)):
        path = "/".join(parts)
        if not any(f"{path}/".startswith(f"{a}/") or a.startswith(f"{path}/") for a in found):
            found[path] = draw(contents)
    return found


def comes_back(first: Content, second: Content, where: Path) -> None:
    with holdfast.open("memory:") as vault:
        here = memory(vault)
        root = fill(where / "notes", first)
        here.init(root)
        here.push(root)
        fill(root, second)
        pushed = here.push(root)
        here.clone("notes", where / "one", version="v1")
        assert held(where / "one") == first
        here.pull(where / "one")
        assert held(where / "one") == held(root) == second
        again = fill(where / "again", second)
        here.init(again, "elsewhere")
        assert here.push(again).version.tree == pushed.version.tree
        sound(vault)


@pytest.mark.row("A08", "A22")
def test_a_link_keeps_the_slash_at_its_end(tmp_path: Path) -> None:
    comes_back({"a": ("l", "there/")}, {"a": ("l", "there")}, tmp_path / "one")
    comes_back({}, {"a": ("l", "0/"), "b": ("l", "x//y/.")}, tmp_path / "other")


@pytest.mark.row("A08", "A23")
@given(first=odd_trees(), second=odd_trees())
@settings(max_examples=15)
def test_odd_trees_come_back_byte_for_byte(
    first: Content, second: Content, tmp_path_factory: pytest.TempPathFactory
) -> None:
    comes_back(first, second, tmp_path_factory.mktemp("tree"))


@pytest.mark.slow
@pytest.mark.row("A08", "A23")
@given(first=odd_trees(), second=odd_trees())
@settings(max_examples=400)
def test_many_odd_trees_come_back_byte_for_byte(
    first: Content, second: Content, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = tmp_path_factory.mktemp("tree")
    comes_back(first, second, where)
    shutil.rmtree(where)


@pytest.mark.row("A23")
def test_names_that_others_take_for_one_are_kept_apart(tmp_path: Path, vault: Vault) -> None:
    content: Content = {name: name.encode() for name in TWINS}
    content |= {f"sub/{name}/f": name.encode() for name in TWINS}
    root = fill(tmp_path / "notes", content)
    memory(vault).init(root)
    memory(vault).push(root)
    memory(vault).clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == content


def test_a_tree_as_deep_as_may_be_comes_back_and_a_deeper_one_is_refused(
    tmp_path: Path, vault: Vault
) -> None:
    deep: Content = {"/".join(["d"] * 99 + [name]): name.encode() for name in ("a", "b")}
    root = fill(tmp_path / "notes", deep)
    memory(vault).init(root)
    memory(vault).push(root)
    memory(vault).clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == deep
    seq = vault.status().seq
    (root / "/".join(["d"] * 100)).mkdir()
    (root / "/".join(["d"] * 100) / "c").write_bytes(b"")
    with raises(InvalidInput, "path_invalid"):
        memory(vault).push(root)
    assert vault.status().seq == seq


@pytest.mark.row("A21")
def test_many_files_and_a_large_hole_come_back(tmp_path: Path, vault: Vault) -> None:
    many: Content = {f"{n % 7}/{n % 60}/{n}": b"%d" % n for n in range(4_000)}
    root = fill(tmp_path / "notes", many)
    with (root / "hole").open("wb") as file:
        file.seek(40 * MIB)
        file.write(b"end")
    memory(vault).init(root)
    pushed = memory(vault).push(root)
    assert (pushed.version.files, pushed.version.size) == (
        4_001,
        40 * MIB + 3 + sum(len(str(n)) for n in range(4_000)),
    )
    assert pushed.stored_bytes < MIB, "equal stretches are stored once"
    memory(vault).clone("notes", tmp_path / "copy")
    assert held(tmp_path / "copy") == held(root)


@pytest.mark.row("A21")
def test_a_huge_file_is_refused_before_it_is_read(
    tmp_path: Path, notes: Path, vault: Vault
) -> None:
    with (notes / "huge").open("wb") as file:
        file.truncate(2 << 40)
    read: list[str] = []
    with raises(Refused, "tree_too_large"):
        memory(vault).push(notes, progress=lambda what, _files, _size: read.append(what))
    assert read == []
    assert memory(vault).version("notes").v == 1


@pytest.mark.row("A22", "A23")
def test_devices_are_reported_and_never_opened(tmp_path: Path, notes: Path, vault: Vault) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    try:
        os.mknod(notes / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices may be made here")
    os.mkfifo(notes / "pipe")
    pushed = memory(vault).push(notes)
    assert (pushed.outcome, sorted(pushed.left_out)) == ("unchanged", ["pipe", "zero"])


def test_of_permissions_the_executable_bit_is_kept(tmp_path: Path, vault: Vault) -> None:
    root = fill(tmp_path / "notes", {"run": ("x", b"#!"), "a": b"a", "sub/b": b"b"})
    for name, mode in (("run", 0o4711), ("a", 0o644), ("sub/b", 0o600), ("sub", 0o711)):
        (root / name).chmod(mode)
    memory(vault).init(root)
    first = memory(vault).push(root).version
    (root / "a").chmod(0o400)
    (root / "sub").chmod(0o700)
    assert memory(vault).push(root).outcome == "unchanged"
    (root / "a").chmod(0o744)
    assert memory(vault).push(root).version.tree != first.tree
    before = os.umask(0o027)
    try:
        memory(vault).clone("notes", tmp_path / "copy")
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "copy").rglob("*")}
    assert (modes["run"], modes["a"], modes["b"]) == (0o750, 0o750, 0o640)


# Trees and neighbours that want out


@pytest.mark.row("A23")
@pytest.mark.parametrize("name", ["..", ".", "a/b", "", "C:x", "a\\b", ".git", ".holdfast", "a\0"])
def test_no_tree_brings_a_name_that_leaves_its_folder(
    tmp_path: Path, vault: Vault, name: str
) -> None:
    """A hand-made folder object, as a damaged or hostile store could hold it."""
    data = b"out"
    leaf = b"f 3 %s " % digest_of(data).removeprefix("sha256:").encode()
    folder = encode_folder({}) + leaf + name.encode() + b"\0"
    root = Node(FOLDER, 1, 3, digest_of(folder))
    objects = Objects(vault._core.storage, {digest_of(data): data, digest_of(folder): folder})
    place = tmp_path / "place" / "inner"
    place.mkdir(parents=True)
    with pytest.raises((Damaged, InvalidInput)):
        lay_out_new(place, root, objects, silent)
    assert held(tmp_path / "place") == {"inner": None}


@pytest.mark.row("A23")
def test_a_tree_cannot_write_through_a_link_of_its_own(tmp_path: Path, vault: Vault) -> None:
    """`sub` as a link and as a folder at once is no tree, whatever its bytes say."""
    outside = fill(tmp_path / "outside", {})
    target = str(outside).encode()
    inner = encode_folder({"f": Node("f", 1, 3, digest_of(b"out"))})
    below = Node(FOLDER, 1, 3, digest_of(inner))
    both = encode_folder({"sub": Node(LINK, 1, len(target), digest_of(target))})
    both += encode_folder({"sub": below}).removeprefix(encode_folder({}))
    known = {digest_of(data): data for data in (target, inner, both, b"out")}
    root = Node(FOLDER, 2, 3 + len(target), digest_of(both))
    place = tmp_path / "place"
    place.mkdir()
    with raises(Damaged, "folder_damaged"):
        lay_out_new(place, root, Objects(vault._core.storage, known), silent)
    assert held(outside) == {}


@pytest.mark.row("A22", "A23")
def test_links_swapped_in_under_a_pull_and_a_push_lead_nowhere(
    tmp_path: Path, vault: Vault
) -> None:
    """A neighbour turns `sub` into a link to a folder outside and back, all the while."""
    here, outside = memory(vault), fill(tmp_path / "outside", {"f": b"secret", "g": b"secret"})
    root = fill(tmp_path / "notes", {"sub/f": b"1", "sub/g": b"1"})
    here.init(root)
    here.push(root)
    fill(root, {"sub/f": b"2", "sub/h": b"2"})
    here.push(root)
    aside, stop = tmp_path / "aside", threading.Event()

    def swap() -> None:
        while not stop.is_set():
            try:
                (root / "sub").rename(aside)
                (root / "sub").symlink_to(outside)
                (root / "sub").unlink()
                aside.rename(root / "sub")
            except OSError:  # a pull put something in the place
                shutil.rmtree(aside, ignore_errors=True)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for turn in range(60):
            try:
                here.pull(root, version=f"v{1 + turn % 2}", force=True)
                here.push(root)
            except (StorageFailed, Refused, Conflict) as exc:
                assert exc.code in ("file_changing", "folder_failed", "path_blocked"), exc
    finally:
        stop.set()
        swapping.join()
    assert held(outside) == {"f": b"secret", "g": b"secret"}
    for version in here.log("notes", limit=1_000):
        here.clone("notes", tmp_path / "copy", version=f"v{version.version.v}")
        kept = held(tmp_path / "copy").values()
        assert b"secret" not in kept
        shutil.rmtree(tmp_path / "copy")
    sound(vault)


# Disks and vaults that fail


@pytest.mark.row("A23", "A26")
def test_a_full_disk_is_an_error_and_leaves_the_old_state(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FULL_DISK), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "push storage_io",
        "pull folder_failed",
        "clone folder_failed",
    ]


@pytest.mark.row("A23", "A26")
@pytest.mark.parametrize("table", ["pack", "object"])
def test_what_rotted_is_named_and_never_laid_out(
    tmp_path: Path, notes: Path, vault: Vault, table: str
) -> None:
    here, other = memory(vault), tmp_path / "other"
    here.clone("notes", other)
    (notes / "b.md").write_bytes(b"b" * 77)
    here.push(notes)
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    where = "(SELECT pack FROM object WHERE size = 77)"
    change = {
        "pack": f"UPDATE pack SET data = zeroblob(length(data)) WHERE number = {where}",
        "object": "UPDATE object SET at = at + 1 WHERE size = 77",
    }[table]
    conn.execute(change)
    conn.close()
    assert f"object {digest_of(b'b' * 77)}" in {problem.what for problem in vault.verify()}
    for force in (False, True):
        with raises(Damaged, "object_damaged"):
            here.pull(other, force=force)
        assert held(other) == {"a.md": b"one\ntwo\nthree\n"}
    assert here.status(other).base == 1
    here.push(notes, force=True)
    here.pull(other)
    assert held(other) == held(notes)
    sound(vault)


@pytest.mark.row("A23")
def test_a_vault_that_vanished_takes_no_push(tmp_path: Path, notes: Path, vault: Vault) -> None:
    away = (tmp_path / "vault").rename(tmp_path / "away")
    (notes / "b").write_bytes(b"b")
    with raises(StorageFailed, "vault_gone"):
        memory(vault).push(notes)
    with holdfast.open(tmp_path / "vault") as another, raises(Conflict, "vault_other"):
        memory(another).push(notes)
    shutil.rmtree(tmp_path / "vault")
    away.rename(tmp_path / "vault")
    assert memory(vault).push(notes).version.v == 2
    sound(vault)


@pytest.mark.row("A23")
def test_a_missing_mount_is_no_empty_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = cli_in(tmp_path, monkeypatch)
    root = fill(tmp_path / "my-notes", {"a": b"a"})
    os.chdir(root)
    cli.says("memory", "init")
    cli.says("memory", "push")
    cli.vault.rename(tmp_path / "unmounted")
    (root / "b").write_bytes(b"b")
    for verb in ("status", "pull", "push"):
        assert cli.refuses("memory", verb) == "vault_other"
    assert held(root) == {"a": b"a", "b": b"b"}
    assert cli.says("memory", "push", "--force").startswith("my-notes v1 ")
    shutil.rmtree(cli.vault)
    (tmp_path / "unmounted").rename(cli.vault)
    assert cli.says("memory", "push").startswith("my-notes v3 "), "its own, merged with the old"
    sound_by_cli = cli.says("verify")
    assert "problem" not in sound_by_cli or "no problem" in sound_by_cli


@pytest.mark.row("A15")
def test_a_clock_that_jumps_back_leaves_the_order_as_it_was(tmp_path: Path) -> None:
    clock = ManualClock()
    with open_vault(tmp_path / "vault", clock=clock) as vault:
        here = memory(vault)
        root = fill(tmp_path / "notes", {"a": b"1"})
        here.init(root)
        here.push(root)
        clock.advance(us=3_600_000_000)
        fill(root, {"a": b"2"})
        here.push(root)
        clock.advance(us=-86_400_000_000)
        fill(root, {"a": b"3"})
        third = here.push(root).version
        assert [entry.version.v for entry in here.log("notes")] == [3, 2, 1]
        assert here.version("notes") == here.version("notes", third.at.isoformat()) == third
        assert vault.gc(spare_seconds=3_600).objects == 0
        clock.advance(us=10**15)
        vault.gc(spare_seconds=0)
        here.clone("notes", tmp_path / "copy", version="v1")
        assert held(tmp_path / "copy") == {"a": b"1"}
        sound(vault)


@pytest.mark.row("A23")
def test_a_vault_of_a_newer_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = cli_in(tmp_path, monkeypatch)
    root = fill(tmp_path / "my-notes", {"a": b"a"})
    os.chdir(root)
    cli.says("memory", "init")
    cli.says("memory", "push")
    conn = apsw.Connection(str(cli.vault / "vault.db"))
    conn.execute("INSERT INTO migration SELECT max(number) + 1, 'x', x'00', 0 FROM migration")
    conn.execute("PRAGMA user_version = 9999")
    conn.close()
    for verb in ("push", "pull", "status", "list"):
        assert cli.refuses("memory", verb) == "schema_newer"
    assert held(root) == {"a": b"a"}


def test_a_stat_cache_of_rubbish_costs_time_only(notes: Path, vault: Vault) -> None:
    for rubbish in (b"", b"holdfast stat cache 1\n" + b"x" * 99, os.urandom(500)):
        (notes / ".holdfast" / "statcache").write_bytes(rubbish)
        assert memory(vault).push(notes).outcome == "unchanged"
    assert open_folder(notes).cache() != {}
    assert EMPTY.digest.startswith("sha256:49483bce")
