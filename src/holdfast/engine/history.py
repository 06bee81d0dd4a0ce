"""The log, and the moments that it knows."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from holdfast.engine.forgetting import told
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.names import told as told_value
from holdfast.model.query import check_limit
from holdfast.model.times import given_us, to_us
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from holdfast.engine.work import Core
    from holdfast.model.change import Change
    from holdfast.model.write import Caller
    from holdfast.ports import Snapshot

LATEST = 2**63 - 1


class LogQuery(Value):
    """Which changes: strictly between two seqs, of one space, store, target, actor, session."""

    after: int = 0
    before: int = LATEST
    space: str | None = None
    store: str | None = None
    target: str | None = None
    actor: str | None = None
    session: str | None = None
    limit: int = 50
    newest_first: bool = True


def in_log(core: Core, query: LogQuery, caller: Caller) -> Sequence[Change]:
    check_limit(query.limit, 10_000)
    for seq in (query.after, query.before):
        check_seq(seq)

    def unit(snapshot: Snapshot) -> list[Change]:
        every = snapshot.changes(
            after=query.after, before=query.before, newest_first=query.newest_first
        )
        about = About(snapshot, caller.user)
        fitting = (change for change in every if _fits(change, query) and about.theirs(change))
        return list(islice(told(snapshot, fitting), query.limit))

    return core.storage.read(unit)


class About:
    """Which changes are about one user, or about nobody more than another."""

    def __init__(self, snapshot: Snapshot, user: str) -> None:
        self._snapshot, self._user = snapshot, user
        self._own: dict[str, bool] = {}

    def theirs(self, change: Change) -> bool:
        """Not what another user said, drafted or was remembered for."""
        after: Mapping[str, Any] = change.after or {}
        match change.kind:
            case "session":
                return self._of_own_session(change.target)
            case "message" | "run":
                return self._of_own_session(after.get("session"))
            case "proposal":
                return after.get("user", self._user) == self._user
            case "entry":
                whom, _, name = str(after.get("scope", "")).partition(":")
                drafted = after.get("session") if after.get("state") == "draft" else None
                return {
                    "user": name == self._user,
                    "session": whom != "session" or self._of_own_session(name),
                }.get(whom, True) and self._of_own_session(drafted)
            case _:
                return True

    def _of_own_session(self, session: str | None) -> bool:
        if session is None:
            return True
        if session not in self._own:
            found = self._snapshot.session(session)
            self._own[session] = found is None or found.user == self._user
        return self._own[session]


def _fits(change: Change, query: LogQuery) -> bool:
    return (
        query.space in (None, change.space)
        and query.store in (None, change.store)
        and query.actor in (None, change.actor)
        and query.session in (None, change.session)
        and (query.target is None or _names(change, query.target))
    )


def _names(change: Change, target: str) -> bool:
    """Whether the change is about what the caller calls so: its id, short form or given id."""
    given = None if change.after is None else change.after.get("given_id")
    return target in (change.target, change.target[-8:], given)


def check_seq(seq: int) -> None:
    if type(seq) is not int or not 0 <= seq <= LATEST:
        raise InvalidInput(
            "seq_invalid",
            f"{told_value(seq)} is no seq of a change",
            hint="holdfast log shows them",
        )


def image_at(snapshot: Snapshot, revision: int, seq: int) -> Change | None:
    """The change that made a thing what it was after `seq`, from its revision backwards."""
    return next((each for each in versions_of(snapshot, revision) if each.seq <= seq), None)


def versions_of(snapshot: Snapshot, revision: int) -> Iterator[Change]:
    """The changes that led to a revision of a thing, the newest first."""
    at: int | None = revision
    while at is not None:
        change = snapshot.change(at)
        if change is None:
            return
        yield change
        at = change.prior


def moment_of(snapshot: Snapshot, as_of: int | datetime) -> tuple[int, int]:
    """The seq and the time of a moment that somebody asks for."""
    if isinstance(as_of, datetime):
        at_us = given_us(as_of)
        return snapshot.seq_at(at_us), at_us
    check_seq(as_of)
    change = snapshot.change(as_of)
    if change is None:
        raise NotFound(
            "change_not_found",
            f"there is no change {as_of}; the newest is {snapshot.head()[0]}",
            hint="holdfast log",
        )
    return change.seq, to_us(change.at)
