"""Push and pull under a limit on a file's size, as on a full disk; lift it, and go on."""

from __future__ import annotations

import random
import resource
import sys
from pathlib import Path

import holdfast
from holdfast.errors import StorageFailed
from holdfast.storage.sqlite.recipe import LOG_BYTES

where = Path(sys.argv[1])
chance = random.Random(2)


def limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


root, other = where / "notes", where / "other"
root.mkdir()
(root / "a.md").write_text("one\n")
with holdfast.open(where / "vault") as vault:
    memory = vault.space().directories("memory")
    memory.init(root)
    memory.push(root)
    memory.clone("notes", other)
    seq = vault.status().seq

    (root / "big").write_bytes(chance.randbytes(20_000_000))
    limit(LOG_BYTES + 3_000_000)
    try:
        memory.push(root)
    except StorageFailed as exc:
        print("push", exc.code)
    assert vault.status().seq == seq
    limit(resource.RLIM_INFINITY)
    assert list(vault.verify()) == []
    assert memory.version("notes").v == 1

    assert memory.push(root).version.v == 2
    assert list(vault.verify()) == []
    limit(1_000_000)
    for what in ("pull", "clone"):
        try:
            memory.pull(other) if what == "pull" else memory.clone("notes", where / "third")
        except StorageFailed as exc:
            print(what, exc.code)
    assert sorted(each.name for each in other.iterdir()) == [".holdfast", "a.md"]
    assert not (where / "third").exists()
    limit(resource.RLIM_INFINITY)
    assert memory.status(other).relation == "behind"
    memory.pull(other)
    assert (other / "big").read_bytes() == (root / "big").read_bytes()
    assert sorted(each.name for each in where.iterdir()) == ["notes", "other", "vault"]
