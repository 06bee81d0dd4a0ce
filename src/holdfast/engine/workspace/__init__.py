"""`workspace.yml`: what a folder declares, with every mistake named by line and field.

name: reviews                 # else the folder's name
memory:
  own:
    - name: decisions
      type: long_term         # or short_term, with keep: 200 and ttl: 30d or session
      strategy: narrative

Each key of the file is a section, a module here with a `FORM` and a `read`; `sections` lists them.
What a section reads is kept in the vault with the space, under the section's name.
"""

from __future__ import annotations

from holdfast.core.forms import NAME_PATTERN, Group, Misfit, Text
from holdfast.engine.workspace.file import (
    FILE_NAME,
    Place,
    field_name,
    find_workspace,
    load,
    read_text,
)
from holdfast.errors import InvalidInput
from holdfast.model.names import check_name, shown
from holdfast.model.space import DEFAULT_SPACE, SpaceSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Protocol

    from holdfast.core.forms import Form
    from holdfast.model.entry import Json

    class Section(Protocol):
        """A key of the file."""

        @property
        def FORM(self) -> Form: ...  # noqa: N802 - a module's constant

        def read(self, value: Mapping[str, Json], place: Place, /) -> Mapping[str, Json]:
            """What of it is kept with the space, from what the form read: `{}` where nothing is.

            Raises `place.wrong(…)` for what a form cannot see.
            """
            ...

        def places(self, place: Place, /) -> Mapping[str, str]:
            """Where those fields stand that only the vault can judge, for errors found there."""
            ...


__all__ = [
    "FILE_NAME",
    "TEMPLATE",
    "checked",
    "find_workspace",
    "parse_workspace",
    "read_text",
    "root",
]


def sections() -> Mapping[str, Section]:
    """The keys of the file with their modules, which only a reader of such a file needs."""
    from holdfast.engine.workspace import agents, memory

    return {"memory": memory, "agents": agents}


def root() -> Group:
    return Group(
        about="What agents that work in this folder remember.",
        fields={
            "name": Text(about="the space's name; else the folder's", pattern=NAME_PATTERN),
            **{name: section.FORM for name, section in sections().items()},
        },
    )


TEMPLATE = """\
# What agents that work in this folder remember.
name: {name}
memory:
  own:
    - name: narrative          # the newest 20 notes are in front of every session
      type: long_term          # or short_term: keeps the newest 200 for 30 days
      strategy: narrative
"""


def parse_workspace(text: str, file: Path) -> SpaceSpec:
    """What the text declares for the folder of this file."""
    from holdfast.engine.workspace.memory import stores as declared_stores

    place = Place(file=file, root=load(text, file))
    try:
        declared = root().read(place.root, ())
        name = _space_name(declared.get("name"), place)
        settings: dict[str, Json] = {}
        places: dict[str, str] = {}
        for key, section in sections().items():
            kept = section.read(_mapping(declared.get(key)), place)
            settings |= {key: dict(kept)} if kept else {}
            places |= section.places(place)
        stores = declared_stores(_mapping(declared.get("memory")), place)
    except Misfit as exc:
        raise place.wrong(exc.path, exc.message, exc.cure) from None
    return SpaceSpec(
        name=name,
        path=str(file.parent),
        text=text,
        stores=stores,
        settings=settings,
        places=places,
    )


def checked(spec: SpaceSpec) -> SpaceSpec:
    """The declaration with the settings of its sections checked, whoever made them."""
    settings: dict[str, Json] = {}
    fields = root().replace(about="") if spec.settings else Group(fields={})
    for key, value in spec.settings.items():
        try:
            settings[key] = fields.read({key: value}, ())[key]
        except Misfit as exc:
            field = field_name(exc.path)
            raise InvalidInput(
                "workspace_invalid", f"{field}: {exc.message}", hint=exc.cure
            ) from None
    return spec.replace(settings=settings)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _space_name(given: Json, place: Place) -> str:
    name = given if isinstance(given, str) else place.file.parent.name
    where = place.of(("name",))
    if name == DEFAULT_SPACE:
        raise InvalidInput(
            "name_reserved",
            f"{where}: every vault has a space {shown(name)} of its own",
            hint="choose another name",
        )
    try:
        return check_name(name, "space")
    except InvalidInput as exc:
        origin = "" if given else " (the folder's name, since the file gives none)"
        raise InvalidInput(exc.code, f"{where}: {exc.message}{origin}", hint=exc.hint) from None
