"""`Skills`: the skills of one store, as Python works with them, and the tools made of it."""

from __future__ import annotations

from holdfast.core.metadata import check_origin
from holdfast.core.skillfiles import (
    check_file_path,
    check_side_by_side,
    check_sizes,
    check_skill_name,
)
from holdfast.core.trees.digest import digest_of
from holdfast.errors import InvalidInput
from holdfast.model.names import shown
from holdfast.model.value import Value
from holdfast.model.write import Write, check_unexpected
from holdfast.strategies.skills import policy
from holdfast.strategies.skills.document import read, read_bytes
from holdfast.strategies.skills.policy import Skill, SkillFile, SkillSaved, Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from holdfast.core.curating import Step
    from holdfast.model.entry import Json, Origin
    from holdfast.model.space import Store
    from holdfast.model.write import WriteOptions
    from holdfast.ports import View, Work
    from holdfast.ports.desk import Desk
    from holdfast.strategies.skills.policy import SkillRemoved


class Given(Value):
    """A file as it is given: its bytes, and whether it may be executed."""

    data: bytes
    program: bool = False


class FileText(Value):
    """A file of a skill as text; None where it is not UTF-8, and `content` says what it is."""

    skill: str
    path: str
    text: str | None
    size: int
    program: bool
    content: str


class SkillChange(Value):
    """One version of a skill: by which change, when, by whom and how."""

    revision: int
    at: str
    actor: str
    op: str
    reason: str


