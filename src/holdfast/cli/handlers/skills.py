"""`holdfast skill`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from holdfast.cli.opening import opened_space, seen_space, stores_of, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import Any

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.skills import Carried, Skill, SkillLibrary, SkillSaved

_FAILED = ("refused", "conflict")


@contextmanager
def _changed(call: Call, *, makes: bool = False) -> Generator[SkillLibrary]:
    with opened_space(call, makes=makes) as space:
        yield space.skills(call["store"])


@contextmanager
def _seen(call: Call) -> Generator[SkillLibrary]:
    with seen_space(call) as space:
        yield space.skills(call["store"])


def save(call: Call, out: Output) -> None:
    with _changed(call, makes=True) as skills:
        saved = skills.save(
            call["name"],
            call["description"],
            call["body"],
            origin=call["origin"],
            anyway=call["anyway"],
            **write_options(call),
        )
    _tell(out, skills, saved)


def _tell(out: Output, skills: SkillLibrary, saved: SkillSaved) -> None:
    out.emit(plain(saved), saved.skill.name)
    out.note(f"{saved.outcome.capitalize()}: {skills.store.label} {saved.skill.name}")
    for advice in saved.advice:
        out.warn(advice.message, code=advice.code)


def attach(call: Call, out: Output) -> None:
    from holdfast.engine.skillfolders import read_given

    file = Path(call["file"])
    with _changed(call) as skills:
        path = call["path"] or file.name
        files = {path: read_given(file)}
        saved = skills.save(call["name"], files=files, **write_options(call))
    _tell(out, skills, saved)


def detach(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        files = {call["path"]: None}
        saved = skills.save(call["name"], files=files, **write_options(call))
    _tell(out, skills, saved)


def patch(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        saved = skills.patch(
            call["name"], call["find"], call["replace"], file=call["file"], **write_options(call)
        )
    _tell(out, skills, saved)


def delete(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        removed = skills.delete(call["name"], **write_options(call))
    out.emit(plain(removed), "")
    what = f"{skills.store.label} {in_a_line(call['name'])}"
    unchanged = removed.outcome == "unchanged"
    out.note(f"{what} was deleted before" if unchanged else f"Deleted {what}")


def pin(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        saved = skills.pin(call["name"], **write_options(call))
    _tell(out, skills, saved)


def unpin(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        saved = skills.pin(call["name"], pinned=False, **write_options(call))
    _tell(out, skills, saved)


def archive(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        saved = skills.archive(call["name"], **write_options(call))
    _tell(out, skills, saved)


def restore(call: Call, out: Output) -> None:
    with _changed(call) as skills:
        saved = skills.archive(call["name"], archived=False, **write_options(call))
    _tell(out, skills, saved)


def curate(call: Call, out: Output) -> None:
    dry = call["dry_run"]
    with _changed(call) as skills:
        steps = skills.curate(dry_run=dry, **write_options(call))
    rows: list[dict[str, Any]] = [{"name": s.name, "step": s.step, "days": s.days} for s in steps]
    columns = (
        Column(title="SKILL", key="name"),
        Column(title="STEP", key="step"),
        Column(title="DAYS", key="days", right=True, show=str),
    )
    out.table(rows, columns, empty="Nothing to do")
    if steps and dry:
        out.note("Nothing was changed: this is what would be done")


def listed(call: Call, out: Output) -> None:
    with _seen(call) as skills:
        rows = [_row(skill) for skill in skills.list(archived=call["archived"])]
        out.table(rows, _COLUMNS, empty=f"No skills in {skills.store.label}")


def _row(skill: Skill) -> dict[str, Any]:
    fields: Any = plain(skill)
    del fields["body"], fields["head"]
    return {**fields, "state": _state(skill)}


def _state(skill: Skill) -> str:
    marks = {"pinned": skill.pinned, "stale": skill.stale, "archived": skill.archived}
    return ", ".join(mark for mark, is_so in marks.items() if is_so)


_COLUMNS = (
    Column(title="NAME", key="name"),
    Column(title="USES", key="uses", right=True, show=str),
    Column(title="STATE", key="state"),
    Column(title="DESCRIPTION", key="description"),
)


def show(call: Call, out: Output) -> None:
    with _seen(call) as skills:
        if call["file"] is not None:
            if call["json"]:
                out.emit(plain(skills.read_file(call["name"], call["file"])), "")
                return
            skills.view(call["name"])
            out.raw(skills.file(call["name"], call["file"]))
            return
        skill = skills.view(call["name"])
        out.emit(plain(skill), lambda: _whole(skill))


def _whole(skill: Skill) -> str:
    files = [f"  {one.path}  {one.size:,} B{' *' * one.program}" for one in skill.files]
    state = _state(skill) or "in use"
    return "\n".join(
        [
            skill.body.strip("\n"),
            "",
            f"name         {skill.name}",
            f"description  {in_a_line(skill.description)}",
            f"state        {state}, revision {skill.revision}",
            f"origin       {skill.origin}, trust {skill.trust}",
            *(["files", *files] if files else []),
        ]
    )


def history(call: Call, out: Output) -> None:
    with _seen(call) as skills:
        rows: list[Any] = [plain(change) for change in skills.history(call["name"])]
    columns = (
        Column(title="REVISION", key="revision", right=True, show=str),
        Column(title="AT", key="at"),
        Column(title="BY", key="actor"),
        Column(title="WHAT", key="op"),
        Column(title="WHY", key="reason"),
    )
    out.table(rows, columns)


def import_(call: Call, out: Output) -> int:
    with _changed(call, makes=True) as skills:
        done = skills.import_from(
            call["folder"],
            overwrite=call["overwrite"],
            anyway=call["anyway"],
            **write_options(call),
        )
    return _carried(out, done)


def export(call: Call, out: Output) -> int:
    with _seen(call) as skills:
        done = skills.export_to(
            call["to"], list(call["names"]) or None, overwrite=call["overwrite"]
        )
        return _carried(out, done)


def mirror(call: Call, out: Output) -> int:
    with _changed(call, makes=True) as skills:
        done = skills.mirror(call["folder"], **write_options(call))
    return _carried(out, done)


def _carried(out: Output, done: Sequence[Carried]) -> int:
    """What became of each; 1 when one was refused or is in conflict."""
    rows: list[Any] = [plain(one) for one in done]
    columns = (
        Column(title="SKILL", key="name"),
        Column(title="BECAME", key="became"),
        Column(title="FOLDER", key="place"),
    )
    out.table(rows, columns, empty="No skills")
    for one in done:
        if one.became in _FAILED:
            out.warn(one.problem, code=one.code, hint=one.hint)
    return int(any(one.became in _FAILED for one in done))


stores = stores_of("skills")


def names(call: Call, _prefix: str) -> list[tuple[str, str]]:
    """The skills that there are."""
    with _seen(call) as skills:
        return [(one.name, in_a_line(one.description)) for one in skills.list(archived=True)]
