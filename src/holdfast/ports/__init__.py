"""What the engine needs from outside, and what strategies may ask of the engine.

The comments here are the contract; `holdfast.testing` has the suite that proves an implementation.
Units of work are sync functions of a transaction. They may be run more than once (a group of
writers is replayed when one of them fails), so they touch nothing outside the transaction.
"""

from __future__ import annotations

TYPE_CHECKING = False


class NotNow:
    """The answer to a write that was to happen at once or not at all, and did not."""


NOT_NOW = NotNow()

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Literal, Protocol, Self, TypeVar, Unpack

    from holdfast.core.forms import Form
    from holdfast.core.lifecycle import Event
    from holdfast.core.preferences import Settings
    from holdfast.model.change import Change, Kind
    from holdfast.model.context import Draft
    from holdfast.model.directory import Version
    from holdfast.model.entry import Entry, EntryChanges, Json, NewEntry
    from holdfast.model.erasure import Scrubbed
    from holdfast.model.ids import SessionId
    from holdfast.model.message import Message
    from holdfast.model.problem import Problem
    from holdfast.model.query import EntryQuery
    from holdfast.model.review import Suggestion
    from holdfast.model.search import Found, Looked, SearchQuery
    from holdfast.model.session import Session
    from holdfast.model.space import SpaceInfo, Store, StoreSpec, StoreType
    from holdfast.model.vault import Frozen, StoredAnswer, VaultInfo
    from holdfast.model.write import Caller
    from holdfast.ports.contents import ArtifactView, ArtifactWork, ContentReads, ContentWrites
    from holdfast.ports.desk import Desk
    from holdfast.ports.erasing import ErasureReads, ErasureWrites
    from holdfast.ports.jobs import JobReads, JobWrites
    from holdfast.ports.links import LinkReads, LinkWrites, Use
    from holdfast.ports.messages import MessageReads, MessageWrites
    from holdfast.ports.proposals import ProposalReads, ProposalWrites
    from holdfast.ports.runs import RunReads, RunWrites
    from holdfast.ports.search import SearchReads
    from holdfast.ports.trees import HoldingReads, HoldingWrites, TreeReads, TreeWrites
    from holdfast.ports.values import ValueReads, ValueWrites

    T = TypeVar("T")

    # id, given id, when (microseconds), text
    NewestRow = tuple[str, str | None, int, str]
    # id, given id, when (microseconds), subject, kind, importance
    SubjectRow = tuple[str, str | None, int, str, str, int]
    SubjectOrder = Literal["important", "newest"]
    # the scopes of a caller: its user's and its session's
    Scopes = tuple[str, str]

    class Clock(Protocol):
        """Our clock, in microseconds since 1970, UTC."""

        def __call__(self) -> int: ...

    class Random(Protocol):
        """So many bytes that nobody can guess."""

        def __call__(self, count: int, /) -> bytes: ...

    class Snapshot(
        ValueReads,
        TreeReads,
        HoldingReads,
        ContentReads,
        MessageReads,
        JobReads,
        ProposalReads,
        LinkReads,
        RunReads,
        SearchReads,
        ErasureReads,
        Protocol,
    ):
        """The vault at one moment: everything asked of one snapshot belongs together."""

        def once(self, key: tuple[str, str | int], read: Callable[[], T]) -> T:
            """What `read` gives, which depends on the key and on this moment of the vault alone;
            or what it gave before, where it is known that the vault is still the same."""
            ...

        def head(self) -> tuple[int, int]:
            """The seq and the time of the newest change; (0, 0) in a vault without any."""
            ...

        def vault(self) -> VaultInfo | None:
            """The vault, None until the first write has made it."""
            ...

        def spaces(self) -> Sequence[SpaceInfo]: ...

        def space_named(self, name: str) -> SpaceInfo | None: ...

        def stores(self, space: SpaceInfo) -> Sequence[Store]:
            """All stores of the space: the declared ones in their order, then the withdrawn."""
            ...

        def store_numbered(self, number: int) -> Store:
            """The store of that number, declared or withdrawn."""
            ...

        def store_revision(self, store: Store) -> int:
            """The revision of the store's row now; 0 where it has none."""
            ...

        def session(self, session: str) -> Session | None: ...

        def sessions(self, space: SpaceInfo | None) -> Iterator[Session]:
            """The newest first; of all spaces where None."""
            ...

        def sessions_like(self, short: str) -> Sequence[Session]:
            """The sessions whose id ends so."""
            ...

        def lapsed_sessions(self, at_us: int) -> Sequence[Session]:
            """Open sessions whose lease ran out before then."""
            ...

        def entry(self, store: Store, entry: str) -> Entry | None:
            """By its whole id, in every state."""
            ...

        def entry_given(self, store: Store, given_id: str) -> Entry | None:
            """By the id that its writer gave, in every state: such an id is never used again."""
            ...

        def entries_like(self, store: Store, short: str) -> Sequence[Entry]:
            """Those whose id ends so, in every state."""
            ...

        def entries_same(self, store: Store, fingerprint: bytes) -> Sequence[Entry]:
            """Those with this fingerprint, in every state: duplicates and tombstones."""
            ...

        def entries_titled(self, store: Store, start: str) -> Sequence[Entry]:
            """Those not forgotten whose subject begins so, by subject."""
            ...

        def entries_bound(self, session: SessionId) -> Sequence[tuple[Store, Entry]]:
            """Those whose life ends with the session's, and has not ended."""
            ...

        def newest(self, store: Store, since_us: int | None, limit: int) -> Sequence[NewestRow]:
            """The newest shown entries not older than a time, as the rows that a block needs."""
            ...

        def subjects(
            self, store: Store, at_us: int, limit: int, scopes: Scopes, order: SubjectOrder
        ) -> Sequence[SubjectRow]:
            """Shown entries with a subject: the most important first, then the newest; or the
            newest first.

            Left out are those whose `until` was before `at_us`, and those that are neither for
            everyone nor for one of the scopes.
            """
            ...

        def subject_count(self, store: Store, at_us: int, limit: int, scopes: Scopes) -> int:
            """How many these are, counted up to a limit."""
            ...

        def due(
            self, store: Store, kind: str, at_us: int, limit: int, *, hidden: bool
        ) -> Sequence[Entry]:
            """Confirmed entries of a kind, hidden or not, whose `until` was before then, the first
            first."""
            ...

        def called(self, store: Store, kind: str, subject: str, limit: int) -> Sequence[Entry]:
            """Shown entries of a kind that have this subject, whatever the case of its letters."""
            ...

        def entries_named(self, store: Store, ids: Sequence[str]) -> Sequence[Entry]:
            """By whole ids, in every state and any order; without those that are not there."""
            ...

        def drafts(self, store: Store, session: SessionId | None) -> Sequence[Entry]:
            """The drafts of a session, or of all, in the order in which they were made."""
            ...

        def shown(self, store: Store, query: EntryQuery) -> Iterator[Entry]:
            """What is confirmed and not hidden, in the order of the query, from its cursor on.

            Honours times, match, order and cursor; metadata and limit are the caller's.
            """
            ...

        def beyond(self, store: Store, keep: int, since_us: int | None) -> Sequence[Entry]:
            """The shown entries older than the `keep` newest, and those from before `since_us`."""
            ...

        def all_entries(self, store: Store, up_to: int) -> Iterator[Entry]:
            """All entries born at or before this seq, in every state, as they are now."""
            ...

        def was_forgotten(self, number: int) -> bool:
            """Whether the entry or artifact of that number was forgotten because somebody asked,
            and not by a rule of its store."""
            ...

        def change(self, seq: int) -> Change | None: ...

        def changes(self, *, after: int, before: int, newest_first: bool) -> Iterator[Change]:
            """The log strictly between two seqs."""
            ...

        def seq_at(self, at_us: int) -> int:
            """The newest seq at or before a time; 0 when there is none."""
            ...

        def answer(self, actor: str, key: str, since_us: int) -> StoredAnswer | None: ...

        def frozen(self, session: SessionId, budget: int) -> Frozen | None: ...

        def counts(self) -> Mapping[str, int]:
            """Rows by kind, for status."""
            ...

    class Transaction(
        Snapshot,
        ValueWrites,
        TreeWrites,
        HoldingWrites,
        ContentWrites,
        MessageWrites,
        JobWrites,
        ProposalWrites,
        LinkWrites,
        RunWrites,
        ErasureWrites,
        Protocol,
    ):
        """A snapshot that may be changed; all of it happens, or none."""

        def make_vault(self, vault: VaultInfo) -> None: ...

        def record(
            self,
            *,
            seq: int,
            at_us: int,
            said_us: int | None,
            caller: Caller,
            space: int | None,
            store: int | None,
            kind: Kind,
            target: str,
            op: str,
            prior: int | None,
            salt: bytes,
            body: str,
        ) -> None:
            """Write one change; its seq is one more than the newest."""
            ...

        def put_space(self, space: SpaceInfo) -> None: ...

        def put_store(self, store: Store) -> None: ...

        def put_session(self, session: Session, space: SpaceInfo) -> None: ...

        def renew_lease(self, session: Session, until: datetime) -> None:
            """Unlogged: a lease is a matter of use."""
            ...

        def put_entry(
            self, store: Store, entry: Entry, before: Entry | None, fingerprint: bytes
        ) -> None:
            """Insert or replace the row and bring the full-text index along."""
            ...

        def keep_answer(self, answer: StoredAnswer) -> None: ...

        def drop_answers(self, before_us: int) -> None: ...

        def freeze(self, frozen: Frozen) -> None: ...

        def thaw(self, session: SessionId) -> None:
            """Drop the contexts that a session kept."""
            ...

    class Storage(Protocol):
        """Where a vault lives."""

        where: str

        def read(self, unit: Callable[[Snapshot], T]) -> T: ...

        def write(self, unit: Callable[[Transaction], T]) -> T:
            """Run the unit and commit it. What returned is durable; what raised left nothing."""
            ...

        def write_at_once(self, unit: Callable[[Transaction], T]) -> T | NotNow:
            """The same for a caller that must not wait: NOT_NOW, and nothing done, where somebody
            else is writing, in this process or another, or where writes took long of late."""
            ...

        def submit(
            self,
            unit: Callable[[Transaction], T],
            done: Callable[[T | None, BaseException | None], None],
        ) -> None:
            """The same without waiting: `done` follows once, with what the unit gave or with its
            error, from another thread. It must be quick and must not raise."""
            ...

        def packed(self, content: bytes) -> tuple[str, bytes]:
            """The form and the bytes in which to hand a pack to `put_packs`. It is slow, so
            it is asked for outside of transactions."""
            ...

        def scrub(self, words: Collection[bytes]) -> Scrubbed | None:
            """Write everything anew, so that nothing is left of what was deleted, and look for
            these words in all that the bytes decode to. None while a reader holds old pages: try
            again when it has ended."""
            ...

        def copies(self) -> tuple[str, ...]:
            """Older copies of the vault that lie beside it and that no erasure reaches."""
            ...

        def tidy(self) -> None:
            """Do at once what waits for quiet moments: merge the index, seal the log."""
            ...

        def inspect(self) -> Iterator[Problem]:
            """Everything that is not as it was written, named row by row."""
            ...

        def repair(self) -> Iterator[str]:
            """Make again what can be made from ground truth; says what it did."""
            ...

        def facts(self) -> Mapping[str, Json]:
            """What status and doctor show: sizes, versions, encryption."""
            ...

        def close(self) -> None: ...

    class View(ArtifactView, Protocol):
        """What a strategy may read of a store: now, or as of an earlier moment."""

        @property
        def at_us(self) -> int: ...

        @property
        def session_id(self) -> SessionId | None:
            """The session that asks: its drafts are its own."""
            ...

        def find(self, store: Store, name: str) -> Entry: ...

        def has(self, store: Store, name: str) -> bool:
            """Whether an entry is called so, or several are."""
            ...

        def shown(self, store: Store, query: EntryQuery) -> Iterator[Entry]: ...

        def search(self, stores: Sequence[Store], query: SearchQuery) -> Found:
            """The best entries of these stores for what is asked. Drafts are those of the session
            that asks; what is hidden only where the query wants it; the forgotten never."""
            ...

        def newest(self, store: Store, since_us: int | None, limit: int) -> Sequence[NewestRow]: ...

        def settings(self, store: Store) -> Settings:
            """The preferences that hold for the store's space and this call."""
            ...

        def sees(self, entry: Entry) -> bool:
            """Whether the entry is for whoever asks, by its scope."""
            ...

        def is_there(self, entry: Entry) -> bool:
            """Whether it is found by its id by whoever asks. More is found so than is seen: a draft
            of another session of the same user, and what is for a task."""
            ...

        def subjects(
            self, store: Store, limit: int, order: SubjectOrder = "important"
        ) -> Sequence[SubjectRow]:
            """As in `Snapshot`; what ended on an earlier UTC day is left out."""
            ...

        def subject_count(self, store: Store, limit: int) -> int: ...

        def titled(self, store: Store, start: str) -> Sequence[Entry]:
            """Those that were not forgotten and whose subject begins so, the hidden among them."""
            ...

        def content(self, name: str) -> bytes:
            """A stored content that an entry holds, verified."""
            ...

        def drafts(self, store: Store, *, everybodys: bool = False) -> Sequence[Entry]:
            """Those of the session that asks, or of all sessions of its user. An earlier moment has
            none."""
            ...

        def in_every_state(self, store: Store) -> Iterator[Entry]:
            """All entries of the store, as they came."""
            ...

        def named(self, store: Store, ids: Sequence[str]) -> Mapping[str, Entry]:
            """The entries of the store with these whole ids, in every state."""
            ...

        def referring(self, store: Store, entry: Entry) -> Sequence[Entry]:
            """The entries that refer to this one and were not forgotten, as they came."""
            ...

        def uses(self, entries: Sequence[Entry]) -> Mapping[int, Use]:
            """How often these were used, by number; those never used are left out. An earlier
            moment knows of none."""
            ...

        def history(self, entry: Entry) -> Iterator[Change]:
            """The changes that made an entry what it is in this view, the newest first; without
            words where it was forgotten because somebody asked."""
            ...

        def is_gone(self, entry: Entry) -> bool:
            """Whether somebody asked for it to be forgotten; what a rule of its store let go can
            be forgotten still."""
            ...

        @property
        def values(self) -> ValueReads:
            """The values by key. They have no past."""
            ...

        def memories(self, store: Store) -> Iterable[tuple[str, Version]]:
            """The memory directories of the store's space by name, without the hidden, each with
            the version that folders are brought to."""
            ...

        def beginning(self, version: Version, path: str, bytes_max: int) -> bytes | None:
            """So much of a file's content, verified; None where the version has no such file."""
            ...

        def screened(self, store: Store, text: str) -> str:
            """The text of something that is no entry, to be shown to an agent: each line, or what
            screening found in it. Entries are screened before they are given."""
            ...

        @property
        def messages(self) -> MessageReads:
            """What was said in sessions, as it is now."""
            ...

        def session_of(self, store: Store, name: str) -> Session:
            """A session of the caller's user in the store's space, by its id or short form."""
            ...

    class Work(View, ArtifactWork, Protocol):
        """What a strategy may do to a store inside one unit of work."""

        @property
        def values(self) -> ValueWrites: ...

        @property
        def messages(self) -> MessageWrites: ...

        @property
        def caller(self) -> Caller: ...

        @property
        def session(self) -> Session | None:
            """The session that the caller works in, which is open."""
            ...

        @property
        def seq(self) -> int:
            """That of the newest change, those of this work included."""
            ...

        @property
        def at(self) -> datetime: ...

        def new_id(self) -> str: ...

        def put_message(
            self,
            store: Store,
            session: Session,
            message: Message,
            before: Message | None,
            op: str,
            terms: str,
        ) -> Message:
            """Write a message with its change, as the next change."""
            ...

        def said(
            self, store: Store, session: Session, message: Message
        ) -> tuple[bool, tuple[str, ...]]:
            """What follows from a message: whether a review is due now, and notices of what
            earlier reviews of the session did."""
            ...

        def put_session_of(self, store: Store, session: Session, before: Session, op: str) -> None:
            """Write what a session became, with its change."""
            ...

        def given(self, store: Store, given_id: str) -> Entry | None: ...

        def due(
            self, store: Store, kind: str, at_us: int, limit: int, *, hidden: bool
        ) -> Sequence[Entry]:
            """As in `Snapshot`."""
            ...

        def called(self, store: Store, kind: str, subject: str) -> Sequence[Entry]:
            """As in `Snapshot`: those that say something else, or the same, under this name."""
            ...

        def same(self, store: Store, text: str) -> Sequence[Entry]:
            """Entries with this text (case and white space folded), in every state."""
            ...

        def add(self, store: Store, new: NewEntry) -> Entry: ...

        def move(
            self, store: Store, entry: Entry, event: Event, **changes: Unpack[EntryChanges]
        ) -> Entry:
            """Its next version, after an event of its life. What was forgotten keeps its text in
            the log only; `expire` is a forgetting by a rule of the store."""
            ...

        def expect(self, revision: int, name: str) -> None:
            """Raise Conflict when the caller said that it saw another revision."""
            ...

        def beyond(self, store: Store, keep: int, since_us: int | None) -> Sequence[Entry]: ...

    class ToldTime(Protocol):
        """An answer that may tell how it was found."""

        @property
        def looked(self) -> Looked | None: ...

        def replace(self, **changes: Any) -> Self: ...

    Holding = Literal["entries", "values", "messages", "contents", "trees"]

    # A function that any agent loop can offer: name, docstring and annotations describe it.
    Tool = Callable[..., object]

    class Strategy(Protocol):
        """How a store behaves. One module each, registered by name."""

        @property
        def HOLDS(self) -> Holding:  # noqa: N802 - a module's constant
            """What a store of it is made of, which says what can be asked of it."""
            ...

        @property
        def OPTIONS(self) -> Mapping[StoreType, Mapping[str, Form]]:  # noqa: N802
            """The options of a declared store, by the store's type."""
            ...

        def check(self, spec: StoreSpec) -> StoreSpec:
            """The declared options, checked and completed. Raises OptionInvalid."""
            ...

        def block(self, view: View, store: Store) -> Draft | Sequence[Draft] | None:
            """What a session sees of the store at its start: a block, or several in their order."""
            ...

        def accept(self, work: Work, store: Store, suggestion: Suggestion) -> Entry:
            """Take a suggestion into the store, by the rules that any write keeps to; gives the
            entry that it is about, as it is then. A strategy without entries refuses.

            Called when a review, an approval or a person decides for it; the target is what the
            suggestion says it saw."""
            ...

        def tools(self, desk: Callable[[str | None], Desk]) -> Iterable[Tool]: ...
