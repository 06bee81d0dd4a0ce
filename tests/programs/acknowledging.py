"""Four threads write and say so, one line for each write that returned, until killed."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import key_from_text


def prepare(conn) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, body)")


def work(name: str) -> None:
    number = 0
    while True:
        body = f"{name}.{number}"

        def unit(conn, body: str = body) -> None:
            conn.execute("INSERT INTO note (body) VALUES (?)", (body,))

        db.write(unit)
        os.write(1, f"{body}\n".encode())
        number += 1


key = key_from_text(sys.argv[3]) if sys.argv[3] else None
db = Database.open(Path(sys.argv[1]), key=key, prepare=prepare)
for thread in range(4):
    threading.Thread(target=work, args=(f"{sys.argv[2]}.{thread}",)).start()
