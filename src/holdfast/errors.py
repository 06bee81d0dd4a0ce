"""Everything that Holdfast raises: one root, few classes, stable codes.

A class says what kind of failure it is and fixes the exit code; `code` names the exact case and
never changes once released; `hint` names the cure. Surfaces show all three and decide nothing.
No error carries a secret or the text of a memory.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class HoldfastError(Exception):
    """The root. `code` is stable, `message` says what happened and where, `hint` how to cure it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} (hint: {self.hint})" if self.hint else self.message

    @property
    def more(self) -> dict[str, object]:
        """What programs are told beside code, message and hint."""
        return {}

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.code, self.message, self.hint)


def _rebuild(kind: type[HoldfastError], code: str, message: str, hint: str) -> HoldfastError:
    return kind(code, message, hint=hint)


class UsageError(HoldfastError):
    """The words of a command line are wrong. Cure: `holdfast HELP`."""

    exit_code = 2


class InvalidInput(HoldfastError):
    """A name, id, text, size, time, file or field is not of the form that it must have."""


class OptionInvalid(InvalidInput):
    """A field of a declaration is wrong. Whoever read the file adds where the field stands."""

    def __init__(self, field: str, message: str, cure: str) -> None:
        super().__init__("option_invalid", message, hint=cure)
        self.field = field

    def __reduce__(self) -> tuple[object, ...]:
        return OptionInvalid, (self.field, self.message, self.hint)


class NotFound(HoldfastError):
    """What was named does not exist, or is not visible from here."""


class Ambiguous(HoldfastError):
    """What was named fits more than one thing. The message lists the candidates."""


class Conflict(HoldfastError):
    """Another writer got there first, or the same key or id came with other content.

    Nothing was changed. Cure: read again, and decide on what is there now.
    """


class Refused(HoldfastError):
    """A rule forbids it: a read-only mount, a scope, a policy, a limit."""


class Held(Refused):
    """Screening found something in a write. Nothing was changed; it waits for a person.

    `proposal` is its id in the inbox; `findings` say what was found and where, never the text.
    `wanted` is the suggestion and the store, until both are in the inbox.
    """

    def __init__(
        self,
        label: str,
        findings: tuple[Any, ...],
        *,
        proposal: str = "",
        turned_down: bool = False,
        wanted: Any = None,
    ) -> None:
        what = ", ".join(map(str, findings[:5])) + (", …" if len(findings) > 5 else "")
        name = proposal[-8:]
        where = f"it waits as the proposal {name}" if proposal else "it was not written"
        hint = f"a person lets it in: holdfast review approve {name}; else take that out and repeat"
        if turned_down:
            where = f"a person turned it down before, as the proposal {name}"
            hint = "take out what was found; or a person writes it again"
        super().__init__(
            "write_held", f"screening held this write to {label}: {what}; {where}", hint=hint
        )
        self.label, self.findings, self.proposal = label, findings, proposal
        self.turned_down, self.wanted = turned_down, wanted

    @property
    def more(self) -> dict[str, object]:
        found = [
            {"code": each.code, "field": each.field, "start": each.start, "end": each.end}
            for each in self.findings
        ]
        return {"proposal": self.proposal, "findings": found}

    def __reduce__(self) -> tuple[object, ...]:
        return _held_again, (self.label, self.findings, self.proposal, self.turned_down)


def _held_again(label: str, findings: tuple[Any, ...], proposal: str, turned_down: bool) -> Held:
    return Held(label, findings, proposal=proposal, turned_down=turned_down)


class KeyProblem(HoldfastError):
    """The vault is encrypted and the key missing or wrong, or it is plain and a key was given."""


class Damaged(HoldfastError):
    """Stored bytes are not what was written. Cure: `holdfast verify`, then restore a backup."""


class StorageFailed(HoldfastError):
    """The disk, the file system or the lock failed. What was not acknowledged was not written."""


class Unsupported(HoldfastError):
    """This place, platform or version cannot give Holdfast's promises, so it refuses to try."""


class Closed(HoldfastError):
    """It was closed, or belongs to the process before a fork. Cure: open it in this process."""


class ModelFailed(HoldfastError):
    """A language model gave no usable answer. Nothing depends on one: the rules go on."""
