"""The vault's tables inside one SQLite transaction: `ports.Snapshot` and `ports.Transaction`.

Every method is one or two statements of `queries.sql`. What they mean together (which change goes
with which row) is the engine's business.
"""

from __future__ import annotations

import json

from holdfast.core import mentions
from holdfast.core.canonical import canonical, digest, row_digest
from holdfast.model.times import to_us
from holdfast.model.vault import Frozen, StoredAnswer
from holdfast.storage.sqlite import rows
from holdfast.storage.sqlite.contents import ContentReads, ContentWrites
from holdfast.storage.sqlite.directories import TreeReads, TreeWrites
from holdfast.storage.sqlite.erasures import ErasureReads, ErasureWrites
from holdfast.storage.sqlite.holdings import HoldingReads, HoldingWrites
from holdfast.storage.sqlite.index import reindex
from holdfast.storage.sqlite.jobs import JobReads, JobWrites
from holdfast.storage.sqlite.links import LinkReads, LinkWrites
from holdfast.storage.sqlite.messages import MessageReads, MessageWrites
from holdfast.storage.sqlite.proposals import ProposalReads, ProposalWrites
from holdfast.storage.sqlite.queries import QUERIES, fetch, fetch_all
from holdfast.storage.sqlite.runs import RunReads, RunWrites
from holdfast.storage.sqlite.search import SearchReads
from holdfast.storage.sqlite.values import ValueReads, ValueWrites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    import apsw

    from holdfast.model.change import Change, Kind
    from holdfast.model.entry import Entry
    from holdfast.model.ids import SessionId
    from holdfast.model.message import Message
    from holdfast.model.query import EntryQuery
    from holdfast.model.session import Session
    from holdfast.model.space import SpaceInfo, Store
    from holdfast.model.vault import VaultInfo
    from holdfast.model.write import Caller
    from holdfast.ports import NewestRow, Scopes, SubjectOrder, SubjectRow

LATEST = 2**63 - 1
EARLIEST = -(2**63)


