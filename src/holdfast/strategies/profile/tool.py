"""`memory_profile`: the two files in the hands of an agent, in one typed tool."""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.strategies.profile.face import Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from holdfast.model.entry import Entry, Json
    from holdfast.model.profile import (
        Difference,
        ProfileBatch,
        ProfileFile,
        ProfileWrite,
    )
    from holdfast.ports import Tool
    from holdfast.ports.desk import Desk

NEEDS: dict[str, tuple[str, ...]] = {
    "add": ("text",),
    "replace": ("entry", "text"),
    "remove": ("entry",),
    "restore": ("entry",),
    "batch": ("batch",),
}


def tools_of(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    def memory_profile(
        action: Literal[
            "read", "add", "replace", "remove", "batch", "changes", "archive", "restore"
        ],
        file: Literal["USER", "MEMORY"] | None = None,
        text: str | None = None,
        entry: str | None = None,
        batch: list[dict[str, Json]] | None = None,
        store: str | None = None,
    ) -> (
        tuple[ProfileFile, ...]
        | ProfileWrite
        | ProfileBatch
        | tuple[Difference, ...]
        | tuple[Entry, ...]
    ):
        """Change the two files you always see. USER: who the user is. MEMORY: what holds here.

        add text; replace or remove an entry (its id, or words only it has); batch: such steps at
        once, as {op, file, entry, text}; read; changes since the session began; archive (text:
        what to look for); restore an entry from there.
        """
        profile = Profile(desk(store))
        given = {"text": text, "entry": entry, "batch": batch}
        missing = [name for name in NEEDS.get(action, ()) if given[name] is None]
        if missing:
            raise InvalidInput(
                "arguments_invalid",
                f"memory_profile {action} needs {', '.join(missing)}",
                hint=f"give {', '.join(NEEDS[action])}",
            )
        text, entry, batch = text or "", entry or "", batch or []
        match action:
            case "add":
                return profile.add(text, file or "MEMORY", origin="agent")
            case "replace":
                return profile.replace(entry, text, file=file, origin="agent")
            case "remove":
                return profile.remove(entry, file=file)
            case "batch":
                return profile.batch(batch, origin="agent")
            case "changes":
                return profile.changes()
            case "archive":
                return profile.archive(text, file=file)
            case "restore":
                return profile.restore(entry)
            case "read":
                return profile.read(file)
        raise InvalidInput(
            "arguments_invalid",
            "memory_profile has no such action",
            hint=f"one of read, {', '.join(NEEDS)}, changes, archive",
        )

    return (memory_profile,)
