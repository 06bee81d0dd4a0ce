"""Names of directories, paths in a tree, names of versions, and names on other file systems."""

from __future__ import annotations

import string
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.trees.layout import FileSystem, layout_problems
from holdfast.errors import Ambiguous, InvalidInput, NotFound
from holdfast.model.tree import (
    AtTime,
    ByNumber,
    ByTree,
    Latest,
    VersionPoint,
    check_directory_name,
    check_link_target,
    check_path,
    is_digest,
    link_leaves_root,
    parse_version,
    printable,
    resolve_version,
    short_hex,
)
from holdfast.testing import raises


@pytest.mark.row("A04")
@pytest.mark.parametrize("name", ["abc", "a-b", "a1-b2-c3", "123", "a" * 64, "0-0"])
def test_names_that_fit(name: str) -> None:
    assert check_directory_name(name) == name


@pytest.mark.row("A04")
@pytest.mark.parametrize(
    "name",
    ["", "ab", "a" * 65, "-ab", "ab-", "a--b", "---", "Abc", "a_b", "a b", "a.b", "äbc", "abc\n",
     "a/b", "ab\u0661", "ａｂｃ"],
)  # fmt: skip
def test_names_that_do_not_fit_have_one_error_text(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_directory_name(name)
    assert caught.value.code == "directory_name_invalid"
    assert caught.value.hint == (
        "a name has 3 to 64 characters of a-z, 0-9 and -, begins and ends with a letter or digit, "
        "and has no --"
    )


@given(st.text(string.ascii_lowercase + string.digits + "-", max_size=70))
def test_names_follow_the_rule(name: str) -> None:
    import re

    fits = re.fullmatch(r"(?=.{3,64}\Z)[a-z0-9]+(-[a-z0-9]+)*", name) is not None
    if fits:
        assert check_directory_name(name) == name
    else:
        with raises(InvalidInput, "directory_name_invalid"):
            check_directory_name(name)


@pytest.mark.row("A23")
@pytest.mark.parametrize(
    "path",
    ["", "/", "/etc/passwd", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", "./a", "a/./b",
     "C:", "c:\\x", "C:x", "a/z:/b", "\\\\host\\share", "a\\b", "a\0b", ".git", "a/.git/hooks/x",
     ".holdfast", ".holdfast/storage.yaml", "a/.holdfast", "\udcff", "a/\ud800/b", "x" * 256,
     "ä" * 128, "/".join("a" * 101)],
)  # fmt: skip
def test_paths_that_leave_the_tree_or_no_file_system_holds(path: str) -> None:
    with raises(InvalidInput, "path_invalid"):
        check_path(path)


@pytest.mark.row("A22", "A23")
@pytest.mark.parametrize(
    "path",
    ["a", ".gitignore", ".github/x", ".GIT2", "git", ".holdfastignore", "a b", "...", "..a", "a..",
     "12:30.md", "~", "-rf", "*", "a\nb", "Icon\r", "é", "e\u0301", "名前", "con", "ä" * 127,
     "x" * 255, "/".join("a" * 100)],
)  # fmt: skip
def test_paths_that_are_kept_as_they_are(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.row("A22", "A23")
@pytest.mark.parametrize(
    ("path", "target", "leaves"),
    [
        ("l", "a", False),
        ("l", "a/../b", False),
        ("l", ".", False),
        ("d/l", "..", False),
        ("d/l", "../x/./y//z", False),
        ("l", "..", True),
        ("l", "../x", True),
        ("d/l", "../../x", True),
        ("l", "a/../../a", True),
        ("l", "/etc/passwd", True),
        ("l", "C:\\x", True),
        ("l", "..\\x", True),
    ],
)
def test_links_that_lead_out_are_known(path: str, target: str, leaves: bool) -> None:
    assert check_link_target(path, target) == target
    assert link_leaves_root(path, target) is leaves


@pytest.mark.parametrize("target", ["", "a\0b", "\udc80", "x" * 4096])
def test_links_that_cannot_be_kept(target: str) -> None:
    with raises(InvalidInput, "path_invalid"):
        check_link_target("l", target)


def test_paths_are_shown_harmlessly() -> None:
    assert printable("a/ü.md") == "a/ü.md"
    assert printable("a\x1b[2J\nb\u202e") == "a\\x1b[2J\\nb\\u202e"


# --- names on other file systems ------------------------------------------------------------------


@pytest.mark.row("A23")
def test_names_that_differ_by_case_or_form_are_kept_apart_or_refused() -> None:
    names = ["readme", "README", "é", "e\u0301"]
    assert layout_problems(names, FileSystem()) == []
    assert layout_problems(names, FileSystem(folds_case=True)) == [
        "'readme' and 'README' are one name here"
    ]
    assert layout_problems(names, FileSystem(folds_forms=True)) == [
        "'é' and 'e\u0301' are one name here"
    ]
    assert len(layout_problems([*names, "É"], FileSystem(folds_case=True, folds_forms=True))) == 3


@pytest.mark.row("A23")
def test_names_that_turn_into_ours_or_gits_are_refused() -> None:
    assert layout_problems([".GIT", ".Holdfast"], FileSystem()) == []
    assert layout_problems([".GIT", ".Holdfast"], FileSystem(folds_case=True)) == [
        "'.GIT' and '.git' are one name here",
        "'.Holdfast' and '.holdfast' are one name here",
    ]
    hidden = FileSystem(folds_case=True, folds_forms=True)
    assert layout_problems([".g\u200cit"], hidden) == ["'.g\\u200cit' and '.git' are one name here"]


@pytest.mark.row("A23")
@pytest.mark.parametrize(
    "name", ["con", "NUL.txt", "com1", "LPT9.a.b", "COM¹", "a.", "a ", "a:b", "a?", "a\tb", "git~1"]
)
def test_names_that_windows_cannot_hold(name: str) -> None:
    assert layout_problems([name], FileSystem()) == []
    assert len(layout_problems([name], FileSystem(windows=True))) == 1
    assert layout_problems(["console", "com10", "a.b", ".a"], FileSystem(windows=True)) == []


# --- names of versions ----------------------------------------------------------------------------

T1 = "sha256:" + "a1" * 32
T2 = "sha256:" + "a1" * 31 + "b2"
T3 = "sha256:" + "1234567890" + "0" * 54


def point(number: int, tree: str) -> VersionPoint:
    return VersionPoint(number=number, tree=tree, at=datetime(2026, 1, number, tzinfo=UTC))


HISTORY = [point(1, T1), point(2, T3), point(4, T1), point(5, T2)]


@pytest.mark.row("A15")
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("v1", 1),
        ("v4", 4),
        ("latest", 5),
        ("latest~0", 5),
        ("latest~1", 4),
        ("latest~3", 1),
        (T1.removeprefix("sha256:"), 4),
        (T2, 5),
        (T2.removeprefix("sha256:").upper(), 5),
        ("12345678", 2),
        ("2026-01-02", 2),
        ("2026-01-03T23:00:00", 2),
        ("2026-01-04T01:00:00+02:00", 2),
        ("2026-01-04T02:00:00+02:00", 4),
        ("2099-01-01", 5),
    ],
)
def test_versions_are_found_by_name(text: str, number: int) -> None:
    assert resolve_version(text, HISTORY).number == number
    assert resolve_version(text, reversed(HISTORY)).number == number


