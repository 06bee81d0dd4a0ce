"""What a session starts with: the subjects of the records, ranked, within the budgets.

The newest comes first, whatever its importance, and is the last to be dropped; then the most
important, and of one importance the newer. However many records there are, so many are named and
the others are counted, so the block of a hundred thousand costs what that of a hundred does.
"""

from __future__ import annotations

from holdfast.core.budget import counted_more, estimate_tokens
from holdfast.core.handles import handles
from holdfast.core.records.body import first_sentence
from holdfast.model.context import Draft, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.core.preferences import Settings
    from holdfast.model.entry import Entry
    from holdfast.model.space import Store
    from holdfast.ports import SubjectRow, View

COUNTED = 1_000


def block_of(view: View, store: Store) -> Draft | None:
    settings = view.settings(store)
    if not settings.flag("recall.block"):
        return None
    most = settings.whole("disclosure.subjects")
    rows = _ranked(view, store, most)
    if not rows:
        return None
    total = view.subject_count(store, most + COUNTED)
    priority = store.options["priority"]
    assert isinstance(priority, int)
    draft = Draft(
        label=store.label,
        priority=priority,
        heading=f"## Records {store.label} (memory_read(id=ID) has the body)",
        lines=(),
        more=False,
        reach=f"And {{more}} more: memory_search(query, store={store.called!r}) to see",
    )
    frame = sum(map(estimate_tokens, (draft.heading, "", counted_more(draft.reach, total, False))))
    lines = _lines(view, store, rows, settings, settings.whole("disclosure.hard_tokens") - frame)
    return draft.replace(
        lines=tuple(lines),
        more=total > len(lines),
        beyond=total - len(lines),
        beyond_known=total < most + COUNTED,
    )


def _ranked(view: View, store: Store, most: int) -> list[SubjectRow]:
    newest = view.subjects(store, 1, "newest")
    rows = {row[0]: row for row in (*newest, *view.subjects(store, most, "important"))}
    return list(rows.values())[:most]


def _lines(
    view: View, store: Store, rows: Sequence[SubjectRow], settings: Settings, hard: int
) -> list[Line]:
    """As many as the hard budget holds, at least the newest; from the soft one on only subjects."""
    depth, soft = settings.word("disclosure.depth"), settings.whole("disclosure.soft_tokens")
    important = settings.whole("disclosure.important")
    names = handles([(row[0], row[1]) for row in rows])
    entries: Mapping[str, Entry] = {}
    if depth != "index":
        entries = view.named(store, [row[0] for row in rows])
    lines: list[Line] = []
    used = 0
    for row, name in zip(rows, names, strict=True):
        bare = f"- {row[4]}: {row[3]} [{name}]"
        detail = _detail(entries.get(row[0]), depth, important) if used < soft else ""
        for text in dict.fromkeys((bare + detail, bare)):
            tokens = estimate_tokens(text)
            if used + tokens <= hard or (text == bare and not lines):
                lines.append(Line(text=text, tokens=tokens))
                used += tokens
                break
        else:
            break
    return lines


def _detail(entry: Entry | None, depth: str, important: int) -> str:
    """What a depth adds to the subject."""
    if entry is None or depth == "index":
        return ""
    if depth == "summary":
        summary = first_sentence(entry.text)
        told = entry.subject.rstrip("….").casefold()
        return "" if summary.casefold().startswith(told) else f"\n      {summary}"
    if depth == "selective" and not entry.pinned and entry.importance < important:
        return ""
    if entry.text.strip() == entry.subject:
        return ""
    return "".join(f"\n      {line}" for line in entry.text.strip().splitlines() if line.strip())
