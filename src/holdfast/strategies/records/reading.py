"""What is asked of records: found, listed, read, opened by section, walked along their links.

What asks for rows gets rows: subjects, not bodies. What asks for an id gets that record, whatever
its state, and is told what the state means; of what was forgotten, only that it was.
"""

from __future__ import annotations

from itertools import islice

from holdfast.core.records import facts as known
from holdfast.core.records.body import field_at
from holdfast.core.records.kinds import in_layer, kinds_of, layer_of
from holdfast.core.records.sections import find_section, headings, outline, section_text
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.names import shown, told
from holdfast.model.query import Cursor, EntryQuery, check_limit, cursor_from
from holdfast.model.record import (
    RecordLink,
    RecordLinks,
    RecordNeighbours,
    RecordPart,
    RecordRead,
    RecordRow,
    RecordRows,
)
from holdfast.model.search import HITS_MAX, search_query
from holdfast.model.times import from_us, to_us
from holdfast.strategies.records.rows import row_of, row_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal

    from holdfast.model.entry import Entry
    from holdfast.model.space import Store
    from holdfast.ports import View

    Listed = Literal["shown", "draft", "closed", "forgotten", "all"]

SECTIONS_SHOWN = 100
LIST_LIMIT = 50
LISTED = ("shown", "draft", "closed", "forgotten", "all")
DEPTH_MAX = 5
NEIGHBOURS_MAX = 200


def search(
    view: View, store: Store, text: str, budget: int | None, summary: bool, asked: dict[str, Any]
) -> RecordRows:
    """The best rows, as many as are asked for and fit into the budget of tokens."""
    settings, kinds = view.settings(store), kinds_of(store.options)
    asked = {
        "limit": settings.whole("recall.limit"),
        "rerank": settings.word("recall.rerank"),
        "diagnostics": settings.word("recall.diagnostics"),
        **asked,
    }
    found = view.search([store], search_query(text, **asked))
    rows: list[RecordRow] = []
    used = left_out = 0
    for hit in found.hits:
        until_us = None if hit.entry.until is None else to_us(hit.entry.until)
        if known.is_idle_at(hit.entry, view.at_us, until_us) and not asked.get("hidden"):
            continue
        row = row_of(hit.entry, kinds, hit, summary=summary)
        tokens = row_tokens(row)
        if budget is not None and (left_out or used + tokens > budget):
            left_out += 1
            continue
        used += tokens
        rows.append(row)
    return RecordRows(
        rows=tuple(rows),
        cursor=found.cursor,
        tokens=used,
        budget=budget,
        left_out=left_out,
        looked=found.looked,
    )


def listed(
    view: View,
    store: Store,
    which: Listed,
    kinds: Sequence[str],
    limit: int,
    cursor: str | None,
    *,
    everybodys: bool,
) -> RecordRows:
    """Records by state, the newest first."""
    if which not in LISTED:
        raise InvalidInput(
            "state_invalid", f"{shown(which)} cannot be listed", hint=", ".join(LISTED)
        )
    check_limit(limit)
    at = None if cursor is None else cursor_from(cursor)
    if which == "shown":
        found: Iterable[Entry] = view.shown(store, EntryQuery(cursor=at))
    else:
        found = _in_states(view, store, which, everybodys=everybodys)
        found = (each for each in found if at is None or _place(each) < (at.when_us, at.number))
    fitting = (entry for entry in found if not kinds or entry.kind in kinds)
    taken = list(islice(fitting, limit + 1))
    known_kinds = kinds_of(store.options)
    rows = tuple(row_of(entry, known_kinds) for entry in taken[:limit])
    last = None
    if len(taken) > limit:
        last = str(Cursor(when_us=to_us(taken[limit - 1].when), number=taken[limit - 1].number))
    return RecordRows(rows=rows, cursor=last, tokens=sum(map(row_tokens, rows)))


def _in_states(view: View, store: Store, which: str, *, everybodys: bool) -> Iterable[Entry]:
    drafts = [e for e in view.drafts(store, everybodys=everybodys) if not e.hidden]
    mine = {entry.id for entry in drafts}
    if which == "draft":
        found = drafts
    else:
        wanted: dict[str, Callable[[Entry], bool]] = {
            "closed": lambda entry: entry.hidden and entry.state != "forgotten",
            "forgotten": lambda entry: entry.state == "forgotten",
            "all": lambda entry: entry.state != "draft" or entry.id in mine or entry.hidden,
        }
        found = [entry for entry in view.in_every_state(store) if wanted[which](entry)]
    theirs = (each for each in found if view.sees(each) and view.is_there(each))
    return sorted(theirs, key=_place, reverse=True)


def _place(entry: Entry) -> tuple[int, int]:
    return to_us(entry.when), entry.number


# One record


def read(view: View, store: Store, name: str) -> RecordRead:
    return in_full(view, store, view.find(store, name))


def read_found(view: View, store: Store, query: str) -> RecordRead:
    """The best record for a query, in full, and the rows of those that come after it."""
    found = search(view, store, query, None, summary=False, asked={})
    if not found.rows:
        raise NotFound(
            "record_not_found",
            f"{store.label} has no record for {shown(query)}",
            hint="ask with other words, or list what is there",
        )
    return read(view, store, found.rows[0].id).replace(others=found.rows[1:])


