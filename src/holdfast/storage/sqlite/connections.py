"""The connections to one database file: the one that writes, and the pool that readers share.

How each is made stands in recipe.py. How far the log went is noted beside it (witness.py).
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from contextlib import contextmanager
from time import monotonic_ns

import apsw

from holdfast.errors import Closed, StorageFailed, Unsupported
from holdfast.storage.sqlite.failures import failure, spoils
from holdfast.storage.sqlite.recipe import FOREIGN_WAIT_MS, fill_log, keep_log, log_files
from holdfast.storage.sqlite.witness import count_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path
    from typing import TypeVar

    from holdfast.storage.sqlite.recipe import Recipe
    from holdfast.storage.sqlite.witness import Witness

    T = TypeVar("T")

CHECKPOINT_PAGES = 1000
RETRY_PAGES = 250
READERS_MAX = 8
HANGERS_ON_MAX = 32
CHECK_AGAIN_S = 0.05
SCRUB_PATIENCE_MS = 500
LOOK_AGAIN_NS = 1_000_000
GONE = "vault_gone"


class Writer:
    """The one connection that writes; it is made anew when the disk failed under it."""

    def __init__(
        self,
        recipe: Recipe,
        witness: Witness | None = None,
        accept: Callable[[apsw.Connection], None] | None = None,
    ) -> None:
        self.file = recipe.file
        self._recipe = recipe
        self._witness = witness
        self._accept = accept  # looks at the file before anything in it is changed
        self._conn: apsw.Connection | None = None
        self._spoiled = False
        self._grew = False  # since the witness was told
        self._count_due = False  # the file may have taken over all that the witness knows of
        self._page_bytes = 0
        self._parts: list[tuple[str, tuple[int, int] | None]] = []
        self._part = 0  # that is looked at next
        self._version: int | None = None
        self._looked_ns = 0
        self._seen_state = -1
        self._ended = False
        self._pages = 0
        self._due_at = CHECKPOINT_PAGES
        self._patient: bool | None = None
        self.left = False  # to the parent of a fork, inside of a unit

    def get(self, *, patient: bool = True) -> apsw.Connection:
        """The connection; a patient one waits while another program than ours writes."""
        if self._ended:
            raise closed()
        conn = self._conn
        if conn is not None and self.file is not None and (self._spoiled or not reusable(conn)):
            self._conn = None
            conn.close(True)
            conn = None
        if conn is None:
            conn = self._conn = self._connect()
            self._spoiled, self._patient = False, None
        if patient is not self._patient:
            self._patient = None  # until it is done: a signal may raise in between
            conn.set_busy_timeout(FOREIGN_WAIT_MS if patient else 0)
            self._patient = patient
        return conn

    def _connect(self) -> apsw.Connection:
        conn = self._recipe.connect()
        if self.file is not None:
            try:
                self._look_at_first(conn)
                keep_log(conn, self.file)
                fill_log(conn, self.file)
                self._parts += [(each, identity(each)) for each in log_files(self.file)]
                conn.set_wal_hook(self._log_grew)
            except BaseException:
                conn.close(True)
                raise
            self._recipe = self._recipe.replace(salt=b"")
        return conn

    def _look_at_first(self, conn: apsw.Connection) -> None:
        self._page_bytes, self._seen_state = conn.pragma("page_size"), -1
        assert self.file is not None
        self._parts = [(str(self.file), identity(self.file))]
        accept, self._accept = self._accept, None
        if accept is not None:
            self.check(conn)
            accept(conn)

    def check(self, conn: apsw.Connection, *, thorough: bool = False) -> None:
        """Raise when something is missing that was acknowledged. To be called in a turn."""
        if self._witness is not None:
            self._witness.check(conn, plain=self._recipe.key is None, thorough=thorough)

    def settled(self, *, fresh: bool) -> None:
        """The schema is what it should be. A new file takes it over from the log at once."""
        conn = self.get()
        self._version = conn.pragma("user_version")
        failed = self.checkpoint() if fresh else self.note()
        if failed is not None:
            raise failed
        self.look_again()

    def look_again(self) -> None:
        """Something else than a unit may have moved the log into the file."""
        if self._witness is not None and self._conn is not None and not self._ended:
            self._count_due = self._witness.due(self._conn, self._page_bytes)

    def forget(self) -> None:
        """Another file is about to take the place of this one."""
        if self._witness is not None:
            self._witness.clear()

    def begin(self, conn: apsw.Connection) -> None:
        self._check_there()
        conn.execute("BEGIN IMMEDIATE")
        if self._version is not None and conn.data_version("main") != self._seen_state:
            version = conn.pragma("user_version")
            if version != self._version:
                raise Unsupported(
                    "schema_newer",
                    f"{self.file}: another program brought it from schema {self._version} to"
                    f" {version} while this one had it open",
                    hint="end this program, update holdfast, and start it again",
                )

    def _check_there(self) -> None:
        """A file that was deleted or moved takes commits as before, and loses them in the end; so
        does its log, and without the log's index other processes do not see what it holds.

        To look at one costs as much as a statement. So they are looked at in turn, one each
        millisecond; who deletes a vault loses what it held before, too. What is gone is looked at
        again by every write.
        """
        now = monotonic_ns()
        if now - self._looked_ns < LOOK_AGAIN_NS or not self._parts:
            return
        path, known = self._parts[self._part % len(self._parts)]
        if identity(path) != known:
            raise StorageFailed(
                GONE,
                f"{path}: it is no longer there: the vault, or this part of it, was deleted or"
                " moved, or its disk is not mounted",
                hint="bring it back and open it again; what was acknowledged before is in it",
            )
        self._looked_ns = now
        self._part += 1

    def note(self) -> BaseException | None:
        """After each commit, before the turn is given on: tell the witness of it."""
        conn = self._conn
        if conn is None or self._witness is None or self._ended:
            return None
        try:
            self._seen_state = conn.data_version("main")
            if self._grew:
                self._grew = False
                self._witness.note(conn, self._pages, self._page_bytes)
        except (apsw.Error, OSError) as exc:
            return failure(exc, self.file) or exc
        return None

    def recipe(self) -> Recipe:
        return self._recipe

    def change(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._spoiled = True

    def renew(self) -> None:
        """Make another connection before the next use."""
        self._spoiled = True

    def seen(self, exc: BaseException) -> BaseException:
        """What a caller is to see of what its unit raised."""
        self._spoiled = self._spoiled or spoils(exc)
        return failure(exc, self.file) or exc

    def in_transaction(self) -> bool:
        return self._conn is not None and self._conn.in_transaction

    def roll_back(self) -> None:
        conn = self._conn
        try:
            if conn is not None and not self.left and conn.in_transaction:
                conn.execute("ROLLBACK")
                conn.execute("SAVEPOINT probe; RELEASE probe")
        except apsw.Error:  # it failed, or a unit left a statement open that writes
            self._spoiled = True

    def let_go(self) -> None:
        self._ended = True
        if self._conn is not None:
            self._conn.close(True)

    def leave_to_parent(self, *, idle: bool) -> None:
        self.left = True
        if self._conn is not None:
            _leave(self._conn, idle=idle)

    def _log_grew(self, _conn: apsw.Connection, _name: str, pages: int) -> int:
        if pages < self._pages:  # written from its beginning again
            self._due_at = CHECKPOINT_PAGES
        self._pages = pages
        self._grew = True
        return apsw.SQLITE_OK

    def log_is_long(self) -> bool:
        return self._pages >= self._due_at or self._count_due

    def checkpoint(self) -> BaseException | None:
        """Move what the log holds into the file, as far as readers allow, who are not made to wait.

        When all of it went over, the next commit writes the log from its beginning again.
        """
        self._due_at = self._pages + RETRY_PAGES
        try:
            if self._conn is not None:
                self._conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                self._count(self._conn)
        except apsw.BusyError:  # somebody else is at it
            return None
        except (apsw.Error, OSError) as exc:
            return self.seen(exc)
        return None

    def write_anew(self) -> bool:
        """Leave nothing of deleted rows, in the file or its log; False while a reader's snapshot
        holds the log. What is kept is copied through memory where the file is ciphered."""
        conn = self.get()
        assert self.file is not None
        conn.pragma("temp_store", "DEFAULT" if self._recipe.key is None else "MEMORY")
        conn.execute("VACUUM")
        if failed := self.note():
            raise failed
        conn.set_busy_timeout(SCRUB_PATIENCE_MS)
        try:
            conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
        finally:
            conn.set_busy_timeout(FOREIGN_WAIT_MS)
        fill_log(conn, self.file)
        self._count(conn)
        return True

    def _count(self, conn: apsw.Connection) -> None:
        """Write the first page again, so that the log is ahead of the file by SQLite's count."""
        if self._witness is not None:
            self._count_due = True
            reached = count_in(conn, self._page_bytes)
            conn.execute("PRAGMA shrink_memory")  # or SQLite counts on from a page that it kept
            conn.pragma("user_version", conn.pragma("user_version"))
            self._grew = False
            self._witness.note(conn, self._pages, self._page_bytes)
            self._witness.note_count(reached + 1)
            self._seen_state = conn.data_version("main")
            self._count_due = False


