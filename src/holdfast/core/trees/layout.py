"""Whether a folder of a tree can be laid out on the file system where it is wanted.

A tree keeps names apart that differ by case or by Unicode form. Some file systems do not, and there
one file would overwrite the other, or a name would turn into `.git`; so the names of each folder
are asked about before anything is written.
"""

from __future__ import annotations

from holdfast.model.tree import SKIPPED_NAMES, printable
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"}
)
_WINDOWS_FORBIDS = frozenset('<>:"|?*') | {chr(code) for code in range(32)}


class FileSystem(Value):
    """What the place is like. An engine finds it out by trying."""

    folds_case: bool = False
    folds_forms: bool = False
    windows: bool = False


def layout_problems(names: Iterable[str], place: FileSystem) -> list[str]:
    """Why names of one folder cannot be laid out side by side there; empty if they all can."""
    problems: list[str] = []
    first: dict[str, str] = {_folded(name, place): name for name in SKIPPED_NAMES}
    for name in sorted(names):
        other = first.setdefault(_folded(name, place), name)
        if other != name:
            problems.append(f"'{printable(name)}' and '{printable(other)}' are one name here")
        if place.windows and not _fits_windows(name):
            problems.append(f"'{printable(name)}' is not a name that Windows can hold")
    return problems


def _folded(name: str, place: FileSystem) -> str:
    """What the place sees of a name. Where it folds forms it may not see some characters."""
    if not place.folds_forms or name.isascii():
        return name.casefold() if place.folds_case else name
    from unicodedata import normalize

    name = normalize("NFD", name).translate(_UNSEEN)
    return normalize("NFC", name.casefold() if place.folds_case else name)


def _fits_windows(name: str) -> bool:
    if name[-1] in " ." or not _WINDOWS_FORBIDS.isdisjoint(name):
        return False
    stem = name.partition(".")[0].rstrip(" ").lower()
    return stem not in _DEVICES and name.lower() not in ("git~1", "holdfa~1")
