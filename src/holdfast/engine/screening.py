"""Screening where memory is written and where it is shown.

Every entry passes `held_in` on its way into a row, whatever wrote it. A write that does not pass
leaves nothing: it is taken back whole, and becomes a proposal that a person decides on, in a
transaction of its own. Until then its text stands in the proposal's row alone, in no log and no
index. A person lets a text in by approving; it passes then, there and wherever it is written again
in that store.

What stands in a row without having passed (because it was written before a rule was made, or while
screening was off) is shown with what was found in the place of the text.
"""

from __future__ import annotations

from holdfast.core.canonical import keyed
from holdfast.core.screening import anything_in, class_of, fields_of, find
from holdfast.errors import Held
from holdfast.model.entry import Entry
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from holdfast.engine.preferences import Preferences
    from holdfast.engine.work import Work
    from holdfast.model.ids import ProposalId
    from holdfast.model.proposal import Finding
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store
    from holdfast.ports import Snapshot

SETTING = "screening.find"


class Veiled(Entry):
    """An entry of which something does not pass: it says what was found instead."""


class HeldWrite(Value):
    """The answer to a write that screening held, kept under the call's key like any other."""

    proposal: ProposalId
    label: str
    findings: tuple[Finding, ...]
    turned_down: bool

    def error(self) -> Held:
        return Held(self.label, self.findings, proposal=self.proposal, turned_down=self.turned_down)


class Gate(Value):
    """What decides whether a text passes into one store, and out of it."""

    snapshot: Snapshot
    preferences: Preferences
    store: Store

    def held(self, texts: Iterable[tuple[str, str, str]]) -> tuple[Finding, ...]:
        """What keeps these texts from passing: what is looked for here and no person let in."""
        found: list[Finding] = []
        for field, text, name in texts:
            here = find(text, field, name)
            if here and (wanted := self._wanted(here)) and not self._let_in(text):
                found += wanted
        return tuple(found)

    def held_of(self, entry: Entry) -> tuple[Finding, ...]:
        return self.held(fields_of(entry.__dict__))

    def veiled(self, entry: Entry) -> Entry:
        """The entry, or what of it may be shown."""
        if not anything_in(entry.__dict__) or not self.held_of(entry):
            return entry
        shown = {name: self._veil(name, getattr(entry, name)) for name in _SHOWN}
        return Veiled(**{**entry.__dict__, **shown})

    def line(self, text: str) -> str:
        """One text that stands alone, or what was found in it."""
        held = self.held([("text", text, "")]) if find(text) else ()
        return veil(held) if held else text

    def lines(self, text: str) -> str:
        """A text of many lines, with what was found in the place of those that do not pass."""
        at, shown = 0, list[str]()
        whole = self.held([("text", text, "")])
        for line in text.split("\n"):
            end = at + len(line)
            here = [each for each in whole if each.start < end and each.end > at]
            held = (*here, *self.held([("text", line, "")]))
            shown.append(f"[held by screening: {_codes(held)}]" if held else line)
            at = end + 1
        return "\n".join(shown)

    def _veil(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            held = self.held(fields_of({name: value}))
            return veil(held) if held else value
        if isinstance(value, tuple):
            return tuple(self._veil(name, each) for each in value)
        return self._veil_json(name, value, "")

    def _veil_json(self, path: str, value: Any, name: str) -> Any:
        if isinstance(value, list):
            return [self._veil_json(path, each, name) for each in value]
        if hasattr(value, "items"):
            return {
                self._veil_json(path, key, ""): self._veil_json(path, each, key)
                for key, each in value.items()
            }
        text = str(value) if type(value) is int else value
        held = self.held([(path, text, name)]) if isinstance(text, str) else ()
        return veil(held) if held else value

    def _wanted(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        classes = self.preferences.settings(self.store.space_name).words(SETTING)
        return tuple(each for each in found if class_of(each) in classes)

    def _let_in(self, text: str) -> bool:
        vault = self.snapshot.vault()
        return vault is not None and self.snapshot.passes(self.store, mark(vault.secret, text))


_SHOWN = ("text", "subject", "given_id", "tags", "facts", "metadata")


def veil(findings: Iterable[Finding]) -> str:
    """What stands in the place of a text that does not pass."""
    return f"[held by screening: {_codes(findings)}; a person decides, with holdfast review screen]"


def veiled_reason(reason: str) -> str:
    """Why a change is made, as the log may have it: it is a trace, and nobody lets it in."""
    found = find(reason, "reason") if reason else ()
    return f"[held by screening: {_codes(found)}]" if found else reason


def _codes(findings: Iterable[Finding]) -> str:
    return ", ".join(dict.fromkeys(each.code for each in findings))


def mark(secret: bytes, text: str) -> bytes:
    """By which a text that a person let in is known again, to the letter."""
    return keyed(secret, f"let in\n{text}")


def marks_of(secret: bytes, suggestion: Suggestion) -> bytes | None:
    """The marks of everything in it that screening finds something in; None where there is none."""
    marks = {
        mark(secret, text)
        for field, text, name in fields_of(wanted_of(suggestion))
        if find(text, field, name)
    }
    return b"".join(sorted(marks)) or None


def wanted_of(suggestion: Suggestion) -> Mapping[str, Any]:
    """The fields of the entry that a suggestion wants."""
    said = {name: getattr(suggestion, name) for name in ("text", "subject", "reason")}
    return {**suggestion.details, **said}


def put_in_inbox(work: Work, held: Held) -> HeldWrite:
    """A write that was held, as a proposal that waits for a person."""
    from holdfast.engine.proposals import propose

    suggestion, store = held.wanted
    proposal = propose(work, store.space_name, suggestion, "screening", held.findings)
    return HeldWrite(
        proposal=proposal.id,
        label=held.label,
        findings=held.findings,
        turned_down=proposal.state == "rejected",
    )
