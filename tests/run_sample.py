"""A vault with an agent that does what its prompt says, for the tests of runs."""

from __future__ import annotations

import sys
from pathlib import Path

import holdfast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.run import Laid, Run

AGENT = Path(__file__).parent / "programs" / "agent.py"
STEPS = [sys.executable, str(AGENT), "{prompt}", "{memory}"]


class Bench:
    """One vault, its default space, and the agent `steps` with the memory `notes`."""

    def __init__(self, vault: Vault, folder: Path) -> None:
        self.vault, self.folder = vault, folder
        self.space: Space = vault.space()
        self.declare()

    def declare(self, name: str = "steps", **said: Any) -> None:
        self.space.agents().add(name, {"command": STEPS, "memory": "notes", **said})

    def run(self, *steps: str, agent: str = "steps", **options: Any) -> Run:
        return self.space.run(agent, " ".join(steps) or "say:nothing", **options)

    def files(self, version: str = "latest", name: str = "notes") -> dict[str, bytes]:
        """What a version of a memory holds."""
        directories = self.space.directories("memory")
        number = len(list(self.folder.glob("look*")))
        place = self.folder / f"look{number}"
        directories.clone(name, place, version=version)
        return {
            str(file.relative_to(place)): file.read_bytes()
            for file in sorted(place.rglob("*"))
            if file.is_file() and ".holdfast" not in file.parts
        }

    def versions(self, name: str = "notes") -> list[tuple[int, str, str | None]]:
        """The newest first: number, kind, run."""
        found = self.space.directories("memory").log(name)
        return [(e.version.v, e.version.kind, e.version.run) for e in found]

    def head(self, name: str = "notes") -> int:
        return self.space.directories("memory").version(name).v

    def left(self) -> list[str]:
        """What lies in the folder of runs."""
        place = self.folder / "vault" / "runs"
        return sorted(each.name for each in place.iterdir()) if place.exists() else []

    def sound(self) -> None:
        assert list(self.vault.verify()) == []


def memory_of(run: Run) -> Laid:
    (laid,) = [each for each in run.mounts if each.type == "memory"]
    return laid


def bench_in(folder: Path) -> Bench:
    return Bench(holdfast.open(folder / "vault"), folder)


def said_in(run: Run, space: Space) -> bytes:
    return b"".join(piece.data for piece in space.runs().logs(run.id).pieces)
