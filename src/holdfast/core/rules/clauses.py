"""A sentence as the rules read it: clauses without their fillers, and a clause as a fact.

A fact is terse, in the third person or neutral, and holds no word of content that was not said: the
words that the rules add are those of `FRAME`.
"""

from __future__ import annotations

import re

from holdfast.core.rules.lexicon import word_set
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_CHARS_MAX = 200

# Every word that a rule may add to what was said.
FRAME = word_set("""
    name role company place timezone prefers dislikes wants likes works lives has uses never
    always answer call decided decision deadline failed fixed by help did not work helped steps
    problem failing the them they their no longer user on at is
""")

_CONTRACTED = {
    "im": "i'm",
    "ive": "i've",
    "dont": "don't",
    "doesnt": "doesn't",
    "didnt": "didn't",
    "cant": "can't",
    "wont": "won't",
    "isnt": "isn't",
    "arent": "aren't",
    "youre": "you're",
    "thats": "that's",
    "lets": "let's",
    "shouldnt": "shouldn't",
    "couldnt": "couldn't",
    "wouldnt": "wouldn't",
    "havent": "haven't",
    "hasnt": "hasn't",
    "plz": "please",
    "pls": "please",
    "u": "you",
    "ur": "your",
    "theyre": "they're",
    "cannot": "can't",
    "whats": "what's",
    "everyones": "everyone's",
}
_LONG = re.compile(
    r"\b(" + "|".join(sorted(_CONTRACTED, key=len, reverse=True)) + r")\b(?!')", re.IGNORECASE
)
_ID_RATHER = re.compile(r"\bid (?=rather|prefer|like\b)", re.IGNORECASE)

_LEAD = re.compile(
    r"(?:(?P<greeting>hi|hello|hey|yo|good (?:morning|afternoon|evening|day)|greetings)(?: "
    r"there| again| all)?\b|"
    r"(?P<corrects>actually|acutally|sorry|correction|wait|nope|no(?=,| no| wait|:)|i mean|"
    r"i meant|scratch that|"
    r"oops|my mistake|ah no|on second thought)\b|"
    r"(?P<then>(?:ok|okay|so|well|oh|ooh|omg|ah|yes|yeah|yep|yup|right|great|perfect|thanks|"
    r"thank you|thx|cool|sure|alright|"
    r"fine|anyway|anyways|um|uh|hmm+|hm|btw|by the way|also|and|but|then|plus|context|for "
    r"context|just so you know|"
    r"as i said|please note|one more thing|note|first|fyi|me|ok then|good|done|next|because|"
    r"since|like|just|though|"
    r"just so you have the context|you know|look|listen|frankly|honestly|in fact|kindly|"
    r"we're good|same here)\b))"
    r"(?:\s*[,.!:\u2013-]+\s*|\s+)",
    re.IGNORECASE,
)
_NEEDS_PAUSE = frozenset(
    [
        "me",
        "right",
        "fine",
        "good",
        "done",
        "next",
        "like",
        "great",
        "perfect",
        "first",
        "note",
        "context",
        "look",
        "cool",
        "sure",
        "well",
        "just",
    ]
)
_SUBJECT = (
    r"(?:i|i'm|i am|i've|i'd|i'll|we|we're|we've|we'll|my|our|it's|he|she|they|you|let's|"
    r"(?:never|always)(?= \w)|don't|no one|nobody|everyone|"
    r"people|please|no|use|call me|there|dates?|name's)"
)
_BOUNDARY = re.compile(
    rf",?\s+(?:and|but|so|because|though|although|just so)\s+(?={_SUBJECT}\b)|"
    rf"[,;:]\s+(?={_SUBJECT}\b(?!$))|;\s+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,]+(?:by the way|btw|please|thanks|thank you|thx|ok|okay|though|tho|too|as well|"
    r"lol|yet|i'm afraid|"
    r"i think|you know|in case you .{1,40}|all right|so far|right now|at the moment|these "
    r"days|after all|now|or so|"
    r"if possible|if you can|for me|just so you .{1,40}))+[\s,.!]*$",
    re.IGNORECASE,
)
_EDGE = " \t,.;:!-–—…"

