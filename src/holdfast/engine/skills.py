"""`SkillLibrary`: the skills of a store, and the folders that they come from and go to.

Each skill is a change of its own, so one that is refused keeps no other back; what became of each
is told. A mirror keeps a folder and a store alike: it remembers what both had, so that it knows on
which side something changed, and what changed on both is left as it is on both.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core.skillfiles import SKILL_FILE
from holdfast.engine import skillfolders
from holdfast.engine.skillfolders import SkillFolder, check_once, read_folder, write_folder
from holdfast.errors import Conflict, HoldfastError, InvalidInput
from holdfast.model.names import shown
from holdfast.model.value import Value
from holdfast.model.write import check_unexpected
from holdfast.strategies.skills.document import read_bytes
from holdfast.strategies.skills.face import Given, Skills

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Literal, Unpack

    from holdfast.model.write import WriteOptions
    from holdfast.ports.desk import Desk
    from holdfast.strategies.skills.policy import Skill, SkillSaved

    Place = str | os.PathLike[str]
    Became = Literal[
        "created",
        "updated",
        "unchanged",
        "written",
        "forgotten",
        "removed",
        "refused",
        "conflict",
    ]

FOLDER = "skills"


class Carried(Value):
    """What became of one skill: `created`, `updated` or `forgotten` in the store, `written` or
    `removed` in the folder, `unchanged`, or `refused` and `conflict` with the reason."""

    name: str
    place: str
    became: Became
    code: str = ""
    problem: str = ""
    hint: str = ""


class SkillLibrary(Skills):
    """The skills of one store, with the folders that hold them for other programs."""

    def __init__(self, desk: Desk, folder: Path | None = None) -> None:
        """`folder`: where the space's own `skills/` is, None where it has no folder."""
        super().__init__(desk)
        self._folder = folder

    def import_from(
        self,
        place: Place | None = None,
        *,
        overwrite: bool = False,
        anyway: bool = False,
        **write: Unpack[WriteOptions],
    ) -> Sequence[Carried]:
        """Take in the skill of a folder, or all that lie below it; else the space's `skills/`.

        One that is there and says something else is refused unless it may be overwritten.
        """
        root = self._place(place)
        found = skillfolders.skill_folders(root)
        if not found:
            raise InvalidInput(
                "skill_folder_empty",
                f"there is no {SKILL_FILE} in {shown(root, 200)} or below it",
                hint="a skill is a folder with a SKILL.md in it",
            )
        known = {skill.name: skill for skill in self.list(archived=True)}
        taken: dict[str, Path] = {}

        def take(each: Path) -> Carried:
            folder = read_folder(each)
            name = read_bytes(folder.document, str(each / SKILL_FILE)).name
            check_once(name, each, taken)
            taken[name] = each
            there = known.get(name)
            if there is not None and not overwrite and self._folder_of(there) != folder:
                raise Conflict(
                    "skill_exists",
                    f"{each / SKILL_FILE}: {self.store.label} has another {name}",
                    hint="add --overwrite to replace it; every version is kept",
                )
            return self._take(name, each, folder, anyway=anyway, write=write)

        return [_told(each, take) for each in found]

    def export_to(
        self,
        place: Place | None = None,
        names: Sequence[str] | None = None,
        *,
        overwrite: bool = False,
    ) -> Sequence[Carried]:
        """Write skills as folders below a place, else the space's `skills/`; all unless named."""
        root = self._place(place)
        chosen = self.list() if names is None else [self.get(name) for name in names]

        def give(target: Path) -> Carried:
            skill = by_place[target]
            folder = self._folder_of(skill)
            there = read_folder(target) if target.exists() else None
            if there == folder:
                return Carried(name=skill.name, place=str(target), became="unchanged")
            if there is not None and not overwrite:
                raise Conflict(
                    "skill_folder_differs",
                    f"{target} holds another {skill.name}",
                    hint="add --overwrite to replace it, or take it in with skill import",
                )
            write_folder(target, folder)
            return Carried(name=skill.name, place=str(target), became="written")

        by_place = {root / skill.name: skill for skill in chosen}
        return [_told(target, give) for target in by_place]

    def mirror(
        self, place: Place | None = None, **write: Unpack[WriteOptions]
    ) -> Sequence[Carried]:
        """Make a folder of skills and the store alike, whichever side changed since the last time;
        without a place the space's `skills/`."""
        from holdfast.engine.skillmirror import Mirror

        check_unexpected(write.get("expect"), "mirroring")

        def take(name: str, at: Path, folder: SkillFolder) -> Carried:
            return self._take(name, at, folder, anyway=False, write=write)

        return Mirror(self, self._place(place), self._folder_of, take, write).run()

    def _place(self, place: Place | None) -> Path:
        if place is not None:
            return Path(place).resolve()
        if self._folder is None:
            raise InvalidInput(
                "skill_folder_unnamed",
                f"the space {self.store.space_name} has no folder, so it has no {FOLDER}/ either",
                hint="name a folder, or work in one with a workspace.yml",
            )
        return self._folder / FOLDER

    def _folder_of(self, skill: Skill) -> SkillFolder:
        return SkillFolder(
            document=skill.text.encode(),
            files={
                file.path: Given(data=self.file(skill.name, file.path), program=file.program)
                for file in skill.files
            },
        )

    def _take(
        self,
        name: str,
        place: Path,
        folder: SkillFolder,
        *,
        anyway: bool,
        write: WriteOptions,
    ) -> Carried:
        options: WriteOptions = {**write}
        if key := options.get("key"):
            options["key"] = f"{key}/{name}"
        saved: SkillSaved = self.put(
            folder.document,
            folder.files,
            where=str(place / SKILL_FILE),
            anyway=anyway,
            **options,
        )
        return Carried(name=name, place=str(place), became=saved.outcome)


def _told(place: Path, carry: Callable[[Path], Carried]) -> Carried:
    """What became of one, whatever it was."""
    try:
        return carry(place)
    except HoldfastError as exc:
        return refused(place.name, place, exc)


def refused(name: str, place: Path, exc: HoldfastError) -> Carried:
    return Carried(
        name=name,
        place=str(place),
        became="refused",
        code=exc.code,
        problem=exc.message,
        hint=exc.hint,
    )
