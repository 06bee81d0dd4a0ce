"""Notes, queries and values, the same ones every time.

A note has about 90 characters of made-up words whose frequencies fall off as in natural text (the
word of rank n is n times rarer than the first), with English small words as the most frequent.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = "the of and to in is it on for with that was as at by be this from are not".split()  # noqa: SIM905
WORDS = 20_000
NOTE_CHARS = 90
RARE_RANKS = (100, 5_000)
COMMON_RANKS = (20, 60)
SMALL_BYTES, LARGE_BYTES = 200, 5_000
UNDER_A_PREFIX = 200


def vocabulary(seed: int = 3) -> list[str]:
    """Words by rank."""
    chance = Random(seed)
    found: dict[str, None] = dict.fromkeys(SMALL)
    while len(found) < WORDS:
        pairs = chance.randrange(2, 5)
        word = "".join(
            chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(pairs)
        )
        found[word + chance.choice(("", "", "n", "r", "t", "l"))] = None
    return list(found)


def notes(seed: int = 7) -> Iterator[str]:
    """One note after another, without an end."""
    chance, words = Random(seed), vocabulary()
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    while True:
        text = " ".join(chance.choices(words, cum_weights=weights, k=16))
        yield text[:1].upper() + text[1 : text.rfind(" ", 0, NOTE_CHARS)]


def queries(count: int, of: int, ranks: tuple[int, int] = RARE_RANKS, seed: int = 11) -> list[str]:
    """Two words of these ranks, of one of the first `of` notes each."""
    chance, rank = Random(seed), {word: place for place, word in enumerate(vocabulary())}
    found: list[str] = []
    for number, text in enumerate(notes()):
        pool = [w for w in text.split() if ranks[0] <= rank.get(w, 0) < ranks[1]]
        if len(pool) > 1 and chance.random() < 0.5:
            found.append(" ".join(chance.sample(pool, 2)))
        if len(found) == count or number == of:
            return found
    raise AssertionError


def sentences(count: int, of: int, seed: int = 13) -> list[str]:
    """Half of the words of one of the first `of` notes each, among as many of any rank."""
    chance, words = Random(seed), vocabulary()
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    chosen = set(chance.sample(range(of), count))
    found: list[str] = []
    for number, text in enumerate(notes()):
        if len(found) == count:
            return found
        if number in chosen:
            said = text.lower().split()
            told = chance.sample(said, (len(said) + 1) // 2)
            told += chance.choices(words, cum_weights=weights, k=len(told))
            chance.shuffle(told)
            found.append(" ".join(told))
    raise AssertionError


def value(number: int) -> str:
    """200 bytes of JSON."""
    head = f'{{"n":{number},"text":"'
    return head + "x" * (198 - len(head)) + '"}'


def key(number: int) -> str:
    return f"key-{number * 7919 % 10_000:05}"


# Many values by key, 200 under each prefix.


def place(number: int) -> str:
    return f"{prefix(number)}{number % UNDER_A_PREFIX:03}"


def prefix(number: int) -> str:
    return f"user-{number // UNDER_A_PREFIX:05}:"


def spread(number: int, size: int) -> int:
    """One of so many, all over the place, the same ones every time."""
    return number * 611_953 % size


def member(number: int, length: int) -> dict[str, object]:
    """A value of so many bytes as JSON."""
    return {"n": number, "text": "x" * (length - 19 - len(str(number)))}
