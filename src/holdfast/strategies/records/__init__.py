"""`records`: curated records, of which a session knows the subjects and reads the bodies it needs.

A record has a kind, which lies in a layer of memory, a subject, and a body: Markdown, whose
headings are its sections, or fields. It begins as a draft that only its session sees; promoting
shows it to all that it is for. Every version is kept. What contradicts it supersedes it, with the
end of its time; an episode that nobody uses closes; what is forgotten comes back by a person only.
"""

from __future__ import annotations

from holdfast.core.forms import Text, Whole, checked_options
from holdfast.core.records.kinds import LAYERS, KindsForm
from holdfast.errors import OptionInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.core.forms import Form
    from holdfast.model.context import Draft
    from holdfast.model.entry import Entry
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "records"
HOLDS = "entries"
PRIORITY = 40

_OPTIONS: Mapping[str, Form] = {
    "kinds": KindsForm(
        about="kinds of its own, each with its layer", of=Text(choices=LAYERS, noun="layer")
    ),
    "priority": Whole(
        about="which block a small budget serves first", low=0, high=100, default=PRIORITY
    ),
}
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {"short_term": _OPTIONS, "long_term": _OPTIONS}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    if spec.type != "long_term":
        raise OptionInvalid("type", "a records store keeps what it holds", "long_term")
    return checked_options(spec, OPTIONS)


def block(view: View, store: Store) -> Draft | None:
    """The subjects of the records, ranked, within the budgets."""
    from holdfast.strategies.records.disclosure import block_of

    return block_of(view, store)


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:
    """Records are added, corrected and retired by the rules that any write keeps to."""
    from holdfast.strategies.records.review import accepted

    return accepted(work, store, suggestion)


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered for the records of a space."""
    from holdfast.strategies.records.tool import tools_of

    return tools_of(desk)
