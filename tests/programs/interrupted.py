"""Interrupt the main thread while it commits for others; then see that nothing is lost or doubled.

Counters are set to the number of acknowledged increments, so a unit that ran twice would show.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from holdfast.storage.sqlite.database import Database

ROUNDS = int(sys.argv[2])
OTHERS = 7


def main() -> None:
    db = Database.open(Path(sys.argv[1]), prepare=prepare)
    stop = threading.Event()
    acknowledged = [0] * OTHERS
    heard = [0, 0]  # submitted, answered

    def work(number: int) -> None:
        while not stop.is_set():
            expected = acknowledged[number] + 1
            assert db.write(lambda conn: add(conn, number)) == expected
            acknowledged[number] = expected

    def hear(value: object, error: BaseException | None) -> None:
        assert error is None
        heard[1] += 1

    def submit() -> None:
        while not stop.wait(0.002):
            db.submit(lambda conn: add(conn, OTHERS), hear)
            heard[0] += 1

    others = [threading.Thread(target=work, args=(number,)) for number in range(OTHERS)]
    others.append(threading.Thread(target=submit))
    pest = threading.Thread(target=interrupt, args=(stop,))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for thread in (*others, pest):
        thread.start()
    lead_and_be_interrupted(db)
    stop.set()
    pest.join()
    for thread in others:
        thread.join()
    db.close()
    again = Database.open(Path(sys.argv[1]), prepare=lambda _: None)
    found = again.read(lambda conn: dict(conn.execute("SELECT id, count FROM counter").fetchall()))
    again.close()
    assert [found.get(number, 0) for number in range(OTHERS)] == acknowledged
    assert all(acknowledged), acknowledged
    assert found[OTHERS] == heard[0] == heard[1], (found[OTHERS], heard)
    print("all there")


def lead_and_be_interrupted(db: Database) -> None:
    signal.signal(signal.SIGINT, raise_while_writing)
    interrupts = 0
    while interrupts < ROUNDS:
        try:
            write_on(db)
        except KeyboardInterrupt:
            interrupts += 1


def write_on(db: Database) -> None:
    while True:
        db.write(lambda conn: add(conn, OTHERS + 1))
        db.write_at_once(lambda conn: add(conn, OTHERS + 1))
        db.submit(lambda conn: add(conn, OTHERS + 1), lambda *_: None)


def raise_while_writing(_signal: int, frame: FrameType | None) -> None:
    """As Ctrl-C does, twice in a row too, but only where this program has something to catch it."""
    while frame is not None:
        if frame.f_code is write_on.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back


def prepare(conn) -> None:
    conn.execute("CREATE TABLE counter (id INTEGER PRIMARY KEY, count INTEGER NOT NULL)")


def add(conn, number: int) -> int:
    return conn.execute(
        "INSERT INTO counter VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1"
        " RETURNING count",
        (number,),
    ).fetchall()[0][0]


def interrupt(stop: threading.Event) -> None:
    chance = random.Random(11)
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    while not stop.wait(chance.random() * 0.004):
        signal.pthread_kill(main_thread, signal.SIGINT)


main()
