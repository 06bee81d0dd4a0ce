"""Three-way merge of trees: nothing is lost, and what cannot merge lies side by side."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.core.merge.trees import Conflict, MergedTree, beside_names, merge_trees
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.tree import EMPTY, build_tree, walk
from holdfast.errors import InvalidInput, Refused
from holdfast.model.tree import FILE, FOLDER, LINK, PROGRAM, Node, check_path
from holdfast.testing import raises

Leaves = dict[str, tuple[str, bytes]]
FOLDER_LEAF = (FOLDER, b"")


class Trees:
    """Trees that are written as leaves: path to (kind, content)."""

    def __init__(self) -> None:
        self.folders: dict[str, bytes] = {}
        self.contents: dict[str, bytes] = {}

    def put(self, leaves: Leaves) -> Node:
        nodes: list[tuple[str, Node]] = []
        for path, (kind, content) in leaves.items():
            digest = digest_of(content)
            self.contents[digest] = content
            nodes.append((path, EMPTY if kind == FOLDER else Node(kind, 1, len(content), digest)))
        tree = build_tree(nodes)
        self.folders.update(tree.folders)
        return tree.root

    def get(self, root: Node) -> Leaves:
        return {
            path: (node.kind, b"" if node.kind == FOLDER else self.contents[node.digest])
            for path, node in walk(root, self.folders.__getitem__)
        }

    def merge(self, base: Node, ours: Node, theirs: Node) -> MergedTree:
        merged = merge_trees(
            base, ours, theirs, load=self.folders.__getitem__, read=self.contents.__getitem__
        )
        self.folders.update(merged.folders)
        self.contents.update(merged.contents)
        return merged


def merged_leaves(base: Leaves, ours: Leaves, theirs: Leaves) -> tuple[Leaves, list[Conflict]]:
    trees = Trees()
    merged = trees.merge(trees.put(base), trees.put(ours), trees.put(theirs))
    return trees.get(merged.root), list(merged.conflicts)


def text(*lines: str) -> tuple[str, bytes]:
    return (FILE, "".join(f"{line}\n" for line in lines).encode())


PATHS = st.sampled_from(["a", "b.md", "d", "d/x", "d/y.json", "d/e/z", "e/f/g", "a/b"])
CONTENTS = st.sampled_from(
    [
        b"",
        b"1\n",
        b"1\n2\n",
        b"1\n2\n3\n",
        b"0\n1\n2\n",
        b"1\nX\n3\n",
        b'{"k": 1}',
        b"\0\1",
        b"- i\n",
    ]
)
LEAF = st.tuples(st.sampled_from([FILE, FILE, PROGRAM, LINK, FOLDER]), CONTENTS)


@st.composite
def leaves(draw: st.DrawFn) -> Leaves:
    found: Leaves = {}
    for path, (kind, content) in draw(st.dictionaries(PATHS, LEAF, max_size=6)).items():
        if not any(path.startswith(other + "/") or other.startswith(path + "/") for other in found):
            found[path] = (kind, b"" if kind == FOLDER else content or b"target")
    return found


@st.composite
def three(draw: st.DrawFn) -> tuple[Leaves, Leaves, Leaves]:
    """A base and two sides that have much of it left."""
    base = draw(leaves())
    sides: list[Leaves] = []
    for _ in range(2):
        side = {path: leaf for path, leaf in base.items() if draw(st.integers(0, 3))}
        for path, leaf in draw(leaves()).items():
            if not any(p != path and (p + "/").startswith(path + "/") for p in side) and not any(
                path.startswith(p + "/") for p in side
            ):
                side[path] = leaf
        sides.append(side)
    return base, sides[0], sides[1]


@given(leaves(), leaves())
def test_what_only_one_side_changed_is_taken_as_it_is(one: Leaves, other: Leaves) -> None:
    trees = Trees()
    base, changed = trees.put(one), trees.put(other)
    for ours, theirs in ((changed, base), (base, changed), (changed, changed)):
        merged = trees.merge(base, ours, theirs)
        assert merged == MergedTree(root=changed, folders={}, contents={}, conflicts=())


@given(three())
def test_without_conflicts_the_result_is_the_same_whoever_is_ours(
    versions: tuple[Leaves, Leaves, Leaves],
) -> None:
    trees = Trees()
    base, ours, theirs = (trees.put(version) for version in versions)
    merged = trees.merge(base, ours, theirs)
    assert trees.merge(base, ours, theirs).root == merged.root
    mirrored = trees.merge(base, theirs, ours)
    if not merged.conflicts:
        assert mirrored.root == merged.root
    places = [(conflict.path, conflict.kind) for conflict in merged.conflicts]
    assert sorted(places) == sorted((c.path, c.kind) for c in mirrored.conflicts)


def pieces(found: Leaves) -> set[tuple[str, bytes]]:
    """What the leaves hold: lines of files, whole links and binaries. JSON has tests of its own."""
    held: set[tuple[str, bytes]] = set()
    for path, (kind, content) in found.items():
        if kind == LINK or b"\0" in content:
            held.add((LINK if kind == LINK else FILE, content))
        elif kind != FOLDER and not path.endswith(".json"):
            held |= {(FILE, line) for line in content.split(b"\n") if line}
    return held


@pytest.mark.row("A20")
@given(three())
def test_nothing_that_a_side_wrote_is_lost(versions: tuple[Leaves, Leaves, Leaves]) -> None:
    base, ours, theirs = versions
    result, conflicts = merged_leaves(base, ours, theirs)
    for side in (ours, theirs):
        written = {path: leaf for path, leaf in side.items() if base.get(path) != leaf}
        fresh = pieces(written) - pieces(base)
        assert fresh <= pieces(result)
    for conflict in conflicts:
        if conflict.kind in ("content", "type"):
            assert result[conflict.path] == ours[conflict.path]
            assert result[conflict.beside] == theirs[conflict.path]
        elif conflict.kind == "deleted_changed":
            assert result[conflict.path] in (ours.get(conflict.path), theirs.get(conflict.path))
        else:
            assert conflict.kind == "file_folder"
            assert result[conflict.beside] in (ours.get(conflict.path), theirs.get(conflict.path))


@given(three())
def test_what_a_side_deleted_and_the_other_left_alone_is_gone(
    versions: tuple[Leaves, Leaves, Leaves],
) -> None:
    base, ours, theirs = versions
    result, _ = merged_leaves(base, ours, theirs)
    for path, leaf in base.items():
        for side, other in ((ours, theirs), (theirs, ours)):
            if path not in side and other.get(path) == leaf and leaf[0] != FOLDER:
                assert path not in result


@pytest.mark.row("A20")
def test_disjoint_files_lines_lists_and_keys_merge() -> None:
    base: Leaves = {
        "both.txt": text("one", "two", "three"),
        "list.md": text("# List", "- a"),
        "keys.json": (FILE, b'{"a": 1, "b": 1}\n'),
        "gone.txt": text("old"),
        "run": text("#!/bin/sh"),
        "deep/down/x": text("x"),
    }
    ours = base | {
        "both.txt": text("ONE", "two", "three"),
        "list.md": text("# List", "- a", "- ours"),
        "keys.json": (FILE, b'{"a": 2, "b": 1}\n'),
        "new/ours.txt": text("ours"),
        "run": (PROGRAM, base["run"][1]),
        "empty": FOLDER_LEAF,
    }
    theirs = base | {
        "both.txt": text("one", "two", "THREE"),
        "list.md": text("# List", "- a", "- theirs"),
        "keys.json": (FILE, b'{"a": 1, "b": 2}\n'),
        "new/theirs.txt": text("theirs"),
        "run": text("#!/bin/sh", "true"),
    }
    del theirs["gone.txt"]
    result, conflicts = merged_leaves(base, ours, theirs)
    assert conflicts == []
    assert result == {
        "both.txt": text("ONE", "two", "THREE"),
        "deep/down/x": text("x"),
        "empty": FOLDER_LEAF,
        "keys.json": (FILE, b'{"a": 2, "b": 2}\n'),
        "list.md": text("# List", "- a", "- ours", "- theirs"),
        "new/ours.txt": text("ours"),
        "new/theirs.txt": text("theirs"),
        "run": (PROGRAM, b"#!/bin/sh\ntrue\n"),
    }


@pytest.mark.row("A20")
def test_what_cannot_merge_keeps_both_sides_and_is_listed() -> None:
    base: Leaves = {"d/notes.md": text("fact"), "pic.png": (FILE, b"\0base")}
    ours: Leaves = {"d/notes.md": text("ours"), "pic.png": (FILE, b"\0ours")}
    theirs: Leaves = {"d/notes.md": text("theirs"), "pic.png": (PROGRAM, b"\0theirs")}
    result, conflicts = merged_leaves(base, ours, theirs)
    assert result == {
        "d/notes.conflict-ed9c86a6.md": text("theirs"),
        "d/notes.md": text("ours"),
        "pic.conflict-04c0fd7f.png": (PROGRAM, b"\0theirs"),
        "pic.png": (FILE, b"\0ours"),
    }
    assert conflicts == [
        Conflict(
            path="d/notes.md",
            kind="content",
            beside="d/notes.conflict-ed9c86a6.md",
            reason="lines",
            where="line 1",
        ),
        Conflict(
            path="pic.png", kind="content", beside="pic.conflict-04c0fd7f.png", reason="binary"
        ),
    ]


def test_a_repeated_merge_does_not_pile_up_versions() -> None:
    base, ours, theirs = {"n": text("1")}, {"n": text("2")}, {"n": text("3")}
    first, _ = merged_leaves(base, ours, theirs)
    again, conflicts = merged_leaves(base, first, theirs)
    assert again == first
    assert [conflict.beside for conflict in conflicts] == ["n.conflict-1121cfcc"]


def test_a_taken_name_is_not_overwritten() -> None:
    base, theirs = {"n.md": text("1")}, {"n.md": text("3")}
    ours = {"n.md": text("2"), "n.conflict-1121cfcc.md": text("mine")}
    result, conflicts = merged_leaves(base, ours, theirs)
    digits = digest_of(b"3\n").removeprefix("sha256:")
    assert conflicts[0].beside == f"n.conflict-{digits}.md"
    assert result == ours | {f"n.conflict-{digits}.md": text("3")}


@pytest.mark.row("A20")
def test_deleted_here_and_changed_there_stays_changed() -> None:
    base: Leaves = {"a": text("1"), "b": text("1"), "c/x": text("1"), "c/y": text("1")}
    ours: Leaves = {"b": text("2")}
    theirs: Leaves = {"a": text("2"), "c/x": text("2"), "c/y": text("1")}
    for one, other in ((ours, theirs), (theirs, ours)):
        result, conflicts = merged_leaves(base, one, other)
        assert result == {"a": text("2"), "b": text("2"), "c/x": text("2")}
        assert [(conflict.path, conflict.kind) for conflict in conflicts] == [
            ("a", "deleted_changed"),
            ("b", "deleted_changed"),
            ("c/x", "deleted_changed"),
        ]


def test_a_file_yields_its_name_to_a_folder() -> None:
    ours: Leaves = {"n": text("file")}
    theirs: Leaves = {"n/x": text("inside")}
    for one, other in ((ours, theirs), (theirs, ours)):
        result, conflicts = merged_leaves({}, one, other)
        assert result == {"n/x": text("inside"), "n.conflict-8b911a87": text("file")}
        assert [(conflict.path, conflict.kind) for conflict in conflicts] == [("n", "file_folder")]
    assert merged_leaves(ours, theirs, ours) == (theirs, [])
    assert merged_leaves(theirs, ours, {}) == (ours, [])
    assert merged_leaves(theirs, {}, ours) == (ours, [])


def test_links_are_kept_side_by_side() -> None:
    base: Leaves = {"l": (LINK, b"a")}
    result, conflicts = merged_leaves(base, {"l": (LINK, b"b")}, {"l": text("now a file")})
    assert result["l"] == (LINK, b"b")
    assert result[conflicts[0].beside] == text("now a file")
    assert [(conflict.path, conflict.kind) for conflict in conflicts] == [("l", "type")]


def test_an_empty_folder_lives_while_a_side_keeps_it() -> None:
    kept: Leaves = {"d": FOLDER_LEAF}
    full: Leaves = {"d/x": text("x")}
    assert merged_leaves(full, kept, {}) == ({}, [])
    assert merged_leaves({}, kept, full) == (full, [])
    assert merged_leaves(full, kept, full | {"y": text("y")}) == (kept | {"y": text("y")}, [])
    two = {"d/x": text("x"), "d/y": text("y")}
    assert merged_leaves(two, {"d/x": text("x")}, {"d/y": text("y")}) == (kept, [])
    assert merged_leaves(kept, kept | {"d2": FOLDER_LEAF}, {}) == ({"d2": FOLDER_LEAF}, [])


def test_first_runs_that_both_made_the_file_merge_their_lists() -> None:
    ours: Leaves = {"MEMORY.md": text("# Memory", "", "- likes tea")}
    theirs: Leaves = {"MEMORY.md": text("# Memory", "", "- lives in Oslo")}
    result, conflicts = merged_leaves({}, ours, theirs)
    assert conflicts == []
    assert result == {"MEMORY.md": text("# Memory", "", "- likes tea", "- lives in Oslo")}


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_names_beside_fit_and_differ(name: str) -> None:
    name = name.replace("/", "_").replace("\\", "_").replace("\0", "_").replace(":", "_")
    name = name.encode()[:255].decode(errors="ignore")
    assume(name not in (".", "..", ".git", ".holdfast"))
    found = list(islice(beside_names(name, digest_of(b"x")), 4))
    assert len(set(found)) == 4
    for beside in found:
        assert check_path(beside) == beside
    assert "conflict-2d711642" in found[0]


def test_endings_stay_at_the_end() -> None:
    def first(name: str) -> str:
        return next(beside_names(name, digest_of(b"x")))

    assert first("a.md") == "a.conflict-2d711642.md"
    assert first("a.tar.gz") == "a.tar.conflict-2d711642.gz"
    assert first(".env") == ".env.conflict-2d711642"
    assert first("Makefile") == "Makefile.conflict-2d711642"
    assert first("ä" * 127) == "ä" * 118 + ".conflict-2d711642"


def test_a_large_file_is_not_read_to_merge_it() -> None:
    def big(name: bytes) -> Node:
        return build_tree([("f", Node(FILE, 1, 10**9, digest_of(name)))]).root

    trees = {}
    for name in (b"1", b"2", b"3"):
        trees |= build_tree([("f", Node(FILE, 1, 10**9, digest_of(name)))]).folders

    def read(digest: str) -> bytes:
        raise AssertionError(digest)

    merged = merge_trees(big(b"1"), big(b"2"), big(b"3"), load=trees.__getitem__, read=read)
    assert [conflict.reason for conflict in merged.conflicts] == ["too_large"]


def test_a_tree_that_is_too_deep_is_refused() -> None:
    from holdfast.core.trees.folder import encode_folder, folder_node

    trees: dict[str, bytes] = {}

    def chain(content: bytes) -> Node:
        node = Node(FILE, 1, 1, digest_of(content))
        for _ in range(150):
            data = encode_folder({"d": node})
            node = folder_node({"d": node}, data)
            trees[node.digest] = data
        return node

    with raises(InvalidInput, "path_invalid"):
        merge_trees(
            chain(b"1"), chain(b"2"), chain(b"3"), load=trees.__getitem__, read=trees.__getitem__
        )


def test_a_tree_that_repeats_itself_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from holdfast.core.merge import trees as module
    from holdfast.core.trees.folder import encode_folder, folder_node

    monkeypatch.setattr(module, "LEAVES_MAX", 1000)
    folders: dict[str, bytes] = {}

    def bomb(content: bytes) -> Node:
        node = Node(FILE, 1, 0, digest_of(content))
        for _ in range(60):
            nodes = {"a": node, "b": node}
            data = encode_folder(nodes)
            node = folder_node(nodes, data)
            folders[node.digest] = data
        return node

    with raises(Refused, "tree_too_large"):
        merge_trees(
            bomb(b"1"), bomb(b"2"), bomb(b"3"), load=folders.__getitem__, read=lambda _: b"x"
        )
