"""Folders of versioned directories as tests write them down: made, read back, and at random."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import strategies as st

from holdfast.engine.directories.face import Directories
from holdfast.engine.vault import Vault

Content = dict[str, object]


def memory(vault: Vault) -> Directories:
    return vault.space().directories("memory")


def fill(root: Path, content: Content) -> Path:
    """Make the folder hold exactly this: bytes, `("x", bytes)`, `("l", target)`, or None: empty."""
    root.mkdir(parents=True, exist_ok=True)
    for old in sorted(root.rglob("*"), reverse=True):
        if ".holdfast" in old.relative_to(root).parts:
            continue
        old.rmdir() if old.is_dir() and not old.is_symlink() else old.unlink()
    for path, what in content.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        match what:
            case None:
                place.mkdir()
            case ("x", bytes(data)):
                place.write_bytes(data)
                place.chmod(0o755)
            case ("l", str(target)):
                place.symlink_to(target)
            case bytes(data):
                place.write_bytes(data)
            case _:
                raise AssertionError(what)
    return root


def held(root: Path) -> Content:
    """What the folder holds, in the form of `fill`."""
    found: Content = {}
    for place in sorted(root.rglob("*")):
        path = place.relative_to(root)
        if path.parts[0] == ".holdfast":
            continue
        if place.is_symlink():
            found[str(path)] = ("l", os.readlink(place))  # noqa: PTH115 - all of it
        elif place.is_dir():
            if not any(place.iterdir()):
                found[str(path)] = None
        else:
            data = place.read_bytes()
            found[str(path)] = ("x", data) if place.stat().st_mode & 0o100 else data
    return found


def sound(vault: Vault) -> None:
    assert [(p.code, p.what, p.message) for p in vault.verify()] == []


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\\\0:"), min_size=1, max_size=6
).filter(lambda n: n not in (".", "..", ".git", ".holdfast", ".holdfastignore"))
leaves = (
    st.binary(max_size=200)
    | st.binary(max_size=50).map(lambda data: ("x", data))
    | st.sampled_from([("l", "a"), ("l", "../../out"), ("l", "/etc/passwd"), None])
)


@st.composite
def trees(draw: st.DrawFn) -> Content:
    found: Content = {}
    for parts in draw(st.lists(st.lists(names, min_size=1, max_size=3), max_size=8)):
        path = "/".join(parts)
        clash = any(
            path == other or path.startswith(other + "/") or other.startswith(path + "/")
            for other in found
        )
        if not clash:
            found[path] = draw(leaves)
    return found
