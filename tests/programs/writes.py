"""Open a database, make as many writes as told, close it."""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import key_from_text


def prepare(conn) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, body)")


def unit(conn) -> None:
    conn.execute("INSERT INTO note (body) VALUES ('x')")


key = key_from_text(sys.argv[3]) if sys.argv[3] else None
db = Database.open(Path(sys.argv[1]), key=key, prepare=prepare)
for _ in range(int(sys.argv[2])):
    db.write(unit)
db.close()
