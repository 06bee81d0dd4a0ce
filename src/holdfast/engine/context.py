"""What a session starts with: one block of every declared store, fitted into a budget.

A context is a function of (log position, UTC day, configuration, budget) and of nothing else. A
named session keeps the one that it was given first, for each budget, until it ends.
"""

from __future__ import annotations

import json

from holdfast.core.budget import estimate_tokens, fit
from holdfast.core.canonical import canonical_text
from holdfast.core.codec import pack, unpack
from holdfast.engine.sessions import session_named
from holdfast.engine.spaces import declared_stores
from holdfast.engine.view import NowView
from holdfast.errors import InvalidInput
from holdfast.model.vault import Frozen
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.work import Core
    from holdfast.model.context import Context
    from holdfast.model.write import Caller
    from holdfast.ports import Snapshot, Transaction, View

WHOLE = 0


def assemble(snapshot: Snapshot, view: View, space_name: str, budget: int | None) -> Context:
    drafts = [
        STRATEGIES[store.strategy].block(view, store)
        for store in declared_stores(snapshot, space_name)
    ]
    return fit([draft for draft in drafts if draft is not None], budget, estimate_tokens)


def current(core: Core, space_name: str, caller: Caller, budget: int | None) -> Context:
    """The context now; for a session, the one that it began with."""
    check_budget(budget)

    def fresh(snapshot: Snapshot) -> Context:
        return assemble(snapshot, NowView(snapshot, core.clock()), space_name, budget)

    if caller.session is None:
        return core.storage.read(fresh)

    session, slot = caller.session, WHOLE if budget is None else budget

    def kept(snapshot: Snapshot) -> Context | None:
        frozen = snapshot.frozen(session, slot)
        return None if frozen is None else unpack(json.loads(frozen.body))

    def freeze(tx: Transaction) -> Context:
        known = kept(tx)
        if known is not None:
            return known
        context = fresh(tx)
        if session_named(tx, session).state == "open":
            body = canonical_text(pack(context))
            tx.freeze(Frozen(session=session, budget=slot, at_seq=tx.head()[0], body=body))
        return context

    return core.storage.read(kept) or core.storage.write(freeze)


def check_budget(budget: int | None) -> None:
    if budget is not None and budget < 1:
        raise InvalidInput(
            "budget_invalid", f"a budget of {budget} tokens holds nothing", hint="ask for 1 or more"
        )
