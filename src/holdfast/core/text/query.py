"""What a person types to search, and what an index is asked for it.

No input is a syntax error. Words are all wanted; `OR` between two means either; `NOT` takes away
what has the next; `"…"` is a phrase; `word*` is how a word begins. Whatever else stands there is
punctuation, and an operator that has nothing to work on is left out.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from holdfast.core.text.compounds import is_paired
from holdfast.core.text.english import stems_beyond
from holdfast.core.text.patterns import lazily
from holdfast.core.text.stop import content_words
from holdfast.core.text.words import alternatives, row, stem
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.core.text.compounds import Tokens

    Group = tuple["Way", ...]

QUERY_CHARS_MAX = 10_000
ITEMS_MAX = 128
PHRASE_TOKENS_MAX = 64

_REMEMBERED_MAX = 4_096
_REMEMBERED_CHARS_MAX = 48
_CLOSING = ")]}.,;:!?"
_QUOTES = str.maketrans("“”„‟＂", '"""""')
_PIECE = lazily(r'(?<![^\s(])"(?P<phrase>[^"]*)(?:"(?P<open>\*?)|\Z)|(?P<word>[^\s(]\S*)')
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_BEYOND_WORDS = frozenset('("*')


class Word(Value):
    """Text without white space; it may be several words that stand in a row, as in `a/b.py`."""

    text: str


class Phrase(Value):
    """Words in this order, next to each other."""

    text: str


class Prefix(Value):
    """The beginning of a word, or of the last word of a phrase."""

    text: str


class Query(Value):
    """One member of each group of `wanted` must be there, and nothing of `unwanted`."""

    wanted: tuple[tuple[Word | Phrase | Prefix, ...], ...] = ()
    unwanted: tuple[Word | Phrase | Prefix, ...] = ()


class Way(Value):
    """One row of tokens that meets an item; `open_ended`: the last is the beginning of a token."""

    tokens: tuple[str, ...]
    open_ended: bool = False

    def __hash__(self) -> int:
        return hash(self.tokens)


def parse(query: str) -> Query:
    """What is asked for, by the first 128 words, phrases and operators in 10,000 characters."""
    wanted: list[tuple[Word | Phrase | Prefix, ...]] = []
    unwanted: list[Word | Phrase | Prefix] = []
    operators: list[str] = []
    pending = ""
    after_wanted = False
    for item in islice(_items(query), ITEMS_MAX):
        if isinstance(item, str):
            operators.append(item)
            pending = "NOT" if pending == "NOT" else item
            continue
        if pending == "NOT":
            unwanted.append(item)
        elif pending == "OR" and after_wanted:
            wanted[-1] += (item,)
        else:
            wanted.append((item,))
        after_wanted = pending != "NOT"
        pending = ""
    if not wanted and not unwanted:
        wanted = [(Word(text=operator),) for operator in operators]
    return Query(wanted=tuple(wanted), unwanted=tuple(unwanted))


def match_expression(query: str | Query) -> str | None:
    """The query for a full-text index of `tokens`, in the language of SQLite's FTS5.

    None where nothing can match: no words at all, or nothing but what must not be there.
    """
    groups, unwanted = groups_of(query)
    return without(expression(groups), unwanted) or None


def groups_of(query: str | Query) -> tuple[tuple[Group, ...], Group]:
    """The rows of tokens that meet each group of a query, and those that must not be there."""
    if isinstance(query, str):
        pieces = _plain_pieces(query[:QUERY_CHARS_MAX])
        if pieces and _OPERATORS.isdisjoint(pieces):
            return tuple(islice(filter(None, map(_of_word, pieces)), ITEMS_MAX)), ()
        query = parse(query)
    groups = [rows_of(group) for group in query.wanted]
    return tuple([group for group in groups if group]), rows_of(query.unwanted)


def expression(groups: Iterable[Sequence[Way]]) -> str:
    """For an index: one row of each group; empty where no group has a row."""
    return " AND ".join(found for found in map(_any_of, groups) if found)


def without(found: str, unwanted: Sequence[Way]) -> str:
    """For an index: what was found, and none of these rows."""
    excluded = _any_of(unwanted)
    return f"({found}) NOT {excluded}" if found and excluded else found


def content_terms(text: str) -> list[str]:
    """The tokens of a sentence that say what it is about, each once, in order.

    For ranking by any of them. Small words are left out unless there are no others.
    """
    return [way.tokens[0] for way in content_ways(text)]


def content_ways(text: str) -> list[Way]:
    """The same as rows of one token each. A character that stands alone is the beginning of a
    pair.
    """
    rows = [row for piece in text.split() for row in alternatives(piece)]
    alone = {row[-1] for row in rows if is_paired(row[-1]) and not _ends_a_pair(row)}
    words = [word for row in rows for word in (row[:-1] if _ends_a_pair(row) else row)]
    found = {stem(word): word in alone for word in content_words(words)}
    return [Way(tokens=(token,), open_ended=open_ended) for token, open_ended in found.items()]


def is_plain(query: str) -> bool:
    """Whether a query is words alone: no phrase, no beginning, no operator that does something."""
    asked = parse(query)
    return not asked.unwanted and all(
        len(group) == 1 and isinstance(group[0], Word) for group in asked.wanted
    )


