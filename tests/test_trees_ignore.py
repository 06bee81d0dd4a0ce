"""Which names a scan leaves out; git is asked what it would do."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.core.trees.ignore import Rules, parse_rules, skipped_names
from holdfast.errors import InvalidInput
from holdfast.testing import raises


def skipped(path: str, *files: tuple[str, str], is_folder: bool = False) -> bool:
    """Whether a scan leaves out the path, or a folder above it."""
    levels = [parse_rules(folder, text.encode()) for folder, text in files]
    return is_out(path, is_folder, levels)


def is_out(path: str, is_folder: bool, levels: list[Rules]) -> bool:
    parts = path.split("/")
    for at, name in enumerate(parts):
        folder = "".join(part + "/" for part in parts[:at])
        above = [level for level in levels if folder.startswith(level.folder)]
        names = {name: is_folder or at < len(parts) - 1}
        if skipped_names(folder, names, sorted(above, key=lambda level: len(level.folder))):
            return True
    return False


@pytest.mark.row("A22")
def test_ours_and_gits_folders_are_left_out_by_exact_name() -> None:
    names = dict.fromkeys(
        [".git", ".holdfast", ".gitignore", ".GIT", "git", ".holdfastignore"], True
    )
    assert skipped_names("", names, []) == {".git", ".holdfast"}
    assert skipped_names("a/b/", {".git": False, "x": False}, []) == {".git"}
    rules = parse_rules("", b"!.git\n!.holdfast/\n")
    assert skipped_names("", {".git": True, ".holdfast": True}, [rules]) == {".git", ".holdfast"}


@pytest.mark.row("A22")
@pytest.mark.parametrize(
    ("rules", "path", "out"),
    [
        ("*.log", "a.log", True),
        ("*.log", "d/a.log", True),
        ("*.log", "a.log.md", False),
        ("tmp/", "tmp", False),
        ("tmp/", "tmp/x", True),
        ("tmp/", "d/tmp/x", True),
        ("/top", "top", True),
        ("/top", "d/top", False),
        ("d/x", "d/x", True),
        ("d/x", "e/d/x", False),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("a/**/x", "a/x", True),
        ("a/**/x", "a/b/c/x", True),
        ("a/**/x", "b/x", False),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("a/*", "a/b/c", True),
        ("a/*/c", "a/b/d/c", False),
        ("**", "anything", True),
        ("a**b/c", "axxb/c", True),
        ("a**b/c", "ax/xb/c", False),
        ("[a-c]?", "b1", True),
        ("[!a-c]?", "b1", False),
        ("[]x]", "]", True),
        ("[[:digit:][:upper:]]", "Q", True),
        ("[a", "[a", False),
        ("é?", "éü", True),
        (r"\#x", "#x", True),
        ("#x", "#x", False),
        (r"\!x", "!x", True),
        (r"a\ ", "a ", True),
        ("a  ", "a", True),
        (r"\*", "x", False),
        ("x\\", "x\\", False),
        ("*.md\n!keep.md", "keep.md", False),
        ("!keep.md\n*.md", "keep.md", True),
        ("d/\n!d/x", "d/x", True),
        ("d/*\n!d/x", "d/x", False),
        ("\ufeffa\r\nb\r\n", "a", True),
        ("\ufeffa\r\nb\r\n", "b", True),
        ("\n \n/\n!\n", "x", False),
    ],
)
def test_the_syntax_of_gitignore(rules: str, path: str, out: bool) -> None:
    assert skipped(path, ("", rules)) is out


@pytest.mark.row("A22")
def test_the_deepest_file_decides() -> None:
    files = (("", "*.md\n/a/x\n"), ("a/", "!y.md\n/z\n"))
    assert skipped("y.md", *files)
    assert not skipped("a/y.md", *files)
    assert not skipped("a/b/y.md", *files)
    assert skipped("a/x", *files)
    assert skipped("a/z", *files)
    assert not skipped("z", *files)
    assert not skipped("a/b/z", *files)


def test_names_that_are_not_utf8_can_be_left_out() -> None:
    rules = parse_rules("", b"\xff*\ncaf\xe9\n")
    names = dict.fromkeys(["\udcffx", "caf\udce9", "x\udcff"], False)
    assert skipped_names("", names, [rules]) == {"\udcffx", "caf\udce9"}


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("*a*a*a*a*a*a*a*a*a*a*a*a*b", "a" * 255),
        ("**/a/" * 12 + "b", "a/" * 99 + "c"),
        ("**/" + "*a" * 30 + "b", "/".join(["a" * 200] * 60)),
        ("*/" * 20 + "*a*a*a*b", "/".join(["a" * 200] * 21)),
        ("a**" * 40 + "c", "a" * 255),
        ("[!b]*" * 40 + "c", "a" * 255),
    ],
)
def test_hostile_rules_end(rule: str, path: str) -> None:
    assert not skipped(path, ("", rule))


def test_a_file_of_rules_has_a_limit() -> None:
    with raises(InvalidInput, "ignore_too_large"):
        parse_rules("", b"x\n" * 40_000)


NAMES = ["a", "b", "ab", "abc", "foo", "bar", "a.c", "foo.o", "x-y", "A", "a b", "[a]", "!x", "#y",
         "b]", "-", "a*b"]  # fmt: skip
ATOMS = ["a", "b", "foo", "bar", "*", "?", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]",
         "[!]a]", "\\a", "\\*", "\\!", "!", "#", "\\#", ".", "*.o", " ", "\\ ", "[[:alpha:]]",
         "[[:digit:]x]", "[a", "[z-a]", "[a/b]", "-", "[a-]", "[-a]", "/**", "/**/", "\\",
         "[[:foo:]]", "[[:alpha]", "[\\]]", "[[a]"]  # fmt: skip


def grow(folder: Path, depth: int, source: random.Random) -> None:
    for name in source.sample(NAMES, 6):
        if depth < 3 and source.random() < 0.45:
            (folder / name).mkdir()
            grow(folder / name, depth + 1, source)
        else:
            (folder / name).touch()


def some_rules(source: random.Random) -> bytes:
    lines = [
        source.choice(["", "", "**/", "!"]) + "".join(source.choices(ATOMS, k=source.randint(1, 5)))
        for _ in range(source.randint(1, 4))
    ]
    return ("\n".join(lines) + source.choice(["", "\n", "\r\n"])).encode()


@pytest.mark.row("A22")
@pytest.mark.skipif(not shutil.which("git"), reason="git is asked")
@pytest.mark.parametrize("seed", range(4))
def test_git_leaves_out_the_same(tmp_path: Path, seed: int) -> None:
    """gitignore(5) says that `**` beside anything but a slash is `*`. git itself lets it cross
    slashes after a beginning without wildcards, so no such rule is made here."""
    source = random.Random(seed)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    grow(tmp_path, 0, source)
    paths = {
        path.relative_to(tmp_path).as_posix(): path.is_dir()
        for path in sorted(tmp_path.rglob("*"))
        if ".git" not in path.parts
    }
    folders = [path + "/" for path, is_folder in paths.items() if is_folder]
    for _ in range(20):
        files = {
            folder: some_rules(source)
            for folder in ["", *source.sample(folders, min(2, len(folders)))]
        }
        for folder, rules in files.items():
            (tmp_path / folder / ".gitignore").write_bytes(rules)
        asked = subprocess.run(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"],
            input="\0".join(paths).encode(),
            capture_output=True,
            cwd=tmp_path,
        )
        levels = [parse_rules(folder, rules) for folder, rules in files.items()]
        ours = {path for path, is_folder in paths.items() if is_out(path, is_folder, levels)}
        assert ours == set(filter(None, asked.stdout.decode().split("\0"))), files
        for folder in files:
            (tmp_path / folder / ".gitignore").unlink()
