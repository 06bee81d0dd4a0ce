"""Who asks for a change, and under which conditions it may happen."""

from __future__ import annotations

from holdfast.errors import Conflict, InvalidInput
from holdfast.model.names import check_label, check_str, is_unicode, shown, told
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from holdfast.model.entry import Json
    from holdfast.model.ids import SessionId

    ActorKind = Literal["human", "agent", "reviewer", "tool", "importer"]

    class WriteOptions(TypedDict, total=False):
        """The keyword arguments that every mutating call takes; see `Write`."""

        reason: str
        expect: int | None
        key: str | None


ACTOR_KINDS = ("human", "agent", "reviewer", "tool", "importer")
KEY_CHARS_MAX = 200
REASON_CHARS_MAX = 2_000


class Actor(Value):
    """Who writes: written `agent:planner` in rows and on the command line."""

    kind: ActorKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def actor_from(text: str) -> Actor:
    kind, colon, name = text.partition(":")
    if not colon:
        kind, name = "agent", text
    if kind not in ACTOR_KINDS:
        raise InvalidInput(
            "actor_invalid",
            f"{shown(text)} does not say who writes",
            hint=f"write KIND:NAME with one of {', '.join(ACTOR_KINDS)}",
        )
    return Actor(kind=kind, name=check_label(name, "an actor"))


class Caller(Value):
    """Who asks, in which session, whom the memory is about, and what is preferred for the call."""

    actor: Actor = Actor(kind="human", name="local")
    session: SessionId | None = None
    user: str = "local"
    preferences: tuple[tuple[str, Json], ...] = ()


class Write(Value):
    """The conditions of one mutation: why, on which revision, and under which idempotency key."""

    reason: str = ""
    expect: int | None = None
    key: str | None = None


PLAIN = Write()


def check_write(write: Write) -> Write:
    if write is PLAIN:
        return write
    check_str(write.reason, "the reason")
    if not is_unicode(write.reason):
        raise InvalidInput(
            "text_not_unicode",
            "the reason holds half of a character (a lone surrogate)",
            hint="decode the bytes as UTF-8 first",
        )
    if write.expect is not None and (type(write.expect) is not int or write.expect < 0):
        raise InvalidInput(
            "revision_invalid",
            f"{shown(write.expect)} is no revision",
            hint="give the revision that you saw, or 0 for what is not there yet",
        )
    if len(write.reason) > REASON_CHARS_MAX:
        raise InvalidInput(
            "reason_too_long",
            f"the reason has {len(write.reason):,} characters; the limit is {REASON_CHARS_MAX:,}",
            hint="say it shorter",
        )
    if write.key is not None:
        check_str(write.key, "the key")
    if write.key is not None and (
        not 0 < len(write.key) <= KEY_CHARS_MAX or not write.key.isprintable()
    ):
        raise InvalidInput(
            "key_invalid",
            f"the key {shown(write.key)} is not 1 to {KEY_CHARS_MAX} printable characters",
            hint="use something like a UUID",
        )
    return write


def hold_to(write: Write, revision: int, name: str) -> None:
    """Hold the caller to the revision that it said it saw; 0 is that of what is not there."""
    if write.expect not in (None, revision):
        raise Conflict(
            "revision_moved",
            f"{name} is at revision {revision}, not {told(write.expect)}",
            hint="read it again and decide on what is there now",
        )


def check_unexpected(expect: int | None, what: str) -> None:
    """Refuse an expected revision where there is no one thing to have it."""
    if expect is not None:
        raise InvalidInput(
            "expect_unheeded",
            f"{what} changes no one thing that could be held to revision {shown(expect)}",
            hint="leave the expected revision out",
        )
