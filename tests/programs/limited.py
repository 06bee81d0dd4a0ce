"""Write under a limit on a file's size until the disk 'fails', lift it, go on, and compare."""

from __future__ import annotations

import resource
import sys
import threading
from pathlib import Path

from holdfast.errors import StorageFailed
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.recipe import LOG_BYTES

FILE = Path(sys.argv[1])
acknowledged: list[str] = []
failed: list[str] = []


def prepare(conn) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, name, body)")


def put(db: Database, name: str) -> bool:
    def unit(conn) -> None:
        conn.execute("INSERT INTO note (name, body) VALUES (?, zeroblob(150000))", (name,))

    try:
        db.write(unit)
    except StorageFailed as exc:
        assert "database or disk is full" not in str(exc)
        failed.append(exc.code)
        return False
    acknowledged.append(name)
    return True


def work(db: Database, name: str) -> None:
    number = 0
    while put(db, f"{name}{number}"):
        number += 1


def names(conn) -> list[str]:
    return sorted(row[0] for row in conn.execute("SELECT name FROM note").fetchall())


db = Database.open(FILE, prepare=prepare)
limit = LOG_BYTES + 5000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
threads = [threading.Thread(target=work, args=(db, name)) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert set(failed) == {"storage_io"}, failed
assert len(failed) == 4
assert len(acknowledged) > 4
assert db.read(names) == sorted(acknowledged)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
failed.clear()
for number in range(10):
    put(db, f"later{number}")
db.close()
again = Database.open(FILE, prepare=prepare)
assert again.read(names) == sorted(acknowledged)
assert sum(name.startswith("later") for name in acknowledged) >= 9
assert again.read(lambda conn: conn.execute("PRAGMA integrity_check").get) == "ok"
again.close()
print("storage_io for all of the group, then all is well")
