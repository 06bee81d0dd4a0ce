"""What differs between two trees, and between two contents."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.trees.compare import compare
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.tree import EMPTY, build_tree
from holdfast.core.trees.unified import GONE, NEW, SAME, hunks, unified
from holdfast.errors import Refused
from holdfast.model.tree import FILE, LINK, PROGRAM, Change, Node
from holdfast.testing import raises


def node(kind: str, content: bytes) -> Node:
    return Node(kind, 1, len(content), digest_of(content))


PATHS = st.sampled_from(["a", "b", "b.c", "d", "d/x", "d/y", "d/e/z", "b/c"])
NODES = st.builds(node, st.sampled_from([FILE, PROGRAM, LINK]), st.sampled_from([b"1", b"2"]))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for path, leaf in draw(st.dictionaries(PATHS, NODES | st.just(EMPTY), max_size=6)).items():
        if not any(path.startswith(p + "/") or p.startswith(path + "/") for p in found):
            found[path] = leaf
    return found


@given(trees(), trees())
def test_compare_is_the_difference_of_the_leaves(
    before: dict[str, Node], after: dict[str, Node]
) -> None:
    old, new = build_tree(before.items()), build_tree(after.items())
    folders = old.folders | new.folders
    expected = [
        Change(path=path, before=before.get(path), after=after.get(path))
        for path in sorted(before.keys() | after.keys(), key=lambda path: path.split("/"))
        if before.get(path) != after.get(path)
    ]
    changes = list(compare(old.root, new.root, folders.__getitem__))
    assert sorted(changes, key=repr) == sorted(expected, key=repr)
    assert [change.path for change in changes] == [change.path for change in expected]


def test_changes_have_kinds() -> None:
    before = {
        "added to": EMPTY,
        "content": node(FILE, b"1"),
        "gone": node(FILE, b"1"),
        "mode": node(FILE, b"1"),
        "both": node(FILE, b"1"),
        "type": node(FILE, b"1"),
        "was folder/x": node(FILE, b"1"),
    }
    after = {
        "added to/x": node(FILE, b"1"),
        "content": node(FILE, b"2"),
        "mode": node(PROGRAM, b"1"),
        "both": node(PROGRAM, b"2"),
        "type": node(LINK, b"1"),
        "was folder": node(FILE, b"1"),
    }
    old, new = build_tree(before.items()), build_tree(after.items())
    changes = compare(old.root, new.root, (old.folders | new.folders).__getitem__)
    assert [(change.kind, change.path) for change in changes] == [
        ("deleted", "added to"),
        ("added", "added to/x"),
        ("modified", "both"),
        ("modified", "content"),
        ("deleted", "gone"),
        ("mode", "mode"),
        ("type", "type"),
        ("added", "was folder"),
        ("deleted", "was folder/x"),
    ]


def test_equal_folders_are_not_opened() -> None:
    leaves = {f"d{d}/f{f}": node(FILE, b"%d" % f) for d in range(50) for f in range(20)}
    old = build_tree(leaves.items())
    new = build_tree((leaves | {"d7/f3": node(FILE, b"new")}).items())
    opened: list[str] = []

    def load(digest: str) -> bytes:
        opened.append(digest)
        return (old.folders | new.folders)[digest]

    assert [change.path for change in compare(old.root, new.root, load)] == ["d7/f3"]
    assert len(opened) == 4
    assert list(compare(old.root, old.root, load)) == []
    assert len(opened) == 4


def test_a_comparison_is_bounded() -> None:
    new = build_tree((f"f{number}", node(FILE, b"1")) for number in range(20))
    with raises(Refused, "tree_too_large"):
        list(compare(EMPTY, new.root, new.folders.__getitem__, changes_max=10))


# --- lines ----------------------------------------------------------------------------------------

LINES = st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n", b"\xff\n", b"e \x0c\n"])
TEXTS = st.tuples(st.lists(LINES, max_size=20), st.sampled_from([b"", b"end"])).map(
    lambda parts: b"".join(parts[0]) + parts[1]
)


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_hunks_lead_from_one_text_to_the_other(before: bytes, after: bytes, context: int) -> None:
    old = before.split(b"\n")
    old = [line + b"\n" for line in old[:-1]] + ([old[-1]] if old[-1] else [])
    result: list[bytes] = []
    at = 0
    for hunk in hunks(before, after, context):
        result += old[at : hunk.before]
        at = hunk.before
        assert len(result) == hunk.after
        for mark, line in hunk.lines:
            if mark != NEW:
                assert old[at] == line
                at += 1
            if mark != GONE:
                result.append(line)
    assert b"".join([*result, *old[at:]]) == after
    if before == after:
        assert list(hunks(before, after, context)) == []


def test_a_unified_diff_reads_as_everywhere() -> None:
    before = b"".join(b"line %d\n" % number for number in range(1, 31))
    after = before.replace(b"line 3\n", b"LINE 3\n").replace(b"line 29\n", b"") + b"last"
    assert b"".join(unified(before, after, "a/f", "b/f")).decode() == (
        "--- a/f\n+++ b/f\n"
        "@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+LINE 3\n line 4\n line 5\n line 6\n"
        "@@ -26,5 +26,5 @@\n line 26\n line 27\n line 28\n-line 29\n line 30\n"
        "+last\n\\ No newline at end of file\n"
    )
    assert b"".join(unified(b"", b"x\n", "a", "b")) == b"--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n"
    assert list(unified(b"same", b"same", "a", "b")) == []
    assert list(unified(b"\0", b"x", "a", "b")) == [b"Binary files a and b differ\n"]


@pytest.mark.skipif(not shutil.which("git"), reason="git applies the diffs")
@given(TEXTS, TEXTS)
def test_git_applies_what_we_print(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes
) -> None:
    folder: Path = tmp_path_factory.mktemp("apply")
    diff = b"".join(unified(before, after, "a/f", "b/f"))
    if not diff or diff.startswith(b"Binary"):
        return
    (folder / "f").write_bytes(before)
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "--unidiff-zero", "-"],
        input=diff,
        cwd=folder,
        capture_output=True,
        env={"GIT_CEILING_DIRECTORIES": str(folder.parent), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "f").read_bytes() == after


def test_changes_whose_surroundings_meet_are_one_hunk() -> None:
    before = b"".join(b"%d\n" % number for number in range(20))
    near = before.replace(b"\n5\n", b"\nx\n").replace(b"\n12\n", b"\ny\n")
    far = before.replace(b"\n5\n", b"\nx\n").replace(b"\n13\n", b"\ny\n")
    assert [(hunk.before, len(hunk.lines)) for hunk in hunks(before, near)] == [(2, 16)]
    assert [(hunk.before, len(hunk.lines)) for hunk in hunks(before, far)] == [(2, 8), (10, 8)]


def test_marks_are_those_of_a_diff() -> None:
    assert (SAME, GONE, NEW) == (b" ", b"-", b"+")
