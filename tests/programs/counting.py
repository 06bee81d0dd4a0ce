"""Read a counter and write it back one higher, as often as told, while others do the same."""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.storage.sqlite.database import Database


def prepare(conn) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS counter (count INTEGER NOT NULL)")
    conn.execute("INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counter)")


def one_more(conn) -> None:
    count = conn.execute("SELECT count FROM counter").get
    conn.execute("UPDATE counter SET count = ?", (count + 1,))


db = Database.open(Path(sys.argv[1]), prepare=prepare)
for _ in range(int(sys.argv[2])):
    db.write(one_more)
db.close()
