"""Change a vault's key to and fro until killed."""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.errors import KeyProblem
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import key_from_text

keys = [key_from_text(text) for text in sys.argv[2:]]
try:
    db = Database.open(Path(sys.argv[1]), key=keys[0], prepare=lambda _: None)
except KeyProblem:
    keys.reverse()
    db = Database.open(Path(sys.argv[1]), key=keys[0], prepare=lambda _: None)
while True:
    keys.reverse()
    print("changing", flush=True)
    db.change_key(keys[0])
