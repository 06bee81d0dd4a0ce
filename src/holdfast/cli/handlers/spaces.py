"""`holdfast space`."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.cli.opening import (
    folder_unreadable,
    opened_space,
    opened_vault,
    workspace_file,
    write_options,
)
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.engine.workspace import FILE_NAME, TEMPLATE, parse_workspace, read_text
from holdfast.errors import Conflict, InvalidInput, NotFound, StorageFailed
from holdfast.model.names import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output


def init(call: Call, out: Output) -> None:
    file = _folder(call["folder"]) / FILE_NAME
    found = os.path.lexists(file)
    text = read_text(file) if found else _template(call["name"], file)
    spec = parse_workspace(text, file)
    if call["name"] not in (None, spec.name):
        raise Conflict(
            "space_named",
            f"{file} is there already, and names the space {spec.name}",
            hint="leave --name out, or change the name in the file",
        )
    with opened_vault(call, makes=True) as vault:
        space = vault.declare(spec, **write_options(call))
        if not found:
            _write(file, text)
        stores = [store.name for store in space.stores()]
        out.emit({"space": space.name, "file": str(file), "stores": stores}, space.name)
        what = f"{'Applied' if found else 'Wrote'} {file}"
        out.note(f"{what}; stores: {', '.join(stores)}" if stores else f"{what}; no stores")


def _folder(given: str | None) -> Path:
    if given is None:
        try:
            return Path.cwd().resolve()
        except OSError as exc:
            raise folder_unreadable(exc) from exc
    if not os.path.isdir(given):  # noqa: PTH112 - which never raises
        raise NotFound("folder_not_found", f"there is no folder {given}", hint="make it first")
    return Path(given).resolve()


def _template(given: str | None, file: Path) -> str:
    name = file.parent.name if given is None else given
    try:
        check_name(name, "space")
    except InvalidInput as exc:
        if given is not None:
            raise
        raise InvalidInput(
            exc.code, f"the folder's name: {exc.message}", hint="give the space one with --name"
        ) from None
    return TEMPLATE.format(name=name if name[0].isalpha() and name not in _YAML else f'"{name}"')


# Names that YAML, in one of its versions, reads as something else than text.
_YAML = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n"])


def _write(file: Path, text: str) -> None:
    """Never over a file that somebody else made meanwhile."""
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except OSError as exc:
        raise StorageFailed(
            "workspace_not_written",
            f"{file} could not be written: {exc.strerror}",
            hint="see that this user may write there, then do it again",
        ) from exc


def show(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        info = space.info()
        stores = [plain(store) for store in space.stores()]
        if out.json:
            out.emit({"space": plain(info), "stores": stores}, "")
            return
        out.note(f"{space.name}, {(info and info.path) or 'bound to no folder'}")
        out.table(
            [s for s in stores if isinstance(s, dict)], _STORES, empty="It declares no stores"
        )


_STORES = (
    Column(title="STORE", key="name"),
    Column(title="TYPE", key="type"),
    Column(title="STRATEGY", key="strategy"),
    Column(
        title="OPTIONS",
        key="options",
        show=lambda options: " ".join(f"{key}={value}" for key, value in options.items()),
    ),
)


def list_spaces(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        rows = [plain(space) for space in vault.spaces()]
        out.table(
            [row for row in rows if isinstance(row, dict)],
            (Column(title="SPACE", key="name"), Column(title="FOLDER", key="path")),
            empty="No space holds anything yet",
        )


def adopt(call: Call, out: Output) -> None:
    file = workspace_file()
    if file is None:
        raise NotFound(
            "workspace_not_found",
            f"there is no {FILE_NAME} in this folder or above it",
            hint="go to the folder that is to have the space",
        )
    with opened_vault(call, makes=True) as vault:
        spec = parse_workspace(read_text(file), file)
        space = vault.declare(spec, adopt=True, **write_options(call))
        out.emit({"space": space.name, "path": spec.path}, space.name)
        out.note(f"The space {space.name} belongs to {spec.path}")
