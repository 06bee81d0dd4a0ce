"""Rows of subject level: what is shown of a record before anybody reads it."""

from __future__ import annotations

from holdfast.core.budget import estimate_tokens
from holdfast.core.records import facts as known
from holdfast.core.records.body import first_sentence
from holdfast.core.records.kinds import layer_of
from holdfast.model.record import RecordRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.core.records.kinds import RecordKind
    from holdfast.model.entry import Entry
    from holdfast.model.search import Hit


def row_of(
    entry: Entry,
    kinds: Mapping[str, RecordKind],
    hit: Hit | None = None,
    *,
    summary: bool = False,
) -> RecordRow:
    """Of what was forgotten, only that it was there."""
    gone = entry.state == "forgotten"
    return RecordRow(
        id=entry.handle,
        subject="" if gone else entry.subject,
        kind=entry.kind,
        layer=layer_of(kinds, entry.kind),
        state=entry.state,
        when=entry.when,
        until=entry.until,
        importance=entry.importance,
        pinned=entry.pinned,
        closed=known.text_fact(entry, "closed") if entry.hidden or gone else "",
        summary=first_sentence(entry.text) if summary and not gone else "",
        score=None if hit is None else hit.score,
        why={} if hit is None else hit.why,
    )


def row_tokens(row: RecordRow) -> int:
    """What the row takes in a context, roughly as it is written there."""
    return estimate_tokens(f"- {row.kind}: {row.subject} [{row.id}] {row.summary}")
