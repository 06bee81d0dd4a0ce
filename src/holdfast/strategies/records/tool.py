"""What an agent is offered for the stores of records: seven tools. None of them is a person."""

from __future__ import annotations

from holdfast.model.times import time_in
from holdfast.strategies.records.face import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    from holdfast.model.entry import Json
    from holdfast.model.record import (
        RecordAdded,
        RecordForgotten,
        RecordPart,
        RecordPromoted,
        RecordRead,
        RecordRows,
        RecordUpdated,
    )
    from holdfast.ports import Tool
    from holdfast.ports.desk import Desk


def tools_of(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    def of(store: str | None) -> Records:
        return Records(desk(store), by_person=False)

    return *_adding(of), *_changing(of), *_finding(of), *_opening(of)


def _adding(of: Callable[[str | None], Records]) -> Iterable[Tool]:
    def memory_add(
        body: str | dict[str, Json],
        subject: str | None = None,
        kind: str = "project_fact",
        tags: list[str] | None = None,
        refs: list[str] | None = None,
        confidence: float | None = None,
        importance: int | None = None,
        source: str | None = None,
        origin: Literal["user", "agent", "tool", "web"] = "agent",
        scope: str = "space",
        since: str | None = None,
        until: str | None = None,
        supersedes: list[str] | None = None,
        store: str | None = None,
    ) -> RecordAdded:
        """Draft a record for this session: Markdown or fields, for `space`, `user`, `session` or
        `task:NAME`. The same again corroborates it."""
        whom, colon, task = scope.partition(":")
        about: Any = {
            "tags": tags,
            "refs": refs,
            "confidence": confidence,
            "importance": importance,
            "source": source,
            "origin": origin,
            "since": time_in(since),
            "until": time_in(until),
        }
        return of(store).add(
            body,
            subject=subject,
            kind=kind,
            scope=whom,
            task=task if colon else None,
            supersedes=supersedes or (),
            **about,
        )

    def memory_promote(
        id: str, supersedes: list[str] | None = None, store: str | None = None
    ) -> RecordPromoted:
        """Confirm a draft, so that later sessions see it."""
        return of(store).promote(id, supersedes=supersedes or ())

    return memory_add, memory_promote


def _changing(of: Callable[[str | None], Records]) -> Iterable[Tool]:
    def memory_update(
        id: str,
        body: str | dict[str, Json] | None = None,
        subject: str | None = None,
        tags: list[str] | None = None,
        refs: list[str] | None = None,
        importance: int | None = None,
        until: str | None = None,
        revision: int | None = None,
        reason: str = "",
        store: str | None = None,
    ) -> RecordUpdated:
        """Change a record. Earlier versions are kept; a revision that moved is refused."""
        about: Any = {"tags": tags, "refs": refs, "importance": importance}
        about |= {"until": time_in(until), "origin": "agent"}
        return of(store).update(id, body, subject=subject, expect=revision, reason=reason, **about)

    def memory_forget(
        id: str | None = None,
        query: str | None = None,
        confirm: str | None = None,
        reason: str = "",
        store: str | None = None,
    ) -> RecordForgotten:
        """Forget a record. A query first tells what it finds, and forgets that with `confirm`."""
        return of(store).forget(id, query=query, confirm=confirm, reason=reason)

    return memory_update, memory_forget


def _finding(of: Callable[[str | None], Records]) -> Iterable[Tool]:
    def memory_search(
        query: str = "",
        subject: str = "",
        kinds: list[str] | None = None,
        tags: list[str] | None = None,
        states: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        budget: int | None = None,
        store: str | None = None,
    ) -> RecordRows:
        """Find records by words, subject, kind, tag, state and time: subjects, not bodies."""
        asked: Any = {
            "subject": subject,
            "kinds": tuple(kinds or ()),
            "tags": tuple(tags or ()),
            "since": time_in(since),
            "until": time_in(until),
            "cursor": cursor,
        }
        if states is not None:
            asked["states"] = tuple(states)
        if limit is not None:
            asked["limit"] = limit
        return of(store).search(query, budget=budget, **asked)

    return (memory_search,)


def _opening(of: Callable[[str | None], Records]) -> Iterable[Tool]:
    def memory_read(
        id: str | None = None, query: str | None = None, store: str | None = None
    ) -> RecordRead:
        """Read a record in full, by its id or the best for a query."""
        return of(store).read(id, query=query)

    def memory_expand_section(
        id: str | None = None,
        path: str | list[str] | None = None,
        layer: Literal["semantic", "procedural", "episodic"] | None = None,
        cursor: str | None = None,
        store: str | None = None,
    ) -> RecordPart:
        """One section (`Setup > Linux`) or field (`steps[0]`) of a record; or one layer's rows."""
        return of(store).part(id, path, layer, cursor)

    return memory_read, memory_expand_section