@pytest.mark.row("A15")
@pytest.mark.parametrize("text", ["v3", "v99", "latest~4", "deadbeef", "2025-12-31", T3[:-1] + "1"])
def test_unknown_versions(text: str) -> None:
    with raises(NotFound, "version_unknown"):
        resolve_version(text, HISTORY)
    with raises(NotFound, "version_unknown"):
        resolve_version(text, [])


@pytest.mark.row("A15")
@pytest.mark.parametrize("text", ["a", "a1a1a1a", "1234567", "2026"])
def test_too_short_names(text: str) -> None:
    with raises(InvalidInput, "version_too_short"):
        resolve_version(text, HISTORY)


@pytest.mark.row("A15")
def test_ambiguous_names_list_the_candidates() -> None:
    with pytest.raises(Ambiguous) as caught:
        resolve_version("a1a1a1a1", HISTORY)
    assert caught.value.code == "version_ambiguous"
    assert "v5 (a1a1a1a1a1a1a1a1), v4 (a1a1a1a1a1a1a1a1)" in caught.value.message


@pytest.mark.parametrize(
    "text",
    ["", "v", "v0", "v01", "v-1", "v1.0", "V1", "v１", "v" + "9" * 10, "latest~", "latest~-1",
     "latest~x", "latest ", "newest", "a1" * 33, "sha256:", "2026-13-01", "0001-01-01T00:00+14:00"],
)  # fmt: skip
def test_names_of_no_version(text: str) -> None:
    with raises(InvalidInput, "version_invalid"):
        parse_version(text)


def test_names_of_versions_are_values() -> None:
    assert parse_version("v12") == ByNumber(number=12)
    assert parse_version("DEADBEEF") == ByTree(hex_prefix="deadbeef")
    assert parse_version("latest~2") == Latest(back=2)
    east = timezone(timedelta(hours=2))
    at = datetime(2026, 1, 2, 3, tzinfo=east)
    assert parse_version(at.isoformat()) == AtTime(at=at.astimezone(UTC))


def test_digests_are_shown_by_eight_digits() -> None:
    assert short_hex(T3) == "12345678"
    assert is_digest(T1)
    for text in (T1[:-1], T1 + "0", T1.upper(), T1[7:], "sha256:" + "g" * 64, "sha512:" + T1[7:]):
        assert not is_digest(text)
