"""The format of trees: golden bytes, one id for one tree, and nothing else is read."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.trees.digest import digest_of, digest_of_parts
from holdfast.core.trees.folder import decode_folder, encode_folder, folder_node
from holdfast.core.trees.tree import (
    EMPTY,
    EMPTY_BYTES,
    Tree,
    build_tree,
    find,
    open_folder,
    walk,
)
from holdfast.errors import Damaged, InvalidInput, Refused
from holdfast.model.tree import FILE, FOLDER, LINK, PROGRAM, Node
from holdfast.testing import raises

HELLO = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
SHELL = "sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
TARGET = "sha256:b33a8099b01219568f1660eb604d897c0ac5db4fdd84c142337f129d5a0fca4d"
NOTHING = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

GOLDEN = {
    "notes/a.md": Node(FILE, 1, 6, HELLO),
    "notes/b.md": Node(FILE, 1, 0, NOTHING),
    "ä.md": Node(FILE, 1, 6, HELLO),
    "notes.md": Node(FILE, 1, 6, HELLO),
    "run": Node(PROGRAM, 1, 10, SHELL),
    "latest": Node(LINK, 1, 10, TARGET),
    "inbox": EMPTY,
}
GOLDEN_EMPTY = "sha256:49483bcecc7cbc4aafafcbc6a57cf58f7a3cbb6d26bb74e3e175042d3add3fad"
GOLDEN_NOTES = "sha256:8d33975fa47d6253fb61feae9aacc0922b2e128002ee87272d407d32b371736c"
GOLDEN_ROOT = "sha256:fdc4f0c35693a306c411e20e72ddab67ef2c4dab73e76896bb0335f19cae643e"


@pytest.mark.row("A08")
def test_golden_tree() -> None:
    """These bytes and digests are made by `printf` and `sha256sum` in docs/design/trees.md."""
    tree = build_tree(GOLDEN.items())
    notes = (f"holdfast folder 1\nf 6 {HELLO[7:]} a.md\0f 0 {NOTHING[7:]} b.md\0").encode()
    root = (
        f"holdfast folder 1\nd 0 0 {GOLDEN_EMPTY[7:]} inbox\0l 10 {TARGET[7:]} latest\0"
        f"d 2 6 {GOLDEN_NOTES[7:]} notes\0f 6 {HELLO[7:]} notes.md\0x 10 {SHELL[7:]} run\0"
        f"f 6 {HELLO[7:]} ä.md\0"
    ).encode()
    assert tree.folders == {
        GOLDEN_EMPTY: b"holdfast folder 1\n",
        GOLDEN_NOTES: notes,
        GOLDEN_ROOT: root,
    }
    assert tree.root == Node(FOLDER, 6, 38, GOLDEN_ROOT)
    assert digest_of(b"hello\n") == HELLO
    assert digest_of(b"#!/bin/sh\n") == SHELL
    assert digest_of(b"notes/a.md") == TARGET


def test_golden_empty_tree() -> None:
    assert build_tree([]).root == EMPTY == Node(FOLDER, 0, 0, GOLDEN_EMPTY)
    assert EMPTY_BYTES == b"holdfast folder 1\n"
    assert decode_folder(EMPTY_BYTES) == {}
    assert list(walk(EMPTY, {}.__getitem__)) == []


@pytest.mark.row("A08")
def test_the_id_does_not_depend_on_order() -> None:
    leaves = list(GOLDEN.items())
    for seed in range(20):
        random.Random(seed).shuffle(leaves)
        assert build_tree(leaves).root.digest == GOLDEN_ROOT


@pytest.mark.row("A08")
@pytest.mark.parametrize(
    "changed",
    [
        {"run": Node(FILE, 1, 10, SHELL)},
        {"run": Node(PROGRAM, 1, 10, NOTHING)},
        {"run": Node(LINK, 1, 10, SHELL)},
        {"run2": Node(PROGRAM, 1, 10, SHELL)},
        {"outbox": EMPTY},
        {"notes/c": EMPTY},
    ],
)
def test_the_id_depends_on_paths_contents_and_the_executable_bit(changed: dict[str, Node]) -> None:
    assert build_tree((GOLDEN | changed).items()).root.digest != GOLDEN_ROOT


@pytest.mark.row("A08", "A25")
def test_a_content_has_one_name_however_it_was_cut() -> None:
    content = random.Random(1).randbytes(100_000)
    for size in (1, 777, 65_536, 200_000):
        cut = [content[at : at + size] for at in range(0, len(content), size)]
        assert digest_of_parts(cut) == digest_of(content)


PART = st.sampled_from(["a", "b", "a.b", "é", "名", " ", "\n", "-"])
PATH = st.lists(PART, min_size=1, max_size=3).map("/".join)
NODE = st.builds(
    lambda kind, content: Node(kind, 1, len(content), digest_of(content)),
    st.sampled_from([FILE, PROGRAM, LINK]),
    st.binary(max_size=3),
) | st.just(EMPTY)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for path, node in draw(st.dictionaries(PATH, NODE, max_size=8)).items():
        if not any(path.startswith(p + "/") or p.startswith(path + "/") for p in found):
            found[path] = node
    return found


@given(trees())
def test_a_tree_comes_back_in_the_order_of_its_parts(leaves: dict[str, Node]) -> None:
    tree = build_tree(leaves.items())
    found = list(walk(tree.root, tree.folders.__getitem__))
    assert found == sorted(leaves.items(), key=lambda leaf: leaf[0].split("/"))
    assert tree.root.files == sum(node.files for node in leaves.values())
    assert tree.root.size == sum(node.size for node in leaves.values())
    for path, node in leaves.items():
        assert find(tree.root, path, tree.folders.__getitem__) == node
        assert find(tree.root, path + "/none", tree.folders.__getitem__) is None
    for digest, data in tree.folders.items():
        assert digest_of(data) == digest
        assert encode_folder(decode_folder(data)) == data


def test_one_path_stands_for_one_thing() -> None:
    for twice in (["a", "a"], ["a", "a/b"], ["a/b", "a"]):
        with raises(InvalidInput, "path_twice"):
            build_tree([(path, Node(FILE, 1, 0, NOTHING)) for path in twice])
    tree = build_tree([("a", EMPTY), ("a/b", Node(FILE, 1, 0, NOTHING)), ("a", EMPTY)])
    assert [path for path, _ in walk(tree.root, tree.folders.__getitem__)] == ["a/b"]


@pytest.mark.row("A23")
@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/b", "a\\b", ".git", ".holdfast", "C:x", "\udcff"]
)
def test_a_folder_is_not_written_with_such_names(name: str) -> None:
    with raises(InvalidInput, "path_invalid"):
        encode_folder({"fine": Node(FILE, 1, 0, NOTHING), name: Node(FILE, 1, 0, NOTHING)})


H = NOTHING[7:]


@pytest.mark.row("A23")
@pytest.mark.parametrize(
    "body",
    [
        f"f 0 {H} a",
        f"f 0 {H} a\0\0",
        f"\0f 0 {H} a\0",
        "\0",
        f"f 0 {H} b\0f 0 {H} a\0",
        f"f 0 {H} a\0f 0 {H} a\0",
        f"f 00 {H} a\0",
        f"f +1 {H} a\0",
        f"f -1 {H} a\0",
        f"f 1_0 {H} a\0",
        f"f ١ {H} a\0",
        f"f  0 {H} a\0",
        f"f 0 {H.upper()} a\0",
        f"f 0 {H[:-1]} a\0",
        f"f 0 {H}0 a\0",
        f"f 0 {'g' * 64} a\0",
        f"f 0 {H} \0",
        f"f 0 {H} .\0",
        f"f 0 {H} ..\0",
        f"f 0 {H} a/b\0",
        f"f 0 {H} a\\b\0",
        f"f 0 {H} .git\0",
        f"f 0 {H} .holdfast\0",
        f"f 0 {H} c:\0",
        f"f 0 {H} {'x' * 256}\0",
        f"d 0 {H} a\0",
        f"d 0 0 {H}a\0",
        f"d -1 0 {H} a\0",
        f"d 0 -1 {H} a\0",
        f"q 0 {H} a\0",
        f"F 0 {H} a\0",
        "f 0 a\0",
        f"f {'9' * 5000} {H} a\0",
    ],
)
def test_bytes_that_are_not_canonical_are_damage(body: str) -> None:
    with raises(Damaged, "folder_damaged"):
        decode_folder(b"holdfast folder 1\n" + body.encode())


@pytest.mark.parametrize("data", [b"", b"holdfast folder 2\n", b"holdfast folder 1", b"\xff"])
def test_other_bytes_are_damage(data: bytes) -> None:
    with raises(Damaged, "folder_damaged"):
        decode_folder(data)


@given(trees(), st.data())
def test_a_flipped_byte_is_damage_or_another_folder(
    leaves: dict[str, Node], data: st.DataObject
) -> None:
    tree = build_tree(leaves.items())
    original = tree.folders[tree.root.digest]
    at = data.draw(st.integers(0, len(original) - 1))
    damaged = bytearray(original)
    damaged[at] ^= data.draw(st.integers(1, 255))
    try:
        found = decode_folder(bytes(damaged))
    except Damaged:
        return
    assert encode_folder(found) == bytes(damaged)
    assert found != decode_folder(original)


def test_what_a_folder_is_said_to_hold_must_be_true() -> None:
    tree = build_tree(GOLDEN.items())
    for lie in (tree.root._replace(files=7), tree.root._replace(size=0), EMPTY._replace(files=1)):
        with raises(Damaged, "folder_damaged"):
            open_folder(lie, tree.folders.__getitem__)


def nested(depth: int) -> Tree:
    node, folders = Node(FILE, 1, 0, NOTHING), {}
    for _ in range(depth):
        data = encode_folder({"d": node, "e": node})
        node = folder_node({"d": node, "e": node}, data)
        folders[node.digest] = data
    return Tree(root=node, folders=folders)


@pytest.mark.row("A23")
def test_walks_end_however_a_tree_is_made() -> None:
    bomb = nested(50)
    with raises(Refused, "tree_too_large"):
        list(walk(bomb.root, bomb.folders.__getitem__, leaves_max=1000))
    deep = nested(101)
    with raises(InvalidInput, "path_invalid"):
        list(walk(deep.root, deep.folders.__getitem__))


def test_a_missing_folder_is_an_error_and_not_empty() -> None:
    tree = build_tree(GOLDEN.items())
    with pytest.raises(KeyError):
        list(walk(tree.root, {GOLDEN_ROOT: tree.folders[GOLDEN_ROOT]}.__getitem__))


@pytest.mark.row("A08")
@pytest.mark.skipif(not shutil.which("sha256sum"), reason="the shell makes the vectors")
def test_the_golden_vectors_of_the_page_are_what_a_shell_makes() -> None:
    page = Path(__file__).parent.parent / "docs" / "design" / "trees.md"
    text = page.read_text("utf-8").partition("### Golden vectors")[2].partition("\n### ")[0]
    lines = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ")]
    script = "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    expected = [line for line in lines if not line.startswith("$ ")]
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert [line.removesuffix("  -") for line in done.stdout.splitlines()] == expected
    assert expected == [GOLDEN_EMPTY[7:], GOLDEN_NOTES[7:], GOLDEN_ROOT[7:]]
