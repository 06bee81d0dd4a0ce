"""`holdfast space`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

from holdfast.cli.opening import (
    advise,
    folder_unreadable,
    opened_space,
    opened_vault,
    seen_space,
    workspace_file,
    write_options,
)
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.engine.workspace import FILE_NAME, TEMPLATE, parse_workspace, read_text
from holdfast.engine.workspace.edit import changing, with_mount, without_mount
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused, StorageFailed
from holdfast.model.names import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.mounts import Mounted
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Json


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
        advise(out, space)
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
        mounts = [_mount_row(each) for each in space.mounts()]
        if out.json:
            out.emit({"space": plain(info), "stores": stores, "mounts": mounts}, "")
            return
        out.note(f"{space.name}, {(info and info.path) or 'bound to no folder'}")
        out.table(
            [s for s in stores if isinstance(s, dict)], _STORES, empty="It declares no stores"
        )
        if mounts:
            out.note("Mounts")
            out.table(mounts, _MOUNTS)


def _mount_row(found: Mounted) -> dict[str, Json]:
    mount, lens = found.mount, found.mount.lenses[0]
    return {
        "name": mount.name,
        "source": mount.source,
        "mode": mount.mode,
        "scope": lens.scope,
        "filter": {
            key: plain(value)
            for key, value in (
                ("kind", lens.kinds),
                ("tag", lens.tags),
                ("age", lens.days),
                ("importance", lens.importance),
                ("metadata", lens.metadata),
            )
            if value
        },
        "problem": found.problem,
    }


def _options(options: Any) -> str:
    return " ".join(f"{key}={_option(value)}" for key, value in options.items())


def _option(value: Any) -> str:
    """As one would write it: no quotes of a language around words."""
    if isinstance(value, list | tuple):
        return ",".join(map(_option, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


_STORES = (
    Column(title="STORE", key="name"),
    Column(title="TYPE", key="type"),
    Column(title="STRATEGY", key="strategy"),
    Column(title="OPTIONS", key="options", show=_options),
)
_MOUNTS = (
    Column(title="MOUNT", key="name"),
    Column(title="SOURCE", key="source"),
    Column(title="MODE", key="mode"),
    Column(title="SCOPE", key="scope"),
    Column(title="FILTER", key="filter", show=_options),
    Column(title="PROBLEM", key="problem"),
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
        advise(out, space)
        out.emit({"space": space.name, "path": spec.path}, space.name)
        out.note(f"The space {space.name} belongs to {spec.path}")


def mount(call: Call, out: Output) -> None:
    given = {
        "name": call["name"],
        "source": call["source"],
        "mode": call["mode"],
        "scope": call["scope"],
        "filter": _filter(call),
    }
    wanted = {key: value for key, value in given.items() if value}
    with edited(call, out, lambda text, file: with_mount(text, file, wanted)) as space:
        name = call["name"] or call["source"].partition("/")[2]
        (made,) = [each for each in space.mounts() if each.mount.name == name]
        out.emit(_mount_row(made), name)
        out.note(f"{space.name} mounts {made.mount.source} as {name}, {made.mount.mode}")


def _filter(call: Call) -> dict[str, Json]:
    metadata: dict[str, Json] = dict(call["meta"])
    wanted: dict[str, Json] = {
        "kind": list(call["kind"]),
        "tag": list(call["tag"]),
        "age": call["age"],
        "importance": call["importance"],
        "metadata": metadata,
    }
    return {key: value for key, value in wanted.items() if value}


def unmount(call: Call, out: Output) -> None:
    with edited(call, out, lambda text, file: without_mount(text, file, call["name"])) as space:
        out.emit({"space": space.name, "unmounted": call["name"]}, "")
        out.note(f"{space.name} no longer mounts {call['name']}")


def mounts(call: Call, _prefix: str) -> list[tuple[str, str]]:
    """The names that `unmount` may take."""
    with seen_space(call) as space:
        return [(each.mount.name, each.mount.source) for each in space.mounts()]


def sources(call: Call, _prefix: str) -> list[tuple[str, str]]:
    """The stores that `mount` may take."""
    with opened_vault(call) as vault:
        spaces = ["default", *(space.name for space in vault.spaces() if space.name != "default")]
        return [
            (store.label, store.strategy) for name in spaces for store in vault.space(name).stores()
        ]


@contextmanager
def edited(call: Call, out: Output, edit: Callable[[str, Path], str]) -> Generator[Space]:
    """Change the space's workspace.yml and apply it; nothing changes where either is refused."""
    with opened_vault(call, makes=True) as vault:
        file = _file_of(call, vault)
        with changing(file) as change:
            text = edit(change.text, file)
            space = vault.declare(parse_workspace(text, file), **write_options(call))
            change.put(text)
        advise(out, space)
        yield space


def _file_of(call: Call, vault: Vault) -> Path:
    file = workspace_file()
    if call["space"] is not None:
        info = vault.space(call["space"]).info()
        file = None if info is None or info.path is None else Path(info.path) / FILE_NAME
    if file is None:
        raise Refused(
            "space_without_file",
            f"the space {call['space'] or 'default'} has no {FILE_NAME}, in which this stands",
            hint="go to a space's folder, or make one: holdfast space init",
        )
    return file
