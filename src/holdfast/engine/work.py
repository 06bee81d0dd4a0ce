"""One mutation, from the call to the commit.

`mutate` is the only way in: it finds a stored answer for the idempotency key, else runs the unit on
a `Work` and stores what it answered. `Work` writes each row together with its change, so that no
row can change without a trace; it takes the time and the next seq under the vault's write lock.
"""

from __future__ import annotations

from functools import partial

from holdfast.core.budget import estimate_tokens
from holdfast.core.canonical import canonical, canonical_text, digest, keyed
from holdfast.core.codec import pack
from holdfast.core.images import (
    directory_image,
    entry_image,
    erasure_image,
    message_image,
    proposal_image,
    run_image,
    session_image,
    space_image,
    store_image,
    version_image,
)
from holdfast.core.lifecycle import step
from holdfast.core.screening import fields_of, look_ahead
from holdfast.core.suggesting import of_changes, of_new
from holdfast.core.text import TEXT_VERSION
from holdfast.engine.artifact_work import ArtifactWork
from holdfast.engine.naming import check_session_space, session_named
from holdfast.engine.preferences import Preferences
from holdfast.engine.screening import HeldWrite, Veiled, put_in_inbox, veiled_reason
from holdfast.engine.uses import Uses
from holdfast.engine.view import NowView
from holdfast.engine.workers import Background
from holdfast.errors import Conflict, Damaged, Held, Refused, Unsupported
from holdfast.model.entry import TRUST_OF, Entry
from holdfast.model.erasure import Erasure
from holdfast.model.ids import RANDOM_BYTES, EntryId, VaultId, make_id
from holdfast.model.names import shown
from holdfast.model.session import LEASE, as_of_lease
from holdfast.model.times import DAY_US, from_us, to_us
from holdfast.model.value import Value
from holdfast.model.vault import StoredAnswer, VaultInfo
from holdfast.model.write import check_unexpected, check_write, hold_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Any, TypeVar, Unpack

    from holdfast.core.budget import CountTokens
    from holdfast.core.images import Image
    from holdfast.core.lifecycle import Event
    from holdfast.model.change import Kind
    from holdfast.model.directory import Directory, Version
    from holdfast.model.entry import EntryChanges, Json, NewEntry
    from holdfast.model.ids import SessionId
    from holdfast.model.message import Message
    from holdfast.model.proposal import Finding, Proposal
    from holdfast.model.run import Run
    from holdfast.model.session import Session
    from holdfast.model.space import SpaceInfo, Store
    from holdfast.model.write import Caller, Write
    from holdfast.ports import Clock, Random, Storage, Transaction
    from holdfast.ports.links import Use
    from holdfast.ports.messages import MessageWrites
    from holdfast.ports.review import Reviewers
    from holdfast.ports.values import ValueWrites

    T = TypeVar("T")
    Gone = Mapping[str, int]

SALT_BYTES = 16
SECRET_BYTES = 32
ANSWERS_KEPT_US = 30 * DAY_US
CALLED_MAX = 100


class Core(Value):
    """What every use case stands on."""

    storage: Storage
    clock: Clock
    random: Random
    preferences: Preferences = Preferences()
    uses: Uses = Uses()
    background: Background = Background()
    reviewers: Reviewers = lambda _: ()
    counters: Callable[[str], CountTokens] = lambda _: estimate_tokens
    address: str = ""  # where other processes find the vault; nothing for one in RAM
    runs: Path | None = None  # the folder in which runs are laid out

    def wake(self) -> None:
        """Let the jobs that wait be done in this process, off the caller's path."""
        from holdfast.engine.artifacts import sweep
        from holdfast.engine.reviews import run_due

        def work() -> None:
            sweep(self)
            all(True for _ in run_due(self))

        self.background.start(work)


