"""Save notes for ever, or so many; print each one's name once it is acknowledged.

python save_notes.py VAULT WRITER [COUNT] [KEY]
"""

from __future__ import annotations

import itertools
import os
import sys

import holdfast

where, writer = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 0
key = sys.argv[4] if len(sys.argv) > 4 else None
numbers = range(count) if count else itertools.count()

with holdfast.open(where, key=key) as vault:
    notes = vault.space().notes()
    for number in numbers:
        name = f"{writer}-{number}"
        saved = notes.save(f"fact {name} of many words and some more", id=name, key=name)
        if number % 5 == 4:
            notes.remove(name)
        os.write(1, f"{name} {saved.entry.revision}\n".encode())
