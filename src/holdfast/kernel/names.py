"""Whose values live where: the namespaces that a kernel gives out.

A process's namespace is `process/` and its name, the shared one is `shared`, and Holdfast's own
notes stand under `holdfast/`. The three can never meet, whatever a process is called. A name
belongs to one live process of a kernel at a time, and to the agent that bears it.
"""

from __future__ import annotations

from unicodedata import is_normalized

from holdfast.errors import InvalidInput
from holdfast.model.names import check_label, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

SHARED = "shared"
OWN = "holdfast/"
_PROCESS = "process/"


def process_namespace(name: str) -> str:
    """Where the values of the process of this name are."""
    return _PROCESS + name


def check_process_name(name: object, what: str) -> str:
    """A name is one line of 1 to 200 characters that can be seen, in the composed form (NFC)."""
    if not isinstance(name, str):
        raise InvalidInput("label_invalid", f"the name of {what} must be a str", hint="name it")
    check_label(name, what)
    if not is_normalized("NFC", name):
        raise InvalidInput(
            "label_invalid",
            f"{shown(name)} has letters and accents apart, and looks like another name",
            hint="use unicodedata.normalize('NFC', name)",
        )
    return name


def free_name(wanted: str, taken: Container[str]) -> str:
    """The name, or `name-2`, `name-3`, … where it is taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name
