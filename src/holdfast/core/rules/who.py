"""Who the user is: name, role, company, place, time zone, and what else stays true of a person."""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import fact, raised, third, trimmed
from holdfast.core.rules.finding import Finding
from holdfast.core.rules.lexicon import (
    CONDITIONS,
    FAMILY,
    ILLNESSES,
    NOT_NAMES,
    POSSESSED,
    ROLES,
    word_set,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from holdfast.core.rules.clauses import Clause
    from holdfast.core.rules.finding import FindingKind

_WORD = r"[^\W\d_][\w'’-]*"
_CAPITAL = r"[A-ZÀ-ÖØ-ÞŁŚŻŽČŠŌĀÅÆŐĐİ][\w'’&.-]*[\w]|[A-Z]"
_NAMED = re.compile(
    r"^(?:my (?:first |full |given |nick ?)?name(?: is|'s)|name's|the name's|name is|"
    r"(?:you (?:can|may) )?(?:just )?call me|i go by|"
    r"(?:people|friends|everyone|everybody|they|most people) calls? me|i(?: am|'m) called|"
    r"i'm known as)\s+"
    rf"(?P<name>{_WORD}(?:\s+(?:(?:de|da|van|von|der|al|el|bin|ibn|la|le|"
    rf"o)\s+)?(?:{_CAPITAL})){{0,3}}|{_WORD}(?:\s+{_WORD}){{0,2}}(?=$|,|\.| from\b))",
    re.IGNORECASE,
)
_I_AM = re.compile(
    r"^(?:[Ii](?: am|'m)|[Tt]his is|[Ii]t's|[Ii]t "
    rf"is)\s+(?P<name>(?:{_CAPITAL})(?:\s+(?:(?:de|da|van|von|der|al|"
    rf"el)\s+)?(?:{_CAPITAL})){{0,2}})"
    rf"(?P<after>$|\s*,|\s+from\b|\s+speaking\b|\s+here\b|\s+and\b|\s+in\b|\s+at\b)"
)
_HERE = re.compile(rf"^(?P<name>(?:{_CAPITAL})(?:\s+(?:{_CAPITAL}))?)\s+here\b")
_LOWER = re.compile(
    r"^(?:i'm|i am|its|it's|this is)\s+(?P<name>[a-z][a-z'-]{1,20})(?=$|,|\.|\s+from\b|\s+here\b)"
)
_NOT_ME = frozenset(["it", "this"])

_ROLE_WORD = r"[\w/&+'-]+"
_ROLE = re.compile(
    r"^(?:i(?: am|'m)|me)(?: (?:currently|now|also|mostly|originally))?\s+(?:an?\s+|the\s+|"
    rf"a\s+)?(?P<role>{_ROLE_WORD}(?:\s+(?!(?:at|for|with|in|based|and|from|on|who|that|"
    rf"working)\b){_ROLE_WORD}){{0,4}}"
    rf"(?:\s+of\s+(?!an?\b|the\b){_ROLE_WORD})?)(?P<rest>$|\W|\s)",
    re.IGNORECASE,
)
_WORK_AS = re.compile(
    r"^i work (?:mostly |freelance |part-time |full-time )?as (?:an? |the "
    rf")?(?P<role>{_ROLE_WORD}(?:\s+(?!(?:at|for|with|in|and|from|"
    rf"on)\b){_ROLE_WORD}){{0,3}})",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^(?:i|and i)\s+(?P<role>(?:lead|manage|run|head|own|direct|supervise|oversee|co-?own|"
    r"founded|co-?founded) (?:the |a |an |my own |our )"
    r"(?:\w[\w-]* ){0,3}(?:team|department|group|company|shop|bakery|restaurant|school|"
    r"studio|agency|farm|store|practice|startup|"
    r"business|cafe|café|bar|clinic|lab|library|newsletter|hotel|gallery|garage|nursery|"
    r"salon|firm|office|project|kitchen|band|choir|charity|ngo))\b",
    re.IGNORECASE,
)
_BARE_ROLE = re.compile(
    rf"^(?P<role>{_ROLE_WORD}(?:\s+(?!at\b|for\b|in\b){_ROLE_WORD}){{0,3}})(?:,?\s+(?:at|"
    rf"for)\s+(?P<company>{_ROLE_WORD}))(?:$|,)",
    re.IGNORECASE,
)
_BESIDE_NAME = re.compile(
    r",\s+(?:an?|the)\s+(?P<role>[\w/&+'-]+(?: (?!at\b|for\b|in\b)[\w/&+'-]+){0,4})"
)
_NOT_OWN = word_set("not no just your his her their the such like")
# Roles that are something else as often.
_ALSO = word_set("lead head partner freelance assistant owner guide coder")
_TRANSLATES = re.compile(r"^i (?:translate|teach)\b[^,]{0,60}", re.IGNORECASE)

_COMPANY_NAME = (
    rf"(?P<company>(?:the\s+)?(?:{_CAPITAL})(?:\s+(?:&\s+|of\s+|and\s+(?={_CAPITAL})|"
    rf"the\s+)?(?:{_CAPITAL})){{0,3}}"
    r"|(?:the )?(?:city|university|ministry|bank|town|state|port|museum) of [A-Z]\w+)"
)
_EMPLOYED = re.compile(
    rf"(?:^(?i:i|i'm|i am)\b.{{0,60}}?\b|^)(?i:work(?:ing)?(?: nights| days| part-time| "
    rf"full-time| freelance| remotely)?(?: on [\w ]{{1,30}}?)? (?:at|for)|employed (?:at|"
    r"by)|i joined|i(?:'ve| have) (?:just |recently )?joined|(?:i )?(?:just )?started (?:a "
    rf"new job )?at)\s+{_COMPANY_NAME}"
)
_OF_COMPANY = re.compile(
    r"(?i:\bteam|department|group|startup|company|agency|firm|studio|"
    rf"\b(?:{'|'.join(sorted(ROLES))}))(?i:,?\s+(?:at|of|for|with)\s+)(?:(?i:an?\s+[\w ]"
    rf"{{1,30}}?called\s+|the\s+company\s+))?{_COMPANY_NAME}"
)
_CALLED_COMPANY = re.compile(
    rf"(?i:\b(?:startup|company|agency|firm|studio|band|shop|bakery)\b[\w ]{{0,15}}\b(?:call"
    rf"ed|named))\s+{_COMPANY_NAME}"
)
_LOWER_COMPANY = re.compile(
    r"^(?:i work|i'm working|i joined) (?:at|for) (?P<company>[a-z][\w.-]+)(?=$|,| as\b| in\b)",
    re.IGNORECASE,
)
_VAGUE = word_set("""
    the a an my home night nights this that least once first it here there school work myself them
    him her me us you our free now university uni college call late team
""")

_PLACE_NAME = (
    rf"(?P<place>(?:the\s+)?(?:{_CAPITAL})(?:[ -](?:{_CAPITAL}|am|de|la|del|"
    rf"upon))*(?:,\s+(?:{_CAPITAL})(?:\s(?:{_CAPITAL}))?)?)"
)
_PLACE = re.compile(
    r"(?:\b(?i:i (?:now |currently )?live|i(?:'m| am) (?:now |currently )?(?:based|living|"
    r"located)|and (?:live|based)|"
    r"i(?:'ve| have)? (?:just |recently )?(?:moved|relocated)|\bbased|and i'm "
    rf"based)\s+(?i:in|to|near|out of|outside)\s+){_PLACE_NAME}"
)
_PLACE_OF_WORK = re.compile(
    r"^(?i:i (?:work|study|run|teach|garden|practise|practice|farm|am studying|own|manage)|"
    rf"i(?:'m| am) (?:an? )?)\b[^,.]{{0,60}}?\s(?:in)\s+{_PLACE_NAME}(?=$|,|\.|\s+and\b)"
)
_FROM = re.compile(rf"^(?i:i(?:'m| am)(?: [\w]+)? from)\s+{_PLACE_NAME}(?=$|,)")
_LOWER_PLACE = re.compile(
    r"^(?:i (?:now )?live|i'm (?:now )?based|i moved|i am based|i run the [\w ]{1,20}) "
    r"(?:in|to) (?P<place>[a-z]+(?: [a-z]+)?)(?=$|,)"
)
_NOT_PLACES = word_set("""
    a an the my our your it that this fear peace harmony hope trouble general particular java
    python rust english german french spanish excel it's january february march april may june
    july august september october november december monday tuesday wednesday thursday friday
    saturday sunday html css go c r sql 2019 2020 2021 2022 2023 2024 2025
""")

_ZONE = (
    r"(?P<zone>(?:utc|gmt)(?:\s?[+-]\s?\d{1,2}(?::\d\d)?)?|cest|cet|[ecmp][sd]t|[ecmp]t|ist|"
    r"jst|bst|wet|eet|aest|(?:us )?(?:eastern|pacific|central|mountain)(?: (?:standard |"
    r"daylight )?time)?|[A-Z][a-z]+/[A-Z][a-z_]+|[A-Z][a-z]+ time)"
)
_TIMEZONE = re.compile(
    r"^(?:my time ?zone(?: is|'s|:)|i(?:'m| am| work| live)? (?:in|on)(?: the)?|our time "
    rf"?zone is)\s+{_ZONE}\b(?P<next>\s+time ?zone)?(?=$|[\s,])",
    re.IGNORECASE,
)

_PERSONAL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^i(?:'m| am) (?:very |severely |mildly |also |an? )?allergic to (?!you\b|"
        r"mondays\b|work\b|meetings\b)[\w ,-]{2,60}",
        rf"^i(?:'m| am) (?:an? |strictly |mostly |also )?{CONDITIONS}\b(?! (?:spot|to|about))",
        rf"^i have (?:a |some |mild |severe )?{ILLNESSES}\b",
        rf"^i have (?:\d+|one|two|three|four|five|six|a|an|no) (?:\w+ )?{POSSESSED}\b",
        r"^i (?:can't|don't|do|never) eat [\w ,-]{2,50}",
        r"^my (?:birthday|pronouns|birth date|date of birth|native language|mother tongue|"
        r"first language|nationality|star sign|shoe size|blood type|hometown|home town|"
        r"hobby|hobbies) (?:is|are)\b.{2,60}",
        rf"^my (?:\w+ )?{FAMILY}(?:'s)? (?:(?:is|are) (?:called|named)|name(?: is|"
        rf"'s))\s+\w.{{1,40}}",
        r"^i (?:natively |also )?speak (?!for\b|up\b|to\b|with\b|as\b|of\b|about\b|only "
        r"of\b)[A-Z][\w, ]{2,60}",
        r"^i(?:'m| am) (?:currently |also )?writing (?:my|a|an) (?:\w+ ){0,2}(?:novel|book|"
        r"thesis|dissertation|memoir|screenplay|phd|musical|play)\b.{0,60}",
        r"^i (?:study|studied|am studying|'m studying) (?!the\b|this\b|it\b|your\b|how\b|"
        r"for\b)[a-z][\w ]{2,40}",
        r"^i'm studying (?!the\b|this\b|it\b|your\b|how\b|for\b)[a-z][\w ]{2,40}",
        r"^i play (?:the )?(?:bass|guitar|piano|drums|violin|cello|flute|trumpet|saxophone|"
        r"clarinet|viola|harp|banjo|ukulele|chess|tennis|football|basketball|rugby|cricket|"
        r"hockey)\b.{0,60}",
        r"^i(?:'m| am) (?:\d\d|\d\d years old)$",
        r"^i'm (?:fluent in|a native speaker of|a native) [\w ]{3,40}",
    )
)


def about_the_user(clause: Clause, said: date) -> Iterator[Finding]:
    """Facts about the person who speaks, said by that person."""
    del said
    yield from _name(clause)
    yield from _work(clause)
    yield from _company(clause)
    yield from _place(clause)
    zone = _TIMEZONE.match(clause.text)
    if zone is not None:
        yield _single("timezone", "Timezone", zone["zone"], 0.9, clause)
    for pattern in _PERSONAL:
        found = pattern.match(clause.text)
        if found is not None:
            yield Finding(
                kind="personal", text=_personal(found[0]), confidence=0.85, corrects=clause.corrects
            )
            break


def _single(
    kind: FindingKind, label: str, value: str, confidence: float, clause: Clause
) -> Finding:
    return Finding(
        kind=kind,
        text=f"{label}: {trimmed(value)}",
        confidence=confidence,
        corrects=clause.corrects,
    )


def _name(clause: Clause) -> Iterator[Finding]:
    text = clause.text
    found = _NAMED.match(text) or _HERE.match(text)
    confidence = 0.95
    if found is None:
        found, confidence = _I_AM.match(text), 0.85
        if (
            found is not None
            and text.lower().startswith(("it's", "it is", "this is"))
            and not clause.greets
            and found["after"].strip() in ("", "and", "in", "at")
        ):
            found = None
    if found is None and clause.greets:
        found, confidence = _LOWER.match(text), 0.7
    if found is None:
        return
    words = found["name"].split()
    while len(words) > 1 and words[-1].lower() in NOT_NAMES | {
        "btw",
        "please",
        "when",
        "if",
        "and",
        "but",
        "or",
        "from",
        "who",
    }:
        words.pop()
    if (
        words[0].lower() in NOT_NAMES
        or words[0].lower().endswith("ing")
        or words[-1].endswith("'s")
    ):
        return
    if (
        words[0].lower() in ROLES
        or any(word.isupper() and len(word) > 3 for word in words)
        or "-" in words[0][:1]
    ):
        return
    if len(words) == 1 and words[0].isupper() and len(words[0]) > 1 and confidence < 0.9:
        return
    yield _single("name", "Name", " ".join(words), confidence, clause)


def _work(clause: Clause) -> Iterator[Finding]:
    text = clause.text
    found = _WORK_AS.match(text)
    if found is not None:
        yield _single("role", "Role", found["role"], 0.9, clause)
        return
    beside = _BESIDE_NAME.search(text) if _NAMED.match(text) or _I_AM.match(text) else None
    if beside is not None and _role_in(beside["role"]):
        yield _single("role", "Role", _role_in(beside["role"]), 0.85, clause)
        return
    found = _LEADS.match(text)
    if found is not None:
        yield _single("role", "Role", third(found["role"]), 0.85, clause)
        return
    found = _ROLE.match(text) or _BARE_ROLE.match(text)
    if found is not None:
        role = _role_in(found["role"])
        if role:
            yield _single("role", "Role", role, 0.9, clause)
        return
    found = _TRANSLATES.match(text)
    if found is not None and not re.search(r"(?i) (?:this|it|that|these)\b", found[0]):
        yield _single("role", "Role", found[0][2:], 0.75, clause)


def _role_in(words: str) -> str:
    """The part of a phrase that ends with a word for what people do; empty where none does."""
    row = words.split()
    if "'s" in words or row[0].lower() in _NOT_OWN or (len(row) == 1 and row[0].lower() in _ALSO):
        return ""
    for place in range(len(row) - 1, -1, -1):
        if row[place].lower().strip(",.").rstrip("s") in ROLES:
            of = place + 1 < len(row) and row[place + 1].lower() == "of"
            return " ".join(row if of else row[: place + 1])
    return ""


def _company(clause: Clause) -> Iterator[Finding]:
    text = clause.text
    found = _EMPLOYED.search(text)
    if found is None and re.match(r"(?i)(?:i|i'm|me)\b", text):
        found = _CALLED_COMPANY.search(text) or _OF_COMPANY.search(text)
    if found is None:
        found = _LOWER_COMPANY.match(text)
    if found is None:
        bare = _BARE_ROLE.match(text)
        if bare is not None and _role_in(bare["role"]):
            found = bare
    if found is None or re.search(
        r"(?i)\b(?:don't|not|never|used to|no longer|anymore|any more)\b", text[: found.end() + 20]
    ):
        return
    company = found["company"].removeprefix("the ").strip(" .,'")
    if company.lower() in _VAGUE or company.lower() in NOT_NAMES:
        return
    yield _single("company", "Company", company, 0.9, clause)


def _place(clause: Clause) -> Iterator[Finding]:
    text = clause.text
    if re.search(
        r"(?i)\b(?:don't|not|never|used to|no longer|anymore|the file|the folder)\b", text
    ):
        return
    found = _PLACE.search(text)
    confidence = 0.9
    if found is None:
        found, confidence = _PLACE_OF_WORK.match(text) or _FROM.match(text), 0.75
    if found is None and not any(map(str.isupper, clause.whole)):
        found, confidence = _LOWER_PLACE.match(text), 0.75
    if found is None:
        i_am = _I_AM.match(text)
        if i_am is not None and "from" in i_am["after"]:
            found, confidence = re.match(rf"^.{{1,60}}? from {_PLACE_NAME}(?=$|,)", text), 0.75
    if found is None:
        return
    place = found["place"].strip(" .,")
    if place.split()[0].lower().removeprefix("the ") in _NOT_PLACES or "/" in place:
        return
    yield _single("place", "Place", place, confidence, clause)


def _personal(text: str) -> str:
    words = trimmed(text)
    if words.lower().startswith("my "):
        return raised(third(words[3:]))
    said = re.sub(r"(?i)^i have\b", "Has", words)
    return fact(said)
