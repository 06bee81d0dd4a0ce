"""What storage must offer for messages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from holdfast.model.entry import Origin
    from holdfast.model.message import Found, Message, MessageQuery
    from holdfast.model.session import Session

    # messages, turns (what users said and did not take back), last (microseconds), reviewed up to
    Use = tuple[int, int, int, int]
    # place, role, the first 400 characters
    NearRow = tuple[int, str, str]
    # the session, and its messages, turns and last
    Recent = tuple[Session, int, int, int]

    class MessageReads(Protocol):
        def use(self, session: Session) -> Use:
            """How far the session has come."""
            ...

        def session(self, session: str) -> Session | None:
            """By its whole id, whoever's it is."""
            ...

        def message(self, message: str) -> Message | None:
            """By its whole id."""
            ...

        def message_numbered(self, number: int) -> Message | None: ...

        def message_given(self, session: Session, given_id: str) -> Message | None: ...

        def messages(self, session: Session, place: int, limit: int) -> Sequence[Message]:
            """Those of a session from a place on, in order; what was rewound too."""
            ...

        def last_heard(self, session: Session) -> Message | None:
            """The newest of a user, an assistant or a tool that was not rewound."""
            ...

        def untrusted(self, session: Session, place: int) -> Origin | None:
            """Where the newest came from that nobody trusts, up to a place and not rewound."""
            ...

        def first_words(self, session: Session) -> str:
            """How the user began, at most 400 characters."""
            ...

        def near(self, session: Session, place: int, around: int) -> Sequence[NearRow]:
            """The messages around one, without it and without what was rewound."""
            ...

        def session_given(self, space: int, given_id: str) -> Session | None: ...

        def session_numbered(self, number: int) -> Session: ...

        def sources(self, space: int) -> Sequence[str]:
            """Where the sessions of a space came from, each source once."""
            ...

        def recent(self, space: int, source: str, before_us: int) -> Iterator[Recent]:
            """Sessions of a source, the last used first."""
            ...

        def found(self, space: int, sources: Sequence[str], query: MessageQuery) -> Sequence[Found]:
            """The best messages of sessions from these sources; of none that was rewound."""
            ...

        def outworn(self, space: int, before_us: int, limit: int) -> Sequence[Message]:
            """Messages with a text, of sessions last used before a time."""
            ...

    class MessageWrites(MessageReads, Protocol):
        def put_message(
            self, session: Session, message: Message, before: Message | None, terms: str
        ) -> None:
            """Insert or replace the row and bring the full-text index along."""
            ...

        def count_message(self, session: Session, turns: int, last_us: int) -> None:
            """One message more, unlogged: what counts is told by the messages."""
            ...

        def count_turns(self, session: Session, turns: int) -> None:
            """What users said and did not take back, after something was taken back."""
            ...

        def put_reviewed(self, session: Session, place: int) -> None:
            """Reviews have read up to there. Unlogged."""
            ...
