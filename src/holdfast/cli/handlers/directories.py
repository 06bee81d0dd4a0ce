"""`holdfast memory | artifact | volume`, and `holdfast gc`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from holdfast.cli.opening import (
    folder_unreadable,
    opened_space,
    opened_vault,
    write_options,
)
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.errors import InvalidInput, NotFound, UsageError
from holdfast.model.ids import short
from holdfast.model.tree import short_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.core.merge.trees import Conflict
    from holdfast.engine.directories.face import Directories
    from holdfast.engine.directories.look import Entry, FolderStatus
    from holdfast.engine.directories.pull import Pulled
    from holdfast.engine.directories.push import Pushed
    from holdfast.engine.space import Space
    from holdfast.model.directory import Version
    from holdfast.model.erasure import Erasure, Reach

PATHS_SHOWN = 20
SECONDS_UNSEEN = 0.5
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_MARKS = {"added": "A", "deleted": "D", "modified": "M", "mode": "M", "type": "M"}


def init(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        directories = _of(call, space)
        try:
            made = directories.init(_here(), call["name"])
        except InvalidInput as exc:
            name = out.ask(f"{exc.message}. Name:") if call["name"] is None else ""
            if not name:
                raise
            made = directories.init(_here(), name)
    out.emit(plain(made), made.name)
    if made.created:
        out.note(f"Initialised the {made.type} {made.name} in {made.where}")
        out.note(f"Next: holdfast {made.type} push")
    else:
        out.note(f"Already the {made.type} {made.name}; nothing was changed")


def push(call: Call, out: Output) -> int:
    with opened_space(call, makes=True) as space:
        pushed = _of(call, space).push(
            _here(),
            message=call["message"] or "",
            force=call["force"],
            overwrite=call["overwrite"],
            progress=progress_of(out),
            **write_options(call),
        )
    _left_out(out, pushed.left_out)
    out.emit(plain(pushed), f"{pushed.name} {_version(pushed.version)}")
    out.note(_said_of_push(pushed))
    if pushed.behind:
        out.note(f"This folder is behind: holdfast {pushed.type} pull")
    return _conflicts(out, pushed.conflicts)


def _said_of_push(pushed: Pushed) -> str:
    if pushed.outcome == "unchanged":
        return "Content unchanged"
    if pushed.outcome == "merged":
        return f"Merged with what others pushed; {_size(pushed.stored_bytes)} stored"
    return f"Pushed; {_size(pushed.stored_bytes)} stored"


def pull(call: Call, out: Output) -> int:
    with opened_space(call) as space:
        directories = _of(call, space)
        name, options = call["name"], write_options(call)
        place = _here()
        if name is not None and (call["dest"] is not None or not _is_here(name, place)):
            directories.find(name)
            place = Path(call["dest"] or name)
            pulled = directories.pull_named(
                name,
                place,
                version=call["wanted"],
                force=call["force"],
                progress=progress_of(out),
                **options,
            )
        else:
            pulled = directories.pull(
                place,
                version=call["wanted"],
                force=call["force"],
                progress=progress_of(out),
                **options,
            )
    return _say_pulled(out, pulled)


def clone(call: Call, out: Output) -> int:
    with opened_space(call) as space:
        place = Path(call["dest"] or call["name"])
        pulled = _of(call, space).clone(
            call["name"], place, version=call["wanted"], progress=progress_of(out)
        )
    return _say_pulled(out, pulled)


def _say_pulled(out: Output, pulled: Pulled) -> int:
    words = {
        "pulled": f"Pulled into {pulled.where}",
        "merged": "Merged with what was not pushed",
        "unchanged": "Already up to date",
        "cloned": f"Cloned into {pulled.where}",
    }
    out.emit(plain(pulled), f"{pulled.name} {_version(pulled.version)}")
    out.note(words[pulled.outcome])
    if pulled.recovery is not None:
        out.note(f"What was not pushed is kept as the recovery version v{pulled.recovery.v}")
    for kept in pulled.changed:
        beside = f"; the version's own lies in {kept.beside}" if kept.beside else ""
        out.warn(f"{kept.path} changed meanwhile and was left alone{beside}", code="file_changed")
    return _conflicts(out, pulled.conflicts)


def status(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = _of(call, space).status(_here(), progress=progress_of(out))
    _left_out(out, found.left_out)
    out.emit(plain(found), lambda: "\n".join(_status_lines(found)))
    if found.relation in ("behind", "diverged"):
        out.note(f"Next: holdfast {found.type} pull")
    elif found.relation == "ahead":
        out.note(f"Next: holdfast {found.type} push")


def _status_lines(found: FolderStatus) -> list[str]:
    base = "" if found.base in (None, found.version.v) else f", from v{found.base}"
    lines = [
        f"{found.type:<8}  {found.name}",
        f"remote    {_version(found.version)}",
        f"local     {found.relation}{base}: {len(found.added)} added, "
        f"{len(found.modified)} modified, {len(found.deleted)} deleted",
    ]
    for mark, paths in (("A", found.added), ("M", found.modified), ("D", found.deleted)):
        lines += [f"  {mark} {in_a_line(path)}" for path in paths[:PATHS_SHOWN]]
        if len(paths) > PATHS_SHOWN:
            lines.append(f"  {mark} and {len(paths) - PATHS_SHOWN:,} more")
    return lines


def list_directories(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        directories = _of(call, space)
        rows = [plain(item) for item in directories.list(hidden=call["all"])]
        kind = directories.type
    out.table(
        [row for row in rows if isinstance(row, dict)],
        _LISTED,
        empty=f"Nothing yet: `holdfast {kind} init` and `holdfast {kind} push` in a folder",
    )


def log(call: Call, out: Output) -> None:
    with _named(call) as (space, directories, name):
        space.runs().sweep()  # whose recovery versions are to be seen here
        entries = directories.log(name, limit=call["limit"])
    out.emit(plain(entries), lambda: "\n".join(map(_logged, entries)))


def _logged(entry: Entry) -> str:
    version = entry.version
    facts = [
        f"v{version.v} {short_hex(version.tree)}",
        f"{version.at:%Y-%m-%d %H:%M}",
        version.author,
        f"+{entry.added} ~{entry.modified} -{entry.deleted}",
    ]
    facts += [f"from {', '.join(f'v{v}' for v in version.parents)}"] if version.parents else []
    facts += [f"run {short(version.run)}"] if version.run else []
    facts += ["head"] if entry.is_head else []
    facts += ["recovery"] if version.kind == "recovery" else []
    return "  ".join([*facts, *([in_a_line(version.message)] if version.message else [])])


def diff(call: Call, out: Output) -> None:
    with _named(call) as (_, directories, name):
        here = None if call["name"] is not None else _here()
        progress, first = progress_of(out), call["from"] or "base"
        found = list(directories.diff(name, first, call["to"], folder=here, progress=progress))
    if out.json:
        rows: list[dict[str, str]] = [
            {"path": d.path, "kind": d.kind, "lines": d.lines.decode(errors="backslashreplace")}
            for d in found
        ]
        out.emit(rows, "")
    elif call["files"]:
        out.emit(None, "\n".join(f"{_MARKS[d.kind]} {in_a_line(d.path)}" for d in found))
    else:
        out.raw(
            b"".join(d.lines or f"{_MARKS[d.kind]} {in_a_line(d.path)}\n".encode() for d in found)
        )
    if not found:
        out.note("Nothing differs")


def rollback(call: Call, out: Output) -> None:
    with _named(call) as (_, directories, name):
        version, changed = directories.rollback(
            name,
            call["version"] or "latest~1",
            message=call["message"] or "",
            **write_options(call),
        )
        kind = directories.type
    out.emit(plain(version), f"{name} {_version(version)}")
    if changed:
        out.note(f"Rolled back; bring a folder to it with `holdfast {kind} pull`")
    else:
        out.note("Content unchanged")


def delete(call: Call, out: Output) -> int:
    with _named(call) as (_, directories, name):
        kind, level = directories.type, call["level"]
        if call["dry_run"]:
            _would_go(out, directories, name, level)
            return 0
        if level == "erase":
            return _erase(call, out, directories, name)
        count = directories.find(name).head
        if level == "forget":
            out.confirm(f"Forget the {kind} {name} and its {_many(count, 'version')}?")
        gone = directories.delete(name, level=level, **write_options(call))
    out.emit(plain(gone), "")
    done = "Hid" if level == "hide" else "Forgot"
    out.note(f"{done} the {kind} {name}")
    return 0


def _would_go(out: Output, directories: Directories, name: str, level: str) -> None:
    reach = directories.reach(name)
    erases = level == "erase"
    gone = plain(reach if erases else reach.replace(changes=0))
    words = {
        "hide": f"Would leave the {reach.what} {name} out of lists",
        "forget": f"Would forget the {reach.what} {name}: {_taken(reach)} freed by `holdfast gc`",
        "erase": f"Would erase the {reach.what} {name}: {_taken(reach)}, "
        f"and what {_many(reach.changes, 'change')} of the log say",
    }
    out.emit(gone, words[level])
    if level != "hide" and reach.shared:
        out.note(f"{_many(reach.shared, 'content')} stay: others that are kept have them too")
    _not_reached(out, reach.copies)


def _taken(reach: Reach) -> str:
    return (
        f"{_many(reach.versions, 'version')}, "
        f"{_many(reach.objects, 'content')} that only it has ({_size(reach.bytes)})"
    )


def _not_reached(out: Output, copies: Sequence[str]) -> None:
    known = f"; {', '.join(copies)} beside the vault" if copies else ""
    out.note(f"Not reached: folders it was brought to, backups and other copies{known}")


def _erase(call: Call, out: Output, directories: Directories, name: str) -> int:
    reach = directories.reach(name)
    out.confirm(f"Erase the {reach.what} {name} for good: {_taken(reach)}?")
    return _say_erased(out, directories.erase(name, **write_options(call)))


def _say_erased(out: Output, erasure: Erasure) -> int:
    out.emit(plain(erasure), f"{erasure.id} {erasure.state}")
    if erasure.state == "pending":
        out.warn(
            "it is in no answer any more, but another program holds old pages of the vault's file",
            code="erasure_pending",
            hint="when it has ended: holdfast erasure finish",
        )
        return 1
    gone = erasure.gone
    taken = f"{_many(gone['versions'], 'version')}, {_many(gone['objects'], 'content')}, "
    out.note(f"Erased: {taken}what {_many(gone['changes'], 'change')} of the log said")
    standing = max(erasure.elsewhere.values(), default=0)
    out.note(
        "The file was written anew; looked for in all of its bytes: "
        f"{_many(erasure.searched, 'piece')} of what was erased, found: {standing}"
    )
    for place, count in erasure.elsewhere.items():
        out.warn(
            f"{_many(count, 'piece')} also stand in {place}: another memory says the same",
            code="erased_elsewhere",
            hint="erase or forget that too, if it is meant",
        )
    _not_reached(out, erasure.copies)
    return 0


def list_erasures(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        rows = [plain(each) for each in vault.erasures()]
    out.table([row for row in rows if isinstance(row, dict)], _ERASURES, empty="Nothing was erased")


def finish_erasures(call: Call, out: Output) -> int:
    with opened_vault(call) as vault:
        ended = vault.finish_erasures()
    left = sum(each.state == "pending" for each in ended)
    out.emit(plain(ended), "\n".join(f"{each.id} {each.state}" for each in ended))
    if not ended:
        out.note("Nothing is pending")
    return 1 if left else 0


def gc(call: Call, out: Output) -> None:
    spare, dry = int(call["spare"].total_seconds()), call["dry_run"]
    with opened_vault(call) as vault:
        found = vault.gc(spare_seconds=spare, dry_run=dry)
    out.emit(plain(found), f"{_many(found.objects, 'object')}, {_size(found.bytes)}")
    if dry:
        out.note("Nothing was removed; the bytes are those before compression")
    elif not found.objects:
        out.note("Nothing to remove; what was stored within --spare is left alone")


def names(call: Call, _prefix: str) -> list[str]:
    """The names that a completion offers."""
    with opened_space(call) as space:
        return [item.name for item in _of(call, space).list()]


def _of(call: Call, space: Space) -> Directories:
    return space.directories(call.noun.name)  # pyright: ignore[reportArgumentType]


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as exc:
        raise folder_unreadable(exc) from exc


def _is_here(name: str, place: Path) -> bool:
    from holdfast.engine.directories.folder import find_config

    found = find_config(place)
    return found is not None and found.name == name


@contextmanager
def _named(call: Call) -> Generator[tuple[Space, Directories, str]]:
    """The directory that is named, else that of this folder. Whether it is one at all is known
    before a vault is opened for it."""
    if call["name"] is None:
        _check_here(call)
    with opened_space(call) as space:
        directories = _of(call, space)
        yield space, directories, call["name"] or directories.name_of(_here())


def _check_here(call: Call) -> None:
    from holdfast.engine.directories.folder import open_folder

    try:
        open_folder(_here())
    except NotFound as exc:
        raise UsageError(
            exc.code, exc.message, hint=f"name a {call.noun.name}, or go to its folder"
        ) from None


def _version(version: Version) -> str:
    files = _many(version.files, "file")
    return f"v{version.v} {short_hex(version.tree)} {files} {_size(version.size)}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _size(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{size} B" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def progress_of(out: Output) -> Callable[[str, int, int], None]:
    from time import monotonic

    began = monotonic()
    since: dict[str, float] = {}

    def show(what: str, files: int, size: int) -> None:
        now = monotonic()
        seconds = now - since.setdefault(what, now)
        if now - began > SECONDS_UNSEEN:
            rate = f", {_size(int(size / seconds))}/s" if seconds > 0 else ""
            out.progress(f"{what}: {files:,} files, {_size(size)}{rate}")

    return show


def _left_out(out: Output, paths: Sequence[str]) -> None:
    for path in paths:
        out.warn(
            f"{path} is neither a file, a folder nor a link, and was left out",
            code="file_left_out",
            hint="name it in .holdfastignore",
        )


def _conflicts(out: Output, conflicts: Sequence[Conflict]) -> int:
    for conflict in conflicts:
        where = f"; the other side's lies in {conflict.beside}" if conflict.beside else ""
        out.warn(
            f"{conflict.path} did not merge ({conflict.reason or conflict.kind}){where}",
            code="merge_conflict",
            hint="both are kept: make one of them, then push",
        )
    return 1 if conflicts else 0


def _minute(at: object) -> str:
    return "" if at is None else str(at)[:16].replace("T", " ")


_LISTED = (
    Column(title="NAME", key="name"),
    Column(title="TYPE", key="type"),
    Column(title="SIZE", key="size", right=True, show=_size),
    Column(title="FILES", key="files", right=True),
    Column(title="VERSIONS", key="versions", right=True),
    Column(title="UPDATED", key="updated", show=_minute),
)

_ERASURES = (
    Column(title="RECEIPT", key="id"),
    Column(title="STATE", key="state"),
    Column(title="WHAT", key="what"),
    Column(
        title="VERSIONS", key="gone", right=True, show=lambda gone: str(gone.get("versions", ""))
    ),
    Column(title="ASKED", key="asked", show=_minute),
    Column(title="DONE", key="done", show=_minute),
)