def mutate(
    core: Core,
    caller: Caller,
    write: Write,
    op: str,
    arguments: Mapping[str, Json],
    unit: Callable[[Work], T],
) -> T:
    """Run the unit as one durable change, or give the first answer again."""
    check_write(write)
    look_ahead(arguments.values())
    begun: list[Work] = []

    def begin(tx: Transaction) -> Work:
        begun[:] = [Work(core, tx, caller, write)]
        return begun[0]

    result: Any
    try:
        result = core.storage.write(_once(core, caller, write, op, arguments, unit, begin))
    except Held as held:
        result = _hold(core, caller, write, op, arguments, held)
    if isinstance(result, HeldWrite):
        raise result.error()
    if begun and begun[0].wakes:
        core.wake()
    return result


def _hold(
    core: Core, caller: Caller, write: Write, op: str, arguments: Mapping[str, Json], held: Held
) -> Any:
    """What the unit did is taken back; that it was held is the answer to the call."""

    def begin(tx: Transaction) -> Work:
        return Work(core, tx, caller, write.replace(expect=None))

    unit = partial(put_in_inbox, held=held)
    return core.storage.write(_once(core, caller, write, op, arguments, unit, begin))


def _once(
    core: Core,
    caller: Caller,
    write: Write,
    op: str,
    arguments: Mapping[str, Json],
    unit: Callable[[Work], T],
    begin: Callable[[Transaction], Work],
) -> Callable[[Transaction], T]:
    """The unit with its idempotency key: what was answered before is answered again, and to nobody
    but the user whom it was about."""
    key = write.key
    if key is None:
        return lambda tx: _held_to(begin(tx), op, unit)
    meant = digest("arguments", canonical([op, dict(arguments), caller.user]))

    def run(tx: Transaction) -> T:
        known = tx.answer(str(caller.actor), key, core.clock() - ANSWERS_KEPT_US)
        if known is not None:
            from holdfast.engine.answers import given_again

            return given_again(tx, known, meant, arguments)
        work = begin(tx)
        result = _held_to(work, op, unit)
        work.keep_answer(key, meant, canonical_text(pack(result)))
        return result

    return run


def _held_to(work: Work, op: str, unit: Callable[[Work], T]) -> T:
    result = unit(work)
    work.check_heeded(op)
    return result


