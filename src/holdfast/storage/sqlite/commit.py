"""Group commit: units of many threads in one transaction and one sync of the log.

A caller that finds nobody at work leads: it commits where it stands. Callers that arrive meanwhile
queue up; whoever leads commits them together, for a few turns; then one of those who wait leads.
Answers go out in a few chains, each caller waking the next: all of them awake at once fight with
the leader for the interpreter's lock (measured: a third of the rate, three times the CPU time).

A unit may be run more than once, so a group needs no savepoints. A unit that raises having changed
nothing gets its exception, and the others go on. When it did change something the group is rolled
back, and each unit runs again in a transaction of its own. When COMMIT fails, nobody is told of
success, not even of another failure: it may rest on what the others in the group had written.

A signal (Ctrl-C) may raise in the main thread between any two steps while it leads. So leadership
is one attribute, cleared by plain assignments that no signal splits; a group stays named in
`_group` until all its callers know the outcome, so that whoever leads next can bring it to an end;
and those who wait look up now and then, and lead when nobody does.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice
from time import perf_counter

import apsw

from holdfast.errors import HoldfastError
from holdfast.ports import NOT_NOW
from holdfast.storage.sqlite.connections import closed, forked
from holdfast.storage.sqlite.failures import report, rolled_back, seen_by_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from holdfast.ports import NotNow
    from holdfast.storage.sqlite.connections import Writer
    from holdfast.storage.sqlite.lock import Gate

    T = TypeVar("T")
    Unit = Callable[[apsw.Connection], Any]
    Done = Callable[[Any, BaseException | None], None]

GROUP_MAX = 64
TURNS_MAX = 8
AT_ONCE_S = 0.0005
PACE_TURNS = 8
CHAINS = 4
LOOK_UP_S = 0.02

RUNNING, COMMITTING, COMMITTED, FAILED = range(4)


class Ticket:
    """One caller's unit and what came of it."""

    hasty = False  # it runs at once or not at all
    alone = False  # its group was rolled back: it gets a transaction of its own
    struck = False  # a signal may have raised while it ran
    finished = False
    ready: threading.Lock | None = None  # held while its caller waits
    then: threading.Lock | None = None  # whom its caller wakes
    value: Any = None
    error: BaseException | None = None

    def __init__(self, unit: Unit, *, done: Done | None = None, bare: bool = False) -> None:
        self.unit = unit
        self.done = done  # whom to tell, when no thread waits
        self.bare = bare  # runs without a transaction, once, in its caller's own thread


class Group:
    stage = RUNNING
    error: BaseException | None = None

    def __init__(self, tickets: list[Ticket]) -> None:
        self.tickets = tickets


