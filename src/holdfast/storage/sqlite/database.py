"""One SQLite database with a database's promises.

What `write` returned from is on disk: the log is synced at each commit, once for all units that
were committed together. `read` sees one snapshot of what was committed, beside writers and readers.
Units are functions of a connection, may run more than once, touch nothing but the database, leave
its schema as it is, and neither begin nor end a transaction. A unit must not call the database
again: it has all that it needs in its connection.

In RAM there is one connection, and a unit that reads takes its turn among those that write.
"""

from __future__ import annotations

import gc
import os
import threading
import weakref
from pathlib import Path

import apsw

from holdfast.errors import Closed, KeyProblem, Refused, Unsupported
from holdfast.storage.sqlite.commit import Committer
from holdfast.storage.sqlite.connections import (
    Readers,
    Recipe,
    Writer,
    closed,
    not_found,
    recipe_for,
)
from holdfast.storage.sqlite.failures import failure
from holdfast.storage.sqlite.keys import change_key
from holdfast.storage.sqlite.lock import NoGate, ProcessLock
from holdfast.storage.sqlite.place import check_place, make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from holdfast.storage.sqlite.keys import Key

    T = TypeVar("T")
    Done = Callable[[Any, BaseException | None], None]

QUIET_S = 0.03


class Database:
    """Made by `open`; every call after `close`, or in a forked child, raises `Closed`."""

    def __init__(
        self,
        recipe: Recipe,
        lock: ProcessLock | None,
        prepare: Callable[[apsw.Connection], None],
        idle: Callable[[apsw.Connection], bool] | None,
    ) -> None:
        self.file = recipe.file
        self._lock = lock
        self._helper = Helper(idle)
        self._pid = os.getpid()
        self._closed = False
        self._writer = Writer(recipe)
        try:
            prepare(self._writer.get())
        except BaseException:
            self._writer.let_go()
            raise
        self._readers = None if recipe.file is None else Readers(self._writer.recipe())
        self._committer = Committer(self._writer, lock or NoGate(), self._helper.wake)
        self._helper.serve(self._committer)
        _live.add(self)

    @classmethod
    def open(
        cls,
        file: Path | None,
        *,
        key: Key | None = None,
        create: bool = True,
        prepare: Callable[[apsw.Connection], None],
        attach: Callable[[apsw.Connection], None] | None = None,
        idle: Callable[[apsw.Connection], bool] | None = None,
    ) -> Database:
        """Open the database in `file`, or one in RAM.

        `prepare` runs once, outside of a transaction, while no other process writes; `attach` on
        every new connection. `idle` is work for quiet moments: a unit that says whether more is
        left.
        """
        if file is None:
            if key is not None:
                raise KeyProblem(
                    "key_not_needed",
                    "a key was given for a vault in memory, which is never on a disk",
                    hint="open it without a key",
                )
            return cls(Recipe(file=None, attach=attach), None, prepare, idle)
        file = Path(os.path.realpath(file))
        try:
            return cls._open_file(
                file, key, create=create, prepare=prepare, attach=attach, idle=idle
            )
        except (apsw.Error, OSError) as exc:
            ours = failure(exc, file)
            if ours is None:
                raise
            raise ours from exc

    @classmethod
    def _open_file(
        cls,
        file: Path,
        key: Key | None,
        *,
        create: bool,
        prepare: Callable[[apsw.Connection], None],
        attach: Callable[[apsw.Connection], None] | None,
        idle: Callable[[apsw.Connection], bool] | None,
    ) -> Database:
        check_place(file.parent)
        if create:
            make_folder(file.parent)
        elif not file.exists():
            raise not_found(file)
        lock = ProcessLock(file)
        try:
            lock.take()
            lock.join()
            recipe = recipe_for(file, key, create=create, attach=attach)
            made = cls(recipe, lock, prepare, idle)
            lock.give()
        except BaseException:
            lock.close()
            raise
        return made

    def write(self, unit: Callable[[apsw.Connection], T]) -> T:
        """Run a unit that may change things; when this returns, what it did is on disk."""
        self._check()
        value = self._committer.write(unit)
        self._helper.rouse()
        return value

    def submit(self, unit: Callable[[apsw.Connection], T], done: Done) -> None:
        """The same without waiting: `done(value, None)` or `done(None, error)` follows, once, from
        another thread. It must be quick, must not raise, and may submit but not wait."""
        self._check(may_lead=True)
        self._committer.submit(unit, done)
        self._helper.rouse()

    def read(self, unit: Callable[[apsw.Connection], T]) -> T:
        """Run a unit that only reads, on one snapshot."""
        self._check()
        if self._readers is None:
            return self._committer.write(_only_reads(unit))
        try:
            return self._readers.read(unit)
        except apsw.Error as exc:
            if getattr(exc, "extendedresult", 0) == apsw.SQLITE_READONLY:
                raise _tried_to_write() from exc
            ours = failure(exc, self.file)
            if ours is None:
                raise
            raise ours from exc

    def own_reader(self) -> apsw.Connection | None:
        """A connection that only reads, for the caller to close; None in RAM, where there is one.

        For whoever looks for damage: under a cipher, a connection that met a broken page is spent.
        """
        self._check()
        return None if self.file is None else self._writer.recipe().connect(reader=True)

    def exclusive(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` once, in this thread, with no transaction begun, while nobody else writes."""
        self._check()
        return self._committer.exclusive(work)

    def change_key(self, key: Key | None) -> None:
        """Encrypt the file under another key, or for the first time, or (None) no longer.

        Nobody else may have it open. A copy is made under the new key and takes the file's place
        in one step, so a crash leaves the one or the other; it needs room for that copy.
        """
        self._check()
        lock, readers = self._lock, self._readers
        if self.file is None or lock is None or readers is None:
            raise Unsupported("key_not_needed", "a vault in memory is never on a disk")

        def change(conn: apsw.Connection) -> None:
            lock.alone()
            try:
                with readers.paused():
                    self._writer.renew()
                    recipe = change_key(conn, self._writer.recipe(), key)
                    self._writer.change(recipe)
                    self._writer.get()
                    readers.change(recipe)
            finally:
                lock.join()

        self._committer.exclusive(change)

    def close(self) -> None:
        """Let running units end, refuse others. A failure that nobody heard of yet is raised."""
        if self._closed or self._pid != os.getpid():
            return
        self._check()
        self._closed = True
        _live.discard(self)
        self._committer.close()
        self._helper.stop()
        if self._readers is not None:
            self._readers.close()
        if self._lock is not None:
            self._lock.close()
        if self._committer.owed is not None:
            raise self._committer.owed

    def _check(self, *, may_lead: bool = False) -> None:
        if self._pid != os.getpid():
            raise Closed(
                "vault_forked",
                "this vault was opened before the process forked, and belongs to the parent",
                hint="open it again in this process: holdfast.open(where)",
            )
        if self._closed:
            raise closed()
        readers = self._readers
        if (readers is not None and readers.runs_here()) or (
            not may_lead and self._committer.leads_here()
        ):
            raise Refused(
                "storage_nested",
                "a unit called the database again, which would wait for itself",
                hint="use the connection that the unit was given",
            )

    def leave_to_parent(self) -> None:
        """In a forked child: neither use nor close what the parent works with."""
        readers = self._readers.abandon() if self._readers is not None else None
        _keep_for_ever(self._writer.abandon(), self._committer.abandon(), readers)
        if self._lock is not None:
            self._lock.close()


class Helper:
    """A thread for what no caller waits for: submitted units, and work for quiet moments.

    It starts when it is first needed. It rests when there is nothing left to tidy, until a write.
    """

    def __init__(self, idle: Callable[[apsw.Connection], bool] | None) -> None:
        self._idle = idle
        self._resting = True
        self._stopping = False
        self._called = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._committer: Committer

    def serve(self, committer: Committer) -> None:
        self._committer = committer

    def wake(self) -> None:
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    thread = threading.Thread(target=self._run, name="holdfast", daemon=True)
                    thread.start()
                    self._thread = thread
        self._called.set()

    def rouse(self) -> None:
        """A write was made, so there may be something to tidy."""
        if self._resting and self._idle is not None:
            self._resting = False
            try:
                self.wake()
            except RuntimeError:  # the interpreter is shutting down: the next process will tidy
                self._resting = True

    def stop(self) -> None:
        self._stopping = True
        if self._thread is not None and self._thread is not threading.current_thread():
            self._called.set()
            self._thread.join()

    def _run(self) -> None:
        seen = -1
        while True:
            self._called.wait(None if self._resting else QUIET_S)
            self._called.clear()
            self._committer.help_out()
            if self._stopping:
                return
            if not self._resting:
                turns = self._committer.turns
                if turns == seen and not self._committer.busy():
                    self._tidy(turns)
                seen = self._committer.turns

    def _tidy(self, turns: int) -> None:
        assert self._idle is not None
        more = True
        while more and turns == self._committer.turns and not self._committer.busy():
            try:
                more = self._committer.write(self._idle)
            except Closed:
                return
            except BaseException as exc:  # noqa: BLE001 - its owner hears of it: the next writer
                self._committer.owed = exc
                more = False
            turns += 1
        if not more:
            self._resting = True
            if turns != self._committer.turns:
                self._resting = False


def _only_reads(unit: Callable[[apsw.Connection], T]) -> Callable[[apsw.Connection], T]:
    def checked(conn: apsw.Connection) -> T:
        before = conn.total_changes()
        value = unit(conn)
        if conn.total_changes() != before:
            raise _tried_to_write()
        return value

    return checked


def _tried_to_write() -> Refused:
    return Refused(
        "storage_only_reads", "a unit that only reads tried to write", hint="call `write` with it"
    )


_live: weakref.WeakSet[Database] = weakref.WeakSet()


def _after_fork() -> None:
    for database in list(_live):
        database.leave_to_parent()


def _keep_for_ever(*things: object) -> None:
    """Closing them here would touch what the parent works with, also when this process ends."""
    trap: list[object] = list(things)
    trap.append(trap)
    gc.freeze()


os.register_at_fork(after_in_child=_after_fork)
