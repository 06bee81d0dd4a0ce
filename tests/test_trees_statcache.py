"""What is read again and what is trusted; and a cache that is not as it was written is none."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.trees.digest import digest_of
from holdfast.core.trees.statcache import (
    HEADER,
    UNTRUSTED,
    FolderRecord,
    below_bytes,
    decode_cache,
    digests_in,
    encode_cache,
    is_unchanged,
    join_names,
    joined_digests,
    known_digests,
    mode_and_size,
    record_of,
    row_at,
    row_of,
    rows_in,
    rows_of,
)
from holdfast.core.trees.tree import EMPTY
from holdfast.model.tree import FOLDER, Node

BEGAN = 1_000_000_000


def status(
    size: int = 5, mtime: int = 10, ctime: int = 10, inode: int = 7, mode: int = 0o100644
) -> os.stat_result:
    fields = {"st_mtime_ns": mtime, "st_ctime_ns": ctime, "st_atime_ns": 0}
    return os.stat_result((mode, inode, 0, 1, 0, 0, size, 0, 0, 0), fields)


DIGEST = digest_of(b"hello")


def known(was: os.stat_result, now: os.stat_result, began: int = BEGAN) -> dict[str, str]:
    record = record_of(["f"], row_of(was), joined_digests([DIGEST]), {}, EMPTY, began)
    record = decode_cache(encode_cache({"": record}))[""]
    found = known_digests(record, ["f"], row_of(now))
    assert is_unchanged(record, ["f"], row_of(now)) == (found == {"f": DIGEST})
    return found


def test_the_same_status_from_before_the_scan_is_trusted() -> None:
    assert known(status(), status()) == {"f": DIGEST}
    assert known(status(mtime=BEGAN - 1, ctime=BEGAN - 1), status(mtime=BEGAN - 1, ctime=BEGAN - 1))


@pytest.mark.row("A23")
@pytest.mark.parametrize(
    "now",
    [
        status(size=6),
        status(mtime=11),
        status(ctime=11),
        status(inode=8),
        status(mode=0o100755),
        status(mode=0o120644),
    ],
)
def test_any_other_status_is_read(now: os.stat_result) -> None:
    assert known(status(), now) == {}


@pytest.mark.row("A23")
@pytest.mark.parametrize(
    ("mtime", "ctime"), [(BEGAN, 10), (10, BEGAN), (BEGAN + 1, BEGAN + 1), (2**62, 10)]
)
def test_a_file_that_may_have_changed_within_the_same_tick_is_read(mtime: int, ctime: int) -> None:
    assert known(status(mtime=mtime, ctime=ctime), status(mtime=mtime, ctime=ctime)) == {}


@pytest.mark.parametrize("strange", [2**63, -(2**63) - 1])
def test_times_beyond_the_format_are_never_trusted(strange: int) -> None:
    odd = status(mtime=strange)
    assert mode_and_size(row_of(odd)) == (odd.st_mode, odd.st_size)
    assert rows_of([status(), odd]) == row_of(status()) + row_of(odd)
    assert known(odd, odd, began=2**62) == {}
    assert known(status(mtime=-5), status(mtime=-5)) == {"f": DIGEST}


def test_no_row_of_a_file_is_an_untrusted_one() -> None:
    assert row_of(status(size=0, mtime=0, ctime=0, inode=0)) != UNTRUSTED
    assert len(row_of(status())) == len(UNTRUSTED)


def test_real_files(tmp_path: Path) -> None:
    def rows() -> dict[str, bytes]:
        with os.scandir(tmp_path) as found:
            return {item.name: row_of(item.stat(follow_symlinks=False)) for item in found}

    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, ns=(5, 5))
    now = (tmp_path / "c").lstat().st_ctime_ns + 1
    names, joined = sorted(rows()), b"".join(row for _, row in sorted(rows().items()))
    digests = joined_digests(digest_of(name.encode()) for name in names)
    record = record_of(names, joined, digests, {}, EMPTY, now)
    assert (record.names, record.rows) == (join_names(names), joined)
    assert is_unchanged(record, names, joined)
    assert [row_at(joined, place) for place in range(3)] == list(rows_in(joined))
    assert list(digests_in(digests)) == [digest_of(name.encode()) for name in names]
    (tmp_path / "a").unlink()
    (tmp_path / "b").write_text("B")
    os.utime(tmp_path / "b", ns=(5, 5))
    left = b"".join(row for _, row in sorted(rows().items()))
    assert known_digests(record, ["b", "c"], left) == {"c": digest_of(b"c")}


def test_folders_below_are_compared_in_one_piece() -> None:
    one, two = Node(FOLDER, 1, 2, DIGEST), Node(FOLDER, 3, 4, digest_of(b"x"))
    assert below_bytes({"a": one, "b": two}) == below_bytes({"b": two, "a": one})
    assert below_bytes({"a": one}) != below_bytes({"a": two})
    assert below_bytes({"a": one}) != below_bytes({"b": one})
    assert below_bytes({}) == b""


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1)
RECORDS = st.builds(
    lambda files, below, files_count: record_of(
        files,
        rows_of(status(size=size) for size in files.values()),
        joined_digests(digest_of(name.encode()) for name in files),
        dict.fromkeys(below, EMPTY),
        Node(FOLDER, files_count, 2**40, DIGEST),
        BEGAN,
    ),
    st.dictionaries(NAMES, st.integers(0, 2**63 - 1), max_size=4),
    st.lists(NAMES, max_size=2),
    st.integers(0, 10**6),
)
CACHES = st.dictionaries(NAMES | st.just(""), RECORDS, max_size=4)


@given(CACHES)
def test_a_cache_comes_back(records: dict[str, FolderRecord]) -> None:
    assert decode_cache(encode_cache(records)) == records


@given(CACHES, st.data())
def test_a_damaged_cache_is_no_cache(records: dict[str, FolderRecord], data: st.DataObject) -> None:
    good = encode_cache(records)
    at = data.draw(st.integers(0, len(good) - 1))
    flipped = bytearray(good)
    flipped[at] ^= data.draw(st.integers(1, 255))
    assert decode_cache(bytes(flipped)) == {}
    assert decode_cache(good[:at]) == {}
    assert decode_cache(good + b"x") == {}


@given(st.binary(max_size=200))
def test_a_well_sealed_cache_of_nonsense_is_no_cache(body: bytes) -> None:
    found = decode_cache(HEADER + sha256(body).digest() + body)
    for record in found.values():
        known_digests(record, [], b"")
    if found:
        assert encode_cache(found) == HEADER + sha256(body).digest() + body


def test_names_that_are_not_utf8_do_not_stop_the_cache() -> None:
    row = row_of(status())
    record = record_of(["\udcff"], row, joined_digests([DIGEST]), {"\udcfe": EMPTY}, EMPTY, BEGAN)
    assert decode_cache(encode_cache({"\udcff/d": record})) == {"\udcff/d": record}
    assert known_digests(record, ["\udcff"], row) == {"\udcff": DIGEST}


def test_no_bytes_are_no_cache() -> None:
    assert decode_cache(b"") == {}
    assert decode_cache(encode_cache({})) == {}