_PERSONS = (
    (re.compile(r"\b(?:I am|I'm|i am|i'm)\b"), "they are"),
    (re.compile(r"\b(?:I've|i've)\b"), "they have"),
    (re.compile(r"\b(?:I'd|i'd)\b"), "they would"),
    (re.compile(r"\b(?:I'll|i'll)\b"), "they will"),
    (re.compile(r"\b[Ii]\b(?![/.'-])"), "they"),
    (re.compile(r"\bme\b", re.IGNORECASE), "them"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\b[Mm]y\b"), "their"),
    (re.compile(r"\b[Mm]ine\b"), "theirs"),
    (re.compile(r"\b(?:[Oo]ur)\b"), "the"),
    (re.compile(r"\b(?:we're)\b", re.IGNORECASE), "they are"),
    (re.compile(r"\b(?:we've)\b", re.IGNORECASE), "they have"),
    (re.compile(r"\b(?:we'll)\b", re.IGNORECASE), "they will"),
    (re.compile(r"\b(?:we)\b", re.IGNORECASE), "they"),
)
_LEADING_SELF = re.compile(
    r"^(?:i'm|i am|we're|we are|i'll|we'll|i've|we've|i|we)\s+", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")


class Clause(Value):
    """A part of a sentence with a subject of its own, without its fillers.

    `whole` is the sentence that it is of. `corrects` where it begins as a correction does, `greets`
    where it, or what stood before it in the message, is a greeting.
    """

    text: str
    whole: str
    corrects: bool = False
    greets: bool = False
    head: bool = False


def clauses(sentence: str) -> Iterator[Clause]:
    """The clauses of a sentence in their order; the first one carries its leads."""
    text = _ID_RATHER.sub("I'd ", _LONG.sub(_contracted, sentence))
    whole, corrects, greets = _without_leads(text)
    start, head = 0, True
    for boundary in (*_BOUNDARY.finditer(whole), None):
        end = boundary.start() if boundary else len(whole)
        part, again, greeting = _without_leads(whole[start:end])
        if boundary and boundary[0].strip().endswith(":"):
            part = whole[start:end]
        if part:
            yield Clause(
                text=part,
                whole=whole,
                corrects=corrects or again,
                greets=greets or greeting,
                head=head,
            )
        start, head = (boundary.end() if boundary else end), False


def _contracted(found: re.Match[str]) -> str:
    return _CONTRACTED[found[1].lower()]


def _without_leads(text: str) -> tuple[str, bool, bool]:
    corrects = greets = False
    text = text.strip(_EDGE)
    for _ in range(6):
        found = _LEAD.match(text)
        if found is None:
            break
        then = (found["then"] or "").lower()
        if then in _NEEDS_PAUSE and not any(sign in found[0] for sign in ",.!:"):
            break
        corrects = corrects or bool(found["corrects"])
        greets = greets or bool(found["greeting"])
        text = text[found.end() :].strip(_EDGE)
    return text, corrects, greets


def trimmed(text: str) -> str:
    """Without what trails: courtesies, afterthoughts, signs."""
    text = _SPACE.sub(" ", text).strip(_EDGE)
    for _ in range(3):
        shorter = _TAIL.sub("", text).strip(_EDGE)
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def third(text: str) -> str:
    """The same words about somebody who is not the speaker."""
    for pattern, instead in _PERSONS:
        text = pattern.sub(instead, text)
    return text


def fact(text: str) -> str:
    """A terse statement from a clause: no leading self, third person, first letter raised."""
    text = third(_LEADING_SELF.sub("", trimmed(text)))
    return raised(cut(text))


def raised(text: str) -> str:
    plain = text[:1].islower() and text.split(maxsplit=1)[0].isalpha()
    return text[:1].upper() + text[1:] if plain else text


def cut(text: str) -> str:
    """At most so long, ending with a whole word."""
    if len(text) <= TEXT_CHARS_MAX:
        return text
    return text[:TEXT_CHARS_MAX].rsplit(" ", 1)[0].rstrip(_EDGE)
