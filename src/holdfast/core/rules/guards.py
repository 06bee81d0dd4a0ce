"""What is left alone: sentences that state nothing that their writer holds to be so.

Questions, what is only supposed, what others said, jokes, play, secrets, and sentences that try to
give orders to whoever keeps the memory. A sentence that might be one of these is dropped: a fact
that is missed will be said again, and a wrong one stays.
"""

from __future__ import annotations

import re

from holdfast.core.rules.speech import QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.rules.speech import Sentence

_ASKS = re.compile(
    r"^(?:(?:and|but|so|ok|okay|hey|hmm+|hm|well|or|um)\b[, ]+)*(?:"
    r"(?:who|whom|whose|which|why|how|where|what)\b(?!ever)|when (?:is|are|was|were|do|does|"
    r"did|will|can)\b|"
    r"(?:is|are|am|was|were|does|did|has|have|had|can|could|would|will|shall|should|may|"
    r"might|do|isn't|"
    r"aren't|wasn't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|haven't|hasn't) "
    r"(?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|your|our|his|her|their|"
    r"anyone|anybody|someone|everyone)\b)",
    re.IGNORECASE,
)
# A request that has the form of a question.
REQUEST = re.compile(
    r"^(?:(?:and|but|so|ok|okay|oh|hey|well|also)\b[, ]+)*(?:can|could|would|will) (?:you|"
    r"u) (?:also )?"
    r"(?:please |pls )?(?=(?:please |pls )?(?:always|never|keep|stop|avoid|make sure|"
    r"address|call me|answer|"
    r"not use|use|write|give|format|reply)\b)",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:(?<!even )if (?:i|you|we|the|there|that|it|he|she|they|only|my|our)\b|what if|"
    r"suppos(?:e|ing)|imagine|"
    r"imagin(?:e|ing)|let'?s (?:say|pretend|assume|imagine)|pretend|hypothetical|"
    r"hypothetically|in theory|"
    r"assum(?:e|ing)|were i|i wish|would have|would've|maybe|mayb|perhaps|might|possibly|"
    r"probably|i guess|"
    r"dunno|idk|not sure|unsure|thinking (?:about|of)|considering|wondering|i wonder|for example|"
    r"for instance|e\.g\.?|could|one day|some ?day|at some point|in a perfect world|say i|"
    r"i(?:'d| would) (?:prefer|like|love|hate|never|always|want|decide|eat|buy|do|use)\b(?! "
    r"(?:plots|to have))|"
    r"(?:we|i) (?:may|wouldn't) (?!not)|we'd)\b",
    re.IGNORECASE,
)
_WISHES = re.compile(
    r"\bi(?:'d| would) (?:rather|like)\b.{0,60}\b(?:than|instead of|over)\b", re.IGNORECASE
)
_JOKES = re.compile(
    r"\b(?:lol|lmao|rofl|haha\w*|hehe\w*|hihi|jk|just kidding|kidding|said no one|yeah "
    r"right)\b|(?:^|\s)/s\b|😂|🤣|😜|😉|😏|🙃|(?:^|\s)[;:]-?[)pP]|[;:]-?[P]\b|;\)|\bsaid no\b",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:he|she|they|somebody|someone|people|everybody|everyone|(?:my|our|his|her|the|a|"
    r"one) [\w']+(?: [\w']+)?|"
    r"[A-Z][\w']+) (?:said|says|say|told|tells|claims?|claimed|thinks?|thought|asked|wrote|"
    r"writes|argues?|"
    r"suggest(?:s|ed)|insists?|believes?|swears?)\b(?! (?:goodbye|hello|hi)\b)|"
    r"(?i:\baccording to\b|\bas they say\b|"
    r"\bthey say\b|\bquote\b)|\bin the (?:movie|film|book|story|song|novel)\b|^you (?:are|"
    r"'re) an? \w+ (?:assistant|bot|expert)|"
    r"^your name is\b|\bthe user\b|^(?:act|behave) as\b",
)
_SECRET = re.compile(
    r"\b(?:pass ?words?|passwd|passphrase|pass ?codes?|pins?\b(?= (?:is|for|code|number))|"
    r"pin code|api[ _-]?keys?|"
    r"secret key|access key|private key|aws key|credentials?|credit card|card number|cvv|"
    r"iban|ssn|social security|"
    r"passport (?:number|no)|login is|db login|auth token|bearer|as the token|2fa|otp|"
    r"recovery code|seed phrase)\b|"
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9]{12}|"
    r"\bgh[pousr]_[A-Za-z0-9]{16}|\bAKIA[A-Z0-9]{12}|"
    r"\bxox[abp]-|\beyJ[A-Za-z0-9_-]{12}|-----BEGIN|\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}\b|"
    r"\b\d{3}-\d\d-\d{4}\b|"
    r"\b(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[a-z])"
    r"[A-Za-z0-9+/_-]{28,}",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|earlier|"
    r"above|all|your|any)\b.{0,20}"
    r"\b(?:instructions?|rules?|guidelines?|prompts?|safety|directives?)\b|\[/?inst\]|<\|"
    r"?\w*(?:system|im_start)|"
    r"^\W*(?:system|assistant|developer)\s*:|\bnote to (?:ai|the ai|the assistant|llm)\b|"
    r"\bobey me\b|\byour guidelines\b|"
    r"\b(?:i am|i'm) (?:an |the |your )?(?:admin|administrator|root|developer|creator)\b|"
    r"\bsystem prompt\b|\bjailbreak",
    re.IGNORECASE,
)
_PLAY_BEGINS = re.compile(
    r"\b(?:let'?s (?:pretend|play|role-?play|imagine)|pretend (?:to be|that|you|i|we)|"
    r"role-?play|act as|act like|"
    r"you are now|play the (?:role|part)|in character|be my \w+ for)\b",
    re.IGNORECASE,
)
_PLAY_ENDS = re.compile(
    r"\b(?:stop (?:pretending|playing|acting)|back to normal|enough (?:of|with)|ok enough|"
    r"end (?:of )?(?:role|scene|game)|"
    r"out of character|no more pretending|be yourself|game over|let'?s stop)\b",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"\b(?:story|novel|tale|poem|scene|play|script|screenplay)\b.{0,40}\bfirst person\b|"
    r"\bfirst person\b.{0,40}\b(?:story|tale|poem)\b",
    re.IGNORECASE,
)


def tries_to_command(text: str) -> bool:
    """Whether a message gives orders to whoever keeps the memory: then none of it is kept."""
    return _ORDERS.search(text[:20_000]) is not None


def begins_play(text: str) -> bool:
    return (
        _PLAY_BEGINS.search(text[:2_000]) is not None or _FICTION.search(text[:2_000]) is not None
    )


def ends_play(text: str) -> bool:
    return _PLAY_ENDS.search(text[:2_000]) is not None


def holds_secret(text: str) -> bool:
    return _SECRET.search(text) is not None


def left_alone(sentence: Sentence) -> str:
    """Why a sentence states nothing to keep; empty where it may."""
    text = sentence.text
    if QUOTE in text:
        return "quoted"
    if holds_secret(text):
        return "secret"
    if _JOKES.search(text):
        return "joke"
    if REQUEST.match(text):
        return ""
    if sentence.asks or _ASKS.match(text):
        return "question"
    if _SUPPOSES.search(text) and not _WISHES.search(text):
        return "supposed"
    if _REPORTS.search(text):
        return "reported"
    return ""
