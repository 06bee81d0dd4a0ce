"""Named SQL: `.sql` files in which a line `-- name: word` opens a statement."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def load(file: Path) -> dict[str, str]:
    """The statements of a file by their names, without their comments."""
    found: dict[str, str] = {}
    for part in file.read_text("utf-8").split("\n-- name: ")[1:]:
        name, _, body = part.partition("\n")
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        found[name.strip()] = "\n".join(lines).strip()
    return found
