"""Messages in SQLite: rows like all others, with a full-text index of their own."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.canonical import canonical_text, row_digest
from holdfast.model.message import INDEXED_CHARS_MAX, Message, ToolCall
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import DIGESTED, sealed, session_from, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.model.entry import Origin
    from holdfast.model.message import Found, MessageQuery
    from holdfast.model.session import Session
    from holdfast.ports.messages import NearRow, Recent, Use
    from holdfast.storage.sqlite.rows import Row

MESSAGE_TERMS = "message_terms"
STATEMENTS = load(Path(__file__).with_name("messages.sql"))
EVER = 2**63 - 1
# So many of the best are looked at first, before all that match are.
BEST = 400


class MessageReads:
    """`ports.messages.MessageReads` on a connection."""

    _conn: apsw.Connection

    def _said(self, name: str, bindings: Any = ()) -> Iterator[Row]:
        return fetch(self._conn, STATEMENTS[name], bindings)

    def _one_said(self, name: str, bindings: Any) -> Message | None:
        row = next(self._said(name, bindings), None)
        return None if row is None else message_from(row)

    def use(self, session: Session) -> Use:
        messages, turns, last_us, reviewed = next(self._said("use", (session.number,)))
        return messages, turns, last_us, reviewed

    def message(self, message: str) -> Message | None:
        return self._one_said("message", (message,))

    def message_numbered(self, number: int) -> Message | None:
        return self._one_said("message_numbered", (number,))

    def message_given(self, session: Session, given_id: str) -> Message | None:
        return self._one_said("message_given", (session.number, given_id))

    def messages(self, session: Session, place: int, limit: int) -> Sequence[Message]:
        found = self._said("messages", (session.number, place, limit))
        return [message_from(row) for row in found]

    def last_heard(self, session: Session) -> Message | None:
        return self._one_said("last_heard", (session.number,))

    def untrusted(self, session: Session, place: int) -> Origin | None:
        row = next(self._said("untrusted", (session.number, place)), None)
        return None if row is None else row[0]

    def first_words(self, session: Session) -> str:
        row = next(self._said("first_words", (session.number,)), None)
        return "" if row is None else row[0]

    def near(self, session: Session, place: int, around: int) -> Sequence[NearRow]:
        wanted = (session.number, place - around, place + around, place)
        return [(row[0], row[1], row[2]) for row in self._said("near", wanted)]

    def session_given(self, space: int, given_id: str) -> Session | None:
        row = next(self._said("session_given", (space, given_id)), None)
        return None if row is None else session_from(row)

    def session_numbered(self, number: int) -> Session:
        return session_from(next(self._said("session_numbered", (number,))))

    def sources(self, space: int) -> Sequence[str]:
        return [row[0] for row in self._said("sources", {"space": space})]

    def recent(self, space: int, source: str, before_us: int) -> Iterator[Recent]:
        for row in self._said("recent", (space, source, before_us)):
            yield session_from(row[:15]), row[15], row[16], row[17]

    def found(self, space: int, sources: Sequence[str], query: MessageQuery) -> list[Found]:
        from holdfast.core.text import match_expression

        match = match_expression(query.match)
        if match is None or not sources:
            return []
        wanted = {
            "match": match,
            "limit": BEST,
            "sessions": query.limit,
            "space": space,
            "user": query.user,
            "since": -EVER if query.since_us is None else query.since_us,
            "until": EVER if query.until_us is None else query.until_us,
            "roles": " ".join(query.roles),
            "sources": json.dumps(list(sources)),
        }
        found = list(self._said("best", wanted))
        if len({row[1] for row in found}) < query.limit and self._more_than(match, BEST):
            found = list(self._said("all_best", wanted))
        return [(row[0], row[1], row[2], -row[3], row[4]) for row in found]

    def _more_than(self, match: str, count: int) -> bool:
        return next(self._said("matching_count", (match, count + 1)))[0] > count

    def outworn(self, space: int, before_us: int, limit: int) -> Sequence[Message]:
        found = self._said("outworn", (space, before_us, limit))
        return [message_from(row) for row in found]


class MessageWrites(MessageReads):
    """`ports.messages.MessageWrites` on a connection that is in a transaction."""

    def put_message(
        self, session: Session, message: Message, before: Message | None, terms: str
    ) -> None:
        self._conn.execute(STATEMENTS["put_message"], message_row(message, session.number))
        was = None if before is None else indexed(before)
        if was is not None:
            self._conn.execute(STATEMENTS["unindex_message"], (message.number, terms_of(was)))
        if indexed(message) is not None:
            self._conn.execute(STATEMENTS["index_message"], (message.number, terms))

    def count_message(self, session: Session, turns: int, last_us: int) -> None:
        self._conn.execute(STATEMENTS["count_message"], (turns, last_us, session.number))

    def count_turns(self, session: Session, turns: int) -> None:
        messages, _, last_us, _ = self.use(session)
        self._conn.execute(STATEMENTS["put_use"], (messages, last_us, turns, session.number))

    def put_reviewed(self, session: Session, place: int) -> None:
        self._conn.execute(STATEMENTS["put_reviewed"], (place, session.number))


def indexed(message: Message) -> str | None:
    """What the index holds of a message; nothing once it was taken back."""
    return None if message.rewound or not message.text else message.text


def searched_text(row: Row) -> str | None:
    """The same of the columns of a row."""
    rewound, text = row[5], row[12]
    return None if rewound or not text else text[:INDEXED_CHARS_MAX]


def terms_of(text: str) -> str:
    """A text as the index stores it: the terms of its beginning, in order."""
    from holdfast.core.text import tokens

    return " ".join(tokens(text[:INDEXED_CHARS_MAX]))


def rebuild(conn: apsw.Connection) -> int:
    """Make the index anew from the rows; how many messages it holds."""
    conn.execute("INSERT INTO message_terms (message_terms) VALUES ('delete-all')")
    count = 0
    columns = ", ".join(DIGESTED["message"])
    for row in fetch(conn, f"SELECT {columns}, digest FROM message ORDER BY number"):
        if row_digest("message", row[:-1]) != row[-1]:
            continue  # `verify` names it; what it says is not to be trusted
        text = searched_text(row)
        if text is not None:
            conn.execute(STATEMENTS["index_message"], (row[0], terms_of(text)))
            count += 1
    return count


def message_row(message: Message, session: int) -> Row:
    extra: dict[str, Any] = {"origin": message.origin, "trust": message.trust}
    if message.calls:
        extra["calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.calls
        ]
    extra |= {name: getattr(message, name) for name in _SELDOM if getattr(message, name)}
    columns = (
        *(message.number, message.id, session, message.place, message.role, int(message.rewound)),
        *(to_us(message.at), None if message.said_at is None else to_us(message.said_at)),
        *(to_us(message.when), message.given_id, message.revision, canonical_text(extra)),
        message.text,
    )
    return sealed("message", columns)


_SELDOM = ("call", "tool", "left_out")


@whole
def message_from(row: Row) -> Message:
    number, message_id, session, place, role, rewound, at_us, said_us, when_us = row[:9]
    given_id, revision, extra_text, text = row[9:13]
    extra = json.loads(extra_text)
    return Message(
        id=message_id,
        number=number,
        session=session,
        place=place,
        role=role,
        text=text,
        calls=tuple([ToolCall(**call) for call in extra.get("calls", ())]),
        call=extra.get("call", ""),
        tool=extra.get("tool", ""),
        given_id=given_id,
        origin=extra["origin"],
        trust=extra["trust"],
        at=from_us(at_us),
        said_at=None if said_us is None else from_us(said_us),
        when=from_us(when_us),
        rewound=bool(rewound),
        left_out=extra.get("left_out", 0),
        revision=revision,
    )
