"""A database's promises: durable at one sync a commit, snapshots, forks, failing disks, kills."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from holdfast.errors import Closed, Damaged, HoldfastError, Refused, StorageFailed
from holdfast.storage.sqlite import connections, recipe
from holdfast.storage.sqlite.connections import READERS_MAX
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import Key, key_from_text
from holdfast.storage.sqlite.recipe import LOG_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = Path(__file__).parent / "programs"
KILLS = int(os.environ.get("HOLDFAST_KILLS", "30"))
KEY = "raw:" + "3c" * 32


def prepare(conn: apsw.Connection) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, body)")


def put(body: object) -> Callable[[apsw.Connection], None]:
    def unit(conn: apsw.Connection) -> None:
        conn.execute("INSERT INTO note (body) VALUES (?)", (body,))

    return unit


def bodies(conn: apsw.Connection) -> list[object]:
    return [row[0] for row in conn.execute("SELECT body FROM note ORDER BY id").fetchall()]


def integrity(conn: apsw.Connection) -> object:
    return conn.execute("PRAGMA integrity_check").get


def program(name: str, *args: object) -> list[str]:
    return [sys.executable, str(PROGRAMS / name), *map(str, args)]


def log(file: Path) -> Path:
    return file.with_name(file.name + "-wal")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "v.db"


@pytest.fixture(params=["memory", "disk"])
def db(request: pytest.FixtureRequest, file: Path) -> Iterator[Database]:
    made = Database.open(file if request.param == "disk" else None, prepare=prepare)
    yield made
    made.close()


# Syncs, and the log


def syncs(tmp_path: Path, *args: object, name: str = "writes.py") -> int:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, and only it can count what reaches the disk")
    trace = tmp_path / "trace"
    command = [
        "strace",
        "-f",
        "-o",
        str(trace),
        "-e",
        "trace=fsync,fdatasync,sync_file_range,msync",
    ]
    subprocess.run([*command, *program(name, *args)], check=True)
    return len(
        re.findall(
            r"^\d+ +(?:fsync|fdatasync|sync_file_range|msync)\(", trace.read_text(), re.MULTILINE
        )
    )


@pytest.mark.row("I04")
@pytest.mark.parametrize("key", ["", KEY], ids=["plain", "encrypted"])
def test_one_sync_a_commit_and_two_for_one_shot(tmp_path: Path, file: Path, key: str) -> None:
    syncs(tmp_path, file, 1, key)
    few, many = syncs(tmp_path, file, 5, key), syncs(tmp_path, file, 45, key)
    assert many - few == 40
    assert syncs(tmp_path, file, 1, key) <= 2
    assert syncs(tmp_path, file, 0, key) == 0


@pytest.mark.row("C06", "I04")
def test_one_sync_for_each_awaited_set(tmp_path: Path, file: Path) -> None:
    syncs(tmp_path, file, 1, name="awaited.py")
    few, many = (syncs(tmp_path, file, count, name="awaited.py") for count in (5, 45))
    assert many - few == 40


def test_the_log_keeps_its_size_from_the_first_write_on(file: Path) -> None:
    db = Database.open(file, prepare=prepare)
    assert log(file).stat().st_size == LOG_BYTES
    for _ in range(30):  # three times as much as the log holds
        db.write(put(bytes(400_000)))
        assert log(file).stat().st_size == LOG_BYTES
    db.write(put(bytes(3 * LOG_BYTES)))
    for _ in range(3):
        db.write(put("small"))
    assert log(file).stat().st_size == LOG_BYTES
    db.close()
    assert log(file).stat().st_size == LOG_BYTES


def test_a_log_that_another_program_removed_is_made_again(file: Path) -> None:
    Database.open(file, prepare=prepare).close()
    foreign = apsw.Connection(str(file))
    foreign.execute("INSERT INTO note (body) VALUES ('theirs')")
    foreign.close()
    assert not log(file).exists()
    db = Database.open(file, prepare=prepare)
    assert log(file).stat().st_size == LOG_BYTES
    assert db.read(bodies) == ["theirs"]
    db.close()


def test_a_database_with_a_rollback_journal_is_taken_over(file: Path) -> None:
    foreign = apsw.Connection(str(file))
    prepare(foreign)
    foreign.close()
    db = Database.open(file, prepare=prepare)
    db.write(put("ours"))
    assert db.read(lambda conn: conn.pragma("journal_mode")) == "wal"
    db.close()


# Reading


def test_a_read_is_one_snapshot(file: Path) -> None:
    db = Database.open(file, prepare=prepare)
    db.write(put(1))

    def look_twice(conn: apsw.Connection) -> tuple[list[object], list[object]]:
        before = bodies(conn)
        writer = threading.Thread(target=lambda: db.write(put(2)))
        writer.start()
        writer.join()
        return before, bodies(conn)

    assert db.read(look_twice) == ([1], [1])
    assert db.read(bodies) == [1, 2]
    db.close()


def test_a_read_sees_nothing_of_a_group_before_it_is_committed(file: Path) -> None:
    db = Database.open(file, prepare=prepare)
    seen: list[list[object]] = []

    def unit(conn: apsw.Connection) -> None:
        put(1)(conn)
        reader = threading.Thread(target=lambda: seen.append(db.read(bodies)))
        reader.start()
        reader.join()

    db.write(unit)
    assert seen == [[]]
    assert db.read(bodies) == [1]
    db.close()


def test_readers_run_beside_one_another_up_to_a_number(file: Path) -> None:
    db = Database.open(file, prepare=prepare)
    together = threading.Barrier(READERS_MAX)
    lock, now, most = threading.Lock(), [0], [0]

    def unit(conn: apsw.Connection) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        together.wait(20)
        with lock:
            now[0] -= 1
        together.wait(20)

    threads = [threading.Thread(target=db.read, args=(unit,)) for _ in range(3 * READERS_MAX)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [READERS_MAX]
    db.close()


def test_a_unit_that_reads_cannot_write(db: Database) -> None:
    with pytest.raises(Refused) as caught:
        db.read(put(1))
    assert caught.value.code == "storage_only_reads"
    assert db.read(bodies) == []


def test_rows_that_a_unit_did_not_fetch_hold_no_old_snapshot(db: Database) -> None:
    db.write(put(1))
    db.write(put(2))

    def half(conn: apsw.Connection) -> object:
        rows = conn.execute("SELECT body FROM note")
        assert next(rows) == (1,)
        return rows

    kept = [db.read(half) for _ in range(3)]
    kept += [db.write(half) for _ in range(3)]
    db.write(put(3))
    assert db.read(bodies) == [1, 2, 3]
    del kept


def test_nested_loops_leave_the_database_as_quick_as_it_was(file: Path) -> None:
    """Cursors that some versions of the driver never let go do not add up."""
    db = Database.open(file, prepare=prepare)
    for number in range(3):
        db.write(put(number))

    def nested(conn: apsw.Connection) -> int:
        for _ in conn.execute("SELECT body FROM note"):
            conn.execute("SELECT 1").fetchall()
        return sys.getrefcount(conn)

    assert max(db.read(nested) for _ in range(300)) < connections.HANGERS_ON_MAX + 10
    assert max(db.write(nested) for _ in range(300)) < connections.HANGERS_ON_MAX + 10
    db.close()


def test_every_connection_is_attached_and_prepared_once(file: Path) -> None:
    prepared: list[str] = []

    def attach(conn: apsw.Connection) -> None:
        conn.create_scalar_function("twice", lambda x: 2 * x, 1, deterministic=True)

    def once(conn: apsw.Connection) -> None:
        assert not conn.in_transaction
        prepared.append(conn.filename)
        prepare(conn)

    db = Database.open(file, prepare=once, attach=attach)
    db.write(lambda conn: conn.execute("INSERT INTO note (body) VALUES (twice(4))").fetchall())
    assert db.read(lambda conn: conn.execute("SELECT twice(body) FROM note").get) == 16
    assert prepared == [str(file)]
    db.close()


def test_a_failing_preparation_lets_everything_go(file: Path) -> None:
    def fail(conn: apsw.Connection) -> None:
        conn.execute("CREATE TABLE half (x)")
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            Database.open(file, prepare=lambda conn: fail(conn) if file.name == "v.db" else None)
        file.unlink()
    db = Database.open(file, prepare=prepare)
    db.write(put(1))
    db.close()


# Closing, forking, quiet moments


def test_after_close_every_call_says_so(db: Database) -> None:
    db.close()
    db.close()
    calls: list[Callable[[], object]] = [
        lambda: db.write(put(1)),
        lambda: db.read(bodies),
        lambda: db.exclusive(bodies),
        lambda: db.submit(put(1), lambda _value, _error: None),
        lambda: db.change_key(None),
    ]
    for call in calls:
        with pytest.raises(Closed) as caught:
            call()
        assert caught.value.code == "vault_closed"


def test_close_waits_for_readers(file: Path) -> None:
    db = Database.open(file, prepare=prepare)
    db.write(put(1))
    reading, closing = threading.Event(), threading.Event()
    found: list[object] = []

    def unit(conn: apsw.Connection) -> None:
        reading.set()
        assert closing.wait(20)
        found.append(bodies(conn))

    thread = threading.Thread(target=db.read, args=(unit,))
    thread.start()
    assert reading.wait(20)
    closer = threading.Thread(target=db.close)
    closer.start()
    closing.set()
    closer.join()
    assert found == [[1]]
    thread.join()


@pytest.mark.row("I05")
def test_a_fork_is_found_and_harms_nobody(file: Path) -> None:
    done = subprocess.run(program("forking.py", file), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "vault_forked x 5, opened anew, parent goes on\n"


def test_quiet_moments_are_used_until_nothing_is_left(db: Database) -> None:
    db.close()
    left = [3, 2, 1, 0]
    done = threading.Event()

    def idle(conn: apsw.Connection) -> bool:
        put("tidied")(conn)
        if left.pop(0):
            return True
        done.set()
        return False

    again = Database.open(db.file, prepare=prepare, idle=idle)
    again.write(put("noted"))
    assert done.wait(20)
    assert again.write(bodies) == ["noted", *["tidied"] * 4]
    left[:] = [0]
    done.clear()
    again.write(put("noted"))
    assert done.wait(20)
    again.close()


def test_what_fails_in_a_quiet_moment_is_told_to_the_next_writer_or_at_close(db: Database) -> None:
    db.close()
    failed = threading.Event()

    def idle(conn: apsw.Connection) -> bool:
        put("half")(conn)
        failed.set()
        raise LookupError("the index does not fit")

    again = Database.open(db.file, prepare=prepare, idle=idle)
    again.write(put("noted"))
    assert failed.wait(20)
    with pytest.raises(LookupError, match="does not fit"):
        write_on(again)
    failed.clear()
    assert again.write(bodies) == ["noted"]
    assert failed.wait(20)
    with pytest.raises(LookupError, match="does not fit"):
        again.close()
    with pytest.raises(Closed):
        again.read(bodies)


def write_on(db: Database) -> None:
    for _ in range(100_000):
        db.write(bodies)


# Failing disks


def test_another_program_that_holds_the_file_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe, "FOREIGN_WAIT_MS", 5)
    db = Database.open(file, prepare=prepare)
    foreign = apsw.Connection(str(file))
    foreign.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageFailed) as caught:
        db.write(put(1))
    assert (caught.value.code, str(file) in caught.value.message) == ("storage_busy", True)
    assert isinstance(caught.value.__cause__, apsw.BusyError)
    foreign.execute("ROLLBACK")
    db.write(put(2))
    assert db.read(bodies) == [2]
    db.close()


@pytest.mark.parametrize("make", ["mkdir", "touch"])
def test_a_place_that_cannot_hold_a_database_is_named(tmp_path: Path, make: str) -> None:
    place = tmp_path / "place"
    getattr(place, make)()
    with pytest.raises(StorageFailed) as caught:
        Database.open(place if make == "mkdir" else place / "v.db", prepare=prepare)
    assert caught.value.code == "storage_cannot_open"
    assert caught.value.hint


@pytest.mark.row("I04", "I11")
def test_flipped_bytes_are_named(file: Path) -> None:
    db = Database.open(file, prepare=prepare)
    for number in range(200):
        db.write(put(f"{number:0500}"))
    db.exclusive(lambda conn: conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
    db.close()
    content = bytearray(file.read_bytes())
    for page in range(2, len(content) // 4096):
        content[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    file.write_bytes(content)
    db = Database.open(file, prepare=prepare)
    for call in (db.read, db.write, db.exclusive):
        with pytest.raises(Damaged) as caught:
            call(bodies)
        assert (caught.value.code, str(file) in caught.value.message) == ("vault_damaged", True)
    db.close()


def fill(db: Database, acknowledged: list[object]) -> None:
    for number in range(1000):
        db.write(put(f"{number:09000}"))
        acknowledged.append(f"{number:09000}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "holdfast-test", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only a user who may mount can make a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.row("I04", "I11")
@pytest.mark.parametrize("key", [None, key_from_text(KEY)], ids=["plain", "encrypted"])
def test_a_full_disk_loses_nothing_that_was_acknowledged(small_disk: Path, key: Key | None) -> None:
    file = small_disk / "v.db"
    db = Database.open(file, key=key, prepare=prepare)
    acknowledged: list[object] = []
    with pytest.raises(StorageFailed) as caught:
        fill(db, acknowledged)
    assert caught.value.code == "storage_full"
    assert len(acknowledged) > 20
    assert db.read(bodies) == acknowledged
    db.close()
    db = Database.open(file, key=key, prepare=prepare)
    assert db.read(bodies) == acknowledged
    assert db.read(integrity) == "ok"
    db.close()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    db = Database.open(file, key=key, prepare=prepare)
    db.write(put("there is room again"))
    assert db.read(bodies) == [*acknowledged, "there is room again"]
    db.close()


@pytest.mark.row("I11")
def test_a_disk_that_cannot_be_written_is_named(small_disk: Path) -> None:
    file = small_disk / "v.db"
    db = Database.open(file, prepare=prepare)
    db.write(put(1))
    db.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for place in (file, small_disk / "new" / "v.db"):
        with pytest.raises(StorageFailed) as caught:
            Database.open(place, prepare=prepare)
        assert caught.value.code == "storage_readonly"


@pytest.mark.row("I04")
def test_an_input_output_error_is_survived(file: Path) -> None:
    """A limit on a file's size makes the commit's own write fail; then it is lifted."""
    done = subprocess.run(program("limited.py", file), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "storage_io for all of the group, then all is well\n"


@pytest.mark.row("I04")
@pytest.mark.parametrize("key", ["", KEY], ids=["plain", "encrypted"])
def test_killed_at_any_moment_no_acknowledged_write_is_lost(file: Path, key: str) -> None:
    chance = random.Random(5)
    acknowledged: set[str] = set()
    for attempt in range(KILLS // 2):
        writer = subprocess.Popen(
            program("acknowledging.py", file, attempt, key), stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 200)):
            acknowledged.add(writer.stdout.readline().strip())
        for _ in range(chance.randrange(3000)):  # somewhere within the next commits
            pass
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        acknowledged.update(line for line in rest.splitlines(keepends=False)[:-1])
    db = Database.open(file, key=key_from_text(key) if key else None, prepare=prepare)
    found = [str(body) for body in db.read(bodies)]
    assert acknowledged <= set(found)
    assert len(found) == len(set(found))
    assert db.read(integrity) == "ok"
    db.close()


def test_errors_of_units_pass_unchanged(db: Database) -> None:
    mine = HoldfastError("mine", "my own")

    def fail(conn: apsw.Connection) -> None:
        raise mine

    for call in (db.write, db.read, db.exclusive):
        with pytest.raises(HoldfastError) as caught:
            call(fail)
        assert caught.value is mine
    with pytest.raises(apsw.SQLError):
        db.write(lambda conn: conn.execute("no such statement"))
