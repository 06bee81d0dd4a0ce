"""Group commit: what many threads write together is there, or the caller knows that it is not."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import apsw
import pytest

from holdfast.errors import Closed, Refused, StorageFailed
from holdfast.storage.sqlite import commit
from holdfast.storage.sqlite.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = Path(__file__).parent / "programs"

TABLES = """
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS parent (id INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS child (
    parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED
);
"""


def prepare(conn: apsw.Connection) -> None:
    conn.execute(TABLES)


def attach(conn: apsw.Connection) -> None:
    conn.pragma("foreign_keys", 1)


def add(name: str, amount: int = 1) -> Callable[[apsw.Connection], int]:
    """A unit that adds to a counter and returns what it is then."""

    def unit(conn: apsw.Connection) -> int:
        return conn.execute(
            "INSERT INTO counter VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + ?"
            " RETURNING count",
            (name, amount, amount),
        ).fetchall()[0][0]

    return unit


def counts(conn: apsw.Connection) -> dict[str, int]:
    return dict(conn.execute("SELECT name, count FROM counter").fetchall())


@pytest.fixture(params=["memory", "disk"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "v.db" if request.param == "disk" else None
    made = Database.open(file, prepare=prepare, attach=attach)
    yield made
    made.close()


class Crowd:
    """Threads whose units wait in line, in their order, while one leads; so a group is certain."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.threads: list[threading.Thread] = []
        self.outcomes: dict[int, object] = {}
        self._go = threading.Event()
        self._leads = threading.Event()
        self.join(lambda _: (self._leads.set(), self._go.wait(20)))
        assert self._leads.wait(20)

    def join(self, unit: Callable[[apsw.Connection], object]) -> None:
        place = len(self.threads)

        def run() -> None:
            try:
                self.outcomes[place] = self.db.write(unit)
            except BaseException as exc:  # noqa: BLE001
                self.outcomes[place] = exc

        thread = threading.Thread(target=run)
        self.threads.append(thread)
        thread.start()
        queue = self.db._committer._queue
        while place and len(queue) < place:
            thread.join(0.001)

    def run(self) -> list[object]:
        self._go.set()
        for thread in self.threads:
            thread.join()
        return [self.outcomes[place] for place in range(1, len(self.threads))]


def test_a_unit_gives_back_what_it_returns(db: Database) -> None:
    assert [db.write(add("a")), db.write(add("a", 4)), db.write(add("b"))] == [1, 5, 1]
    assert db.read(counts) == {"a": 5, "b": 1}


def test_units_that_wait_are_committed_together_in_their_order(db: Database) -> None:
    crowd = Crowd(db)
    turns = db._committer.turns
    for _ in range(5):
        crowd.join(add("a"))
    assert crowd.run() == [1, 2, 3, 4, 5]
    assert db._committer.turns == turns + 2
    assert db.read(counts) == {"a": 5}


def test_a_unit_that_raises_having_changed_nothing_stops_nobody(db: Database) -> None:
    runs = Counter[str]()

    def refuse(conn: apsw.Connection) -> None:
        runs["refuse"] += 1
        assert counts(conn) == {"a": 1}
        raise LookupError("not that one")

    crowd = Crowd(db)
    crowd.join(add("a"))
    crowd.join(refuse)
    crowd.join(add("a"))
    first, refused, last = crowd.run()
    assert (first, last, runs["refuse"]) == (1, 2, 1)
    assert isinstance(refused, LookupError)
    assert str(refused) == "not that one"


def test_a_unit_that_raises_after_writing_leaves_nothing(db: Database) -> None:
    runs = Counter[str]()

    def write_and_fail(conn: apsw.Connection) -> None:
        runs["failing"] += 1
        add("bad")(conn)
        raise LookupError

    def count(conn: apsw.Connection) -> int:
        runs["good"] += 1
        return add("a")(conn)

    with pytest.raises(LookupError):
        db.write(write_and_fail)
    crowd = Crowd(db)
    crowd.join(count)
    crowd.join(write_and_fail)
    crowd.join(count)
    first, failed, last = crowd.run()
    assert (first, last) == (1, 2)
    assert isinstance(failed, LookupError)
    assert runs == {"failing": 3, "good": 3}  # the group once, then each by itself
    assert db.read(counts) == {"a": 2}


def test_a_unit_that_raises_after_changing_the_schema_leaves_nothing(db: Database) -> None:
    def make_table(conn: apsw.Connection) -> None:
        conn.execute("CREATE TABLE more (x)")
        raise LookupError

    crowd = Crowd(db)
    crowd.join(add("a"))
    crowd.join(make_table)
    assert [type(outcome) for outcome in crowd.run()] == [int, LookupError]
    assert not db.read(
        lambda conn: conn.execute("SELECT 1 FROM sqlite_schema WHERE name = 'more'").get
    )


def test_a_writing_statement_that_a_failed_unit_left_open_leaves_nothing(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "v.db", prepare=prepare)
    kept: list[object] = []

    def half(conn: apsw.Connection) -> None:
        rows = conn.execute("INSERT INTO counter VALUES ('x', 1), ('y', 2) RETURNING name")
        kept.append(rows)
        assert next(rows) == ("x",)
        raise LookupError

    crowd = Crowd(db)
    crowd.join(add("a"))
    crowd.join(half)
    crowd.join(add("a"))
    first, failed, last = crowd.run()
    assert (first, last) == (1, 2)
    assert isinstance(failed, LookupError)
    assert db.read(counts) == {"a": 2}
    db.close()


def test_a_writing_statement_left_open_by_a_unit_that_returned_is_its_failure(
    tmp_path: Path,
) -> None:
    db = Database.open(tmp_path / "v.db", prepare=prepare)

    def half(conn: apsw.Connection) -> object:
        rows = conn.execute("INSERT INTO counter VALUES ('x', 1), ('y', 2) RETURNING name")
        next(rows)
        return rows

    with pytest.raises(StorageFailed, match="left a statement open") as caught:
        db.write(half)
    assert caught.value.code == "storage_rolled_back"
    assert db.write(add("a")) == 1
    assert db.read(counts) == {"a": 1}
    db.close()


def test_a_commit_that_fails_fails_the_whole_group(db: Database) -> None:
    def orphan(conn: apsw.Connection) -> None:
        conn.execute("INSERT INTO child VALUES (7)")

    def refuse(conn: apsw.Connection) -> None:
        raise LookupError

    crowd = Crowd(db)
    crowd.join(add("a"))
    crowd.join(orphan)
    crowd.join(refuse)
    outcomes = crowd.run()
    assert len({id(outcome) for outcome in outcomes}) == 3
    for outcome in outcomes:
        assert isinstance(outcome, StorageFailed)
        assert outcome.code == "storage_rolled_back"
        assert isinstance(outcome.__cause__, apsw.ConstraintError)
    assert db.read(counts) == {}
    assert db.write(add("a")) == 1


def test_a_unit_that_ends_its_transaction_is_refused(db: Database) -> None:
    def end(conn: apsw.Connection) -> None:
        add("lost")(conn)
        conn.execute("ROLLBACK")

    with pytest.raises(StorageFailed, match="ended its transaction"):
        db.write(end)
    assert db.write(add("a")) == 1
    assert db.read(counts) == {"a": 1}


def test_what_escapes_a_worker_thread_is_its_own(db: Database) -> None:
    """Not even SystemExit of one unit reaches another caller."""
    crowd = Crowd(db)
    crowd.join(lambda _: sys.exit(3))
    crowd.join(add("a"))
    left, counted = crowd.run()
    assert isinstance(left, SystemExit)
    assert counted == 1


def test_nested_calls_are_errors_and_not_deadlocks(db: Database) -> None:
    calls: list[Callable[[apsw.Connection], object]] = [
        lambda _: db.write(add("a")),
        lambda _: db.read(counts),
        lambda _: db.exclusive(counts),
        lambda _: db.close(),
    ]
    for call in calls:
        for face in (db.write, db.read, db.exclusive):
            with pytest.raises(Refused, match="called the database again") as caught:
                face(call)
            assert caught.value.code == "storage_nested"
    assert db.write(add("a")) == 1


def test_exclusive_runs_once_in_its_own_thread_without_a_transaction(db: Database) -> None:
    def work(conn: apsw.Connection) -> tuple[int, bool]:
        return threading.get_ident(), conn.in_transaction

    assert db.exclusive(work) == (threading.get_ident(), False)

    def leave_open(conn: apsw.Connection) -> None:
        conn.execute("BEGIN IMMEDIATE")
        add("lost")(conn)

    db.exclusive(leave_open)
    assert db.write(counts) == {}


def test_submitted_units_answer_in_their_order_from_another_thread(db: Database) -> None:
    heard: list[tuple[object, object, bool]] = []
    done = threading.Event()

    def hear(value: object, error: BaseException | None) -> None:
        heard.append((value, type(error), threading.current_thread() is threading.main_thread()))
        if len(heard) == 4:
            done.set()

    def fail(conn: apsw.Connection) -> None:
        add("lost")(conn)
        raise LookupError

    def again(value: object, error: BaseException | None) -> None:
        hear(value, error)
        db.submit(add("a"), hear)

    db.submit(add("a"), hear)
    db.submit(fail, hear)
    db.submit(add("a"), again)
    assert done.wait(20)
    nothing = type(None)
    assert heard == [
        (1, nothing, False),
        (None, LookupError, False),
        (2, nothing, False),
        (3, nothing, False),
    ]
    assert db.read(counts) == {"a": 3}


def test_an_answer_that_raises_is_reported_and_stops_nobody(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: lost.append(str(args.exc_value)))
    done = threading.Event()

    def fail(value: object, error: BaseException | None) -> None:
        raise ValueError("the loop is closed")

    db.submit(add("a"), fail)
    db.submit(add("a"), lambda _value, _error: done.set())
    assert done.wait(20)
    assert lost == ["the loop is closed"]
    assert db.write(add("a")) == 3


def test_nobody_leads_for_ever(db: Database) -> None:
    """Between a call and its return, its thread runs a bounded number of others' units."""
    running = Counter[int]()
    most: list[int] = []

    def unit(conn: apsw.Connection) -> None:
        running[threading.get_ident()] += 1
        add("a")(conn)

    def work() -> None:
        me = threading.get_ident()
        for _ in range(60):
            before = running[me]
            db.write(unit)
            most.append(running[me] - before)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db.read(counts) == {"a": 16 * 60}
    assert max(most) <= 16 * commit.TURNS_MAX


@pytest.mark.row("I05")
@pytest.mark.parametrize("seed", range(4))
def test_racing_threads_against_a_dict(db: Database, seed: int) -> None:
    """Units of all kinds, mixed: what was acknowledged counts, and nothing else does."""
    expected: list[Counter[str]] = []

    def work(number: int) -> None:
        chance = random.Random(f"{seed}-{number}")
        mine = Counter[str]()
        for _ in range(60):
            name, kind = chance.choice("abcd"), chance.random()
            amount = chance.randrange(1, 9)

            def unit(
                conn: apsw.Connection, name: str = name, amount: int = amount, kind: float = kind
            ) -> int:
                if kind < 0.15:
                    raise LookupError
                value = add(name, amount)(conn)
                if kind < 0.3:
                    raise LookupError
                return value

            try:
                value = db.write(unit)
            except LookupError:
                assert kind < 0.3
            else:
                assert kind >= 0.3
                mine[name] += amount
                assert value >= mine[name]
        expected.append(mine)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(expected) == 8
    assert db.read(counts) == sum(expected, Counter[str]())


@pytest.mark.row("I05")
def test_closing_during_traffic_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    file = tmp_path / "v.db"
    db = Database.open(file, prepare=prepare)
    acknowledged = Counter[str]()
    answered = Counter[str]()
    begun = threading.Barrier(9)

    def work(name: str) -> None:
        begun.wait()
        while True:
            try:
                acknowledged[name] = db.write(add(name))
            except Closed:
                return

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    begun.wait()

    def hear(value: object, error: BaseException | None) -> None:
        answered["none" if error is None else type(error).__name__] += 1

    for _ in range(50):
        db.submit(add("submitted"), hear)
    db.write(add("main"))
    db.close()
    for thread in threads:
        thread.join()
    assert answered == {"none": 50}  # what was accepted is finished
    again = Database.open(file, prepare=prepare)
    assert again.read(counts) == {**acknowledged, "main": 1, "submitted": 50}
    again.close()


@pytest.mark.row("I04")
def test_interrupts_in_the_leading_thread_lose_and_hang_nobody(tmp_path: Path) -> None:
    """A program is interrupted at some hundred random moments while it leads for seven others."""
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "interrupted.py"), str(tmp_path / "v.db"), "150"],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all there\n"
