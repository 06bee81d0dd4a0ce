"""Push or pull a folder again and again, saying so each time, until killed."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import holdfast


def main(where: str, what: str, folder: str, seed: str) -> None:
    chance = random.Random(seed)
    root = Path(folder)
    with holdfast.open(where) as vault:
        memory = vault.space().directories("memory")
        print("ready", flush=True)
        while True:
            if what == "push":
                for _ in range(20):
                    file = root / f"{chance.randrange(4)}" / f"{chance.randrange(30)}.bin"
                    file.parent.mkdir(exist_ok=True)
                    file.write_bytes(chance.randbytes(chance.randrange(60_000)))
                pushed = memory.push(root, key=None)
                print(pushed.version.v, pushed.version.tree, flush=True)
            elif what == "pull":
                pulled = memory.pull(root, version=chance.choice(["v1", "v2", "v3"]))
                print(pulled.version.v, pulled.version.tree, flush=True)
            else:
                vault.gc(spare_seconds=-1)
                print("0 collected", flush=True)


main(*sys.argv[1:])