def in_full(view: View, store: Store, entry: Entry) -> RecordRead:
    kinds = kinds_of(store.options)
    says, layer = known.explained(entry), layer_of(kinds, entry.kind)
    if entry.state == "forgotten":
        bare = entry.replace(text="", subject="", tags=(), facts={}, metadata={})
        return RecordRead(entry=bare, layer=layer, body="", says=says)
    if entry.state == "draft" and entry.session != view.session_id and not entry.hidden:
        says = "it is a draft of another session, which promoting shows to all"
    fields = _fields(entry)
    found = headings(entry.text) if fields is None else []
    confidence, since = entry.facts.get("confidence"), entry.facts.get("from")
    return RecordRead(
        entry=entry,
        layer=layer,
        body=entry.text,
        fields=fields,
        sections=tuple(fields)[:SECTIONS_SHOWN]
        if fields is not None
        else outline(found, SECTIONS_SHOWN),
        of_sections=len(found) if fields is None else len(fields),
        confidence=confidence if isinstance(confidence, float) else None,
        source=known.text_fact(entry, "source"),
        since=from_us(since) if type(since) is int else None,
        says=says,
        links=_refers(view, store, entry),
    )


def _fields(entry: Entry) -> dict[str, Any] | None:
    if not known.is_fields(entry):
        return None
    from json import loads

    return loads(entry.text)


def expand(view: View, store: Store, name: str, path: str | Sequence[str]) -> RecordPart:
    """One section of a body by its heading path, or one field of a structured one."""
    entry = view.find(store, name)
    if entry.state == "forgotten":
        raise NotFound(
            "section_not_found",
            f"{store.label} {entry.handle} was forgotten, and has no sections",
            hint="look for another record",
        )
    asked = path if isinstance(path, str) else " > ".join(path)
    if known.is_fields(entry):
        value = field_at(entry.text, path)
        return RecordPart(id=entry.handle, path=asked, value=value)
    section = find_section(headings(entry.text), path)
    text = section_text(entry.text, section)
    return RecordPart(id=entry.handle, path=" > ".join(section.path), text=text)


def in_one_layer(
    view: View, store: Store, layer: str, limit: int, cursor: str | None
) -> RecordRows:
    """The rows of one layer of the memory, the most telling first."""
    names = in_layer(kinds_of(store.options), layer)
    asked: dict[str, Any] = {"kinds": names, "limit": check_limit(limit, HITS_MAX)}
    return search(view, store, "", None, summary=False, asked={**asked, "cursor": cursor})


# Links


def links(view: View, store: Store, name: str) -> RecordLinks:
    entry = view.find(store, name)
    referred = tuple(
        RecordLink(
            source=each.handle, target=entry.handle, subject=each.subject, state=_far_state(each)
        )
        for each in _visible(view, view.referring(store, entry))
    )
    return RecordLinks(id=entry.handle, refers=_refers(view, store, entry), referred=referred)


def _visible(view: View, entries: Iterable[Entry]) -> list[Entry]:
    """Without the drafts of other sessions."""
    return [e for e in entries if e.state != "draft" or e.session == view.session_id]


def _refers(view: View, store: Store, entry: Entry) -> tuple[RecordLink, ...]:
    return _links_of(view, entry, view.named(store, entry.refs) if entry.refs else {})


def _links_of(view: View, entry: Entry, found: Any) -> tuple[RecordLink, ...]:
    """Where its links lead. What is for another is not there, and a draft of another session says
    nothing yet."""
    made: list[RecordLink] = []
    for target in entry.refs:
        far: Entry | None = found.get(target)
        if far is not None and not (view.sees(far) and view.is_there(far)):
            far = None
        gone = far is None or far.state == "forgotten" or not _visible(view, [far])
        made.append(
            RecordLink(
                source=entry.handle,
                target=target if far is None else far.handle,
                subject="" if far is None or gone else far.subject,
                state="missing" if far is None else _far_state(far),
            )
        )
    return tuple(made)


def _far_state(entry: Entry) -> Any:
    return "closed" if entry.hidden and entry.state != "forgotten" else entry.state


def neighbours(view: View, store: Store, name: str, depth: int, limit: int) -> RecordNeighbours:
    """The records that can be reached along so many links, whichever way they point."""
    if type(depth) is not int or not 1 <= depth <= DEPTH_MAX:
        raise InvalidInput(
            "depth_invalid",
            f"{told(depth)} is no depth",
            hint=f"a whole number from 1 to {DEPTH_MAX}",
        )
    check_limit(limit, NEIGHBOURS_MAX)
    kinds = kinds_of(store.options)
    start = view.find(store, name)
    seen, ring = {start.id}, [start]
    rows: list[tuple[int, RecordRow]] = []
    dead: list[RecordLink] = []
    for far in range(1, depth + 1):
        around: dict[str, Entry] = {}
        wanted = [ref for entry in ring for ref in entry.refs]
        found = view.named(store, list(dict.fromkeys(wanted))) if wanted else {}
        for entry in ring:
            dead += [e.replace(depth=far) for e in _links_of(view, entry, found) if e.is_dead]
            reached = [found[ref] for ref in entry.refs if ref in found]
            for each in _visible(view, [*reached, *view.referring(store, entry)]):
                if each.state != "forgotten" and each.id not in seen and view.sees(each):
                    around.setdefault(each.id, each)
        seen |= set(around)
        ring = sorted(around.values(), key=_place, reverse=True)
        rows += [(far, row_of(entry, kinds)) for entry in ring]
        if len(rows) > limit:
            break
    return RecordNeighbours(
        id=start.handle, rows=tuple(rows[:limit]), dead=tuple(dead), more=len(rows) > limit
    )
