"""Answers that were kept under an idempotency key, given again to the same call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from holdfast.core.codec import unpack
from holdfast.engine.forgetting import remains, told_of
from holdfast.errors import Conflict
from holdfast.model.entry import Entry
from holdfast.model.proposal import Proposal
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.entry import Json
    from holdfast.model.vault import StoredAnswer
    from holdfast.ports import Snapshot


def given_again(
    snapshot: Snapshot, known: StoredAnswer, meant: bytes, arguments: Mapping[str, Json]
) -> Any:
    """The answer that was given to the same call before."""
    if known.arguments != meant:
        raise Conflict(
            "key_reused",
            "this idempotency key was used for a call with other arguments or for another user",
            hint="use a new key for a new call",
        )
    try:
        answer = unpack(json.loads(known.body))
    except (LookupError, TypeError) as exc:
        raise Conflict(
            "answer_outdated",
            "this call was made before, and its answer was kept by another version of holdfast",
            hint="read what is there now",
        ) from exc
    return _told_again(snapshot, answer, _words_of(arguments))


def _told_again(snapshot: Snapshot, answer: Any, said: frozenset[str]) -> Any:
    """An answer that was given before. Of what was forgotten since it has the words that the call
    itself says again, and no others."""
    match answer:
        case Entry():
            gone = answer.text not in said and snapshot.was_forgotten(answer.number)
            return remains(answer.replace(state="forgotten") if gone else answer)
        case Proposal():
            return told_of(snapshot, answer)
        case Value():
            fields = {name: getattr(answer, name) for name in answer.fields_}
            return answer.replace(
                **{name: _told_again(snapshot, field, said) for name, field in fields.items()}
            )
        case tuple():
            return tuple([_told_again(snapshot, each, said) for each in answer])
        case _:
            return answer


def _words_of(arguments: Json | Mapping[str, Json]) -> frozenset[str]:
    """All texts among the arguments of a call."""
    if isinstance(arguments, str):
        return frozenset((arguments,))
    inner = arguments.values() if isinstance(arguments, Mapping) else arguments
    if not isinstance(inner, Iterable):
        return frozenset()
    return frozenset().union(*map(_words_of, inner))