class SqliteSnapshot(
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
):
    """The vault at one moment."""

    def __init__(self, conn: apsw.Connection) -> None:
        self._conn = conn

    def _all(self, name: str, bindings: Any = ()) -> Iterator[rows.Row]:
        return fetch(self._conn, QUERIES[name], bindings)

    def _one(self, name: str, bindings: Any = ()) -> rows.Row | None:
        return next(self._all(name, bindings), None)

    def head(self) -> tuple[int, int]:
        row = self._one("head")
        return (0, 0) if row is None else (row[0], row[1])

    def vault(self) -> VaultInfo | None:
        row = self._one("vault")
        return None if row is None else rows.vault_from(row)

    def spaces(self) -> Sequence[SpaceInfo]:
        return [rows.space_from(row) for row in self._all("spaces")]

    def space_named(self, name: str) -> SpaceInfo | None:
        return self.once(("space", name), lambda: self._space_named(name))

    def _space_named(self, name: str) -> SpaceInfo | None:
        row = self._one("space_named", (name,))
        return None if row is None else rows.space_from(row)

    def stores(self, space: SpaceInfo) -> Sequence[Store]:
        return self.once(("stores", space.name), lambda: self._stores(space))

    def _stores(self, space: SpaceInfo) -> Sequence[Store]:
        found = self._all("stores", (space.number,))
        return tuple([rows.store_from(row, space.id, space.name) for row in found])

    def store_revision(self, store: Store) -> int:
        return self.once(("revision", store.number), lambda: self._store_revision(store))

    def _store_revision(self, store: Store) -> int:
        row = self._one("store_revision", (store.number,))
        return 0 if row is None else row[0]

    def session(self, session: str) -> Session | None:
        row = self._one("session", (session,))
        return None if row is None else rows.session_from(row)

    def sessions(self, space: SpaceInfo | None) -> Iterator[Session]:
        wanted = {"space": None if space is None else space.number}
        return map(rows.session_from, self._all("sessions", wanted))

    def sessions_like(self, short: str) -> Sequence[Session]:
        return [rows.session_from(row) for row in self._all("sessions_like", (short,))]

    def lapsed_sessions(self, at_us: int) -> Sequence[Session]:
        return [rows.session_from(row) for row in self._all("lapsed_sessions", (at_us,))]

    def entry(self, store: Store, entry: str) -> Entry | None:
        row = self._one("entry", {"id": entry, "store": store.number})
        return None if row is None else rows.entry_from(row)

    def entry_given(self, store: Store, given_id: str) -> Entry | None:
        row = self._one("entry_given", (store.number, given_id))
        return None if row is None else rows.entry_from(row)

    def entries_like(self, store: Store, short: str) -> Sequence[Entry]:
        found = self._all("entries_like", {"short": short, "store": store.number})
        return [rows.entry_from(row) for row in found]

    def entries_same(self, store: Store, fingerprint: bytes) -> Sequence[Entry]:
        found = self._all("entries_same", (store.number, fingerprint))
        return [rows.entry_from(row) for row in found]

    def entries_titled(self, store: Store, start: str) -> Sequence[Entry]:
        wanted = {"store": store.number, "low": start, "high": start + chr(0x10FFFF)}
        return [rows.entry_from(row) for row in self._all("entries_titled", wanted)]

    def entries_bound(self, session: SessionId) -> Sequence[tuple[Store, Entry]]:
        found = list(self._all("entries_bound", (session,)))
        return [(self.store_numbered(row[2]), rows.entry_from(row)) for row in found]

    def store_numbered(self, number: int) -> Store:
        row = next(self._all("store_by_number", (number,)))
        return rows.store_from(row[:9], row[9], row[10])

    def newest(self, store: Store, since_us: int | None, limit: int) -> Sequence[NewestRow]:
        since = EARLIEST if since_us is None else since_us
        return fetch_all(self._conn, QUERIES["newest"], (store.number, since, limit))

    def subjects(
        self, store: Store, at_us: int, limit: int, scopes: Scopes, order: SubjectOrder
    ) -> Sequence[SubjectRow]:
        wanted = _among_subjects(store, at_us, limit, scopes)
        found = self._all(f"subjects_{order}", wanted)
        return [(row[0], row[1], row[2], row[3], row[4], row[5]) for row in found]

    def subject_count(self, store: Store, at_us: int, limit: int, scopes: Scopes) -> int:
        row = self._one("subject_count", _among_subjects(store, at_us, limit, scopes))
        return 0 if row is None else row[0]

    def due(
        self, store: Store, kind: str, at_us: int, limit: int, *, hidden: bool
    ) -> Sequence[Entry]:
        wanted = {
            "store": store.number,
            "kind": kind,
            "at": at_us,
            "limit": limit,
            "hidden": int(hidden),
        }
        return [rows.entry_from(row) for row in self._all("due", wanted)]

    def called(self, store: Store, kind: str, subject: str, limit: int) -> Sequence[Entry]:
        found = self._all("called", (store.number, kind, subject, limit))
        return [rows.entry_from(row) for row in found]

    def entries_named(self, store: Store, ids: Sequence[str]) -> Sequence[Entry]:
        wanted = {"ids": json.dumps(list(ids)), "store": store.number}
        return [rows.entry_from(row) for row in self._all("entries_named", wanted)]

    def drafts(self, store: Store, session: SessionId | None) -> Sequence[Entry]:
        if session is None:
            found = self._all("drafts_of_all", (store.number,))
        else:
            found = self._all("drafts", (store.number, session))
        return [rows.entry_from(row) for row in found]

    def shown(self, store: Store, query: EntryQuery) -> Iterator[Entry]:
        newest = query.order == "newest"
        since = EARLIEST if query.since_us is None else query.since_us
        until = LATEST if query.until_us is None else query.until_us
        at = query.cursor
        start = (until, 0) if newest else (since, 0)
        if at is not None:
            start = (min if newest else max)(start, (at.when_us, at.number))
        wanted: dict[str, Any] = {
            "store": store.number,
            "since": since,
            "until": until,
            "when": start[0],
            "number": start[1],
        }
        name = f"shown_{query.order}"
        if query.match is not None:
            from holdfast.core.text import match_expression

            match = match_expression(query.match)
            if match is None:
                return iter(())
            wanted["match"] = match
            name = f"matching_{query.order}"
        return map(rows.entry_from, self._all(name, wanted))

    def beyond(self, store: Store, keep: int, since_us: int | None) -> Sequence[Entry]:
        found = {row[0]: row for row in self._all("beyond_count", (store.number, keep))}
        if since_us is not None:
            found |= {row[0]: row for row in self._all("beyond_age", (store.number, since_us))}
        return [rows.entry_from(found[number]) for number in sorted(found)]

    def all_entries(self, store: Store, up_to: int) -> Iterator[Entry]:
        return map(rows.entry_from, self._all("all_entries", (store.number, up_to)))

    def was_forgotten(self, number: int) -> bool:
        return self._one("was_forgotten", {"number": number}) is not None

    def change(self, seq: int) -> Change | None:
        row = self._one("change", (seq,))
        return None if row is None else rows.change_from(row)

    def changes(self, *, after: int, before: int, newest_first: bool) -> Iterator[Change]:
        name = "changes_newest" if newest_first else "changes_oldest"
        return map(rows.change_from, self._all(name, (after, before)))

    def seq_at(self, at_us: int) -> int:
        low, high = 0, self.head()[0]
        while low < high:
            middle = (low + high + 1) // 2
            row = self._one("seq_at", (middle,))
            if row is None or row[0] <= at_us:
                low = middle
            else:
                high = middle - 1
        return low

    def answer(self, actor: str, key: str, since_us: int) -> StoredAnswer | None:
        row = self._one("answer", (actor, key, since_us))
        if row is None:
            return None
        names = rows.DIGESTED["answer"]
        return StoredAnswer(**dict(zip(names, row, strict=True)))

    def frozen(self, session: SessionId, budget: int) -> Frozen | None:
        row = self._one("frozen", (session, budget))
        return (
            None if row is None else Frozen(**dict(zip(rows.DIGESTED["frozen"], row, strict=True)))
        )

    def counts(self) -> Mapping[str, int]:
        return {row[0]: row[1] for row in self._all("counts")}


