"""What is still told of what somebody asked to be forgotten: that it was there, and when it went.

Its text stays in its row and in the log until it is erased, so that it is known again when it is
said again; but no answer has it: not what is read by its id, not its history, not the log, not the
answer that a call was given before, and not an earlier moment, in which it was not forgotten yet.
What fell out by a rule of its store nobody asked to be forgotten: it is out of what is so now, and
the past and the log tell of it as it was.
"""

from __future__ import annotations

from itertools import takewhile

from holdfast.core.canonical import keyed
from holdfast.engine.screening import Veiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from holdfast.model.change import Change
    from holdfast.model.entry import Entry, Json
    from holdfast.model.proposal import Proposal
    from holdfast.model.space import Store
    from holdfast.ports import Snapshot

_NOTHING: Mapping[str, Any] = {
    "subject": "",
    "text": "",
    "tags": (),
    "refs": (),
    "facts": {},
    "holds": (),
    "metadata": {},
}
_WORDS = frozenset(["title", "summary", "mime", "content", *_NOTHING])
# Of what a strategy knows of an entry: why it was no longer shown, in a word of the strategy's own.
_CLOSED = ("closed", "closed_us")


def is_gone(snapshot: Snapshot, entry: Entry) -> bool:
    """Whether somebody asked for it to be forgotten."""
    return entry.state == "forgotten" and snapshot.was_forgotten(entry.number)


def remains(entry: Entry) -> Entry:
    """The entry; of a forgotten one, what is told of it."""
    if entry.state != "forgotten":
        return entry
    facts = {name: entry.facts[name] for name in _CLOSED if name in entry.facts}
    shown: dict[str, Any] = {**entry.__dict__, **_NOTHING, "facts": facts}
    return Veiled(**shown)


# Changes


def told(snapshot: Snapshot, changes: Iterable[Change]) -> Iterator[Change]:
    """The changes, without the words of what was forgotten since."""
    known: dict[int, bool] = {}
    for change in changes:
        after = change.after
        if change.kind in ("entry", "artifact") and after is not None:
            number = after["number"]
            assert isinstance(number, int)
            if number not in known:
                known[number] = snapshot.was_forgotten(number)
            yield untold(change) if known[number] else change
        elif change.kind == "proposal" and after is not None and after["suggestion"] is not None:
            proposal = snapshot.proposal(change.target)
            gone = proposal is not None and is_of_forgotten(snapshot, proposal)
            yield change.replace(after={**after, "suggestion": None}) if gone else change
        else:
            yield change


def untold(change: Change) -> Change:
    """A version of something forgotten: that there was one, by whom and when. Only the forgetting
    itself says why."""
    if change.after is None:
        return change
    after: dict[str, Json] = {
        name: type(value)() if name in _WORDS and value is not None else value
        for name, value in change.after.items()
    }
    reason = change.reason if change.op == "forget" else ""
    return change.replace(after={**after, "state": "forgotten"}, reason=reason)


# Proposals


def told_of(snapshot: Snapshot, proposal: Proposal) -> Proposal:
    """The proposal, without what it says of something that was forgotten since."""
    if proposal.suggestion is not None and is_of_forgotten(snapshot, proposal):
        return proposal.replace(suggestion=None)
    return proposal


def is_of_forgotten(snapshot: Snapshot, proposal: Proposal) -> bool:
    """Whether it is about an entry, or says a text, that was forgotten after it was made."""
    wanted = proposal.suggestion
    if wanted is None:
        return False
    store = snapshot.store_numbered(proposal.store)
    target = None if wanted.target is None else snapshot.entry(store, wanted.target)
    if target is not None and is_gone(snapshot, target):
        return True
    if proposal.state == "applied" and any(_made_of(snapshot, proposal)):
        return True
    same = _same(snapshot, store, wanted.text)
    stands = any(entry.state != "forgotten" for entry in same)
    return not stands and any(
        entry.revision > proposal.number and is_gone(snapshot, entry) for entry in same
    )


def _made_of(snapshot: Snapshot, proposal: Proposal) -> Iterator[bool]:
    """Whether what its approval wrote was forgotten, for each entry with its text."""
    assert proposal.suggestion is not None
    after = snapshot.changes(after=proposal.revision, before=2**63 - 1, newest_first=False)
    for change in takewhile(lambda each: each.at == proposal.decided, after):
        image = change.after
        if change.kind == "entry" and image and image["text"] == proposal.suggestion.text:
            number = image["number"]
            assert isinstance(number, int)
            yield snapshot.was_forgotten(number)


def _same(snapshot: Snapshot, store: Store, text: str) -> list[Entry]:
    from holdfast.core.text import normal_form

    vault = snapshot.vault()
    if vault is None or not text:
        return []
    return list(snapshot.entries_same(store, keyed(vault.secret, normal_form(text))))
