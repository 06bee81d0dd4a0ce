"""How contents are cut and packed, and what a collector keeps."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyfastcdc import FastCDC

from holdfast.core.trees import reach as module
from holdfast.core.trees.cut import (
    FILE_CUT,
    FOLDER_CUT,
    RAW,
    ZSTD,
    ZSTD_LEVEL,
    Cut,
    Part,
    decode_recipe,
    encode_recipe,
    packed,
)
from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.packs import PACK_ALONE_BYTES, PACK_BYTES, packs
from holdfast.core.trees.reach import Marks, Reach, garbage, mark
from holdfast.core.trees.tree import EMPTY, build_tree, find
from holdfast.engine.directories.beside import beside
from holdfast.errors import Damaged
from holdfast.model.tree import FILE, Node
from holdfast.testing import raises

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def cut(content: bytes, sizes: Cut) -> list[Part]:
    cutter = FastCDC(avg_size=sizes.part_average, min_size=sizes.part_min, max_size=sizes.part_max)
    chunks = [bytes(chunk.data) for chunk in cutter.cut_buf(content)]
    return [Part(digest=digest_of(chunk), size=len(chunk)) for chunk in chunks]


@pytest.mark.row("A25")
def test_a_byte_inserted_into_a_large_file_stores_little() -> None:
    content = random.Random(1).randbytes(12_000_000)
    before = cut(content, FILE_CUT)
    after = cut(content[:5_000_000] + b"x" + content[5_000_000:], FILE_CUT)
    assert sum(part.size for part in before) == len(content)
    assert sum(part.size for part in set(after) - set(before)) < 1_000_000
    assert max(part.size for part in before) <= FILE_CUT.part_max


@pytest.mark.row("A25")
def test_a_file_added_to_a_large_folder_stores_little() -> None:
    leaves = {
        f"file {number:05}.md": Node(FILE, 1, number, digest_of(b"%d" % number))
        for number in range(5_000)
    }
    before = build_tree(leaves.items())
    after = build_tree((leaves | {"file 02500a.md": EMPTY._replace(kind=FILE, files=1)}).items())
    parts = [cut(tree.folders[tree.root.digest], FOLDER_CUT) for tree in (before, after)]
    assert len(before.folders[before.root.digest]) > FOLDER_CUT.whole_max
    assert sum(part.size for part in set(parts[1]) - set(parts[0])) <= 2 * FOLDER_CUT.part_max


PARTS = st.lists(
    st.builds(
        lambda content: Part(digest=digest_of(content), size=len(content)), st.binary(min_size=1)
    ),
    min_size=1,
    max_size=5,
)


@given(PARTS)
def test_a_recipe_comes_back(parts: list[Part]) -> None:
    size = sum(part.size for part in parts)
    assert decode_recipe(encode_recipe(parts), size) == tuple(parts)
    with raises(Damaged, "recipe_damaged"):
        decode_recipe(encode_recipe(parts), size + 1)


HEX = digest_of(b"").removeprefix("sha256:")


@pytest.mark.parametrize(
    "data",
    [
        "",
        "holdfast recipe 1\n",
        f"holdfast recipe 2\n5 {HEX}\n",
        f"5 {HEX}\n",
        f"holdfast recipe 1\n5 {HEX}",
        f"holdfast recipe 1\n05 {HEX}\n",
        f"holdfast recipe 1\n5  {HEX}\n",
        f"holdfast recipe 1\n5 {HEX.upper()}\n",
        f"holdfast recipe 1\n5 {HEX[1:]}\n",
        f"holdfast recipe 1\n5 {HEX}\r\n",
        f"holdfast recipe 1\n0 {HEX}\n5 {HEX}\n",
        f"holdfast recipe 1\n-5 {HEX}\n10 {HEX}\n",
        f"holdfast recipe 1\nx {HEX}\n",
        "holdfast recipe 1\n5\n",
        "\u00e4",
    ],
)
def test_other_recipes_are_damage(data: str) -> None:
    with raises(Damaged, "recipe_damaged"):
        decode_recipe(data.encode(), 5)


def test_only_what_shrinks_is_compressed() -> None:
    def compress(content: bytes) -> bytes:
        return zstd.compress(content, ZSTD_LEVEL)

    prose = b"the same words, again and again. " * 100
    form, stored = packed(prose, compress)
    assert form == ZSTD
    assert zstd.decompress(stored) == prose
    for noise in (random.Random(1).randbytes(5000), b"", b"x", b"short"):
        assert packed(noise, compress) == (RAW, noise)
    assert packed(b"x" * 16, lambda _: b"y" * 15) == (RAW, b"x" * 16)
    assert packed(b"x" * 16, lambda _: b"y" * 14) == (ZSTD, b"y" * 14)


def name(number: int) -> str:
    return digest_of(b"%d" % number)


def plain(content: bytes) -> tuple[str, bytes]:
    return RAW, content


@given(st.lists(st.binary(max_size=60) | st.integers(0, 3).map(lambda n: bytes(n * 40_000))))
def test_every_object_lies_in_one_pack(contents: list[bytes]) -> None:
    given = [(name(number), number % 7 == 3, 9, data) for number, data in enumerate(contents)]
    found: dict[str, bytes] = {}
    for pack in packs(given, plain):
        assert (pack.form, pack.size) == (RAW, len(pack.data))
        end = 0
        for item in pack.items:
            assert (item.at, item.size) == (end, 9)
            end += item.length
            assert item.name not in found
            found[item.name] = pack.data[item.at : end]
        assert end == pack.size
    assert found == {item[0]: item[3] for item in given}


def test_small_objects_share_a_pack_and_large_ones_lie_alone() -> None:
    small, large = b"x" * (PACK_BYTES // 4), b"y" * PACK_ALONE_BYTES
    given = [
        (name(n), False, 0, data) for n, data in enumerate([small] * 3 + [large] + [small] * 2)
    ]
    made = packs(iter(given), plain)
    assert [item.name for item in next(made).items] == [name(3)], "as soon as it is there"
    assert [[item.name for item in pack.items] for pack in made] == [
        [name(0), name(1), name(2), name(4)],
        [name(5)],
    ]


# --- what a collector keeps -----------------------------------------------------------------------


def no_parts(names: Iterable[str]) -> Iterable[str]:
    return ()


@given(st.lists(st.lists(st.integers(0, 300)), max_size=20), st.integers(0, 50))
def test_marks_are_a_set(batches: list[list[int]], pending_max: int) -> None:
    before = module.PENDING_MAX
    module.PENDING_MAX = pending_max
    try:
        marks, model = Marks(), set[str]()
        for batch in batches:
            names = [name(number) for number in batch]
            fresh = marks.add(names)
            assert fresh == list(dict.fromkeys(n for n in names if n not in model))
            model.update(names)
            assert all((name(number) in marks) == (name(number) in model) for number in range(20))
    finally:
        module.PENDING_MAX = before


def test_what_versions_lead_to_is_kept_and_the_rest_is_garbage() -> None:
    def leaf(content: bytes) -> Node:
        return Node(FILE, 1, len(content), digest_of(content))

    kept = [
        build_tree([("a", leaf(b"1")), ("d/e/b", leaf(b"2")), ("empty", EMPTY)]),
        build_tree([("a", leaf(b"3")), ("d/e/b", leaf(b"2"))]),
    ]
    dropped = build_tree([("a", leaf(b"4")), ("d/e/b", leaf(b"2"))])
    folders = {digest: data for tree in (*kept, dropped) for digest, data in tree.folders.items()}
    below = find(kept[0].root, "d/e", folders.__getitem__)
    assert below
    recipes = {
        digest_of(b"2"): [name(70), name(71)],
        dropped.root.digest: [name(72)],
        kept[0].root.digest: [name(73)],
        below.digest: [name(74)],
    }
    objects = {*folders, *map(digest_of, (b"1", b"2", b"3", b"4"))} | {
        name(n) for n in range(70, 75)
    }
    objects.discard(EMPTY.digest)

    def parts(names: Iterable[str]) -> list[str]:
        return [part for n in names for part in recipes.get(n, [])]

    reach = Reach()
    mark([tree.root.digest for tree in kept], folders.__getitem__, parts, reach)
    found = set(garbage(((n, 5) for n in sorted(objects)), reach, before=10))
    assert found == {dropped.root.digest, digest_of(b"4"), name(72)}
    fresh = [(name(99), 10), (name(98), 11), (name(97), 9)]
    assert list(garbage(fresh, reach, before=10)) == [name(97)]


def test_a_file_with_the_bytes_of_a_folder_hides_nothing() -> None:
    inner = build_tree([("x", Node(FILE, 1, 1, name(1)))])
    data = inner.folders[inner.root.digest]
    outer = build_tree(
        [("copy", Node(FILE, 1, len(data), inner.root.digest)), ("d/x", Node(FILE, 1, 1, name(1)))]
    )
    reach = Reach()
    mark([outer.root.digest], (outer.folders | inner.folders).__getitem__, no_parts, reach)
    assert name(1) in reach
    alone = build_tree([("copy", Node(FILE, 1, len(data), inner.root.digest))])
    reach = Reach()
    folders = alone.folders | inner.folders
    mark([alone.root.digest, inner.root.digest], folders.__getitem__, no_parts, reach)
    assert name(1) in reach


def test_a_folder_that_cannot_be_read_stops_the_collector() -> None:
    tree = build_tree([("d/x", Node(FILE, 1, 1, name(1)))])
    folders = {tree.root.digest: tree.folders[tree.root.digest]}
    with pytest.raises(KeyError):
        mark([tree.root.digest], folders.__getitem__, no_parts, Reach())


def test_each_folder_is_opened_once() -> None:
    shared = {f"d{number}/x": Node(FILE, 1, 1, name(1)) for number in range(50)}
    trees = [build_tree((shared | {"n": Node(FILE, 1, 1, name(n))}).items()) for n in range(5)]
    folders = {digest: data for tree in trees for digest, data in tree.folders.items()}
    opened: list[str] = []

    def load(digest: str) -> bytes:
        opened.append(digest)
        return folders[digest]

    mark([tree.root.digest for tree in trees], load, no_parts, Reach())
    assert len(opened) == len(set(opened)) == 6


def test_work_beside_keeps_its_order_and_its_errors() -> None:
    """Another thread does it, for more than one item; what it raises is raised here."""
    here = threading.get_ident()
    assert list(beside([], str)) == []
    assert list(beside([1], lambda _: threading.get_ident())) == [here]
    assert list(beside(range(100), str)) == [str(n) for n in range(100)]
    assert here not in set(beside(range(9), lambda _: threading.get_ident()))
    threads = threading.active_count()
    some = beside(iter(range(1_000)), str)
    assert next(some) == "0"
    some.close()  # type: ignore[attr-defined]
    with pytest.raises(ZeroDivisionError):
        list(beside([1, 0, 1], lambda n: 1 // n))
    assert threading.active_count() == threads
