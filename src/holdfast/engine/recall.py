"""Recall: one question to every store of a space, answered within a budget of tokens.

Whatever says the same text is shown once. A long memory is shown by the part that answers. What the
answer holds is in the order of how well it answers, and the lines say where each stands, how old it
is, and when it is not to be trusted; nothing here depends on the hour, only on the UTC day.
"""

from __future__ import annotations

from holdfast.core.budget import check_budget, estimate_tokens
from holdfast.core.rank.fuse import fused
from holdfast.core.text import content_query, is_plain, normal_form, snippet
from holdfast.model.names import check_str
from holdfast.model.recall import BUDGET, Recall, Recalled
from holdfast.model.search import SearchQuery
from holdfast.model.times import day_of, to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.search import Diagnostics, Hit
    from holdfast.model.space import Store
    from holdfast.ports import View

WEIGHED = 200
SHOWN_CHARS_MAX = 800
SHOWN_TOKENS_MAX = 240
WORTH_SHOWING_TOKENS = 24


def recall(
    view: View,
    stores: Sequence[Store],
    query: str,
    budget: int | None,
    diagnostics: Diagnostics = "off",
) -> Recall:
    check_str(query, "the question")
    check_budget(budget)
    room = BUDGET if budget is None else budget
    match = "any" if is_plain(query) else "words"
    asked = SearchQuery(text=query, match=match, limit=WEIGHED, diagnostics=diagnostics)
    found = view.search(stores, asked)
    hits = {(hit.store.number, hit.entry.number): hit for hit in found.hits}
    order = fused({"entries": list(hits)})
    shown: list[Recalled] = []
    lines: list[str] = []
    said: set[str] = set()
    used = 0
    for key, places in order:
        hit = hits[key]
        same = normal_form(f"{hit.entry.subject}\n{hit.entry.text}")
        if same in said:
            continue
        said.add(same)
        one = _recalled(view, hit, places["entries"], query, room - used)
        if one is None:
            continue
        line = _line(one)
        used += one.tokens
        shown.append(one)
        lines.append(line)
    return Recall(
        text="\n".join(lines),
        tokens=used,
        budget=room,
        hits=tuple(shown),
        left_out=len(order) - len(shown),
        looked=found.looked,
    )


def _recalled(view: View, hit: Hit, place: int, query: str, room: int) -> Recalled | None:
    """The hit with as much of its text as there is room for; None where that is too little."""
    entry = hit.entry
    words = _words(hit)
    one = Recalled(
        label=hit.store.label,
        strategy=hit.store.strategy,
        id=entry.handle,
        text=words,
        whole=True,
        when=entry.when,
        age_days=max(0, day_of(view.at_us) - day_of(to_us(entry.when))),
        state=entry.state,
        origin=entry.origin,
        trust=entry.trust,
        tokens=0,
        score=hit.score,
        place=place,
        why=hit.why,
    )
    tokens = estimate_tokens(_line(one))
    most = min(room, SHOWN_TOKENS_MAX)
    if tokens <= most:
        return one.replace(tokens=tokens)
    if most < WORTH_SHOWING_TOKENS:
        return None
    chars = SHOWN_CHARS_MAX
    while chars > WORTH_SHOWING_TOKENS:
        part = snippet(words, content_query(query), chars)
        before, after = "… " * part.more_before, " …" * part.more_after
        cut = one.replace(text=f"{before}{_in_a_line(part.text)}{after}", whole=False)
        tokens = estimate_tokens(_line(cut))
        if tokens <= most:
            return cut.replace(tokens=tokens)
        chars = chars * 2 // 3
    return None


def _words(hit: Hit) -> str:
    text = _in_a_line(hit.entry.text)
    is_title = hit.entry.text.partition("\n")[0].strip() == hit.entry.subject
    return text if is_title or not hit.entry.subject else f"{hit.entry.subject}: {text}"


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _line(one: Recalled) -> str:
    trust = f", {one.origin}, low trust" if one.trust == "low" else ""
    draft = ", draft" if one.state == "draft" else ""
    head = f"- {one.when:%Y-%m-%d} ({_age(one.age_days)}{trust}{draft})"
    return f"{head} {one.text} [{one.label} {one.id}]"


def _age(days: int) -> str:
    for name, size in (("year", 365), ("month", 30), ("day", 1)):
        count = days // size
        if count:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "today"