class SqliteTransaction(
    SqliteSnapshot,
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
):
    """The vault while it is being changed."""

    def _do(self, name: str, bindings: Any) -> None:
        self._conn.execute(QUERIES[name], bindings)

    def make_vault(self, vault: VaultInfo) -> None:
        self._do("put_vault", rows.vault_row(vault))

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
        columns = (
            *(seq, at_us, said_us, str(caller.actor), caller.session, space, store),
            *(kind, target, op, prior, digest("body", salt, body.encode())),
        )
        self._do("record", (*columns, row_digest("change", columns), salt, body))

    def put_space(self, space: SpaceInfo) -> None:
        self._do("put_space", rows.space_row(space))

    def put_store(self, store: Store) -> None:
        self._do("put_store", rows.store_row(store))

    def put_session(self, session: Session, space: SpaceInfo) -> None:
        self._do("put_session", rows.session_row(session, space))

    def renew_lease(self, session: Session, until: datetime) -> None:
        self._do("renew_lease", (to_us(until), session.number))

    def put_entry(
        self, store: Store, entry: Entry, before: Entry | None, fingerprint: bytes
    ) -> None:
        self._do("put_entry", rows.entry_row(entry, store.number, fingerprint))
        self.put_links(entry, before)
        self.put_mentions(
            "entry", entry.number, mentions.of_entry(before), mentions.of_entry(entry)
        )
        reindex(self._conn, before, entry, store.number)

    def put_message(
        self, session: Session, message: Message, before: Message | None, terms: str
    ) -> None:
        super().put_message(session, message, before, terms)
        self.put_mentions(
            "message", message.number, mentions.of_message(before), mentions.of_message(message)
        )

    def keep_answer(self, answer: StoredAnswer) -> None:
        self._do("keep_answer", rows.answer_row(answer))

    def drop_answers(self, before_us: int) -> None:
        self._do("drop_answers", (before_us,))

    def freeze(self, frozen: Frozen) -> None:
        self._do("freeze", rows.frozen_row(frozen))

    def thaw(self, session: SessionId) -> None:
        self._do("thaw", (session,))


def _among_subjects(store: Store, at_us: int, limit: int, scopes: Scopes) -> Mapping[str, Any]:
    user, session = scopes
    return {
        "store": store.number,
        "at": at_us,
        "limit": limit,
        "user": user,
        "session": session,
    }


def seal_digest(
    before: bytes, first: int, last: int, at_us: int, headers: Sequence[bytes]
) -> bytes:
    """A link of the chain: the seal before, and the headers of the changes that it covers."""
    return digest("seal", before, canonical([first, last, at_us]), *headers)
