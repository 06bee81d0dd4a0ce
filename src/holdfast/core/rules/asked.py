"""What somebody asks of the memory itself: to keep a fact, or to forget one, at once.

Only the user's own words count, and only where they ask: no question, no quotation, nothing that is
pasted, played or commanded. What is kept is the fact, in the third person, and not the sentence.
"""

from __future__ import annotations

import re

from holdfast.core.rules import guards
from holdfast.core.rules.clauses import clauses, raised, trimmed
from holdfast.core.rules.settle import words_of
from holdfast.core.rules.speech import Sentence, sentences
from holdfast.core.rules.work import fact_kept, is_of_the_person, what_to_keep
from holdfast.core.text import normal_form
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from holdfast.model.profile import File

WORDS = ("remember", "forget", "note", "mind", "record", "fyi", "aware")
# So much of what is to be forgotten an entry must say, where it does not say all of it.
FORGOTTEN_MIN = 0.6

_POLITE = re.compile(
    r"^(?:can|could|would|will) (?:you|u) (?:please |pls )?(?=(?:remember|make a note|take a note|"
    r"keep in mind|forget)\b)",
    re.IGNORECASE,
)
_FORGET = re.compile(
    r"^(?:(?:please|also|and|now|can you|could you) )*(?:forget|stop remembering) "
    r"(?:that (?!(?:one|thing|bit|part|last|for now|now|please)?$)|"
    r"(?:what i (?:said|told you) about|everything (?:you know )?about|the fact that) )"
    r"(?P<what>.{3,300})$",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"^(?:(?:please|can you|could you)[, ]+)*(?:remember(?: that)?|don't forget(?: that)?|"
    r"(?:make|take) a note(?: that| of)?|note(?: that| to self)?|(?:keep|bear) in mind(?: that)?|"
    r"for the record|fyi)[:,]?\s+(?P<what>.+)$",
    re.IGNORECASE | re.DOTALL,
)


class Asked(Value):
    """To keep or to forget a fact. `file` is where it belongs when it is kept."""

    what: Literal["remember", "forget"]
    fact: str
    file: File = "MEMORY"


def may_ask(text: str) -> bool:
    """Whether it is worth to look: most messages ask for nothing of the kind."""
    folded = text.casefold()
    return any(word in folded for word in WORDS)


def asked_in(text: str) -> Iterator[Asked]:
    """What a message of the user asks for, in its order."""
    if guards.tries_to_command(text) or guards.begins_play(text):
        return
    for sentence in sentences(text):
        asked = _asked(sentence)
        if asked is not None:
            yield asked


def asked_plainly(text: str) -> Asked | None:
    """The same of a text that was given to be remembered: it is the fact where it asks for
    nothing. None where it is a question."""
    asked = list(asked_in(text))
    if len(asked) == 1 and len(sentences(text)) == 1:
        return asked[0]
    line = trimmed(text) if "\n" not in text.strip() else text.strip()
    first = next(iter(sentences(line)), None)
    if first is not None and _asks(first.replace(asks=line.endswith("?"))):
        return None
    forget = _FORGET.match(line)
    if forget is not None:
        return Asked(what="forget", fact=_fact(forget["what"]))
    found = _PLAIN.match(line)
    return _kept(found["what"] if found else line)


def _asked(sentence: Sentence) -> Asked | None:
    text = next((clause.whole for clause in clauses(sentence.text)), "")
    polite = _POLITE.match(text)
    text = text[polite.end() :] if polite else text
    if guards.left_alone(sentence.replace(text=text, asks=sentence.asks and not polite)):
        return None
    forget = _FORGET.match(trimmed(text))
    if forget is not None:
        return Asked(what="forget", fact=_fact(forget["what"]))
    what = what_to_keep(text)
    return None if what is None else _kept(what)


def _asks(sentence: Sentence) -> bool:
    polite = _POLITE.match(sentence.text)
    text = sentence.text[polite.end() :] if polite else sentence.text
    asks = sentence.replace(text=text, asks=sentence.asks and not polite)
    return guards.left_alone(asks) == "question"


def _kept(what: str) -> Asked:
    what = re.sub(r"(?i)^to (?=[a-z])", "", what)
    return Asked(
        what="remember", fact=_fact(what), file="USER" if is_of_the_person(what) else "MEMORY"
    )


def _fact(what: str) -> str:
    return fact_kept(what) if "\n" not in what else raised(what.strip())


def meant(fact: str, texts: Sequence[str]) -> tuple[int, ...]:
    """Which of the texts somebody means who says a fact: the one, or all that fit as well."""
    wanted = words_of(fact)
    if not wanted:
        return ()
    scored = [(_fit(fact, wanted, text), place) for place, text in enumerate(texts)]
    best = max((score for score, _ in scored), default=0.0)
    if best < FORGOTTEN_MIN:
        return ()
    return tuple(place for score, place in scored if score == best)


def _fit(fact: str, wanted: frozenset[str], text: str) -> float:
    """2 where it says just that, 1 where it says it among other things, else the share of it."""
    if normal_form(fact) == normal_form(text):
        return 2
    return len(wanted & words_of(text)) / len(wanted)
