"""The files of a skill: which paths there may be, side by side on every machine, and how much.

A skill is carried from machine to machine, so two names that any file system takes for one are
refused everywhere, and so is what means another place on one of them.
"""

from __future__ import annotations

from holdfast.core.trees.layout import FileSystem, layout_problems
from holdfast.errors import InvalidInput
from holdfast.model.names import check_str, shown
from holdfast.model.tree import PATH_PARTS_MAX, part_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SKILL_FILE = "SKILL.md"
FILES_MAX = 1_000
FILE_BYTES_MAX = 16 * 1024 * 1024
ALL_BYTES_MAX = 64 * 1024 * 1024
_EVERYWHERE = FileSystem(folds_case=True, folds_forms=True, windows=True)


def check_file_path(path: str, where: str = "") -> str:
    """A path inside a skill, its parts joined by `/`."""
    check_str(path, "the path of a file")
    for part in path.split("/"):
        if problem := part_problem(part):
            raise _bad(path, f"its part {shown(part)} {problem}", where)
    if path.count("/") >= PATH_PARTS_MAX:
        raise _bad(path, f"it is more than {PATH_PARTS_MAX} folders deep", where)
    return path


def check_side_by_side(paths: Iterable[str], where: str = "") -> None:
    """Refuse what cannot lie in one folder on every machine. `SKILL.md` is there already."""
    folders: dict[str, set[str]] = {"": {SKILL_FILE}}
    files = {SKILL_FILE}
    for path in sorted(paths):
        if path in files:
            raise _bad(path, f"{SKILL_FILE} is the skill itself", where)
        files.add(path)
        at = ""
        for part in path.split("/"):
            folders.setdefault(at, set()).add(part)
            at = f"{at}/{part}" if at else part
    for at, names in folders.items():
        if at in files:
            raise _bad(at, "it is a file and a folder at once", where)
        problems = layout_problems(names, _EVERYWHERE)
        if problems:
            inside = f"{at}/" if at else ""
            raise _bad(inside, problems[0], where)


def check_sizes(sizes: Mapping[str, int], where: str = "") -> None:
    place = f"{where}: " if where else ""
    if len(sizes) > FILES_MAX:
        raise InvalidInput(
            "skill_too_large",
            f"{place}a skill has at most {FILES_MAX:,} files, not {len(sizes):,}",
            hint="keep what it works on in a versioned directory (`holdfast artifact push`)",
        )
    for path, size in sizes.items():
        if size > FILE_BYTES_MAX:
            raise InvalidInput(
                "skill_too_large",
                f"{place}{shown(path)} has {size:,} bytes; the limit is {FILE_BYTES_MAX:,}",
                hint="keep large things in a versioned directory (`holdfast artifact push`)",
            )
    if sum(sizes.values()) > ALL_BYTES_MAX:
        raise InvalidInput(
            "skill_too_large",
            f"{place}its files have {sum(sizes.values()):,} bytes; the limit is {ALL_BYTES_MAX:,}",
            hint="keep large things in a versioned directory (`holdfast artifact push`)",
        )


def check_skill_name(name: str, where: str = "") -> str:
    """The name of a skill, which is that of its folder too."""
    check_str(name, "the name of a skill")
    place = f"{where}: " if where else ""
    good = 0 < len(name) <= NAME_CHARS_MAX and _NAME.issuperset(name)
    if not good or name[0] in _MARKS or name[-1] in _MARKS:
        raise InvalidInput(
            "skill_name_invalid",
            f"{place}{shown(name)} is not a name for a skill",
            hint=f"use 1 to {NAME_CHARS_MAX} of a-z 0-9 - _ . with a letter or digit at both ends, "
            "such as fill-pdf-forms",
        )
    if layout_problems([name], _EVERYWHERE):
        raise InvalidInput(
            "skill_name_invalid",
            f"{place}{shown(name)} cannot be the name of a folder on every machine",
            hint="choose another name",
        )
    return name


def name_in(text: str) -> str:
    """A skill's name made of words."""
    letters = [char if char in _NAME else " " for char in text.lower().replace("'", "")]
    return "-".join("".join(letters).split())[:NAME_CHARS_MAX].strip(_MARKS)


NAME_CHARS_MAX = 64
_MARKS = "-_."
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789" + _MARKS)


def _bad(path: str, problem: str, where: str) -> InvalidInput:
    place = f"{where}: " if where else ""
    return InvalidInput(
        "skill_path_invalid",
        f"{place}{shown(path) if path else 'its folder'} cannot be in a skill: {problem}",
        hint="a path inside the skill, such as references/forms.md",
    )
