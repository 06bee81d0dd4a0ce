"""What entries are called where several are shown: each by a name that fits no other of them."""

from __future__ import annotations

from collections import Counter

from holdfast.model.ids import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def handles(ids: Sequence[tuple[str, str | None]]) -> list[str]:
    """Of each id, with the id that its writer gave: that, else the short form where unique."""
    shorts = [short(entry_id) for entry_id, _ in ids]
    if len(set(shorts)) == len(shorts):
        return [given or name for name, (_, given) in zip(shorts, ids, strict=True)]
    many = Counter(shorts)
    return [
        given or (name if many[name] == 1 else entry_id)
        for name, (entry_id, given) in zip(shorts, ids, strict=True)
    ]
