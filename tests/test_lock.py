"""The turn to write passes among processes in the order of asking, and dies with its holder."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.errors import StorageFailed
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.lock import ProcessLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

COUNTING = Path(__file__).parent / "programs" / "counting.py"

HOLDER = """
import sys, time
from pathlib import Path
from holdfast.storage.sqlite.lock import ProcessLock
lock = ProcessLock(Path(sys.argv[1]))
lock.take()
lock.join()
print("held", flush=True)
sys.stdin.read()
"""


def is_free(path: Path) -> bool:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def until(condition: object) -> None:
    pause = threading.Event()
    for _ in range(20_000):
        if condition():  # type: ignore[operator]
            return
        pause.wait(0.001)
    raise AssertionError("it did not come to that")


def hold(file: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.mark.row("I05")
def test_who_has_just_finished_cannot_overtake_one_that_waits(tmp_path: Path) -> None:
    file = tmp_path / "v.db"
    mine, theirs = ProcessLock(file), ProcessLock(file)
    order: list[str] = []

    def wait_for_turn() -> None:
        theirs.take()
        order.append("who waited")
        theirs.give()

    mine.take()
    thread = threading.Thread(target=wait_for_turn)
    thread.start()
    until(lambda: not is_free(tmp_path / "v.db-queue"))
    mine.give()
    mine.take()
    order.append("who had it")
    mine.give()
    thread.join()
    assert order == ["who waited", "who had it"]
    mine.close()
    theirs.close()


def test_giving_twice_or_without_having_taken_is_harmless(tmp_path: Path) -> None:
    file = tmp_path / "v.db"
    one, other = ProcessLock(file), ProcessLock(file)
    one.give()
    one.take()
    other.give()
    assert not is_free(tmp_path / "v.db-turn")
    one.give()
    one.give()
    other.take()
    assert is_free(tmp_path / "v.db-queue")
    other.close()
    one.take()
    one.close()


@pytest.mark.row("I04")
def test_a_killed_holder_lets_go(tmp_path: Path) -> None:
    file = tmp_path / "v.db"
    holder = hold(file)
    assert not is_free(tmp_path / "v.db-turn")
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    lock = ProcessLock(file)
    lock.take()
    lock.alone()
    lock.close()


HANDLES = """
import os
for number in os.listdir("/proc/self/fd"):
    if os.path.lexists("/proc/self/fd/" + number):
        print(os.path.basename(os.readlink("/proc/self/fd/" + number)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists open files")
def test_a_program_that_is_started_meanwhile_does_not_inherit_the_locks(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "v.db")
    lock.take()
    with (tmp_path / "inherited").open("w") as other:
        os.set_inheritable(other.fileno(), True)
        command = [sys.executable, "-c", HANDLES]
        done = subprocess.run(command, close_fds=False, capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert "inherited" in found
    assert not [name for name in found if name.startswith("v.db")]
    lock.close()


def test_lock_files_are_for_this_user_only(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "v.db")
    found = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert found == {"v.db-queue": 0o600, "v.db-turn": 0o600, "v.db-open": 0o600}
    lock.close()


def test_alone_is_refused_while_another_has_it_open(tmp_path: Path) -> None:
    file = tmp_path / "v.db"
    one, other = ProcessLock(file), ProcessLock(file)
    one.join()
    other.join()
    with pytest.raises(StorageFailed, match="another process has it open") as caught:
        one.alone()
    assert caught.value.code == "storage_busy"
    assert not is_free(tmp_path / "v.db-open")  # it still counts as one who has it open
    other.close()
    one.alone()
    one.join()
    one.close()
    assert is_free(tmp_path / "v.db-open")


@pytest.mark.row("I05")
def test_eight_processes_count_to_four_thousand(tmp_path: Path) -> None:
    file = tmp_path / "v.db"
    each = 500
    counters = [
        subprocess.Popen([sys.executable, str(COUNTING), str(file), str(each)], env=os.environ)
        for _ in range(8)
    ]
    assert [counter.wait(120) for counter in counters] == [0] * 8
    db = Database.open(file, prepare=lambda _: None)
    assert db.read(lambda conn: conn.execute("SELECT count FROM counter").get) == 8 * each

    def integrity(conn: apsw.Connection) -> object:
        return conn.execute("PRAGMA integrity_check").get

    assert db.read(integrity) == "ok"
    db.close()