class Work(ArtifactWork, NowView):
    """A transaction that leaves a trace of everything it does."""

    def __init__(self, core: Core, tx: Transaction, caller: Caller, write: Write) -> None:
        self._core = core
        self.tx = tx
        self.caller = caller
        self._write = write
        self._reason = veiled_reason(write.reason)
        self.wakes = self._heeded = False
        self._first, last_us = tx.head()
        self.seq = self._first
        super().__init__(tx, max(core.clock(), last_us), caller, core.preferences)
        self._vault = tx.vault() or self._new_vault()
        if self._vault.text_version != TEXT_VERSION:
            raise Unsupported(
                "index_newer",
                "another version of holdfast has indexed this vault since it was opened",
                hint="close it, and open it again with that version",
            )
        self.session = None if caller.session is None else self._use_session(caller.session)
        if self.session is not None:
            self.caller = caller.replace(session=self.session.id)

    @property
    def session_id(self) -> SessionId | None:
        return self.caller.session

    @property
    def at(self) -> datetime:
        return from_us(self.at_us)

    @property
    def values(self) -> ValueWrites:
        return self.tx

    @property
    def messages(self) -> MessageWrites:
        return self.tx

    @property
    def secret(self) -> bytes:
        return self._vault.secret

    def new_id(self) -> str:
        return make_id(self.at_us, self._core.random(RANDOM_BYTES))

    def fingerprint(self, text: str) -> bytes:
        from holdfast.core.text import normal_form

        return keyed(self._vault.secret, normal_form(text))

    def expect(self, revision: int, name: str) -> None:
        """Hold the caller to the revision that it said it saw; 0 is that of what is not there."""
        hold_to(self._write, revision, name)
        self._heeded = True

    def check_heeded(self, op: str) -> None:
        """Nothing was changed on an expectation that nobody looked at."""
        if self.seq > self._first and not self._heeded:
            check_unexpected(self._write.expect, op)

    def met(self) -> None:
        """What the caller expected is so; what else the unit does is not held to it."""
        self._write = self._write.replace(expect=None)

    def of_space(self, space_name: str) -> None:
        """A session works in its own space, so that nothing of one is known in another."""
        if self.session is not None:
            check_session_space(self.session, space_name)

    # Entries

    def due(
        self, store: Store, kind: str, at_us: int, limit: int, *, hidden: bool
    ) -> Sequence[Entry]:
        return self.tx.due(store, kind, at_us, limit, hidden=hidden)

    def called(self, store: Store, kind: str, subject: str) -> Sequence[Entry]:
        return self.tx.called(store, kind, subject, CALLED_MAX)

    def uses(self, entries: Sequence[Entry]) -> Mapping[int, Use]:
        """Those that were counted and wait to be written too."""
        return self._core.uses.beside(super().uses(entries), [entry.number for entry in entries])

    def given(self, store: Store, given_id: str) -> Entry | None:
        known = self.tx.entry_given(store, given_id)
        if known is not None and not any(map(self.is_there, self.through(store, [known]))):
            raise Conflict(
                "id_taken",
                f"the id {shown(given_id)} is taken in {store.label}",
                hint="save under another id, or without one",
            )
        return known

    def beyond(self, store: Store, keep: int, since_us: int | None) -> Sequence[Entry]:
        return self.tx.beyond(store, keep, since_us)

    def same(self, store: Store, text: str) -> Sequence[Entry]:
        """Of what a mount does not show, only that it was forgotten is told."""
        found = self.tx.entries_same(store, self.fingerprint(text))
        seen = {entry.number for entry in self.through(store, found)}
        return [each for each in found if each.number in seen or each.state == "forgotten"]

    def add(self, store: Store, new: NewEntry) -> Entry:
        said = {name: getattr(new, name) for name in new.fields_ if name != "trust"}
        entry = Entry(
            **said,
            id=EntryId(self.new_id()),
            trust=new.trust or TRUST_OF[new.origin],
            session=self.caller.session,
            created=self.at,
            updated=self.at,
            when=self.at if new.said_at is None else min(new.said_at, self.at),
            number=self.seq + 1,
            revision=self.seq + 1,
        )
        self._check_shown(store, entry)
        if held := self.held(store, new.__dict__):
            raise Held(store.label, held, wanted=(of_new(store, new, entry.trust), store))
        self._put_entry(store, entry, None, "add")
        return entry

    def held(self, store: Store, fields: Mapping[str, Any]) -> tuple[Finding, ...]:
        """What screening finds in these fields of an entry, and no person let in."""
        return self.gate(store).held(fields_of(fields))

    def move(
        self, store: Store, entry: Entry, event: Event, **changes: Unpack[EntryChanges]
    ) -> Entry:
        """The next version of an entry, after an event of its life."""
        if isinstance(entry, Veiled):
            known = self.tx.entry(store, entry.id)
            assert known is not None
            return self.gate(store).veiled(self.move(store, known, event, **changes))
        if event != "expire":  # a rule of the store, which goes beyond what a mount shows
            self._check_shown(store, entry)
        new = {name: value for name, value in changes.items() if value != getattr(entry, name)}
        if held := self.held(store, new):
            raise Held(store.label, held, wanted=(of_changes(store, entry, changes), store))
        state = step(entry.state, event, f"{store.label} {entry.handle}")
        hidden = {"hide": True, "show": False}.get(event, entry.hidden)
        after = entry.replace(
            **changes, state=state, hidden=hidden, updated=self.at, revision=self.seq + 1
        )
        self._put_entry(store, after, entry, event)
        return after

    def _check_shown(self, store: Store, entry: Entry) -> None:
        """What is not seen through a mount cannot be written through it."""
        if not any(self.through(store, [entry])):
            raise Refused(
                "mount_filter",
                f"{store.seen_in} mounts {store.label} so that it would not see this there",
                hint="write what its scope and filter show, or write in the space itself",
            )

    def _author(self, entry: Entry) -> str | None:
        return str(self.caller.actor) if entry.number > self.seq else super()._author(entry)

    def _put_entry(self, store: Store, after: Entry, before: Entry | None, op: str) -> None:
        self._record(
            "entry",
            after.id,
            op,
            entry_image(after),
            None if before is None else before.revision,
            space=store.space_number,
            store=store,
            said_at=after.said_at if before is None else None,
        )
        self.tx.put_entry(store, after, before, self.fingerprint(after.text))
        self._hold(after, before)

    def _hold(self, after: Entry, before: Entry | None) -> None:
        new = set(after.holds).difference(() if before is None else before.holds)
        if not new:
            return
        if new - self.tx.known_objects(new):
            raise Damaged(
                "content_missing",
                f"{after.handle} names contents that the vault does not have",
                hint="write it again, with its files",
            )
        self.tx.hold(after.number, sorted(new), after.revision)

    # Spaces, stores, sessions

    def put_space(
        self, space: SpaceInfo, before: SpaceInfo | None, op: str, *, by_itself: bool = False
    ) -> SpaceInfo:
        """`by_itself`: the caller's reason is for something else, which this only came with. So it
        goes when that is erased."""
        after = space.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        reason = "" if by_itself else None
        self._record(
            "space", after.id, op, space_image(after), prior, space=after.number, reason=reason
        )
        self.tx.put_space(after)
        return after

    def put_store(
        self, store: Store, before: Store | None, op: str, *, by_itself: bool = False
    ) -> Store:
        after = store.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        reason, space = "" if by_itself else None, after.space_number
        self._record("store", after.id, op, store_image(after), prior, space=space, reason=reason)
        self.tx.put_store(after)
        return after

    def put_session(
        self, session: Session, before: Session | None, space: SpaceInfo, op: str
    ) -> Session:
        after = session.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        self._record("session", after.id, op, session_image(after), prior, space=space.number)
        self.tx.put_session(after, space)
        return after

    def said(
        self, store: Store, session: Session, message: Message
    ) -> tuple[bool, tuple[str, ...]]:
        from holdfast.engine import reviews
        from holdfast.engine.heeding import heed

        asked = tuple(heed(self, session, message))
        due = message.role == "user" and reviews.schedule(self, store, session, message)
        self.wake_for(store.space_name)
        settings = self.settings(store)
        told = asked if settings.word("review.notices") != "off" else ()
        return due, (*told, *reviews.news(self, session, settings))

    def wake_for(self, space_name: str) -> None:
        """Once this is committed, see to it that somebody does what is left to do."""
        from holdfast.engine import artifacts, reviews

        if not self.wakes and (reviews.is_left(self) or artifacts.any_lapsed(self.tx, self.at_us)):
            settings = self._preferences.settings(space_name)
            self.wakes = not self._core.background.detaches or settings.flag("review.detach")

    def put_session_of(self, store: Store, session: Session, before: Session, op: str) -> None:
        space = self.tx.space_named(store.space_name)
        assert space is not None
        self.put_session(session, before, space, op)

    def put_message(
        self,
        store: Store,
        session: Session,
        message: Message,
        before: Message | None,
        op: str,
        terms: str,
    ) -> Message:
        after = message.replace(revision=self.seq + 1)
        self._record(
            "message",
            after.id,
            op,
            message_image(after),
            None if before is None else before.revision,
            space=store.space_number,
            store=store,
            said_at=after.said_at if before is None else None,
        )
        self.tx.put_message(session, after, before, terms)
        return after

    def put_directory(self, directory: Directory, before: Directory | None, op: str) -> Directory:
        after = directory.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        space = after.space_number
        self._record("directory", after.id, op, directory_image(after), prior, space=space)
        self.tx.put_directory(after)
        return after

    def put_version(self, version: Version, directory: Directory) -> Version:
        space = directory.space_number
        self._record("version", version.id, "add", version_image(version), None, space=space)
        self.tx.put_version(version)
        return version

    def put_run(self, run: Run, before: Run | None, op: str) -> Run:
        after = run.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        self._record("run", after.id, op, run_image(after), prior, space=after.space_number)
        self.tx.put_run(after)
        return after

    def put_proposal(
        self,
        proposal: Proposal,
        before: Proposal | None,
        op: str,
        fingerprint: bytes,
        passes: bytes | None,
    ) -> Proposal:
        after = proposal.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        self._record("proposal", after.id, op, proposal_image(after), prior, space=after.space)
        self.tx.put_proposal(after, fingerprint, passes)
        return after

    def erase(self, what: str, space: SpaceInfo, targets: Sequence[str], gone: Gone) -> Erasure:
        """Take away what the log and stored answers say of these targets. The rows are the
        caller's to take away; the file is written anew by `engine.erasing.finish`."""
        gone = {
            **gone,
            "changes": self.tx.erase_bodies(targets),
            "answers": self.tx.erase_answers(targets),
        }
        erasure = Erasure(
            id=self.new_id(),
            number=self.seq + 1,
            space=space.number,
            what=what,
            state="pending",
            targets=tuple(targets),
            gone=gone,
            searched=0,
            elsewhere={},
            copies=(),
            asked=self.at,
            done=None,
            revision=0,
        )
        return self.put_erasure(erasure, None, "erase")

    def put_erasure(self, erasure: Erasure, before: Erasure | None, op: str) -> Erasure:
        after = erasure.replace(revision=self.seq + 1)
        prior = None if before is None else before.revision
        self._record("erasure", after.id, op, erasure_image(after), prior, space=after.space)
        self.tx.put_erasure(after)
        return after

    def keep_answer(self, key: str, meant: bytes, body: str) -> None:
        self.tx.drop_answers(self.at_us - ANSWERS_KEPT_US)
        self.tx.keep_answer(
            StoredAnswer(
                actor=str(self.caller.actor),
                key=key,
                arguments=meant,
                at_us=self.at_us,
                first_seq=self._first + 1,
                last_seq=self.seq,
                body=body,
            )
        )

    def _record(
        self,
        kind: Kind,
        target: str,
        op: str,
        image: Image,
        prior: int | None,
        *,
        space: int | None = None,
        store: Store | None = None,
        said_at: datetime | None = None,
        reason: str | None = None,
    ) -> None:
        reason = self._reason if reason is None else reason
        self.seq += 1
        self.tx.record(
            seq=self.seq,
            at_us=self.at_us,
            said_us=None if said_at is None else to_us(said_at),
            caller=self.caller,
            space=space,
            store=None if store is None else store.number,
            kind=kind,
            target=target,
            op=op,
            prior=prior,
            salt=self._core.random(SALT_BYTES),
            body=canonical_text({"reason": reason, "after": image}),
        )

    def _new_vault(self) -> VaultInfo:
        vault = VaultInfo(
            id=VaultId(self.new_id()),
            created=self.at,
            secret=self._core.random(SECRET_BYTES),
            text_version=TEXT_VERSION,
        )
        self.tx.make_vault(vault)
        return vault

    def _use_session(self, name: str) -> Session:
        session = session_named(self.tx, name, self.caller.user)
        if self.caller.actor.kind == "reviewer":
            return session  # it reads what was said there, whether it is over or not
        state = as_of_lease(session, self.at_us).state
        if state != "open":
            raise Conflict(
                "session_over",
                f"session {session.id} is {state}",
                hint="start another: holdfast session start",
            )
        until = self.at + LEASE
        if until - session.lease_until > LEASE / 10:
            self.tx.renew_lease(session, until)
        return session
