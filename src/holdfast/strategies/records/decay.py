"""Episodes close when nobody uses them, and are forgotten later; what is durable stays.

It happens at the next write, by UTC days, a few at a time: a read changes nothing. What was used
since stays open for as long again, and what is pinned stays.
"""

from __future__ import annotations

from holdfast.core.records import facts as known
from holdfast.core.records.kinds import in_layer, kinds_of
from holdfast.model.times import DAY_US

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.preferences import Settings
    from holdfast.model.space import Store
    from holdfast.ports import Work

AT_ONCE = 50


def let_go(work: Work, store: Store, settings: Settings) -> None:
    expires = settings.whole("decay.expire_days")
    for kind in in_layer(kinds_of(store.options), "episodic"):
        _close(work, store, kind, settings)
        if expires:
            _expire(work, store, kind, work.at_us - expires * DAY_US)


def _close(work: Work, store: Store, kind: str, settings: Settings) -> None:
    ended = work.due(store, kind, work.at_us, AT_ONCE, hidden=False)
    uses = work.uses(ended) if ended else {}
    for entry in ended:
        used_us = uses.get(entry.number, (0, 0))[1]
        until = known.idle_until(settings, used_us)
        if entry.pinned:
            facts = known.without(entry.facts, "idle")
            work.move(store, entry, "adjust", until=None, facts=facts)
        elif entry.facts.get("idle") is True and until > work.at:
            work.move(store, entry, "adjust", until=until)
        else:
            why = "idle" if entry.facts.get("idle") is True else "ended"
            facts = known.closing(entry, why, work.at_us)
            work.move(store, entry, "hide", facts=facts)


def _expire(work: Work, store: Store, kind: str, before_us: int) -> None:
    for entry in work.due(store, kind, before_us, AT_ONCE, hidden=True):
        closed_us = known.count(entry, "closed_us")
        if entry.pinned or closed_us > before_us:
            continue
        facts = known.closing(entry, "expired", work.at_us)
        work.move(store, entry, "expire", facts=facts)
