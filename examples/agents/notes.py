"""An agent that needs no model: it reads what it remembers, and writes down what it was asked.

    python notes.py PROMPT MEMORY

MEMORY is a folder. What stands there when it ends is there again when it starts the next time.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(prompt: str, memory: Path) -> None:
    remembered = sorted(file for file in memory.rglob("*.md") if file.is_file())
    print(f"I remember {len(remembered)} file{'s' * (len(remembered) != 1)}.")
    for file in remembered:
        first = file.read_text(encoding="utf-8").strip().partition("\n")[0]
        print(f"- {file.relative_to(memory)}: {first}")
    journal = memory / "journal.md"
    before = journal.read_text(encoding="utf-8") if journal.exists() else "# What I was asked\n"
    journal.write_text(f"{before}- {prompt}\n", encoding="utf-8")
    print(f"Done: {prompt}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
