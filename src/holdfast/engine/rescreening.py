"""Screening what stands already: each entry is looked at again, and what does not pass waits.

It is asked for by a person, after a new version with new rules or when a class of screening was
switched on. What it holds is a proposal to let the entry stand as it is: approved, it is shown
again; rejected, it is forgotten.
"""

from __future__ import annotations

from holdfast.core.suggesting import of_changes
from holdfast.engine import spaces
from holdfast.engine.proposals import propose
from holdfast.engine.view import NowView
from holdfast.engine.work import mutate
from holdfast.model.value import Value
from holdfast.model.write import Write
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.work import Core, Work
    from holdfast.model.entry import Entry
    from holdfast.model.proposal import Proposal
    from holdfast.model.space import Store
    from holdfast.model.write import Caller
    from holdfast.ports import Snapshot

LATEST = 2**63 - 1


class Screened(Value):
    """How many entries were looked at, and what of them waits for a person now."""

    looked: int
    held: tuple[Proposal, ...]


def screen(core: Core, caller: Caller, space: str | None) -> Screened:
    """Look at every entry of a space, or of the vault, that whoever asks may see."""

    def unit(snapshot: Snapshot) -> tuple[int, list[tuple[Store, Entry]]]:
        view = NowView(snapshot, core.clock(), caller, core.preferences)
        found: list[tuple[Store, Entry]] = []
        looked = 0
        for store, entry in _standing(snapshot, view, space):
            looked += 1
            if view.gate(store).held_of(entry):
                found.append((store, entry))
        return looked, found

    looked, found = core.storage.read(unit)
    held = [
        mutate(core, caller, Write(), "review screen", {}, lambda work, one=one: _hold(work, *one))
        for one in found
    ]
    return Screened(looked=looked, held=tuple(each for each in held if each is not None))


def _standing(
    snapshot: Snapshot, view: NowView, space: str | None
) -> Iterator[tuple[Store, Entry]]:
    names = [each.name for each in snapshot.spaces()] if space is None else [space]
    for name in names:
        for store in spaces.declared_stores(snapshot, name):
            if store.number and STRATEGIES[store.strategy].HOLDS == "entries":
                for entry in snapshot.all_entries(store, LATEST):
                    if entry.state != "forgotten" and view.sees(entry):
                        yield store, entry


def _hold(work: Work, store: Store, seen: Entry) -> Proposal | None:
    entry = work.tx.entry(store, seen.id)
    if entry is None or entry.state == "forgotten":
        return None
    findings = work.gate(store).held_of(entry)
    if not findings:
        return None
    as_it_is = of_changes(store, entry, {})
    return propose(work, store.space_name, as_it_is, "screening", findings)
