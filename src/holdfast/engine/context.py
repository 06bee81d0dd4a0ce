"""What a session starts with: one block of every declared store, fitted into a budget.

A context is a function of (log position, UTC day, configuration, budget) and of nothing else. A
named session keeps the one that it was given first, for each budget, until it ends.
"""

from __future__ import annotations

import json

from holdfast.core.budget import ESTIMATE, check_budget, estimate_tokens, fit, lines_of
from holdfast.core.canonical import canonical_text
from holdfast.core.codec import pack, unpack
from holdfast.engine.mounts import distinct, own_and_mounted
from holdfast.engine.naming import check_session_space, session_named
from holdfast.engine.view import NowView
from holdfast.model.context import Draft
from holdfast.model.session import as_of_lease
from holdfast.model.vault import Frozen
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.core.budget import CountTokens
    from holdfast.core.preferences import Settings
    from holdfast.engine.mounts import Mounted
    from holdfast.engine.work import Core
    from holdfast.model.context import Context
    from holdfast.model.space import Store
    from holdfast.model.write import Caller
    from holdfast.ports import Snapshot, Strategy, Transaction, View

    Counter = tuple[str, CountTokens]

WHOLE = 0
NOTICE_PRIORITY = 100


def assemble(
    view: View,
    snapshot: Snapshot,
    space_name: str,
    seq: int | None,
    budget: int | None,
    counter: Counter = (ESTIMATE, estimate_tokens),
) -> Context:
    own, mounts = own_and_mounted(snapshot, space_name, seq)
    stores = distinct([*own, *(each.store for each in mounts if each.store is not None)])
    drafts = [
        draft for store in stores for draft in blocks(STRATEGIES[store.strategy], view, store)
    ]
    notice = _notice(space_name, mounts)
    drafts += [] if notice is None else [notice]
    counted_by, count = counter
    return fit(drafts, budget, count, counted_by)


def blocks(strategy: Strategy, view: View, store: Store) -> Sequence[Draft]:
    """What a strategy shows of a store: nothing, a block, or several."""
    made = strategy.block(view, store)
    if made is None:
        return ()
    return (made,) if isinstance(made, Draft) else made


def _notice(space_name: str, mounts: Sequence[Mounted]) -> Draft | None:
    """What a session should not take for empty: the mounts that lead nowhere."""
    lines = [f"- {each.mount.name}: {each.problem}" for each in mounts if each.problem]
    if not lines:
        return None
    return Draft(
        label=f"{space_name}/mounts",
        priority=NOTICE_PRIORITY,
        heading=f"## Mounts of {space_name} that lead nowhere",
        lines=lines_of(lines),
        more=False,
        reach="",
    )


def current(
    core: Core, space_name: str, caller: Caller, budget: int | None, settings: Settings
) -> Context:
    """The context now; for a session, the one that it began with."""
    check_budget(budget)
    counter = counter_of(core, settings)

    def fresh(snapshot: Snapshot) -> Context:
        view = NowView(snapshot, core.clock(), caller, core.preferences)
        return assemble(view, snapshot, space_name, None, budget, counter)

    if caller.session is None:
        return core.storage.read(fresh)

    name, slot = caller.session, WHOLE if budget is None else budget

    def kept(snapshot: Snapshot) -> Context | None:
        session = session_named(snapshot, name, caller.user)
        check_session_space(session, space_name)
        frozen = snapshot.frozen(session.id, slot)
        return None if frozen is None else _thawed(frozen)

    def freeze(tx: Transaction) -> Context:
        known = kept(tx)
        if known is not None:
            return known
        context, session = fresh(tx), session_named(tx, name, caller.user)
        if as_of_lease(session, core.clock()).state == "open":
            body = canonical_text(pack(context))
            tx.freeze(Frozen(session=session.id, budget=slot, at_seq=tx.head()[0], body=body))
        return context

    return core.storage.read(kept) or core.storage.write(freeze)


def counter_of(core: Core, settings: Settings) -> Counter:
    """What counts tokens by these settings. Its name is part of what a context is made from."""
    name = settings.word("context.tokenizer")
    return name, core.counters(name)


def _thawed(frozen: Frozen) -> Context | None:
    """The context; None when another version kept it in a form that is not known here."""
    try:
        return unpack(json.loads(frozen.body))
    except (LookupError, TypeError):
        return None
