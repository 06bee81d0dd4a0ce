"""Keeping a folder of skills and a store alike, in both directions.

What both had the last time stands in `.holdfast/skills.json` of the folder: by it a skill that is
only on one side is known as new there or as gone on the other. What changed on both sides is a
conflict, and left alone. What is archived is not in the folder. A folder that is not there, or has
no such file, is new: nothing is forgotten because of it.
"""

from __future__ import annotations

import json

from holdfast.core.skillfiles import SKILL_FILE
from holdfast.engine.directories.folder import OWN, failing, replace_file
from holdfast.engine.skillfolders import (
    SkillFolder,
    check_once,
    read_folder,
    remove_folder,
    skill_folders,
    write_folder,
)
from holdfast.engine.skills import Carried, refused
from holdfast.errors import Conflict, HoldfastError, Refused
from holdfast.strategies.skills.document import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from holdfast.model.write import WriteOptions
    from holdfast.strategies.skills.face import Skills
    from holdfast.strategies.skills.policy import Skill

    FolderOf = Callable[[Skill], SkillFolder]
    Take = Callable[[str, Path, SkillFolder], Carried]

STATE = "skills.json"


class Mirror:
    """One run of it."""

    def __init__(
        self, skills: Skills, root: Path, folder_of: FolderOf, take: Take, write: WriteOptions
    ) -> None:
        self._skills, self._root = skills, root
        self._folder_of, self._take, self._write = folder_of, take, write
        self._bad: dict[str, Carried] = {}

    def run(self) -> Sequence[Carried]:
        before = self._state()
        there, places = self._folders()
        here = {skill.name: skill for skill in self._skills.list()}
        if before and not there and not self._bad and before.keys() & here.keys():
            raise Refused(
                "mirror_empty",
                f"{self._root} has no skills any more, and the store would forget them all",
                hint=f"remove {self._root / OWN / STATE} to have them written again",
            )
        done: list[Carried] = list(self._bad.values())
        known = {name: self._folder_of(skill) for name, skill in here.items()}
        for name in sorted((there.keys() | known.keys() | before.keys()) - self._bad.keys()):
            place = places.get(name, self._root / name)
            one = self._one(name, place, there.get(name), known.get(name), before.get(name))
            if one is None:
                continue
            done.append(one)
        self._remember(done, there, known, before)
        return sorted(done, key=lambda one: one.name)

    def _folders(self) -> tuple[dict[str, SkillFolder], dict[str, Path]]:
        there: dict[str, SkillFolder] = {}
        places: dict[str, Path] = {}
        for place in skill_folders(self._root) if self._root.exists() else ():
            try:
                folder = read_folder(place)
                name = read_bytes(folder.document, str(place / SKILL_FILE)).name
                check_once(name, place, places)
            except HoldfastError as exc:
                self._bad[place.name] = refused(place.name, place, exc)
                continue
            there[name], places[name] = folder, place
        return there, places

    def _one(
        self,
        name: str,
        place: Path,
        there: SkillFolder | None,
        here: SkillFolder | None,
        before: str | None,
    ) -> Carried | None:
        """Bring one skill into line; None where it is gone on both sides."""
        outside = None if there is None else there.digest
        inside = None if here is None else here.digest
        try:
            if outside == inside:
                return _became(name, place, "unchanged") if there is not None else None
            if outside == before or (outside is None and inside is not None):
                return self._outwards(name, place, here, changed=inside != before)
            if inside == before:
                assert there is not None
                return self._take(name, place, there)
            raise Conflict(
                "skill_conflict",
                f"{name} changed in {place} and in {self._skills.store.label}",
                hint="import it with --overwrite, or export it with --overwrite",
            )
        except HoldfastError as exc:
            became = "conflict" if exc.code == "skill_conflict" else "refused"
            return refused(name, place, exc).replace(became=became)

    def _outwards(
        self, name: str, place: Path, here: SkillFolder | None, *, changed: bool
    ) -> Carried:
        """The folder follows the store; what is gone from the folder alone is forgotten."""
        if here is None:
            remove_folder(place)
            return _became(name, place, "removed")
        if not changed and self._bad:
            raise Refused(
                "mirror_unsure",
                f"{name} is gone from {self._root}, where other folders cannot be read",
                hint="mend those first; nothing was forgotten",
            )
        if not changed:
            self._skills.delete(name, **self._write)
            return _became(name, place, "forgotten")
        write_folder(place, here)
        return _became(name, place, "written")

    def _state(self) -> dict[str, str]:
        with failing(self._root):
            try:
                said = json.loads((self._root / OWN / STATE).read_bytes())
            except (FileNotFoundError, NotADirectoryError, ValueError):
                return {}
        if not isinstance(said, dict):
            return {}
        store, skills = said.get("store"), said.get("skills")
        return skills if store == self._skills.store.id and isinstance(skills, dict) else {}

    def _remember(
        self,
        done: Sequence[Carried],
        there: Mapping[str, SkillFolder],
        here: Mapping[str, SkillFolder],
        before: Mapping[str, str],
    ) -> None:
        """What both sides have now; of what was left alone, what both had before."""
        kept: dict[str, str] = {}
        for one in done:
            match one.became:
                case "created" | "updated" | "unchanged":
                    kept[one.name] = there[one.name].digest
                case "written":
                    kept[one.name] = here[one.name].digest
                case "refused" | "conflict" if one.name in before:
                    kept[one.name] = before[one.name]
                case _:
                    pass
        with failing(self._root):
            (self._root / OWN).mkdir(parents=True, exist_ok=True)
            said = {"store": self._skills.store.id, "skills": kept}
            replace_file(self._root / OWN / STATE, json.dumps(said, indent=1).encode())


def _became(name: str, place: Path, became: str) -> Carried:
    return Carried(name=name, place=str(place), became=became)  # pyright: ignore[reportArgumentType]
