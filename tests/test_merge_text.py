"""Three-way merge of text: what each side did is in the result, or the result is a clash."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.merge.match import match
from holdfast.core.merge.text import (
    Clash,
    is_binary,
    join_text,
    merge_new_texts,
    merge_text,
    split_text,
    unite_anywhere,
    unite_at_end,
    unite_items,
    unite_markdown,
)
from holdfast.core.merge.threeway import regions

LINE = st.sampled_from([b"", b"a", b"b", b"c", b"- x", b"- y", b"  z", b"\xff\xfe", b"long " * 9])
UNITE = st.sampled_from([unite_anywhere, unite_at_end, unite_items, unite_markdown])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(LINE, max_size=8))
    ends = draw(st.sampled_from([b"\n", b"\r\n"]))
    return ends.join(lines) + (ends if draw(st.booleans()) else b"")


@st.composite
def edited(draw: st.DrawFn, text: bytes) -> bytes:
    lines = text.split(b"\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        if draw(st.booleans()):
            lines.insert(at, draw(LINE))
        else:
            del lines[at : at + draw(st.integers(0, 2))]
    return b"\n".join(lines)


@st.composite
def three(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    base = draw(texts())
    return base, draw(edited(base)), draw(edited(base))


@given(texts(), texts(), UNITE)
def test_what_only_one_side_changed_is_taken_as_it_is(
    base: bytes, changed: bytes, unite: object
) -> None:
    assert merge_text(base, changed, base, unite) == changed  # type: ignore[arg-type]
    assert merge_text(base, base, changed, unite) == changed  # type: ignore[arg-type]
    assert merge_text(base, changed, changed, unite) == changed  # type: ignore[arg-type]


@given(three(), UNITE)
def test_the_result_does_not_depend_on_who_is_called_ours(
    versions: tuple[bytes, bytes, bytes], unite: object
) -> None:
    base, ours, theirs = versions
    assert merge_text(base, ours, theirs, unite) == merge_text(base, theirs, ours, unite)  # type: ignore[arg-type]


def body(text: bytes) -> Counter[bytes]:
    return Counter(line.rstrip(b"\r") for line in text.split(b"\n"))


@given(three(), UNITE)
def test_no_added_line_is_lost_and_no_removed_line_comes_back(
    versions: tuple[bytes, bytes, bytes], unite: object
) -> None:
    base, ours, theirs = versions
    merged = merge_text(base, ours, theirs, unite)  # type: ignore[arg-type]
    if isinstance(merged, Clash):
        return
    was, left, right, now = body(base), body(ours), body(theirs), body(merged)
    for line in left | right:
        if line and line not in was:
            assert line in now
    for line in was:
        if line and line not in left and line not in right:
            assert line not in now
        if line and was[line] == left[line] == right[line] == 1:
            assert line in now


@st.composite
def disjoint(draw: st.DrawFn) -> tuple[list[bytes], list[bytes], list[bytes], list[bytes]]:
    """Three versions and their one right merge: each stretch of the base has one editor at most."""
    fresh = iter(range(10_000))
    base: list[bytes] = []
    ours: list[bytes] = []
    theirs: list[bytes] = []
    merged: list[bytes] = []
    for editor in draw(st.lists(st.sampled_from(["", "", "ours", "theirs"]), max_size=8)):
        old = [b"line %d" % next(fresh) for _ in range(draw(st.integers(1, 3)))]
        new = [b"line %d" % next(fresh) for _ in range(draw(st.integers(0, 3)))]
        base += old
        ours += new if editor == "ours" else old
        theirs += new if editor == "theirs" else old
        merged += new if editor else old
    return base, ours, theirs, merged


@pytest.mark.row("A20")
@given(disjoint(), st.booleans())
def test_disjoint_lines_merge_even_side_by_side(
    versions: tuple[list[bytes], list[bytes], list[bytes], list[bytes]], ended: bool
) -> None:
    end = b"\n" if ended else b""
    base, ours, theirs, merged = (b"\n".join(lines) + (end if lines else b"") for lines in versions)
    assert merge_text(base, ours, theirs, unite_at_end) == merged


@given(three())
def test_regions_cover_all_versions(versions: tuple[bytes, bytes, bytes]) -> None:
    base, ours, theirs = (version.split(b"\n") for version in versions)
    found = list(regions(base, ours, theirs))
    for lines, stretches in (
        (base, [region.base for region in found]),
        (ours, [region.ours for region in found]),
        (theirs, [region.theirs for region in found]),
    ):
        assert [line for start, stop in stretches for line in lines[start:stop]] == lines
    for region in found:
        if region.kind == "kept":
            assert base[slice(*region.base)] == ours[slice(*region.ours)]
            assert base[slice(*region.base)] == theirs[slice(*region.theirs)]


@pytest.mark.row("A20")
def test_lists_that_both_sides_append_to_keep_both_blocks() -> None:
    base = b"log\n- 2026-01-01 one\n"
    ours = base + b"- 2026-01-03 three\n- 2026-01-04 four\n"
    theirs = base + b"- 2026-01-02 two\n"
    both = base + b"- 2026-01-02 two\n- 2026-01-03 three\n- 2026-01-04 four\n"
    assert merge_text(base, ours, theirs, unite_at_end) == both
    assert merge_text(base, theirs, ours, unite_at_end) == both


def test_an_append_without_a_last_newline_stays_on_lines_of_its_own() -> None:
    assert merge_text(b"a", b"a\nb", b"a\nc", unite_at_end) == b"a\nb\nc"
    assert merge_text(b"a", b"a\nb\n", b"a\nc", unite_at_end) == b"a\nb\nc\n"
    assert merge_text(b"", b"b\n", b"c\n", unite_at_end) == b"b\nc\n"


def test_what_both_appended_alike_is_there_once() -> None:
    assert merge_text(b"a\n", b"a\nx\ny\n", b"a\nx\n", unite_at_end) == b"a\nx\ny\n"
    assert merge_text(b"a\n", b"a\nx\ny\n", b"a\nx\nz\n", unite_at_end) == b"a\nx\ny\nz\n"


def test_appended_paragraphs_stay_apart() -> None:
    merged = merge_text(b"a\n", b"a\n\nours\n", b"a\n\ntheirs\n", unite_at_end)
    assert merged == b"a\n\nours\n\ntheirs\n"
    merged = merge_text(b"a\n\n", b"a\n\nours\n\n", b"a\n\ntheirs\n\n", unite_at_end)
    assert merged == b"a\n\nours\n\ntheirs\n\n"


def test_one_insertion_each_at_one_place_inside_is_a_clash_in_plain_text() -> None:
    clash = merge_text(b"a\nb\n", b"a\nx\nb\n", b"a\ny\nb\n", unite_at_end)
    assert clash == Clash(reason="lines", where="line 2")


@pytest.mark.row("A20")
def test_markdown_lists_take_the_items_of_both_anywhere() -> None:
    base = b"# Facts\n- sky is blue\n\n# Tasks\n- rest\n"
    ours = base.replace(b"blue\n", b"blue\n- grass is green\n  in summer\n- ice is cold\n")
    theirs = base.replace(b"blue\n", b"blue\n- fire is hot\n- ice is cold\n")
    both = base.replace(
        b"blue\n", b"blue\n- fire is hot\n- grass is green\n  in summer\n- ice is cold\n"
    )
    assert merge_text(base, ours, theirs, unite_markdown) == both
    assert merge_text(base, theirs, ours, unite_markdown) == both


def test_an_item_that_both_added_is_there_once_wherever_it_stands() -> None:
    base = b"- a\n\nend\n"
    ours, theirs = b"- a\n- x\n- z\n\nend\n", b"- a\n- w\n- x\n- y\n\nend\n"
    merged = merge_text(base, ours, theirs, unite_markdown)
    assert merged == b"- a\n- w\n- x\n- y\n- z\n\nend\n"


def test_markdown_prose_at_one_place_is_a_clash() -> None:
    base = b"# A\n\n# B\n"
    ours, theirs = b"# A\nOne said this.\n\n# B\n", b"# A\nOne said that.\n\n# B\n"
    assert isinstance(merge_text(base, ours, theirs, unite_markdown), Clash)


def test_numbered_items_nested_items_and_tasks_are_items() -> None:
    base = b"1. one\n\nend\n"
    ours, theirs = b"1. one\n2. two\n\nend\n", b"1. one\n2. deux\n   - fin\n\nend\n"
    assert (
        merge_text(base, ours, theirs, unite_markdown)
        == b"1. one\n2. deux\n   - fin\n2. two\n\nend\n"
    )


@pytest.mark.row("A20")
def test_two_new_markdown_files_become_one_list() -> None:
    ours, theirs = b"# Memory\n\n- a\n- c\n", b"# Memory\n\n- b\n- c\n"
    assert merge_new_texts(ours, theirs, unite_items) == b"# Memory\n\n- a\n- b\n- c\n"
    assert merge_new_texts(theirs, ours, unite_items) == b"# Memory\n\n- a\n- b\n- c\n"


def test_deleting_what_the_other_edited_is_a_clash() -> None:
    assert isinstance(merge_text(b"a\nb\nc\n", b"a\nc\n", b"a\nB\nc\n", unite_anywhere), Clash)


def test_line_ends_are_a_property_of_the_file() -> None:
    assert merge_text(b"a\nb\n", b"a\r\nb\r\n", b"a\nB\n", unite_at_end) == b"a\r\nB\r\n"
    assert merge_text(b"a\r\nb\r\n", b"A\r\nb\r\n", b"a\r\nB\r\n", unite_at_end) == b"A\r\nB\r\n"
    assert merge_text(b"a\r\nb\n", b"A\r\nb\n", b"a\r\nB\n", unite_at_end) == b"A\r\nB\n"
    assert merge_text(b"a\nb\n", b"a\nb", b"A\nb\n", unite_at_end) == b"A\nb"


@given(st.binary(max_size=40))
def test_text_comes_back_from_its_lines(data: bytes) -> None:
    assert join_text(split_text(data)) == data
    assert join_text(split_text(data, keep_cr=True)) == data


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"", False),
        (b"text \xc3\xa4\n\ttab \x1b[1mbold\n", False),
        (b"caf\xe9 in Latin-1\n", False),
        (b"a\0b", True),
        (b"\x89PNG\r\n\x1a\n", True),
        ("utf-16".encode("utf-16"), True),
    ],
)
def test_binary_is_told_from_text(data: bytes, binary: bool) -> None:
    assert is_binary(data) is binary


# --- matching -------------------------------------------------------------------------------------

SMALL = st.lists(st.integers(0, 5), max_size=12)


def common_length(a: list[int], b: list[int]) -> int:
    """The length of the longest common subsequence, the slow and certain way."""
    row = [0] * (len(b) + 1)
    for item in a:
        last = 0
        for at, other in enumerate(b):
            last, row[at + 1] = (
                row[at + 1],
                last + 1 if item == other else max(row[at], row[at + 1]),
            )
    return row[-1]


@given(SMALL, SMALL)
def test_blocks_match_and_rise(a: list[int], b: list[int]) -> None:
    i = j = 0
    blocks = match(a, b)
    for x, y, n in blocks:
        assert n > 0
        assert x >= i
        assert y >= j
        assert a[x : x + n] == b[y : y + n]
        assert (x, y) != (i, j) or not (i or j)
        i, j = x + n, y + n
    found = sum(n for _, _, n in blocks)
    assert found <= common_length(a, b)
    if not set(a).isdisjoint(b):
        assert found > 0


def test_moved_and_repeated_lines_are_matched_in_order() -> None:
    a = [b"a", b"", b"b", b"", b"c", b"", b"d"]
    b = [b"b", b"", b"c", b"", b"a", b"", b"d"]
    assert match(a, b) == [(2, 0, 3), (5, 5, 2)]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0, 1] * 20_000, [1, 0, 0] * 13_000),
        (list(range(20_000)) * 2, list(range(20_000))[::-1] * 2),
        ([n * n % 10 for n in range(40_000)], [n * n * n % 11 for n in range(40_000)]),
    ],
    ids=["two values", "reversed", "few values"],
)
def test_hostile_sequences_end_within_the_budget(a: list[int], b: list[int]) -> None:
    blocks = match(a, b)
    assert all(a[i : i + n] == b[j : j + n] for i, j, n in blocks)


def test_a_hundred_thousand_lines_and_one_huge_line_merge() -> None:
    base = [b"line %d" % number for number in range(100_000)]
    ours, theirs = list(base), list(base)
    ours[::1000] = [b"ours %d" % number for number in range(100)]
    theirs[500::1000] = [b"theirs %d" % number for number in range(100)]
    both = list(ours)
    both[500::1000] = theirs[500::1000]
    merged = merge_text(*(b"\n".join(lines) for lines in (base, ours, theirs)), unite_at_end)
    assert merged == b"\n".join(both)
    huge = b"x" * 5_000_000
    assert merge_text(b"a\n" + huge, b"b\n" + huge, b"a\n" + huge + b"y", unite_at_end) == (
        b"b\n" + huge + b"y"
    )
