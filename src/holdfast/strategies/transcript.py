"""`transcript`: every message of every session, apart from memory and never injected.

A long-term store keeps what was said. A short-term one lets the words go once their session was
last used more than `ttl` days ago; that something was said stays known. Sessions that people held
come before those of automation; what came from a hidden source is never shown in an answer.
"""

from __future__ import annotations

from heapq import merge
from itertools import islice

from holdfast.core.archive import (
    NEAR_CHARS_MAX,
    by_session,
    caution,
    check_calls,
    check_role,
    in_short,
    origin_of,
    title_of,
)
from holdfast.core.forms import Days, Flag, Items, Text, checked_options
from holdfast.core.metadata import check_origin
from holdfast.core.suggesting import of_no_entries
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.ids import MessageId, is_id
from holdfast.model.message import (
    INDEXED_CHARS_MAX,
    MESSAGE_BYTES_MAX,
    Conversation,
    Message,
    MessageQuery,
    Near,
    NewMessage,
    SaidNow,
    SessionHit,
    SessionQuery,
    Talk,
)
from holdfast.model.names import check_given_id, check_str, check_text, shown, told
from holdfast.model.query import check_limit
from holdfast.model.session import as_of_lease, check_state
from holdfast.model.times import DAY_US, END_US, day_of, from_us, given_us, time_in, to_us
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Unpack

    from holdfast.core.forms import Form
    from holdfast.model.context import Draft
    from holdfast.model.entry import Entry, Json, Origin
    from holdfast.model.message import Found, SessionClass, ToolCall
    from holdfast.model.review import Role, Suggestion
    from holdfast.model.session import Session
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "transcript"
HOLDS = "messages"
TTL_DAYS = 90
AROUND = 2
SNIPPET_CHARS = 240
SWEPT_AT_ONCE = 100
READ_LIMIT = 50
SOURCES_MAX = 100
# So many messages before an answer are looked at for the call that it answers.
ASKED_BEFORE = 20


# Declaration


_OPTIONS: Mapping[str, Form] = {
    "tool_results": Flag(
        about="whether what tools answer is kept, or only how long it was", default=True
    ),
    "automation": Items(
        about="the sources whose sessions come after people's",
        of=Text(),
        alone=True,
        default=["batch", "ci", "cron", "subagent", "webhook", "worker"],
    ),
    "hidden": Items(
        about="the sources that no answer shows", of=Text(), alone=True, default=["internal"]
    ),
}
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {
    "short_term": {
        **_OPTIONS,
        "ttl": Days(
            about="for how many UTC days after a session's last use its words are kept, as 90d",
            default=TTL_DAYS,
        ),
    },
    "long_term": _OPTIONS,
}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    return checked_options(spec, OPTIONS)


# Policy


def say(work: Work, store: Store, session: Session, new: NewMessage) -> SaidNow:
    """Write down what was said, once for each id that its program gave it."""
    messages, turns, _, _ = work.messages.use(session)
    known = None if new.given_id is None else work.messages.message_given(session, new.given_id)
    if known is not None:
        if (known.role, known.text) != (new.role, new.text) and not known.left_out:
            raise Conflict(
                "id_taken",
                f"session {session.id} has another message {shown(new.given_id)}",
                hint="give each message an id of its own, or none",
            )
        return SaidNow(message=known, turns=turns, outcome="unchanged")
    if messages == 0:
        _let_go(work, store)
    origin, trust = origin_of(new, work.messages.last_heard(session))
    left_out = _left_out(store, new)
    when = work.at if new.said_at is None else min(new.said_at, work.at)
    message = Message(
        id=MessageId(work.new_id()),
        number=work.seq + 1,
        session=session.id,
        place=messages + 1,
        role=new.role,
        text="" if left_out else new.text,
        calls=new.calls,
        call=new.call,
        tool=new.tool or _tool_of(work, session, new.call, messages),
        given_id=new.given_id,
        origin=origin,
        trust=trust,
        at=work.at,
        said_at=new.said_at,
        when=when,
        rewound=new.rewound,
        left_out=left_out,
        revision=work.seq + 1,
    )
    message = work.put_message(store, session, message, None, "say", new.terms)
    turn = int(new.role == "user" and not new.rewound)
    work.messages.count_message(session, turn, to_us(when))
    return SaidNow(message=message, turns=turns + turn, outcome="said")


