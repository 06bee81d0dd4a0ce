"""Ids: UUIDv7 in 26 characters of lower-case base32, and the short form of their last 8.

The alphabet is Crockford's (no i, l, o, u), whose order is that of ASCII, so ids sort as their
times do. The last 8 characters hold 40 of the random bits; they are what people and agents see.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NewType

    EntryId = NewType("EntryId", str)
    MessageId = NewType("MessageId", str)
    ProposalId = NewType("ProposalId", str)
    ReviewId = NewType("ReviewId", str)
    SpaceId = NewType("SpaceId", str)
    StoreId = NewType("StoreId", str)
    SessionId = NewType("SessionId", str)
    VaultId = NewType("VaultId", str)
else:
    EntryId = MessageId = ProposalId = ReviewId = SpaceId = StoreId = SessionId = VaultId = str

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_CHARS = 26
SHORT_CHARS = 8
RANDOM_BYTES = 10

_MEMBERS = frozenset(ALPHABET)


def make_id(at_us: int, random: bytes) -> str:
    """The id of something made at `at_us`, microseconds since 1970, with 10 random bytes."""
    chance = int.from_bytes(random[:RANDOM_BYTES], "big")
    head = ((at_us // 1000) & (2**48 - 1)) << 80
    middle = (7 << 76) | ((chance >> 62) & 0xFFF) << 64
    number = head | middle | (2 << 62) | (chance & (2**62 - 1))
    pairs = _pairs()
    return "".join([pairs[(number >> shift) & 1023] for shift in range(120, -1, -10)])


@cache
def _pairs() -> list[str]:
    """Every two characters: an id is made of 13 of them."""
    return [one + other for one in ALPHABET for other in ALPHABET]


def is_id(text: str) -> bool:
    """Whether the text has the form of a whole id."""
    return len(text) == ID_CHARS and _MEMBERS.issuperset(text) and text[0] in "01234567"


def is_short(text: str) -> bool:
    """Whether the text has the form of an id's last 8 characters."""
    return len(text) == SHORT_CHARS and _MEMBERS.issuperset(text)


def short(full_id: str) -> str:
    return full_id[-SHORT_CHARS:]


def at_of(full_id: str) -> int:
    """The microseconds since 1970 (to the millisecond) that an id was made at."""
    number = 0
    for char in full_id:
        number = number << 5 | ALPHABET.index(char)
    return (number >> 80) * 1000
