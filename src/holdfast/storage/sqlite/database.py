"""One SQLite database with a database's promises.

What `write` returned from is on disk: the log is synced at each commit, once for all units that
were committed together. `read` sees one snapshot of what was committed, beside writers and readers.
Units are functions of a connection, may run more than once, touch nothing but the database, leave
its schema as it is, and neither begin nor end a transaction. A unit must not call the database
again: it has all that it needs in its connection.

In RAM there is one connection, and a unit that reads takes its turn among those that write.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress

import apsw

from holdfast.errors import Closed, KeyProblem, Refused, Unsupported
from holdfast.storage.sqlite.commit import Committer, Ticket
from holdfast.storage.sqlite.connections import (
    GONE,
    Readers,
    Writer,
    closed,
    forked,
    identity,
)
from holdfast.storage.sqlite.failures import failure
from holdfast.storage.sqlite.keys import change_key
from holdfast.storage.sqlite.lock import NoGate, ProcessLock
from holdfast.storage.sqlite.place import check_place, make_file, make_folder, resolved
from holdfast.storage.sqlite.recipe import Recipe, not_found, recipe_for
from holdfast.storage.sqlite.witness import Witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any, TypeVar

    from holdfast.ports import NotNow
    from holdfast.storage.sqlite.keys import Key

    T = TypeVar("T")
    Done = Callable[[Any, BaseException | None], None]

QUIET_S = 0.03
QUIET_MAX_S = 0.25
FORK_PATIENCE_S = 2.0


class Database:
    """Made by `open`; every call after `close`, or in a forked child, raises `Closed`."""

    def __init__(
        self,
        recipe: Recipe,
        lock: ProcessLock | None,
        prepare: Callable[[apsw.Connection], None],
        idle: Callable[[apsw.Connection], bool] | None,
        accept: Callable[[apsw.Connection], None] | None = None,
    ) -> None:
        self.file = file = recipe.file
        self._lock = lock
        self._witness = Witness(file, lock.turn_file()) if file and lock else None
        self._helper = Helper(idle)
        self._pid = os.getpid()
        self._closed = False
        self._writer = Writer(recipe, self._witness, accept)
        self._lent: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._place: Ticket | None = None  # held while the process forks
        try:
            prepare(self._writer.get())
            self._writer.settled(fresh=bool(recipe.salt))
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
        accept: Callable[[apsw.Connection], None] = lambda _: None,
    ) -> Database:
        """Open the database in `file`, or one in RAM.

        `accept` refuses, by raising, a file that exists and is not to be touched. `prepare` runs
        once, outside of a transaction, while no other process writes; `attach` on every new
        connection. `idle` is work for quiet moments: a unit that says whether more is left.
        """
        if file is None:
            if key is not None:
                raise KeyProblem(
                    "key_not_needed",
                    "a key was given for a vault in memory, which is never on a disk",
                    hint="open it without a key",
                )
            return cls(Recipe(file=None, attach=attach), None, prepare, idle)
        file = resolved(file)
        if identity(file) in _inherited:
            raise Closed(
                "vault_forked",
                f"{file}: this process was forked in the midst of the parent's use of the vault",
                hint="fork outside of units, or start a new program (multiprocessing: `spawn`)",
            )
        try:
            return cls._open_file(
                file,
                key,
                create=create,
                prepare=prepare,
                attach=attach,
                idle=idle,
                accept=accept,
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
        accept: Callable[[apsw.Connection], None],
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
            noted = Witness(file, lock.turn_file()).noted() is not None
            recipe = recipe_for(file, key, create=create, attach=attach, noted=noted)
            if recipe.salt:
                make_file(file)
            _opening.append(file)
            made = cls(recipe, lock, prepare, idle, accept)
            lock.give()
        except BaseException:
            lock.close()
            raise
        finally:
            if file in _opening:
                _opening.remove(file)
        return made

    def write(self, unit: Callable[[apsw.Connection], T]) -> T:
        """Run a unit that may change things; when this returns, what it did is on disk."""
        self._check()
        value = self._committer.write(unit)
        self._helper.rouse()
        return value

    def write_at_once(self, unit: Callable[[apsw.Connection], T]) -> T | NotNow:
        """The same in a moment, or `NOT_NOW` and nothing done: for callers that must not wait."""
        self._check()
        value = self._committer.write_at_once(unit)
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
        """A connection in a transaction that only reads, for the caller to close; None in RAM.

        For whoever looks for damage: under a cipher, a connection that met a broken page is spent.
        """
        self._check()
        if self.file is None:
            return None
        try:
            conn = self._writer.recipe().connect(reader=True)
            conn.execute("BEGIN")
        except apsw.Error as exc:
            raise failure(exc, self.file) or exc from exc
        self._lent.add(conn)
        return conn

    def check_log(self) -> None:
        """Raise when the log beside the file does not hold what was acknowledged."""
        self.exclusive(lambda conn: self._writer.check(conn, thorough=True))

    def exclusive(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` once, in this thread, with no transaction begun, while nobody else writes."""
        self._check()
        return self._committer.exclusive(work)

    def scrub(self, look: Callable[[apsw.Connection], T]) -> T | None:
        """Write the file anew, empty its log, and look at what came of it while nobody writes;
        None, and no look, while a reader holds old pages."""

        def work(conn: apsw.Connection) -> T | None:
            if self.file is None:
                conn.execute("VACUUM")
            elif not self._writer.write_anew():
                return None
            return look(conn)

        return self.exclusive(work)

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
                    self._writer.forget()
                    recipe = change_key(conn, self._writer.recipe(), key)
                    self._writer.change(recipe)
                    self._writer.get()
                    readers.change(recipe)
                    self._committer.owed = self._writer.checkpoint() or self._committer.owed
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
            raise forked()
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

    def hold(self) -> None:
        """Before a fork: let no transaction be under way, unless this thread is in one itself."""
        self._place = None
        nested = self._committer.leads_here() or (self._readers and self._readers.runs_here())
        if not nested and (self._readers is None or self._readers.hold(FORK_PATIENCE_S)):
            self._place = self._committer.hold(FORK_PATIENCE_S)

    def go_on(self) -> None:
        """After the fork, in the parent."""
        if self._place is not None:
            self._committer.go_on(self._place)
        if self._readers is not None:
            self._readers.go_on()

    def leave_to_parent(self) -> None:
        """After the fork, in the child. Where it came in the midst of a transaction, the child
        may not open the file again: SQLite would take locks for its own that it does not have."""
        idle = self._place is not None and not any(map(_is_open, self._lent))
        self._writer.leave_to_parent(idle=idle)
        if self._readers is not None:
            self._readers.leave_to_parent(idle=idle)
        if self._lock is not None:
            self._lock.close()
        if not idle and self.file is not None:
            _inherited.add(identity(self.file))


