"""Fork while a database is open and threads write; use it in the child; see the parent go on."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
from functools import partial
from pathlib import Path

from holdfast.errors import Closed
from holdfast.storage.sqlite.database import Database

FILE = Path(sys.argv[1])
_database: list[Database] = []


def prepare(conn) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, body)")


def put(conn) -> None:
    conn.execute("INSERT INTO note (body) VALUES (?)", (os.getpid(),))


def count(conn) -> int:
    return conn.execute("SELECT count(*) FROM note").get


def inherited() -> list[str]:
    handles = (Path(f"/proc/self/fd/{number}") for number in range(100))
    return sorted(handle.readlink().name for handle in handles if handle.is_symlink())


def child() -> None:
    db = _database[0]
    heard = 0
    calls = [
        partial(db.write, put),
        partial(db.read, count),
        partial(db.exclusive, count),
        partial(db.submit, put, print),
        partial(db.change_key, None),
    ]
    for call in calls:
        try:
            call()
        except Closed as exc:
            assert exc.code == "vault_forked"
            assert "open it again" in exc.hint
            heard += 1
    del call
    db.close()
    before = inherited()
    assert not [name for name in before if name.startswith("v.db")], before
    assert "v.db-turn" not in before
    _database.clear()
    calls.clear()
    del db
    gc.collect()
    assert inherited() == before
    anew = Database.open(FILE, prepare=prepare)
    anew.write(put)
    anew.close()
    print(f"vault_forked x {heard}, opened anew", end="", flush=True)


def fork_in_a_unit(db: Database) -> None:
    """The child can do nothing there but leave: not even the unit's end touches the file."""
    for face in (db.write, db.read):
        pids: list[int] = []
        try:
            face(lambda _, pids=pids: pids.append(os.fork()))
        except Closed as exc:
            assert pids == [0]
            assert exc.code == "vault_forked"
            gc.collect()
            assert "v.db" in inherited()
            try:
                Database.open(FILE, prepare=prepare)
            except Closed as again:
                assert "outside of units" in again.hint
                sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]) == 7


def main() -> None:
    db = Database.open(FILE, prepare=prepare)
    _database.append(db)
    stop = threading.Event()
    made = [0, 0]

    def work(number: int) -> None:
        while not stop.is_set():
            db.write(put)
            made[number] += 1
            db.read(count)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    while not all(made):
        pass
    warnings.simplefilter("ignore", DeprecationWarning)
    pid = os.fork()
    if pid == 0:
        del db
        child()
        return
    assert os.waitpid(pid, 0)[1] == 0
    so_far = list(made)
    while made[0] < so_far[0] + 20:
        pass
    stop.set()
    for thread in threads:
        thread.join()
    fork_in_a_unit(db)
    assert db.read(count) == sum(made) + 1
    assert db.read(lambda conn: conn.execute("PRAGMA integrity_check").get) == "ok"
    db.close()
    print(", parent goes on")


main()
