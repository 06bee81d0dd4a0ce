"""What a space offers to an agent: plain typed functions, one for each name.

Strategies offer tools for their stores, and the space offers some of its own. A name that several
strategies offer is one tool: it takes what any of them takes, and the store that a call names says
whose it is; a call that names none belongs to the first that takes just these arguments. So two
strategies share a name by offering it, and neither knows of the other. A call that names an id and
no store is about the store that holds that id.
"""

from __future__ import annotations

import inspect
from functools import wraps

from holdfast.core.signatures import check_arguments, signature_of
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.recall import BUDGET
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.model.context import Context
    from holdfast.model.recall import Recall
    from holdfast.ports import Tool

# Other names under which callers know a tool. They are accepted, and not offered.
ALIASES = {
    "save_memory_entry": "memory_save",
    "list_memory_entries": "memory_read",
    "delete_memory_entry": "memory_remove",
}
STORE = "store"
ID = "id"


class Offer(Value):
    """A tool, and the strategy whose stores it is for."""

    strategy: str
    tool: Tool


def of_space(space: Space) -> Iterable[Tool]:
    """The tools that are about the space, not about one store."""

    def memory_context(budget: int | None = None) -> Context:
        """What to know before you begin: the blocks of every store, within a budget of tokens."""
        return space.context(budget)

    def memory_recall(query: str, budget: int = BUDGET) -> Recall:
        """What the memory holds on a question, from every store, the best first."""
        return space.recall(query, budget)

    return memory_context, memory_recall


def joined(
    own: Iterable[Tool],
    offers: Iterable[Offer],
    strategy_of: Callable[[str], str],
    holder_of: Callable[[str], str | None] = lambda _: None,
) -> Sequence[Tool]:
    """One tool for each name, in the order in which the names came."""
    by_name: dict[str, dict[str, Tool]] = {}
    for offer in offers:
        by_name.setdefault(offer.tool.__name__, {})[offer.strategy] = offer.tool
    return [
        *(_checked(_typed(each)) for each in own),
        *(
            _checked(
                _held(
                    _typed(next(iter(each.values())))
                    if len(each) == 1
                    else _shared(name, each, strategy_of),
                    holder_of,
                )
            )
            for name, each in by_name.items()
        ),
    ]


def _typed(tool: Tool) -> Tool:
    """The tool with real types for annotations, as every agent loop can read them."""

    @wraps(tool)
    def call(*args: Any, **named: Any) -> object:
        return tool(*args, **named)

    return _described(call, signature_of(tool), tool.__doc__ or "")


def _checked(tool: Tool) -> Tool:
    """The tool, which refuses what it does not take with an error of ours."""
    signature = inspect.signature(tool)

    @wraps(tool)
    def call(*args: Any, **named: Any) -> object:
        check_arguments(tool.__name__, signature, args, named)
        return tool(*args, **named)

    return _described(call, signature, tool.__doc__ or "")


def _held(tool: Tool, holder_of: Callable[[str], str | None]) -> Tool:
    """The tool, told the store that holds what a call is about, where the call names none."""
    signature = inspect.signature(tool)
    store = signature.parameters.get(STORE)
    if store is None or store.default is store.empty or ID not in signature.parameters:
        return tool

    @wraps(tool)
    def call(*args: Any, **named: Any) -> object:
        given = signature.bind_partial(*args, **named).arguments
        if given.get(STORE) is None and isinstance(held := given.get(ID), str):
            holder = holder_of(held)
            given |= {} if holder is None else {STORE: holder}
        return tool(**given)

    return _described(call, signature, tool.__doc__ or "")


def _described(call: Any, signature: inspect.Signature, about: str) -> Tool:
    call.__signature__ = signature
    call.__annotations__ = {
        **{name: each.annotation for name, each in signature.parameters.items()},
        "return": signature.return_annotation,
    }
    call.__doc__ = about
    return call


def _shared(name: str, tools: Mapping[str, Tool], strategy_of: Callable[[str], str]) -> Tool:
    signatures = {strategy: signature_of(tool) for strategy, tool in tools.items()}
    signature = _union(list(signatures.values()))

    def call(*args: Any, **named: Any) -> object:
        bound = signature.bind(*args, **named).arguments
        given = {key: value for key, value in bound.items() if value is not None}
        return tools[_chosen(name, given, signatures, strategy_of)](**given)

    call.__name__ = call.__qualname__ = name
    abouts = dict.fromkeys(tool.__doc__ or "" for tool in tools.values())
    return _described(call, signature, " ".join(abouts))


def _union(signatures: Sequence[inspect.Signature]) -> inspect.Signature:
    """What any of them takes. What not all of them need may be left out, and means nothing then."""
    names = dict.fromkeys(name for each in signatures for name in each.parameters)
    needed: list[inspect.Parameter] = []
    others: list[inspect.Parameter] = []
    for name in names:
        found = [each.parameters[name] for each in signatures if name in each.parameters]
        kind = found[0].annotation
        for other in found[1:]:
            kind = kind | other.annotation
        every = len(found) == len(signatures)
        if every and all(each.default is each.empty for each in found):
            needed.append(found[0].replace(annotation=kind))
        else:
            defaults = [each.default for each in found]
            same = every and all(each == defaults[0] for each in defaults)
            default = defaults[0] if same else None
            others.append(
                found[0].replace(annotation=kind if same else kind | None, default=default)
            )
    answer = signatures[0].return_annotation
    for each in signatures[1:]:
        answer = answer | each.return_annotation
    return inspect.Signature([*needed, *others], return_annotation=answer)


def _chosen(
    name: str,
    given: Mapping[str, object],
    signatures: Mapping[str, inspect.Signature],
    strategy_of: Callable[[str], str],
) -> str:
    store = given.get(STORE)
    if isinstance(store, str):
        strategy = strategy_of(store)
        if strategy not in signatures:
            raise NotFound(
                "tool_not_for_store",
                f"{name} is not for {store}, which holds {strategy}",
                hint=f"it is for stores of {', '.join(signatures)}",
            )
        _check(name, strategy, given, signatures[strategy])
        return strategy
    for strategy, signature in signatures.items():
        if not _misfits(given, signature):
            return strategy
    first = next(iter(signatures))
    _check(name, first, given, signatures[first])
    return first


def _misfits(given: Mapping[str, object], signature: inspect.Signature) -> tuple[list[str], ...]:
    """The arguments that it does not take and those that it lacks; nothing when it fits."""
    known = signature.parameters
    unknown = [key for key, value in given.items() if key not in known and value is not None]
    lacking = [
        key for key, each in known.items() if each.default is each.empty and key not in given
    ]
    return (unknown, lacking) if unknown or lacking else ()


def _check(
    name: str, strategy: str, given: Mapping[str, object], signature: inspect.Signature
) -> None:
    if misfits := _misfits(given, signature):
        unknown, lacking = (", ".join(each) for each in misfits)
        says = [f"takes no {unknown}"] if unknown else []
        says += [f"needs {lacking}"] if lacking else []
        raise InvalidInput(
            "arguments_invalid",
            f"{name} of a {strategy} store {' and '.join(says)}",
            hint=f"it takes {', '.join(signature.parameters)}",
        )