class Committer:
    """Whose unit is next, and what became of it. There is one for each open database."""

    def __init__(self, writer: Writer, gate: Gate, wake: Callable[[], None]) -> None:
        self._writer = writer
        self._gate = gate
        self._wake = wake  # there is work, and nobody leads
        self._door = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._answers: deque[Ticket] = deque()
        self._leading: Ticket | None = None
        self._thread = 0
        self._group: Group | None = None
        self._closing = False
        self._main = threading.main_thread().ident
        self._pace_s = 0.0  # what a turn took of late
        self.turns = 0  # so that others can see whether writers are at work
        self.owed: BaseException | None = None  # a failure that no caller has heard of yet

    def write(self, unit: Callable[[apsw.Connection], T]) -> T:
        return self._pass_through(Ticket(unit))

    def write_at_once(self, unit: Callable[[apsw.Connection], T]) -> T | NotNow:
        """Commit where the caller stands if that is quick: NOT_NOW where anybody else is at it, in
        this process or another, or where commits took long of late."""
        if self._pace_s > AT_ONCE_S:
            return NOT_NOW
        ticket = Ticket(unit)
        ticket.hasty = True
        return self._pass_through(ticket)

    def exclusive(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` once, in this thread, under the lock, with no transaction begun."""
        return self._pass_through(Ticket(work, bare=True))

    def submit(self, unit: Unit, done: Done) -> None:
        """Queue a unit and return; `done` hears of the outcome from another thread."""
        with self._door:
            self._admit()
            self._queue.append(Ticket(unit, done=done))
        if self._leading is None:
            self._wake()

    def help_out(self) -> None:
        """Lead on behalf of units that were submitted. Never called in the main thread."""
        while self._answers:
            self._finish(self._answers.popleft())
        place = Ticket(id)
        place.finished = True
        with self._door:
            if self._queue and self._leading is None:
                self._leading = place
        if self._leading is place:
            self._lead(place)

    def leads_here(self) -> bool:
        return self._thread == threading.get_ident()

    def busy(self) -> bool:
        return self._leading is not None or bool(self._queue)

    def close(self) -> None:
        """Refuse what comes from now on, finish what came before, let the connection go."""
        with self._door:
            self._closing = True
        self._pass_through(Ticket(lambda _: self._writer.let_go(), bare=True), last=True)

    def hold(self, patience_s: float) -> Ticket | None:
        """Lead and do nothing, until `go_on`; None when no turn comes in so many seconds."""
        place = Ticket(id, bare=True)
        place.ready = threading.Lock()
        place.ready.acquire()
        with self._door:
            if self._leading is None:
                self._leading = place
                return place
            self._queue.append(place)
        if place.ready.acquire(timeout=patience_s):
            return place
        with self._door:
            if self._leading is not place:
                self._queue.remove(place)
                return None
        return place

    def go_on(self, place: Ticket) -> None:
        self._pass_on(place)

    def _admit(self) -> None:
        if self._closing:
            raise closed()
        if self.owed is not None:
            owed, self.owed = self.owed, None
            raise owed

    # From a caller's arrival to its answer

    def _pass_through(self, ticket: Ticket, *, last: bool = False) -> Any:
        try:
            with self._door:
                if not last:
                    self._admit()
                if ticket.hasty and (self._leading or self._queue):
                    return NOT_NOW
                if self._leading is None:
                    self._leading = ticket
                else:
                    ticket.ready = threading.Lock()
                    ticket.ready.acquire()
                    self._queue.append(ticket)
            if ticket.ready is not None:
                self._wait(ticket, ticket.ready)
            if self._leading is ticket:
                self._lead(ticket)
        finally:
            if self._leading is ticket:  # a signal, and another while the first was dealt with
                self._leading = None
                self._wake()
            if not ticket.finished:
                with self._door:
                    if ticket in self._queue:
                        self._queue.remove(ticket)
        error = ticket.error
        if error is None:
            return ticket.value
        try:
            raise error
        finally:
            del error, ticket  # or this frame and the exception would keep each other alive

    def _wait(self, ticket: Ticket, ready: threading.Lock) -> None:
        while not ready.acquire(timeout=LOOK_UP_S):
            with self._door:
                if self._leading is None and not ticket.finished:
                    self._leading = ticket
            if ticket.finished or self._leading is ticket:
                break
        ticket.ready = None
        _let_pass(ticket.then)

    # What a leader does

    def _lead(self, own: Ticket) -> None:
        self._thread = threading.get_ident()
        try:
            if self._group is not None:
                self._recover()
            if not own.bare:
                self._take_turns(own)
            else:
                while self._closing and (group := self._next_group()):
                    self._turn(group)
                self._run_bare(own)
        finally:
            self._thread = 0
            if self._group is not None:
                self._recover()
            self._pass_on(own)

    def _take_turns(self, own: Ticket) -> None:
        turns = 0
        if (own.hasty or not self._queue) and not own.finished:
            self._group = group = Group([own])
            self._turn(group)
            turns = TURNS_MAX if own.hasty else 1
        elif not own.finished:
            with self._door:
                if own in self._queue:
                    self._queue.remove(own)
                self._queue.appendleft(own)
        while self._queue and (turns < TURNS_MAX or not own.finished):
            group = self._next_group()
            if group is None:
                break
            self._turn(group)
            turns += 1

    def _next_group(self) -> Group | None:
        with self._door:
            taken: list[Ticket] = []
            for ticket in islice(self._queue, GROUP_MAX):
                if ticket.bare or (taken and ticket.alone):
                    break
                taken.append(ticket)
                if ticket.alone:
                    break
            waiting = [ticket for ticket in taken if not ticket.finished]
            self._group = Group(waiting) if waiting else None
            for _ in taken:
                self._queue.popleft()
            return self._group

    def _pass_on(self, own: Ticket) -> None:
        with self._door:
            if not self._queue:
                self._leading = None
                return
            waiting = (ticket for ticket in self._queue if ticket.done is None)
            heir = next((ticket for ticket in waiting if ticket is not own), None)
            if heir is not None:
                self._queue.remove(heir)
            self._leading = heir
            left = bool(self._queue)
        if heir is not None:
            _let_pass(heir.ready)
        elif left:
            self._wake()

    def _run_bare(self, own: Ticket) -> None:
        try:
            self._gate.take()
            own.value = own.unit(self._writer.get())
            self.owed = self._writer.note() or self.owed
            self._writer.look_again()
        except BaseException as exc:  # noqa: BLE001 - its caller, in this thread, raises it
            own.error = self._writer.seen(exc)
        finally:
            self._writer.roll_back()
            self._gate.give()
            own.finished = True

    def _turn(self, group: Group) -> None:
        began = perf_counter()
        try:
            conn = self._begin(hasty=group.tickets[0].hasty)
            if conn is None:
                group.tickets[0].value = NOT_NOW
                group.stage = COMMITTED  # of nothing
                self._deliver(group)
                return
            self._run(conn, group)
            if group.stage == COMMITTED and self._writer.log_is_long():
                self._deliver(group)
                self._shorten_log(group)
        except (apsw.Error, OSError, HoldfastError) as exc:
            group.error = exc
            group.stage = FAILED
            self._writer.roll_back()
        finally:
            self._gate.give()
        self.turns += 1
        self._pace_s += (perf_counter() - began - self._pace_s) / PACE_TURNS
        if group.stage == RUNNING and len(group.tickets) > 1:
            self._requeue(group)
        else:
            self._deliver(group)

    def _begin(self, *, hasty: bool) -> apsw.Connection | None:
        """A transaction; None where it would have to be waited for, and there is no time."""
        if not hasty:
            self._gate.take()
            conn = self._writer.get()
            self._writer.begin(conn)
            return conn
        if not self._gate.take_now():
            return None
        conn = self._writer.get(patient=False)
        try:
            self._writer.begin(conn)
        except apsw.BusyError:  # another program than ours writes
            return None
        return conn

    def _shorten_log(self, group: Group) -> None:
        """A checkpoint takes long; after a hasty unit it is left to a turn that nobody awaits."""
        if not group.tickets[0].hasty:
            self.owed = self._writer.checkpoint() or self.owed
            return
        with self._door:
            self._queue.append(Ticket(id, done=lambda *_: None))

    def _run(self, conn: apsw.Connection, group: Group) -> None:
        """Commit a group's units; or roll them back and leave the stage at RUNNING."""
        together = len(group.tickets) > 1
        schema = conn.pragma("schema_version") if together else None
        changes = conn.total_changes()
        for ticket in group.tickets:
            raised = self._try(conn, ticket)
            if self._writer.left:
                raise forked()
            now = conn.total_changes()
            if not conn.in_transaction:
                ticket.error = ticket.error or rolled_back("the unit ended its transaction")
            elif not raised or (
                together and now == changes and conn.pragma("schema_version") == schema
            ):
                changes = now
                continue
            self._writer.roll_back()
            return
        if conn.total_changes() == changes:
            self._commit(conn, group)
        else:  # a statement that a failed unit had left open went on
            self._writer.roll_back()

    def _commit(self, conn: apsw.Connection, group: Group) -> None:
        group.stage = COMMITTING
        try:
            conn.execute("COMMIT")
        except apsw.BusyError:
            group.error = rolled_back("a unit left a statement open that writes")
            group.stage = RUNNING
            self._writer.roll_back()
        except apsw.Error as exc:
            group.error = exc
            group.stage = FAILED
            self._writer.roll_back()
            self._writer.renew()
        else:
            group.stage = COMMITTED
            self.owed = self._writer.note() or self.owed

    def _try(self, conn: apsw.Connection, ticket: Ticket) -> bool:
        """Run one unit; True when it raised."""
        try:
            ticket.value = ticket.unit(conn)
        except BaseException as exc:
            signal = not isinstance(exc, Exception) and threading.get_ident() == self._main
            if signal and not ticket.struck:  # when it raises again, it is the unit's own doing
                ticket.struck = True
                raise
            ticket.error = self._writer.seen(exc)
            return True
        ticket.error = None
        return False

    # What comes after

    def _deliver(self, group: Group) -> None:
        if group.stage == COMMITTED and len(group.tickets) == 1:
            (own,) = group.tickets
            if own.ready is None and own.done is None:  # its caller is the one who leads
                own.finished = True
                self._group = None
                return
        waiting = [ticket for ticket in group.tickets if ticket.ready is not None]
        if len(waiting) > CHAINS:
            for ticket, after in zip(waiting, waiting[CHAINS:], strict=False):
                ticket.then = after.ready
        for ticket in group.tickets:
            if group.stage == FAILED or (group.stage == RUNNING and ticket.error is None):
                ticket.error = seen_by_one(group.error, self._writer.file)
            if ticket.done is None or threading.get_ident() != self._main:
                self._finish(ticket)
            else:  # a signal must not come between it and its answer
                self._answers.append(ticket)
                self._wake()
        for ticket in waiting[:CHAINS]:
            _let_pass(ticket.ready)
        self._group = None

    def _finish(self, ticket: Ticket) -> None:
        if ticket.finished:
            return
        ticket.finished = True
        if ticket.done is not None:
            report(ticket.done, None if ticket.error else ticket.value, ticket.error)

    def _requeue(self, group: Group) -> None:
        with self._door:
            for ticket in reversed(group.tickets):
                if not ticket.finished and ticket not in self._queue:
                    ticket.alone = True
                    self._queue.appendleft(ticket)
            self._group = None

    def _recover(self) -> None:
        """Bring to an end what a leader was at when a signal raised in its thread."""
        group = self._group
        if group is None:
            return
        if group.error is not None:
            group.stage = FAILED
        elif group.stage == COMMITTING:
            group.stage = RUNNING if self._writer.in_transaction() else COMMITTED
        self._writer.roll_back()
        self._gate.give()
        if group.stage == RUNNING:
            self._requeue(group)
        else:
            self._deliver(group)


def _let_pass(ready: threading.Lock | None) -> None:
    """Wake who waits at this lock; it may have looked up by itself meanwhile."""
    try:
        if ready is not None:
            ready.release()
    except RuntimeError:
        return
