"""How large an entry and a file are, in characters as their reader sees them, and what must go.

A character is what a reader takes for one: an accented letter however it is encoded, an emoji with
its skin tone or its family. What counts is the file as it is written: each entry with its bullet
and its indents, and the line breaks between entries. Sizes add up: that of a file is the sum of
those of its entries and of the breaks between them.
"""

from __future__ import annotations

from holdfast.core.profile.markdown import bullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.model.entry import Entry

# No reader sees more code points in a character, so that none hides a book in a word.
POINTS_PER_CHAR_MAX = 16

_ZWJ = "\u200d"


def chars(text: str) -> int:
    """The characters that a reader sees."""
    if text.isascii():
        return len(text)
    from unicodedata import category, normalize

    count, joined, flags = 0, False, 0
    for char in normalize("NFC", text):
        flags = flags + 1 if "\U0001f1e6" <= char <= "\U0001f1ff" else 0
        extends = (
            joined
            or flags == 2
            or char in (_ZWJ, "\u200c")
            or "\U0001f3fb" <= char <= "\U0001f3ff"
            or "\U000e0020" <= char <= "\U000e007f"
            or "\u1160" <= char <= "\u11ff"
            or category(char) in ("Mn", "Me", "Mc")
        )
        flags = 0 if flags == 2 else flags
        count += not extends
        joined = char == _ZWJ
    return count


def entry_chars(text: str) -> int:
    return chars(bullet(text))


def file_chars(texts: Iterable[str]) -> int:
    return joined_chars([entry_chars(text) for text in texts])


def joined_chars(sizes: Sequence[int]) -> int:
    """The size of a file whose entries are so large."""
    return sum(sizes) + max(len(sizes) - 1, 0)


def is_hiding(text: str, chars_max: int) -> bool:
    """Whether it has more code points than any text of so many characters."""
    return len(text) > chars_max * POINTS_PER_CHAR_MAX


def percent(used: int, chars_max: int) -> int:
    """Rounded down, so that a file is not said to be full before it is."""
    return used * 100 // chars_max


def worth(entry: Entry) -> tuple[object, ...]:
    """The order in which entries are wanted: the pinned, the important, the newest first."""
    return entry.pinned, entry.importance, entry.when, entry.number


def evicted(entries: Iterable[Entry], too_many: int) -> tuple[Entry, ...] | None:
    """The entries that must go for the file to lose so many characters: the least important, the
    oldest first, never a pinned one. None where even all of them are not enough."""
    gone: list[Entry] = []
    for entry in sorted((each for each in entries if not each.pinned), key=worth):
        if too_many <= 0:
            break
        too_many -= entry_chars(entry.text) + 1
        gone.append(entry)
    return tuple(gone) if too_many <= 0 else None