def _tool_of(work: Work, session: Session, call: str, messages: int) -> str:
    """The tool that a call was of, which an answer need not say again."""
    if not call:
        return ""
    start = max(messages - ASKED_BEFORE + 1, 1)
    for message in reversed(work.messages.messages(session, start, ASKED_BEFORE)):
        for each in message.calls:
            if each.id == call:
                return each.name
    return ""


def hear(work: Work, store: Store, session: Session, new: NewMessage) -> SaidNow:
    """The same, of a session that goes on: every few turns a review of it is due."""
    said = say(work, store, session, new)
    if said.outcome == "unchanged":
        return said
    due, notices = work.said(store, session, said.message)
    return said.replace(review_due=due, notices=notices)


def _left_out(store: Store, new: NewMessage) -> int:
    kept = new.role != "tool" or store.options.get("tool_results", True)
    return 0 if kept else len(new.text.encode())


def _let_go(work: Work, store: Store) -> None:
    """A short-term store lets go of words that are too old, a bounded number at a time."""
    days = store.options.get("ttl")
    if not isinstance(days, int):
        return
    before_us = (day_of(work.at_us) - days) * DAY_US
    for old in work.messages.outworn(store.space_number, before_us, SWEPT_AT_ONCE):
        session = work.messages.session(old.session)
        assert session is not None
        gone = old.replace(text="", calls=(), left_out=len(old.text.encode()))
        work.put_message(store, session, gone, old, "expire", "")


def rewind(work: Work, store: Store, session: Session, place: int) -> int:
    """Take back what was said after a place; how many messages that are."""
    work.expect(session.revision, f"session {session.id}")
    messages, turns, _, _ = work.messages.use(session)
    if not 0 <= place <= messages:
        raise no_place(session, place, messages)
    taken = [m for m in work.messages.messages(session, place + 1, messages) if not m.rewound]
    for message in taken:
        work.put_message(store, session, message.replace(rewound=True), message, "rewind", "")
    work.messages.count_turns(session, turns - sum(m.role == "user" for m in taken))
    return len(taken)


def compact(work: Work, store: Store, session: Session, place: int) -> Session:
    """Note that the agent sees a summary in place of what was said up to there."""
    messages = work.messages.use(session)[0]
    if not 0 <= place <= messages:
        raise no_place(session, place, messages)
    if place <= session.compacted:
        return session
    after = session.replace(compacted=place)
    work.put_session_of(store, after, session, "compact")
    return after


def sum_up(work: Work, store: Store, session: Session, place: int, summary: NewMessage) -> SaidNow:
    """Keep the words that an agent sees in place of what was said up to there. They are trusted no
    further than the least trusted of what they sum up."""
    compact(work, store, session, place)
    origin = work.messages.untrusted(session, place)
    return say(work, store, session, summary.replace(origin=origin or summary.origin))


def no_place(session: Session, place: int, messages: int) -> InvalidInput:
    return InvalidInput(
        "place_invalid",
        f"session {session.id} has no place {told(place)}; its messages stand at 1 to {messages}",
        hint="holdfast session show prints them with their places",
    )


def kind_of(store: Store, source: str) -> SessionClass:
    automation = store.options.get("automation")
    return "automation" if isinstance(automation, list) and source in automation else "person"