class Helper:
    """A thread for what no caller waits for: submitted units, and work for quiet moments.

    It starts when it is first needed. It rests when there is nothing left to tidy, until a write.
    """

    def __init__(self, idle: Callable[[apsw.Connection], bool] | None) -> None:
        self._idle = idle
        self._resting = True
        self._stopping = False
        self._called = threading.Lock()  # a signal cannot leave it half set, as it can an event
        self._called.acquire()
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
        self._call()

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
            self._call()
            self._thread.join()

    def _call(self) -> None:
        with suppress(RuntimeError):  # it is called already
            self._called.release()

    def _run(self) -> None:
        seen, pause_s = -1, QUIET_S
        while True:
            self._called.acquire(timeout=-1 if self._resting else pause_s)
            self._committer.help_out()
            if self._stopping:
                self._call()  # another, where a signal came when that one was started
                return
            if not self._resting:
                turns = self._committer.turns
                if turns == seen and not self._committer.busy():
                    self._tidy(turns)
                    pause_s = QUIET_S
                else:  # whoever writes on and on is asked ever more rarely
                    pause_s = min(2 * pause_s, QUIET_MAX_S)
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
                if getattr(exc, "code", "") != GONE:  # who writes next sees for itself
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


def _is_open(conn: apsw.Connection) -> bool:
    try:
        return conn.in_transaction or True
    except apsw.ConnectionClosedError:
        return False


_live: weakref.WeakSet[Database] = weakref.WeakSet()
_held: list[Database] = []
_opening: list[Path] = []
_inherited: set[tuple[int, int] | None] = set()


def _before_fork() -> None:
    _held[:] = _live
    for database in _held:
        database.hold()


def _after_fork_in_parent() -> None:
    for database in _held:
        database.go_on()
    _held.clear()


def _after_fork_in_child() -> None:
    for database in _held:
        database.leave_to_parent()
    _inherited.update(map(identity, _opening))
    _inherited.discard(None)
    _held.clear()
    _live.clear()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)
