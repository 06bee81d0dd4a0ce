"""What a skills store keeps, and the rules of every write to it.

A skill is an entry: its subject is `name: description`, its text the body of its SKILL.md, and its
facts are the front matter as it was written and the list of its files, whose contents the entry
holds. A name is one skill's at a time; when that was forgotten it is free again.
"""

from __future__ import annotations

from holdfast.core.budget import estimate_tokens
from holdfast.core.curating import Curated, Step, plan
from holdfast.core.skillfiles import check_side_by_side, check_sizes
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.entry import Advice, Entry, NewEntry
from holdfast.model.names import check_str, shown
from holdfast.model.times import from_us
from holdfast.model.tree import FILE, PROGRAM
from holdfast.model.value import Value
from holdfast.strategies.skills.document import (
    LINES_ADVISED,
    TOKENS_ADVISED,
    Document,
    described,
    read,
    written,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Literal

    from holdfast.model.entry import Json, Origin, Trust
    from holdfast.model.space import Store
    from holdfast.ports import View, Work

    Outcome = Literal["created", "updated", "unchanged"]

NEAR_SHOWN = 3
COMPARED_CHARS = 4_000
CANDIDATES = 20


class SkillFile(Value):
    """A file of a skill. `content` names its stored content."""

    path: str
    size: int
    program: bool
    content: str


class Skill(Value):
    """A skill as it is. `uses` counts how often it was read on demand; `last_used` may be None.
    Of a forgotten one nothing is told but that it was there."""

    id: str
    name: str
    description: str
    body: str
    files: tuple[SkillFile, ...]
    head: str
    origin: Origin
    trust: Trust
    pinned: bool
    stale: bool
    archived: bool
    uses: int
    last_used: datetime | None
    saved: datetime
    revision: int
    forgotten: bool = False

    @property
    def text(self) -> str:
        """The SKILL.md, to the byte."""
        return self.head + self.body


class Near(Value):
    """A skill that is nearly another one, and what of it is: its name, description or body."""

    name: str
    description: str
    by: str


class SkillSaved(Value):
    skill: Skill
    outcome: Outcome
    advice: tuple[Advice, ...]
    near: tuple[Near, ...] = ()


class SkillRemoved(Value):
    skill: Skill
    outcome: Literal["removed", "unchanged"]


class Wanted(Value):
    """What a call wants of a skill: a whole document, or parts of one. Of `files`, None takes one
    away; with `only` those that it does not name go too; with `anyway` a similar one does not
    stop it.
    """

    name: str
    document: Document | None = None
    description: str | None = None
    body: str | None = None
    files: Mapping[str, SkillFile | None] = {}
    only: bool = False
    origin: Origin = "user"
    trust: Trust | None = None
    metadata: Mapping[str, Json] = {}
    anyway: bool = False


# Reading


def find(view: View, store: Store, name: str) -> Entry:
    """A skill by its name, or by the id of its entry."""
    check_str(name, "the name of a skill")
    entry = named(view, store, name)
    if entry is None:
        try:
            entry = view.find(store, name)
        except NotFound:
            raise _unknown(view, store, name) from None
    return entry


def named(view: View, store: Store, name: str) -> Entry | None:
    if ":" in name or not name.isascii():
        return None
    return next(iter(view.titled(store, f"{name}: ")), None)


def _unknown(view: View, store: Store, name: str) -> NotFound:
    from difflib import get_close_matches

    known = [row[3].partition(":")[0] for row in view.subjects(store, 1_000)]
    close = get_close_matches(name, known, 3)
    return NotFound(
        "skill_not_found",
        f"{store.label} has no skill {shown(name)}",
        hint=f"did you mean {', '.join(close)}?" if close else "holdfast skill list shows them",
    )


def skill_of(view: View, entry: Entry) -> Skill:
    uses, last_us = view.uses([entry]).get(entry.number, (0, 0))
    return skill_from(entry, uses, last_us)


def skill_from(entry: Entry, uses: int = 0, last_us: int = 0) -> Skill:
    facts: Any = entry.facts
    return Skill(
        id=entry.id,
        name=entry.subject.partition(":")[0],
        description=facts.get("description", ""),
        body=entry.text,
        files=tuple(files_of(entry).values()),
        head=facts.get("head", ""),
        origin=entry.origin,
        trust=entry.trust,
        pinned=entry.pinned,
        stale=facts.get("stale", False),
        archived=entry.hidden,
        uses=uses,
        last_used=from_us(last_us) if uses else None,
        saved=from_us(facts["saved_us"]) if "saved_us" in facts else entry.updated,
        revision=entry.revision,
        forgotten=entry.state == "forgotten",
    )


def files_of(entry: Entry) -> dict[str, SkillFile]:
    return files_in(entry.facts)


def files_in(facts: Any) -> dict[str, SkillFile]:
    return {
        path: SkillFile(path=path, program=kind == PROGRAM, size=size, content=content)
        for path, (kind, size, content) in facts.get("files", {}).items()
    }


def document_of(entry: Entry) -> Document:
    facts: Any = entry.facts
    name = entry.subject.partition(":")[0]
    return Document(
        name=name, description=facts["description"], head=facts["head"], body=entry.text
    )


def listed(view: View, store: Store, *, archived: bool) -> Iterator[Skill]:
    """By name; the archived too where they are asked for."""
    found = [entry for entry in view.titled(store, "") if archived or not entry.hidden]
    uses = view.uses(found)
    for entry in found:
        yield skill_from(entry, *uses.get(entry.number, (0, 0)))


# Writing


def save(work: Work, store: Store, wanted: Wanted) -> SkillSaved:
    """Make a skill, or change the one of that name."""
    entry = named(work, store, wanted.name)
    work.expect(0 if entry is None else entry.revision, f"{store.label} {wanted.name}")
    return _create(work, store, wanted) if entry is None else _change(work, store, entry, wanted)


def _create(work: Work, store: Store, wanted: Wanted) -> SkillSaved:
    document = wanted.document or _first(store, wanted)
    files = {path: file for path, file in wanted.files.items() if file is not None}
    if wanted.origin == "import" and not wanted.anyway:
        _check_not_forgotten(work, store, document)
    near = near_ones(work, store, document)
    if near and not wanted.anyway:
        raise too_near(store, document.name, near)
    entry = work.add(
        store,
        NewEntry(
            **_said(work, document, files),
            origin=wanted.origin,
            trust=wanted.trust,
            metadata=wanted.metadata,
        ),
    )
    return SkillSaved(
        skill=skill_from(entry), outcome="created", advice=advice_on(document), near=near
    )


def _check_not_forgotten(work: Work, store: Store, document: Document) -> None:
    for entry in work.same(store, document.body):
        if entry.state == "forgotten" and entry.subject.startswith(f"{document.name}: "):
            raise Refused(
                "skill_forgotten",
                f"{store.label} {document.name} was deleted, and an import does not bring it back",
                hint="say so with --anyway, or leave its folder out",
            )


def _first(store: Store, wanted: Wanted) -> Document:
    if wanted.description is None or wanted.body is None:
        lacking = "description" if wanted.description is None else "body"
        raise InvalidInput(
            "skill_incomplete",
            f"{store.label} has no skill {shown(wanted.name)}, and a new one needs a {lacking}",
            hint="give a description (what it does, and when to use it) and a body (how)",
        )
    return written(wanted.name, wanted.description, wanted.body)


def _change(work: Work, store: Store, entry: Entry, wanted: Wanted) -> SkillSaved:
    document = wanted.document or document_of(entry)
    if wanted.description is not None and wanted.description != document.description:
        document = described(document, wanted.description)
    if wanted.body is not None and wanted.body != document.body:
        body = written(document.name, document.description, wanted.body).body
        document = document.replace(body=body)
    before = files_of(entry)
    files = {} if wanted.only else dict(before)
    for path, file in wanted.files.items():
        if file is not None:
            files[path] = file
        elif files.pop(path, None) is None and not wanted.only:
            raise no_file(store, document.name, path)
    same = document == document_of(entry) and files == before
    if not same:
        said: Any = _said(work, document, files)
        entry = work.move(store, entry, "update", **said)
    if entry.hidden:
        entry, same = work.move(store, entry, "show", facts=_unmarked(entry)), False
    return SkillSaved(
        skill=skill_of(work, entry),
        outcome="unchanged" if same else "updated",
        advice=() if same else advice_on(document),
    )


def _said(work: Work, document: Document, files: Mapping[str, SkillFile]) -> dict[str, Any]:
    """What an entry says of a skill."""
    check_side_by_side(files)
    check_sizes({path: file.size for path, file in files.items()})
    rows = {
        path: [PROGRAM if file.program else FILE, file.size, file.content]
        for path, file in sorted(files.items())
    }
    return {
        "subject": f"{document.name}: {' '.join(document.description.split())}",
        "text": document.body,
        "facts": {
            "description": document.description,
            "head": document.head,
            "files": rows,
            "saved_us": work.at_us,
        },
        "holds": tuple(sorted({file.content for file in files.values()})),
    }


def patch(work: Work, store: Store, name: str, find_text: str, replace: str) -> SkillSaved:
    """Replace the one place in a SKILL.md where a text stands."""
    entry = find(work, store, name)
    check_kept(store, entry)
    document = document_of(entry)
    after = read(replaced(document.text, find_text, replace, name))
    if after.name != document.name:
        raise Refused(
            "skill_renamed",
            f"this would turn {document.name} into {after.name}, which is another skill",
            hint="save it under the new name, and delete this one",
        )
    return save(work, store, Wanted(name=document.name, document=after))


def replaced(text: str, find_text: str, replace: str, where: str) -> str:
    count = text.count(find_text) if find_text else 0
    if count == 1:
        return text.replace(find_text, replace)
    if not find_text:
        raise InvalidInput("text_empty", "the text to find is empty", hint="say what to replace")
    if count:
        raise Conflict(
            "text_ambiguous",
            f"{shown(find_text)} stands {count} times in {where}",
            hint="give more of the text around it, so that it is found once",
        )
    raise NotFound(
        "text_not_found",
        f"{shown(find_text)} does not stand in {where}",
        hint="read it, and give the text as it stands there, blanks and line ends included",
    )


def remove(work: Work, store: Store, name: str) -> SkillRemoved:
    entry = find(work, store, name)
    work.expect(entry.revision, f"{store.label} {name}")
    if work.is_gone(entry):
        return SkillRemoved(skill=skill_of(work, entry), outcome="unchanged")
    return SkillRemoved(skill=skill_of(work, work.move(store, entry, "forget")), outcome="removed")


def adjust(work: Work, store: Store, name: str, *, pinned: bool) -> SkillSaved:
    entry = find(work, store, name)
    work.expect(entry.revision, f"{store.label} {name}")
    same = entry.pinned == pinned
    if not same:
        entry = work.move(store, entry, "adjust", pinned=pinned)
    return _moved(work, entry, same=same)


def put_away(work: Work, store: Store, name: str, *, archived: bool) -> SkillSaved:
    """Archive a skill, or bring it back. What a person archives, no curator brings back."""
    entry = find(work, store, name)
    work.expect(entry.revision, f"{store.label} {name}")
    same = entry.hidden == archived
    if not same:
        entry = work.move(store, entry, "hide" if archived else "show", facts=_unmarked(entry))
    return _moved(work, entry, same=same)


def _moved(work: Work, entry: Entry, *, same: bool) -> SkillSaved:
    outcome = "unchanged" if same else "updated"
    return SkillSaved(skill=skill_of(work, entry), outcome=outcome, advice=())


def _unmarked(entry: Entry) -> dict[str, Json]:
    return {key: value for key, value in entry.facts.items() if key not in ("stale", "away_us")}


def check_kept(store: Store, entry: Entry) -> None:
    if entry.state == "forgotten":
        raise NotFound(
            "skill_not_found",
            f"the skill {entry.handle} of {store.label} was deleted",
            hint="save it anew",
        )


def no_file(store: Store, name: str, path: str) -> NotFound:
    return NotFound(
        "skill_file_not_found",
        f"{store.label} {name} has no file {shown(path)}",
        hint=f"holdfast skill show {name} lists its files",
    )


def advice_on(document: Document) -> tuple[Advice, ...]:
    lines, tokens = document.body.count("\n"), estimate_tokens(document.body)
    if lines <= LINES_ADVISED and tokens <= TOKENS_ADVISED:
        return ()
    message = (
        f"the body of {document.name} has {lines:,} lines, about {tokens:,} tokens; an agent reads "
        f"all of it at once: keep it under {LINES_ADVISED} lines and {TOKENS_ADVISED:,} tokens, "
        "and move details into files under references/"
    )
    return (Advice(code="skill_long", message=message),)


# Near duplicates


def near_ones(work: Work, store: Store, document: Document) -> tuple[Near, ...]:
    """Skills that are nearly this one, the archived among them."""
    found: dict[str, Near] = {}
    for entry in _candidates(work, store, document):
        other = document_of(entry)
        by = _near_by(document, other)
        if by and other.name != document.name:
            found[other.name] = Near(name=other.name, description=other.description, by=by)
    return tuple(found.values())[:NEAR_SHOWN]


def _candidates(work: Work, store: Store, document: Document) -> Iterator[Entry]:
    from holdfast.core.text.similar import sketch
    from holdfast.model.search import search_query

    if document.body.strip():
        for entry in work.same(store, document.body):
            if entry.state != "forgotten":
                yield entry
    said = f"{document.name} {document.description} {' '.join(sketch(document.body))}"
    query = search_query(said, match="any", hidden=True, limit=CANDIDATES)
    for hit in work.search([store], query).hits:
        yield hit.entry


def _near_by(one: Document, other: Document) -> str:
    from holdfast.core.text.similar import NEAR_MIN, similarity

    if _letters(one.name) == _letters(other.name):
        return "name"
    if similarity(one.description, other.description) >= NEAR_MIN:
        return "description"
    bodies = [each.body[:COMPARED_CHARS].strip() for each in (one, other)]
    return "body" if all(bodies) and similarity(*bodies) >= NEAR_MIN else ""


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).removesuffix("s")


