"""`holdfast space`."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.cli.opening import opened_space, opened_vault, write_options
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.engine.workspace import (
    FILE_NAME,
    TEMPLATE,
    find_workspace,
    parse_workspace,
    read_text,
)
from holdfast.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output


def init(call: Call, out: Output) -> None:
    folder = Path(os.path.realpath(call["folder"] or "."))
    if not folder.is_dir():
        raise NotFound("folder_not_found", f"there is no folder {folder}", hint="make it first")
    file = folder / FILE_NAME
    found = file.exists()
    text = read_text(file) if found else TEMPLATE.format(name=call["name"] or folder.name)
    spec = parse_workspace(text, file)
    with opened_vault(call) as vault:
        space = vault.declare(spec, **write_options(call))
        if not found:
            file.write_text(text, "utf-8")
        stores = [store.name for store in space.stores()]
        out.emit({"space": space.name, "file": str(file), "stores": stores}, space.name)
        out.note(f"{'Applied' if found else 'Wrote'} {file}: {', '.join(stores) or 'no stores'}")


def show(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        info = space.info()
        stores = [plain(store) for store in space.stores()]
        if out.json:
            out.emit({"space": plain(info), "stores": stores}, "")
            return
        out.note(f"{space.name}, {(info and info.path) or 'of no folder'}")
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
    file = find_workspace(Path.cwd())
    if file is None:
        raise NotFound(
            "workspace_not_found",
            f"there is no {FILE_NAME} in {Path.cwd()} or above it",
            hint="go to the folder that is to have the space",
        )
    with opened_vault(call) as vault:
        spec = parse_workspace(read_text(file), file)
        space = vault.declare(spec, adopt=True, **write_options(call))
        out.emit({"space": space.name, "path": spec.path}, space.name)
        out.note(f"The space {space.name} belongs to {spec.path}")
