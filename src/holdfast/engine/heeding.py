"""What the user asks the memory for in a conversation, done with the message that asks.

"Remember that …", "make a note …", "don't forget …" and "forget that …" count in the user's own
words alone. The message is kept whatever becomes of its wish, and a notice says what that was.
"""

from __future__ import annotations

from holdfast.engine import mounts, spaces
from holdfast.engine.screening import put_in_inbox
from holdfast.errors import Held, HoldfastError
from holdfast.model.ids import short
from holdfast.strategies import profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.core.rules.asked import Asked
    from holdfast.engine.work import Work
    from holdfast.model.entry import Json
    from holdfast.model.message import Message
    from holdfast.model.session import Session


def heed(work: Work, session: Session, message: Message) -> Iterator[str]:
    """Do what a message asks for; a notice for each thing."""
    if message.role != "user" or message.origin != "user" or message.rewound:
        return
    from holdfast.core.rules.asked import asked_in, may_ask

    work.met()
    for asked in asked_in(message.text) if may_ask(message.text) else ():
        try:
            yield _done(work, session, message, asked)
        except Held as exc:
            held = short(put_in_inbox(work, exc).proposal)
            yield f"Not remembered yet: it waits for a person, as the proposal {held}"
        except HoldfastError as exc:
            yield f"Not {'remembered' if asked.what == 'remember' else 'forgotten'}: {exc.message}"


def _done(work: Work, session: Session, message: Message, asked: Asked) -> str:
    from holdfast.strategies.profile.asked import done

    named = mounts.store_named(work.tx, session.space_name, None, profile.NAME)
    store = spaces.written_store(work, mounts.check_writable(named))
    sources: dict[str, Json] = {"said_in": str(session.id), "evidence": [str(message.id)]}
    return done(work, store, asked, message.origin, sources).notice