def too_near(store: Store, name: str, near: Sequence[Near]) -> Refused:
    others = ", ".join(f"{one.name} (by its {one.by})" for one in near)
    return Refused(
        "skill_near",
        f"{store.label} has a skill that is nearly {shown(name)}: {others}",
        hint=f"read {near[0].name} and change it; or say that a second one is wanted (--anyway)",
    )


# Curating


def curate(
    view: View, store: Store, carry_out: Callable[[Entry, Step], None] | None = None
) -> tuple[Step, ...]:
    """What there is to do with the skills that nobody uses; `carry_out` does it."""
    entries = {entry.subject.partition(":")[0]: entry for entry in view.titled(store, "")}
    uses = view.uses(list(entries.values()))
    seen = [_curated(name, entry, uses.get(entry.number)) for name, entry in entries.items()]
    stale, archive = store.options["stale"], store.options["archive"]
    assert isinstance(stale, int)
    assert isinstance(archive, int)
    steps = tuple(plan(seen, view.at_us, stale, archive))
    for step in steps if carry_out is not None else ():
        assert carry_out is not None
        carry_out(entries[step.name], step)
    return steps


def _curated(name: str, entry: Entry, use: tuple[int, int] | None) -> Curated:
    facts: Any = entry.facts
    return Curated(
        name=name,
        exempt=entry.pinned or entry.origin == "user",
        stale=facts.get("stale", False),
        hidden=entry.hidden,
        put_away_us=facts.get("away_us"),
        last_us=max(facts["saved_us"], 0 if use is None else use[1]),
    )


def carry_out(work: Work, store: Store, entry: Entry, step: Step) -> None:
    facts = _unmarked(entry)
    match step.step:
        case "stale":
            work.move(store, entry, "adjust", facts={**facts, "stale": True})
        case "wake":
            work.move(store, entry, "adjust", facts=facts)
        case "archive":
            work.move(store, entry, "hide", facts={**facts, "away_us": work.at_us})
        case "restore":
            work.move(store, entry, "show", facts=facts)
