"""Make a memory and erase it, again and again, saying so each time, until killed."""

from __future__ import annotations

import sys
from pathlib import Path

import holdfast


def main(where: str, folder: str, name: str) -> None:
    root = Path(folder)
    root.mkdir()
    with holdfast.open(where) as vault:
        memory = vault.space().directories("memory")
        memory.init(root, name)
        print("ready", flush=True)
        turn = 0
        while True:
            turn += 1
            (root / "a.md").write_text(f"the unspeakable word of {name} in turn {turn}\n" * 50)
            print("pushed", memory.push(root).version.tree, flush=True)
            print("erased", memory.erase(name).state, flush=True)


main(*sys.argv[1:])