class Readers:
    """Up to eight connections that readers take in turns; each unit sees one snapshot."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._idle: list[apsw.Connection] = []
        self._made = 0
        self._running: set[int] = set()
        self._waiting = 0
        self._paused = False
        self._closed = False
        self._left = False
        self._changed = threading.Condition()

    def runs_here(self) -> bool:
        return threading.get_ident() in self._running

    def read(self, unit: Callable[[apsw.Connection], T]) -> T:
        me = threading.get_ident()
        self._running.add(me)
        try:
            if self._paused:
                self._await_end_of_pause(me)
            return self._run(unit)
        finally:
            self._running.discard(me)
            if self._paused:
                self._tell()

    def _run(self, unit: Callable[[apsw.Connection], T]) -> T:
        try:
            conn = self._idle.pop()
        except IndexError:
            conn = self._another()
        sound = False
        try:
            conn.execute("BEGIN")
            result = unit(conn)
            sound = True
        except apsw.Error:
            raise
        except BaseException:
            sound = True
            raise
        finally:
            self._give_back(conn, sound=sound)
        return result

    def _give_back(self, conn: apsw.Connection, *, sound: bool) -> None:
        if self._left:
            _leave(conn, idle=False)
            raise forked()
        try:
            if sound and conn.in_transaction:
                conn.execute("COMMIT")
            sound = sound and reusable(conn)
        except BaseException:
            self._drop(conn)
            raise
        if not sound:
            self._drop(conn)
            return
        self._idle.append(conn)
        if self._waiting:
            self._tell()

    def _another(self) -> apsw.Connection:
        with self._changed:
            self._waiting += 1
            try:
                while self._made >= READERS_MAX:
                    try:
                        return self._idle.pop()
                    except IndexError:
                        self._changed.wait(CHECK_AGAIN_S)
                self._made += 1
            finally:
                self._waiting -= 1
        try:
            return self._recipe.connect(reader=True)
        except BaseException:
            self._made -= 1
            raise

    def _drop(self, conn: apsw.Connection) -> None:
        with self._changed:
            self._made -= 1
            self._changed.notify()
        conn.close(True)

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _await_end_of_pause(self, me: int) -> None:
        while self._paused:
            self._running.discard(me)
            with self._changed:
                self._changed.notify_all()
                if self._closed:
                    raise closed()
                self._changed.wait(CHECK_AGAIN_S)
            self._running.add(me)

    @contextmanager
    def paused(self) -> Generator[None]:
        """No reader runs, and none has a connection, until the block ends."""
        self._stop()
        try:
            yield
        finally:
            self.go_on()

    def close(self) -> None:
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        self._paused = True
        with self._changed:
            while self._running:
                self._changed.wait(CHECK_AGAIN_S)
        while self._idle:
            self._idle.pop().close(True)
        self._made = 0

    def change(self, recipe: Recipe) -> None:
        """Make connections in another way from now on. To be called while paused."""
        self._recipe = recipe

    def hold(self, patience_s: float) -> bool:
        """Pause until `go_on`; False when a reader does not end in so many seconds."""
        self._paused = True
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, patience_s)

    def go_on(self) -> None:
        self._paused = self._closed
        self._tell()

    def leave_to_parent(self, *, idle: bool) -> None:
        self._left = True
        for conn in self._idle:
            _leave(conn, idle=idle)


def reusable(conn: apsw.Connection) -> bool:
    """Whether nothing of a unit lives on in it: no open statement that holds an old snapshot,
    no heap of cursors that were never let go and that each later statement would have to pass."""
    idle = conn.txn_state() == apsw.SQLITE_TXN_NONE
    return idle and sys.getrefcount(conn) <= HANGERS_ON_MAX


def _leave(conn: apsw.Connection, *, idle: bool) -> None:
    """Let go of a connection that a forked child inherited.

    One that was idle is closed, so that SQLite forgets it and takes locks of its own when this
    process opens the file again. In the midst of a transaction it must be neither used nor closed,
    not even when the process ends: nothing that refers to itself and that the collector was told to
    pass over is ever let go.
    """
    if idle:
        conn.close(True)
        return
    trap: list[object] = [conn, apsw]  # the module closes what is open when it goes
    trap.append(trap)
    gc.freeze()


def identity(file: Path | str) -> tuple[int, int] | None:
    """What names a file whatever path leads to it; None when there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116 - before each commit, so the quick way
    except OSError:
        return None
    return found.st_dev, found.st_ino


def forked() -> Closed:
    return Closed(
        "vault_forked",
        "this vault was opened before the process forked, and belongs to the parent",
        hint="open it again in this process: holdfast.open(where)",
    )


def closed() -> Closed:
    return Closed(
        "vault_closed", "this vault was closed", hint="open it again: holdfast.open(where)"
    )
