"""Pushes that cross: what two folders made of one version, brought together through the vault."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_vault import cli_in
from directory_sample import Content, fill, held, memory, sound
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.engine.directories.push import Pushed

FILES = ["a.md", "b.txt", "sub/c.md", "d"]
Lines = dict[str, list[str]]


@st.composite
def edits(draw: st.DrawFn, who: str, base: Lines) -> Lines:
    """A side's files: some lines and files of the base gone, lines of its own put in."""
    made: Lines = {}
    for name in FILES:
        if name in base and draw(st.booleans()):
            made[name] = base[name]
            continue
        lines = [line for line in base.get(name, []) if draw(st.integers(0, 4))]
        for number in range(draw(st.integers(0, 3))):
            lines.insert(draw(st.integers(0, len(lines))), f"- {who} {name} {number}")
        if lines:
            made[name] = lines
    return made


@st.composite
def stories(draw: st.DrawFn) -> tuple[Lines, Lines, Lines]:
    base = {
        name: [f"- base {name} {number}" for number in range(draw(st.integers(1, 8)))]
        for name in draw(st.lists(st.sampled_from(FILES), unique=True))
    }
    return base, draw(edits("one", base)), draw(edits("two", base))


def written(lines: Lines) -> Content:
    return {name: "".join(f"{line}\n" for line in found).encode() for name, found in lines.items()}


def pushed_in_turn(where: Path, base: Lines, sides: Sequence[Lines]) -> tuple[Pushed, Content]:
    """Each side pushes what it made of the base; the second one meets the first."""
    with holdfast.open("memory:") as vault:
        here = memory(vault)
        roots = [where / "0", where / "1"]
        fill(roots[0], written(base))
        here.init(roots[0], "notes")
        here.push(roots[0])
        here.clone("notes", roots[1])
        for root, side in zip(roots, sides, strict=True):
            fill(root, written(side))
            pushed = here.push(root)
        for root in roots:
            here.pull(root)
        assert held(roots[0]) == held(roots[1])
        sound(vault)
        return pushed, held(roots[0])


def said(content: Content) -> list[str]:
    return [line for data in content.values() for line in str(data, "utf-8").splitlines()]  # type: ignore[arg-type]


@pytest.mark.row("A20")
@given(story=stories())
@settings(max_examples=15)
def test_no_line_is_lost_and_none_comes_back(
    story: tuple[Lines, Lines, Lines], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base, one, two = story
    where = tmp_path_factory.mktemp("merge")
    pushed, merged = pushed_in_turn(where / "a", base, (one, two))
    kept = said(merged)
    for side, other in ((one, two), (two, one)):
        for name, lines in side.items():
            for line in lines:
                in_base = line in base.get(name, [])
                if not in_base or line in other.get(name, []):
                    assert line in kept, f"{line} was added or kept by both, and is not there"
    again, turned = pushed_in_turn(where / "b", base, (two, one))
    assert bool(pushed.conflicts) == bool(again.conflicts)
    if not pushed.conflicts:
        assert turned == merged, "without conflicts it does not matter who came first"
        for name, lines in base.items():
            for line in lines:
                gone = line not in one.get(name, []) or line not in two.get(name, [])
                assert gone == (line not in said({name: merged.get(name, b"")}))


@pytest.mark.row("A20")
def test_files_lines_lists_json_and_yaml_merge_by_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = cli_in(tmp_path, monkeypatch)
    root = tmp_path / "my-notes"
    base: Content = {
        "text.txt": b"one\ntwo\nthree\nfour\n",
        "list.md": b"# Seen\n\n- a\n",
        "data.json": b'{"name": "x", "seen": [1], "deep": {"a": 1, "b": 2}}\n',
        "conf.yaml": b"# as told\nname: x\nport: 80\nhosts:\n  - a\n",
        "gone.txt": b"gone\n",
    }
    os.chdir(fill(root, base).parent)
    os.chdir(root)
    cli.says("memory", "init")
    cli.says("memory", "push")
    cli.says("memory", "clone", "my-notes", "../other")
    theirs = base | {
        "text.txt": b"ONE\ntwo\nthree\nfour\n",
        "list.md": b"# Seen\n\n- a\n- theirs\n",
        "data.json": b'{"name": "x", "seen": [1, 3], "deep": {"a": 7, "b": 2}, "t": null}\n',
        "conf.yaml": b"# as told\nname: y\nport: 80\nhosts:\n  - a\n",
        "theirs.txt": b"t\n",
    }
    ours = base | {
        "text.txt": b"one\ntwo\nthree\nFOUR\n",
        "list.md": b"# Seen\n\n- a\n- ours\n",
        "data.json": b'{"name": "x", "seen": [1, 2], "deep": {"a": 1, "b": 8}}\n',
        "conf.yaml": b"# as told\nname: x\nport: 81\nhosts:\n  - a\n",
        "ours.txt": b"o\n",
    }
    del ours["gone.txt"]
    fill(tmp_path / "other", theirs)
    os.chdir(tmp_path / "other")
    cli.says("memory", "push")
    os.chdir(root)
    fill(root, ours)
    pushed = cli("memory", "push")
    assert pushed.exit == 0
    assert pushed.stderr.startswith("Merged with what others pushed; ")
    cli.says("memory", "pull")
    merged = held(root)
    data = json.loads(bytes(merged.pop("data.json")))  # type: ignore[arg-type]
    assert data.pop("seen") in ([1, 2, 3], [1, 3, 2])
    assert data == {"name": "x", "deep": {"a": 7, "b": 8}, "t": None}
    assert merged == {
        "text.txt": b"ONE\ntwo\nthree\nFOUR\n",
        "list.md": b"# Seen\n\n- a\n- ours\n- theirs\n",
        "conf.yaml": b"# as told\nname: y\nport: 81\nhosts:\n  - a\n",
        "theirs.txt": b"t\n",
        "ours.txt": b"o\n",
    }