def shown_sources(view: View, store: Store, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """The sources that an answer may come from: people's, and automation's."""
    hidden = store.options.get("hidden")
    known = view.messages.sources(store.space_number)
    kept = [
        source
        for source in known
        if not (isinstance(hidden, list) and source in hidden) and (not wanted or source in wanted)
    ]
    return (
        [source for source in kept if kind_of(store, source) == "person"],
        [source for source in kept if kind_of(store, source) == "automation"],
    )


def search(view: View, store: Store, query: MessageQuery) -> tuple[SessionHit, ...]:
    """One row a session, the best first; sessions that people held before those of automation."""
    rows: list[tuple[Found, int]] = []
    for sources in shown_sources(view, store, query.sources):
        if sources and len(rows) < query.limit:
            found = view.messages.found(store.space_number, sources, query)
            rows += by_session(found, query.limit - len(rows))
    return tuple([_hit(view, store, query, found, count) for found, count in rows])


def _hit(view: View, store: Store, query: MessageQuery, found: Found, count: int) -> SessionHit:
    from holdfast.core.text import snippet

    number, session_number, place, score, _ = found
    message = view.messages.message_numbered(number)
    assert message is not None
    session = view.messages.session_numbered(session_number)
    part = snippet(message.text[:INDEXED_CHARS_MAX], query.match, SNIPPET_CHARS)
    near = [
        Near(place=at, role=check_role(role), text=in_short(text, NEAR_CHARS_MAX))
        for at, role, text in view.messages.near(session, place, AROUND)
    ]
    return SessionHit(
        session=session.id,
        title=title_of(session.title, view.messages.first_words(session)),
        kind=kind_of(store, session.source),
        source=session.source,
        message=message.id,
        place=place,
        role=message.role,
        when=message.when,
        trust=message.trust,
        snippet=part.text,
        marks=part.matches,
        before=tuple([each for each in near if each.place < place]),
        after=tuple([each for each in near if each.place > place]),
        found=count,
        compacted=place <= session.compacted,
        score=score,
        caution=caution(message.when, from_us(view.at_us)),
    )


def recent(view: View, store: Store, query: SessionQuery) -> tuple[Conversation, ...]:
    """The last used first; sessions that people held before those of automation."""
    rows: list[Conversation] = []
    for sources in shown_sources(view, store, query.sources):
        streams = [
            view.messages.recent(store.space_number, source, query.before_us) for source in sources
        ]
        newest = merge(*streams, key=lambda each: (each[3], each[0].number), reverse=True)
        found = (_conversation(view, store, *each) for each in newest)
        fitting = (
            each
            for each in found
            if each.session.user == query.user and query.state in (None, each.session.state)
        )
        rows += islice(fitting, query.limit - len(rows))
    return tuple(rows)


def _conversation(
    view: View, store: Store, session: Session, messages: int, turns: int, last_us: int
) -> Conversation:
    return Conversation(
        session=as_of_lease(session, view.at_us),
        title=title_of(session.title, view.messages.first_words(session)),
        kind=kind_of(store, session.source),
        messages=messages,
        turns=turns,
        last=from_us(last_us),
    )


def read(view: View, session: Session, place: int, limit: int) -> Talk:
    """The messages from a place on."""
    found = view.messages.messages(session, place, limit + 1)
    more = len(found) > limit
    return Talk(
        session=session,
        title=title_of(session.title, view.messages.first_words(session)),
        messages=tuple(found[:limit]),
        cursor=found[limit].place if more else None,
    )


# Block


def block(view: View, store: Store) -> Draft | None:  # noqa: ARG001 - see `Strategy`
    """Nothing that was said is put before an agent by itself."""
    return None


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:  # noqa: ARG001
    """What was said is not for anybody to correct."""
    raise of_no_entries(store)


# Face


class Transcript:
    """What was said in the sessions of a space."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.store = desk.store

    def say(
        self,
        role: Role,
        text: str,
        *,
        calls: Sequence[ToolCall] = (),
        call: str = "",
        tool: str = "",
        id: str | None = None,
        origin: Origin | None = None,
        said_at: datetime | None = None,
        **write: Unpack[WriteOptions],
    ) -> SaidNow:
        """Write down one message of the session that the caller works in.

        The same id and text again is the same message. A tool's message may say which call it
        answers and which tool it was, and `web` as its origin.
        """
        new = new_message(role, text, calls=calls, call=call, tool=tool, id=id, origin=origin)
        new = new.replace(said_at=said_at)
        arguments: dict[str, Json] = {
            "role": new.role,
            "text": new.text,
            "calls": [[item.id, item.name, dict(item.arguments)] for item in new.calls],
            "call": new.call,
            "tool": new.tool,
            "id": new.given_id,
            "origin": new.origin,
            "said_us": None if said_at is None else given_us(said_at),
        }

        def unit(work: Work, store: Store) -> SaidNow:
            if work.session is None:
                raise Refused(
                    "session_needed",
                    "what is said belongs to a session, and this call names none",
                    hint="give --session (HOLDFAST_SESSION), from holdfast session start",
                )
            work.expect(0, "the new message")
            return hear(work, store, work.session, new)

        return self._desk.mutate("session say", arguments, unit, Write(**write))

    def rewind(self, session: str, place: int, **write: Unpack[WriteOptions]) -> int:
        """Take back what was said after a place: no search finds it. How many messages."""
        return self._desk.mutate(
            "session rewind",
            {"session": session, "place": place},
            lambda work, store: rewind(work, store, work.session_of(store, session), place),
            Write(**write),
        )

    def compact(
        self, session: str, place: int, summary: str = "", **write: Unpack[WriteOptions]
    ) -> Session:
        """Note that what was said up to a place was summed up for the agent. It stays findable.

        A `summary` is kept as what the assistant says, trusted no further than what it sums up.
        """
        words = new_message("assistant", summary, origin="agent") if summary else None

        def unit(work: Work, store: Store) -> Session:
            found = work.session_of(store, session)
            work.expect(found.revision, f"session {found.id}")
            if words is not None and place > found.compacted:
                sum_up(work, store, found, place, words)
            return compact(work, store, work.session_of(store, session), place)

        arguments: dict[str, Json] = {"session": session, "place": place, "summary": summary}
        return self._desk.mutate("session compact", arguments, unit, Write(**write))

    def search(
        self,
        query: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Sequence[Role] = (),
        sources: Sequence[str] = (),
        limit: int = 10,
    ) -> tuple[SessionHit, ...]:
        """The sessions in which something was said, by their best message."""
        check_str(query, "the query")
        asked = MessageQuery(
            match=query,
            user=self._desk.caller.user,
            since_us=None if since is None else given_us(since),
            until_us=None if until is None else given_us(until),
            roles=tuple([check_role(role) for role in roles]),
            sources=tuple(sources),
            limit=check_limit(limit, 100),
        )
        return self._desk.read(lambda view, store: search(view, store, asked))

    def recent(
        self,
        *,
        state: str | None = None,
        sources: Sequence[str] = (),
        before: datetime | None = None,
        limit: int = 20,
    ) -> tuple[Conversation, ...]:
        """The sessions of the space, the last used first."""
        asked = SessionQuery(
            user=self._desk.caller.user,
            state=check_state(state),
            sources=tuple(sources),
            before_us=END_US + 1 if before is None else given_us(before),
            limit=check_limit(limit),
        )
        return self._desk.read(lambda view, store: recent(view, store, asked))

    def read(
        self,
        session: str,
        *,
        place: int = 1,
        around: int | None = None,
        limit: int = READ_LIMIT,
    ) -> Talk:
        """A session's messages from a place on, or around one."""
        check_limit(limit, 10_000)
        start = place if around is None else around - (limit - 1) // 2
        if type(start) is not int:
            raise InvalidInput("place_invalid", "a place is a whole number", hint="such as 1")
        return self._desk.read(
            lambda view, store: read(view, view.session_of(store, session), max(start, 1), limit)
        )

    def get(self, message: str) -> Message:
        """One message by its whole id."""
        check_str(message, "the id")

        def unit(view: View, store: Store) -> Message:
            found = view.messages.message(message) if is_id(message) else None
            try:
                whose = None if found is None else view.session_of(store, found.session)
            except NotFound:
                whose = None
            if found is None or whose is None:
                raise NotFound(
                    "message_not_found",
                    f"there is no message {shown(message)}",
                    hint="holdfast session search finds messages",
                )
            return found

        return self._desk.read(unit)


def new_message(
    role: str,
    text: str,
    *,
    calls: Sequence[ToolCall] = (),
    call: str = "",
    tool: str = "",
    id: str | None = None,
    origin: str | None = None,
) -> NewMessage:
    """A message that was checked, with its terms. A message with tool calls may have no words."""
    calls = check_calls(calls)
    if text or not calls:
        text = check_text(text, "the message", bytes_max=MESSAGE_BYTES_MAX)
    for word in (call, tool):
        if word:
            check_text(word, "the name of a tool or of its call", bytes_max=200)
    from holdfast.core.text import tokens

    return NewMessage(
        role=check_role(role),
        text=text,
        calls=calls,
        call=call,
        tool=tool,
        given_id=None if id is None else check_given_id(id),
        origin=None if origin is None else check_origin(origin),
        terms=" ".join(tokens(text[:INDEXED_CHARS_MAX])),
    )


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered for the conversations of a space."""

    def session_search(
        query: str | None = None,
        session: str | None = None,
        around: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int = 5,
    ) -> tuple[SessionHit, ...] | tuple[Conversation, ...] | Talk:
        """Search past conversations; or read one, around a place; or list the recent ones.

        What was said then may be outdated now.
        """
        archive = Transcript(desk(None))
        if session is not None:
            return archive.read(session, around=around, limit=limit)
        if query is None:
            return archive.recent(limit=limit)
        return archive.search(query, since=time_in(since), until=time_in(until), limit=limit)

    def session_say(role: Role, text: str, tool: str = "") -> SaidNow:
        """Write down what was just said, so that it can be found and learned from."""
        return Transcript(desk(None)).say(role, text, tool=tool)

    return session_search, session_say