def content_query(query: str) -> Query:
    """What to show of a text that was found by any of these words; a query that is more than words
    stays as it is."""
    asked = parse(query)
    if not is_plain(query):
        return asked
    content = set(content_terms(query[:QUERY_CHARS_MAX]))
    kept = [group for group in asked.wanted if not content.isdisjoint(_tokens_of(group))]
    return Query(wanted=tuple(kept))


def _tokens_of(group: Iterable[Word | Phrase | Prefix]) -> list[str]:
    return [token for way in rows_of(group) for token in way.tokens]


def ways(item: Word | Phrase | Prefix) -> tuple[Way, ...]:
    """All rows of tokens that meet the item; none where it has no words."""
    match item:
        case Word():
            return _of_word(item.text)
        case Phrase():
            rows = alternatives(item.text) if len(item.text.split()) == 1 else (row(item.text),)
        case Prefix():
            return _begun(item.text)
    return tuple([_closed(words) for words in rows if words])


def _of_long_word(text: str) -> tuple[Way, ...]:
    return tuple(dict.fromkeys([_closed(words) for words in alternatives(text) if words]))


_of_short_word = lru_cache(_REMEMBERED_MAX)(_of_long_word)


def _of_word(text: str) -> tuple[Way, ...]:
    return (_of_short_word if len(text) <= _REMEMBERED_CHARS_MAX else _of_long_word)(text)


def _items(query: str) -> Iterator[Word | Phrase | Prefix | str]:
    text = query[:QUERY_CHARS_MAX]
    for piece in (pieces := _plain_pieces(text)):
        if piece in _OPERATORS:
            yield piece
        elif _of_word(piece):
            yield Word(text=piece)
    if pieces:
        return
    for found in _PIECE().finditer(text if text.isascii() else text.translate(_QUOTES)):
        phrase, word = found["phrase"], found["word"]
        if word in _OPERATORS:
            yield word
            continue
        if phrase is not None:
            item = Prefix(text=phrase) if found["open"] else Phrase(text=phrase)
        else:
            item = _word(word)
        if ways(item):
            yield item


def _plain_pieces(text: str) -> list[str]:
    """What stands between white space, where each of it is a word or an operator."""
    return text.split() if text.isascii() and _BEYOND_WORDS.isdisjoint(text) else []


def _word(text: str) -> Word | Prefix:
    """One asterisk at the end makes a prefix; more, or one before the word too, are markup."""
    begun = text.rstrip(_CLOSING)
    if begun.endswith("*") and begun[0] != "*" and begun[-2] != "*":
        return Prefix(text=begun[:-1])
    return Word(text=text)


def _closed(words: Tokens) -> Way:
    """The row as an index holds it. A character at the end of a run is the beginning of a pair."""
    if len(words) > PHRASE_TOKENS_MAX:
        return Way(tokens=_stems(words[:PHRASE_TOKENS_MAX]))
    if _ends_a_pair(words):
        return Way(tokens=_stems(words[:-1]))
    return Way(tokens=_stems(words), open_ended=is_paired(words[-1]))


def _begun(text: str) -> tuple[Way, ...]:
    """The row with its last word as a beginning, and as the stems that do not show it."""
    *before, last = text.split() or [""]
    head = row(" ".join(before))
    found: list[Way] = []
    for tail in alternatives(last):
        words = (*head, *tail)
        end = words[-1]
        if is_paired(end) or len(words) > PHRASE_TOKENS_MAX:
            found.append(_closed(words).replace(open_ended=len(words) <= PHRASE_TOKENS_MAX))
            continue
        stems = _stems(words[:-1])
        found.append(Way(tokens=(*stems, end), open_ended=True))
        found += [Way(tokens=(*stems, beyond)) for beyond in _beyond(end, alone=not stems)]
    return tuple(found)


def _beyond(prefix: str, *, alone: bool) -> Iterable[str]:
    """The stems of words that begin so and do not. Beyond ASCII the word itself is held, alone."""
    if prefix.isascii():
        return stems_beyond(prefix) if prefix.isalpha() else ()
    return () if alone or stem(prefix) == prefix else (stem(prefix),)


def _ends_a_pair(words: Tokens) -> bool:
    """Whether the last character is there only because a run ends with the pair before it."""
    if len(words) < 2 or not is_paired(words[-1]):
        return False
    return words[-2] != words[-1] and words[-2].endswith(words[-1])


def _stems(words: Tokens) -> Tokens:
    return tuple(map(stem, words))


def rows_of(items: Iterable[Word | Phrase | Prefix]) -> tuple[Way, ...]:
    """Every row of tokens that meets one of the items, once."""
    return tuple(dict.fromkeys([way for item in items for way in ways(item)]))


def _any_of(ways: Sequence[Way]) -> str:
    if len(ways) == 1:
        return quoted(ways[0])
    rows = dict.fromkeys(map(quoted, ways))
    return " OR ".join(rows) if len(rows) < 2 else f"({' OR '.join(rows)})"


@lru_cache(_REMEMBERED_MAX)
def quoted(way: Way) -> str:
    """One row of tokens for an index."""
    return f'"{" ".join(way.tokens)}"{" *" if way.open_ended else ""}'
