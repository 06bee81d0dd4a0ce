"""What is around the user: people to ask, tools in use, facts of the project."""

from __future__ import annotations

import re

from holdfast.core.rules.clauses import cut, raised, third, trimmed
from holdfast.core.rules.finding import Finding
from holdfast.core.rules.lexicon import RELATIONS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from holdfast.core.rules.clauses import Clause

_MAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
_PHONE = r"(?:\+\d[\d ()/-]{6,18}\d|\b0\d{1,4}[ /-]?\d[\d -]{4,12}\d\b)"
_REACH = re.compile(rf"{_MAIL}|{_PHONE}")
_NAME = (
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss|Sir|Dame|dr|prof|ms|mr|mrs)\.? "
    r")?[A-ZÀ-ÖØ-ÞŁŚŻŽČŠŌ][\w'’-]+(?: (?:(?:de|da|van|von|der|al) )?[A-ZÀ-ÖØ-ÞŁŚŻ][\w'’-]+){0,2}"
)
_IS_OUR = re.compile(
    rf"^(?P<name>{_NAME}),? (?i:is|was made|acts as) (?i:our|my|the new|your) (?i:new |"
    rf"other |current )?(?P<role>(?i:{RELATIONS})(?: (?i:at|for|of|from) [\w ]{{2,40}})?)"
)
_OUR_IS = re.compile(
    rf"^(?i:my|our|the) (?i:new |current |other )?(?P<role>(?i:{RELATIONS}|cake lady|point "
    rf"of contact)(?: (?i:at|for|of|from|there) [\w ]{{2,30}}?)?)(?: (?i:is|=|'s|is called|"
    rf"is named)|:)? (?i:is )?(?P<name>{_NAME})"
)
_ASK = re.compile(
    rf"^(?i:for) (?P<what>[\w ]{{3,40}}?),? (?i:ask|contact|call|email|write to|talk to|"
    rf"ping) (?P<name>{_NAME})$"
)
_POINT = re.compile(
    r"^(?i:(?:the |our |my )?(?:point of )?contact(?: person)?)(?: (?i:at|for) "
    rf"(?P<what>[\w ]{{2,30}}?))? (?i:is) (?P<name>{_NAME})"
)
_REACHED = re.compile(
    rf"^(?i:you can |we )?(?i:reach|contact|email|call|write) (?i:to )?(?P<name>{_NAME}) "
    rf"(?i:at|on|under|via) (?P<reach>{_MAIL}|{_PHONE})"
)
_NUMBER_OF = re.compile(
    rf"^(?i:the|my|our) (?P<who>[\w ]{{3,30}})'s (?i:number|phone|e-?mail|mobile|address) "
    rf"(?i:is) (?P<reach>{_MAIL}|{_PHONE})"
)
_AFTER = re.compile(r"^(?:,? (?:from|of|at) (?P<org>[A-Z][\w ]{2,40}))?", re.UNICODE)