class Skills:
    """The skills of one store."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.store = desk.store

    def list(self, *, archived: bool = False) -> Sequence[Skill]:
        """All skills by name; with `archived` also those that were put away."""
        self._counted()
        return self._desk.read(
            lambda view, store: list(policy.listed(view, store, archived=archived))
        )

    def get(self, name: str) -> Skill:
        """One skill by its name, whole, or by its id in whatever state."""
        self._counted()
        return self._desk.read(
            lambda view, store: policy.skill_of(view, policy.find(view, store, name))
        )

    def view(self, name: str) -> Skill:
        """One skill to work by: this counts as a use of it."""

        def unit(view: View, store: Store) -> Skill:
            entry = policy.find(view, store, name)
            policy.check_kept(store, entry)
            found.append(entry)
            return policy.skill_of(view, entry)

        found: list[policy.Entry] = []
        skill = self._desk.read(unit)
        self._desk.used(found[-1])
        return skill

    def file(self, name: str, path: str) -> bytes:
        """The bytes of one file of a skill; `SKILL.md` is one too."""

        def unit(view: View, store: Store) -> bytes:
            return _content(view, store, policy.find(view, store, name), path)

        return self._desk.read(unit)

    def read_file(self, name: str, path: str) -> FileText:
        """One file of a skill as text, to work by: this counts as a use of the skill."""
        skill = self.view(name)
        data = self.file(name, path)
        file = next((one for one in skill.files if one.path == path), None)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = None
        return FileText(
            skill=skill.name,
            path=path,
            text=None if text is not None and "\0" in text else text,
            size=len(data),
            program=file is not None and file.program,
            content=digest_of(data),
        )

    def save(
        self,
        name: str,
        description: str | None = None,
        body: str | None = None,
        *,
        files: Mapping[str, bytes | str | Given | None] | None = None,
        origin: Origin = "user",
        anyway: bool = False,
        **write: Unpack[WriteOptions],
    ) -> SkillSaved:
        """Make a skill of a description and a body, or change what is given of the one there is.

        `files` are added or replaced by path; None takes one away. A skill that is nearly one that
        is there is refused unless it is wanted `anyway`.
        """
        rows, contents = _files(files or {})
        wanted = Wanted(
            name=check_skill_name(name),
            description=description,
            body=body,
            files=rows,
            origin=check_origin(origin),
            anyway=anyway,
        )
        return self._save(wanted, contents, Write(**write))

    def put(
        self,
        text: str | bytes,
        files: Mapping[str, bytes | str | Given] | None = None,
        *,
        where: str = "SKILL.md",
        origin: Origin = "import",
        anyway: bool = False,
        **write: Unpack[WriteOptions],
    ) -> SkillSaved:
        """Make a skill of a whole SKILL.md and all of its files, or make the one of that name so.

        `where` is what the file is called in errors.
        """
        document = read_bytes(text, where) if isinstance(text, bytes) else read(text, where)
        rows, contents = _files(files or {}, where)
        wanted = Wanted(
            name=document.name,
            document=document,
            files=rows,
            only=True,
            origin=check_origin(origin),
            anyway=anyway,
        )
        return self._save(wanted, contents, Write(**write))

    def patch(
        self,
        name: str,
        find: str,
        replace: str,
        *,
        file: str | None = None,
        **write: Unpack[WriteOptions],
    ) -> SkillSaved:
        """Replace the one place where a text stands, in the SKILL.md or in one of the files."""
        if file is not None and file != "SKILL.md":
            return self._patch_file(name, file, find, replace, Write(**write))
        arguments: dict[str, Json] = {"name": name, "find": find, "replace": replace}
        return self._desk.mutate(
            "skill patch",
            arguments,
            lambda work, store: policy.patch(work, store, name, find, replace),
            Write(**write),
        )

    def delete(self, name: str, **write: Unpack[WriteOptions]) -> SkillRemoved:
        """Forget a skill. Deleting it by its id again changes nothing; its name leads to none."""
        return self._desk.mutate(
            "skill delete",
            {"name": name},
            lambda work, store: policy.remove(work, store, name),
            Write(**write),
        )

    def pin(self, name: str, *, pinned: bool = True, **write: Unpack[WriteOptions]) -> SkillSaved:
        """Keep the curator from a skill, or let it."""
        return self._desk.mutate(
            "skill pin",
            {"name": name, "pinned": pinned},
            lambda work, store: policy.adjust(work, store, name, pinned=pinned),
            Write(**write),
        )

    def archive(
        self, name: str, *, archived: bool = True, **write: Unpack[WriteOptions]
    ) -> SkillSaved:
        """Put a skill away: out of the block, the list and searches; or bring it back."""
        return self._desk.mutate(
            "skill archive",
            {"name": name, "archived": archived},
            lambda work, store: policy.put_away(work, store, name, archived=archived),
            Write(**write),
        )

    def history(self, name: str) -> Sequence[SkillChange]:
        """Every version of a skill, the newest first."""

        def unit(view: View, store: Store) -> list[SkillChange]:
            return [
                SkillChange(
                    revision=change.seq,
                    at=f"{change.at:%Y-%m-%d %H:%M:%S}",
                    actor=change.actor,
                    op=change.op,
                    reason=change.reason,
                )
                for change in view.history(policy.find(view, store, name))
            ]

        return self._desk.read(unit)

    def curate(self, *, dry_run: bool = False, **write: Unpack[WriteOptions]) -> Sequence[Step]:
        """Mark what nobody uses, and archive what nobody used for long; or only say what is due."""
        check_unexpected(write.get("expect"), "curating")
        self._counted()
        if dry_run:
            return self._desk.read(policy.curate)

        def unit(work: Work, store: Store) -> tuple[Step, ...]:
            return policy.curate(
                work, store, lambda entry, step: policy.carry_out(work, store, entry, step)
            )

        return self._desk.mutate("skill curate", {}, unit, Write(**write))

    def _counted(self) -> None:
        self._desk.unsaved_uses()

    def _save(self, wanted: Wanted, contents: Sequence[bytes], write: Write) -> SkillSaved:
        document = wanted.document
        arguments: dict[str, Json] = {
            "name": wanted.name,
            "text": None if document is None else document.text,
            "description": wanted.description,
            "body": wanted.body,
            "files": {
                path: None if file is None else [file.content, file.program]
                for path, file in wanted.files.items()
            },
            "origin": wanted.origin,
            "anyway": wanted.anyway,
        }
        return self._desk.mutate(
            "skill save",
            arguments,
            lambda work, store: policy.save(work, store, wanted),
            write,
            contents,
        )

    def _patch_file(
        self, name: str, path: str, find: str, replace: str, write: Write
    ) -> SkillSaved:
        skill = self.get(name)
        file = next((one for one in skill.files if one.path == path), None)
        if file is None:
            raise policy.no_file(self.store, name, path)
        try:
            before = self.file(name, path).decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(
                "skill_file_binary",
                f"{shown(path)} of {name} is not text",
                hint="give the whole file anew",
            ) from None
        after = policy.replaced(before, find, replace, f"{path} of {name}").encode()
        rows, contents = _files({path: Given(data=after, program=file.program)})
        seen = write if write.expect is not None else write.replace(expect=skill.revision)
        return self._save(Wanted(name=skill.name, files=rows), contents, seen)


def _content(view: View, store: Store, entry: policy.Entry, path: str) -> bytes:
    policy.check_kept(store, entry)
    if path == "SKILL.md":
        return policy.document_of(entry).text.encode()
    file = policy.files_of(entry).get(path)
    if file is None:
        raise policy.no_file(store, entry.subject.partition(":")[0], path)
    return view.content(file.content)


def _files(
    given: Mapping[str, bytes | str | Given | None], where: str = ""
) -> tuple[dict[str, SkillFile | None], Sequence[bytes]]:
    """The files as a skill lists them, and their contents."""
    rows: dict[str, SkillFile | None] = {}
    contents: dict[str, bytes] = {}
    for path, item in given.items():
        check_file_path(path, where)
        if item is None:
            rows[path] = None
            continue
        file = item if isinstance(item, Given) else Given(data=_bytes(item, path))
        name = digest_of(file.data)
        contents[name] = file.data
        rows[path] = SkillFile(path=path, size=len(file.data), program=file.program, content=name)
    check_side_by_side([path for path, file in rows.items() if file is not None], where)
    check_sizes({path: file.size for path, file in rows.items() if file is not None}, where)
    return rows, list(contents.values())


def _bytes(item: bytes | str, path: str) -> bytes:
    if isinstance(item, bytes):
        return item
    try:
        return item.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "text_not_unicode",
            f"{shown(path)} holds half of a character (a lone surrogate)",
            hint="give its bytes",
        ) from None


# Tools


class SkillView(Value):
    """What an agent reads of a skill: how to do it, and which files there are to read."""

    name: str
    description: str
    body: str
    files: tuple[str, ...]
    archived: bool
    trust: str
    revision: int


def skill_tools(desk: Callable[[str | None], Desk]) -> tuple[Callable[..., object], ...]:
    """What an agent is offered for the skills of a space."""

    def skill_view(
        name: str, file: str | None = None, store: str | None = None
    ) -> SkillView | FileText:
        """How to do something: a skill by its name, or one of its files."""
        skills = Skills(desk(store))
        if file is not None:
            return skills.read_file(name, file)
        skill = skills.view(name)
        return SkillView(
            name=skill.name,
            description=skill.description,
            body=skill.body,
            files=tuple(one.path for one in skill.files),
            archived=skill.archived,
            trust=skill.trust,
            revision=skill.revision,
        )

    def skill_save(
        name: str,
        description: str | None = None,
        body: str | None = None,
        find: str | None = None,
        replace: str | None = None,
        file: str | None = None,
        files: dict[str, str | None] | None = None,
        store: str | None = None,
        anyway: bool = False,
    ) -> SkillSaved:
        """Keep how something is done: a new skill (description: what, and when to use it; body:
        how), or a change of one. Change a part with find and replace, in a file if one is named;
        files are text by path, null to remove. anyway: although a similar one is there."""
        skills = Skills(desk(store))
        if find is None and replace is None and file is None:
            return skills.save(name, description, body, files=files, origin="agent", anyway=anyway)
        if find is None or replace is None or (description, body, files) != (None, None, None):
            raise InvalidInput(
                "arguments_invalid",
                "skill_save changes a part by find and replace, and nothing else with it",
                hint="give name, find, replace and perhaps file; or description, body and files",
            )
        return skills.patch(name, find, replace, file=file)

    return skill_view, skill_save
