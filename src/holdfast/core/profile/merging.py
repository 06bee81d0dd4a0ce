"""A file that somebody edited, the memory as it is now, and what the file was when it was written:
joined, so that what one side added stays and what one side took away goes, unless the other side
changed it meanwhile.

What the file was is known by the ids of its entries and the digests of their texts, so the file
itself carries no marks. An edited line is held for the entry that it is most like. Where both sides
changed one entry, the memory's text stays and the file's is added: nothing is lost, and it is told.
"""

from __future__ import annotations

from collections import Counter

from holdfast.core.canonical import digest
from holdfast.core.profile.markdown import key
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.core.profile.markdown import Item

# From this share of common words on, a line is the entry edited, and not another one.
EDITED_MIN = 0.55


class Was(Value):
    """An entry as a file had it."""

    id: str
    digest: str


class Plan(Value):
    """What to do. `clashes` are (id, the text of the file) where both sides changed an entry, and
    (id, "") where the file took away what the memory changed: that is kept."""

    add: tuple[str, ...]
    update: tuple[tuple[str, str], ...]
    remove: tuple[str, ...]
    clashes: tuple[tuple[str, str], ...]


def text_digest(text: str) -> str:
    return digest("profile/text", key(text).encode()).hex()


def merged(base: Sequence[Was], now: Mapping[str, str], file: Sequence[Item]) -> Plan:
    """What the file wants, held against what there is now: texts by id."""
    changed = {was.id for was in base if was.id in now and text_digest(now[was.id]) != was.digest}
    left, gone = _unmatched(base, now, file, changed)
    edits = _edits([(was.id, now[was.id]) for was in gone if was.id in now], left)
    add, update, clashes = list[str](), list[tuple[str, str]](), list[tuple[str, str]]()
    for place, item in enumerate(left):
        edited = edits.get(place)
        if edited is None or edited in changed:
            add.append(item.with_heading)
        else:
            update.append((edited, item.text))
        if edited is not None and edited in changed:
            clashes.append((edited, item.with_heading))
    remove = [was.id for was in gone if was.id in now and was.id not in edits.values()]
    clashes += [(name, "") for name in remove if name in changed]
    return Plan(
        add=tuple(add),
        update=tuple(update),
        remove=tuple(name for name in remove if name not in changed),
        clashes=tuple(clashes),
    )


def _unmatched(
    base: Sequence[Was], now: Mapping[str, str], file: Sequence[Item], changed: set[str]
) -> tuple[list[Item], list[Was]]:
    """The lines that the file had not, nor the memory has, and the entries that it has no more."""
    there: dict[str, list[Was]] = {}
    for was in base:
        there.setdefault(was.digest, []).append(was)
    known = {was.id for was in base}
    others = Counter(
        text_digest(text) for name, text in now.items() if name in changed or name not in known
    )
    by_new_text = {text_digest(now[name]): name for name in changed}
    left: list[Item] = []
    found: set[str] = set()
    for item in file:
        for text in dict.fromkeys((item.text, item.with_heading)):
            one = text_digest(text)
            if there.get(one):
                found.add(there[one].pop(0).id)
                break
            if others[one]:
                others[one] -= 1
                found |= {by_new_text[one]} if one in by_new_text else set()
                break
        else:
            left.append(item)
    return left, [was for was in base if was.id not in found]


def _edits(gone: Sequence[tuple[str, str]], left: Sequence[Item]) -> dict[int, str]:
    """Which of the new lines are which of the missing entries, edited: the likest first."""
    pairs = sorted(
        (
            (-_likeness(text, item.text), abs(before - place), place, name)
            for before, (name, text) in enumerate(gone)
            for place, item in enumerate(left)
        ),
    )
    found: dict[int, str] = {}
    for score, _, place, name in pairs:
        if place not in found and name not in found.values() and -score >= EDITED_MIN:
            found[place] = name
    return found


def _likeness(one: str, other: str) -> float:
    bags = _words(one), _words(other)
    total = bags[0].total() + bags[1].total()
    return 2 * (bags[0] & bags[1]).total() / total if total else 0.0


def _words(text: str) -> Counter[str]:
    return Counter(_letters(text.casefold().split()))


def _letters(words: Iterable[str]) -> Iterable[str]:
    """Words, and where there are few of them their pairs of letters too."""
    for word in words:
        yield word
        yield from (word[at : at + 2] for at in range(len(word) - 1))