_TOOL_VERB = (
    r"(?:^(?:i|we|our team|the team|our company)(?: (?:mostly|mainly|currently|now|all|both|"
    r"usually|still|only|just|always|also|primarily))* (?:use|work with|work in|rely on|"
    r"standardi[sz]ed on|write in|code in)|"
    r"^(?:i'm|i am|we're|we are)(?: (?:currently|now|all|still|mostly))* (?:using|on|running)|"
    r"^our (?:tech )?stack is|^(?:we|i) (?:record|edit|draw|mix|write|design|track|model|"
    r"plan|chat|deploy|build|host|monitor|test|develop)(?: \w+)? (?:with|in|to|on|using)|"
    r"^(?:we|i) run(?: \w+){0,2}(?: on)?|^it's all)"
)
_USES = re.compile(rf"{_TOOL_VERB} (?P<what>(?:an? |the )?[\w.+#/-]+.*)$", re.IGNORECASE)
_SWITCHED = re.compile(
    r"^(?:i|we)(?:'ve| have| just| recently| finally)* (?:switched|moved|migrated|"
    r"changed)(?: over)?(?: from (?P<old>[\w.+# -]{2,30}?))? to (?P<what>[\w.+#-]+(?: "
    r"[\w.+#-]+)?.*)$",
    re.IGNORECASE,
)
_DEVICE = re.compile(
    r"^(?:my|our) (?P<what>(?:work |main |home )?(?:laptop|computer|pc|machine|phone|os|"
    r"operating system|editor|ide|shell|terminal|keyboard|desktop|workstation|tablet|camera|"
    r"printer|browser|mail client) (?:is|runs)\b .{2,60})",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(
    r"^(?:i|we) (?:don't|no longer|do not) use (?P<old>[\w.+#-]+(?: [\w.+#-]+)?)(?: any "
    r"?more)?, (?:but |instead )?(?:(?:i|we) )?use (?P<what>.+)",
    re.IGNORECASE,
)
_IS_ON = re.compile(
    r"^(?P<what>(?:the |our )?[\w-]+(?: [\w-]+)? (?:is|are|runs|run) (?:now )?on "
    r"(?P<tool>[\w.+#-]+).{0,40})$",
    re.IGNORECASE,
)
_NOT_TOOLS = re.compile(
    r"^(?:(?:an? |the )?(?:it|this|that|these|those|him|her|them|you|me|us|one|word|words|"
    r"term|same|wrong|right|first|second|your|his|their|to|time|lot|phrase|function|"
    r"top|way|track|board|call|hold|holiday|vacation|leave|break|fire|it's|fence|phone|"
    r"train|bus|plane|road|edge|desk|meeting|office|weekend|schedule|average|purpose|"
    r"my (?:phone|own|way)|budget|late|time|good|the same|coffee|pills|diet|out of|into|out|"
    r"around|away|tests?|force)\b|\d+$)",
    re.IGNORECASE,
)

_PART = (
    r"(?:(?:staging |production |prod |test |dev |build |main |mail |file |git |demo |"
    r"billing |web )?(?:ingress|database|db|queue|message queue|cache|orchestrator|ci|"
    r"registry|cluster|backend|back end|frontend|front end|"
    r"server|servers|repo|repos|repository|docs|documentation|wiki|tracker|issue tracker|"
    r"api|apis|host|domain|website|site|app|bucket|monorepo|service|services|arbitration "
    r"seat|"
    r"infra|infrastructure|broker|scheduler|proxy|load balancer|vpn|nas|backups?|logs|"
    r"dashboards?|secrets|code|schema|migrations?|tests|codebase|base image|shop|office|"
    r"store|warehouse|default branch|main branch))"
)
_PART_IS = re.compile(
    rf"^(?P<what>(?:(?:our|the|my) )?(?P<part>{_PART}) (?:is|are|lives?|runs?|sits?|stands?|"
    r"is hosted|are hosted|is deployed|listens?|is reachable|are kept|is kept|are stored|"
    rf"is stored)(?: (?:at|on|in|under|behind|to))? (?P<value>.{{2,80}}))$",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"^(?:we(?:'re| are)) (?P<what>(?:closed|open) (?:on|from|every|until|between) .{3,40})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\w\.\w|/\w|\w/|:\d{2,5}\b|\d+\.\d+")


def people(clause: Clause, said: date) -> Iterator[Finding]:
    """Who to ask: a name with what the person is to the user, and how to reach them."""
    del said
    text = trimmed(clause.text)
    reach = _REACH.search(clause.whole)
    end = f", {reach[0].strip()}" if reach is not None else ""
    found = _IS_OUR.match(text)
    if found is not None:
        yield _contact(f"{found['name']}: {found['role']}{end}", 0.9, clause)
        return
    found = _POINT.match(text) or _OUR_IS.match(text)
    if found is not None and not _kin(text):
        org = re.match(r",? (?:from|at|of) [A-Z][\w ]{2,40}", text[found.end() :])
        role = found.groupdict().get("role") or f"contact {found['what'] or ''}"
        yield _contact(f"{found['name']}: {role.strip()}{org[0] if org else ''}{end}", 0.9, clause)
        return
    found = _ASK.match(text)
    if found is not None:
        yield _contact(f"{found['name']}: {found['what']}", 0.8, clause)
        return
    found = _REACHED.match(text) or _NUMBER_OF.match(text)
    if found is not None:
        who = found.groupdict().get("name") or found["who"]
        yield _contact(f"{raised(who)}: {found['reach'].strip()}", 0.85, clause)


def _kin(text: str) -> bool:
    return (
        re.match(r"(?i)^the (?:manager|boss|doctor|customer|client|driver|owner|partner)\b", text)
        is not None
        and ":" not in text
    )


def _contact(text: str, confidence: float, clause: Clause) -> Finding:
    return Finding(
        kind="contact",
        text=cut(third(text)),
        confidence=confidence,
        corrects=clause.corrects,
        subject=text.split(":", maxsplit=1)[0],
    )


def tools(clause: Clause, said: date) -> Iterator[Finding]:
    """What the user works with. A word counts as a tool by itself, or by what it is used for."""
    del said
    text = trimmed(clause.text)
    found = _NOT_BUT.match(trimmed(clause.whole)) if clause.head else None
    if found is not None:
        yield _tool(f"Uses {third(found['what'])}, not {found['old']}", 0.9, clause, found["old"])
        return
    found = _SWITCHED.match(text)
    if found is not None and (_is_tool(found["what"]) or (found["old"] and _is_tool(found["old"]))):
        yield _tool(f"Uses {_item(found['what'])}", 0.85, clause, found["old"] or "")
        return
    found = _DEVICE.match(text)
    if found is not None and (
        _is_tool(found["what"].rsplit(" is ", 1)[-1]) or re.search(r"[A-Z]", found["what"])
    ):
        yield _tool(raised(third(found["what"])), 0.85, clause)
        return
    found = _USES.match(text)
    if found is not None and not _NOT_TOOLS.match(found["what"]) and _is_tool(found["what"]):
        for item in _items(found["what"]):
            yield _tool(f"Uses {item}", 0.85, clause, _denied(clause))
        return
    found = _IS_ON.match(text)
    if found is not None and found["tool"].lower().rstrip(".") in TOOLS:
        yield _tool(raised(third(re.sub(r"(?i)^(?:the|our) ", "", found["what"]))), 0.8, clause)


def _denied(clause: Clause) -> str:
    """What a correction says is not so: "billing is on mariadb, not mysql"."""
    found = re.search(
        r"(?i)\b(?:not|instead of|no longer|we dropped|dropped) (?P<old>[\w.+#-]+(?: [\d.]+)?)",
        clause.whole,
    )
    return found["old"] if found is not None else ""


def _items(what: str) -> list[str]:
    """Two tools in one breath, each with what it is for."""
    parts = re.split(r"\s+and\s+(?=[\w.+#-]+ for )", what)
    return [_item(part) for part in parts] if len(parts) > 1 else [_item(what)]


def _item(what: str) -> str:
    return third(
        re.sub(
            r"(?i)^an? ",
            "",
            cut(
                re.split(
                    r", (?:because|since|which|and|but|[\w.+#-]+ (?:was|is|were|are)\b) ?", what
                )[0]
            ),
        )
    )


def _is_tool(what: str) -> bool:
    row = re.sub(r"(?i)^(?:an?|the|our|my) ", "", what).split()
    if not row:
        return False
    first = row[0].strip(".,;:").lower()
    if first in TOOLS or " ".join(row[:2]).lower().strip(".,") in TOOLS:
        return True
    if first.startswith(("github", "gitlab", "google", "microsoft", "amazon", "adobe", "apple")):
        return True
    return (
        row[0][:1].isupper()
        and len(row) <= 6
        and not re.match(
            r"(?i)^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|[a-z]+day)\b", first
        )
    )


def _tool(text: str, confidence: float, clause: Clause, instead_of: str = "") -> Finding:
    return Finding(
        kind="tool",
        text=cut(trimmed(text)),
        confidence=confidence,
        corrects=clause.corrects,
        about=instead_of,
    )


def project(clause: Clause, said: date) -> Iterator[Finding]:
    """Where the parts of a project are and what they run on."""
    del said
    text = trimmed(clause.text)
    found = _CLOSED.match(text)
    if found is not None:
        yield Finding(
            kind="project",
            text=raised(third(found["what"])),
            confidence=0.8,
            corrects=clause.corrects,
        )
        return
    found = _PART_IS.match(trimmed(clause.whole)) or _PART_IS.match(text)
    if found is None or not clause.head:
        return
    value = re.sub(r"(?i)^(?:an?|the) ", "", found["value"])
    named = _ADDRESS.search(value) or _is_tool(value)
    if named and not re.match(
        r"(?i)^(?:not|down|slow|broken|up|fine|still|now|too|very|so|failing|being|getting)\b",
        value,
    ):
        text = raised(third(re.sub(r"(?i)^(?:the|our|my) ", "", found["what"])))
        yield Finding(
            kind="project",
            text=cut(text),
            confidence=0.8,
            corrects=clause.corrects,
            subject=found["part"].lower(),
        )
