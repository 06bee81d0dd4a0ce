"""Do one thing with a versioned directory again and again, saying so each time, until killed."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import holdfast
from holdfast.engine.directories.face import Directories
from holdfast.engine.vault import Vault
from holdfast.model.directory import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[Vault, Directories, Path, random.Random], Version]


def push(_vault: Vault, memory: Directories, root: Path, chance: random.Random) -> Version:
    for _ in range(20):
        file = root / f"{chance.randrange(4)}" / f"{chance.randrange(30)}.bin"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(chance.randbytes(chance.randrange(60_000)))
    (root / "large").write_bytes(chance.randbytes(chance.randrange(1_000_000, 3_000_000)))
    return memory.push(root).version


def pull(_vault: Vault, memory: Directories, root: Path, chance: random.Random) -> Version:
    return memory.pull(root, version=chance.choice(["v1", "v2", "v3", "latest"])).version


def clone(_vault: Vault, memory: Directories, root: Path, chance: random.Random) -> Version:
    if root.exists():
        shutil.rmtree(root.rename(root.with_name(f"old-{chance.random()}")))
    return memory.clone("notes", root, version=chance.choice(["v1", "v2", "latest"])).version


def rollback(_vault: Vault, memory: Directories, _root: Path, chance: random.Random) -> Version:
    return memory.rollback("notes", chance.choice(["v1", "v2", "v3"]))[0]


def gc(vault: Vault, memory: Directories, _root: Path, _chance: random.Random) -> Version:
    vault.gc(spare_seconds=-1)
    return memory.version("notes")


STEPS: dict[str, Step] = {
    "push": push,
    "pull": pull,
    "clone": clone,
    "rollback": rollback,
    "gc": gc,
}


def main(where: str, what: str, folder: str, seed: str) -> None:
    chance, step = random.Random(seed), STEPS[what]
    with holdfast.open(where) as vault:
        memory = vault.space().directories("memory")
        print("ready", flush=True)
        while True:
            done = step(vault, memory, Path(folder), chance)
            print(done.v, done.tree, flush=True)


main(*sys.argv[1:])
