"""`holdfast artifact save | get`."""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.cli.opening import opened_space, seen_space, stores_of, write_options
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.errors import StorageFailed, UsageError
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.artifact import Artifact

STDIN = "-"
_COLUMNS = (
    Column(title="ID", key="id"),
    Column(title="SAVED", key="created", show=lambda at: at[:16].replace("T", " ")),
    Column(title="TYPE", key="mime"),
    Column(title="BYTES", key="size", right=True, show=lambda size: f"{size:,}"),
    Column(title="NAMED BY", key="references", right=True),
    Column(title="ABOUT", key="about"),
)


def save(call: Call, out: Output) -> None:
    content = _read(call["file"])
    with opened_space(call, makes=True) as space:
        saved = space.artifacts(call["store"]).save(
            content,
            mime=call["mime"] or _mime(call["file"]),
            title=call["title"] or ("" if call["file"] == STDIN else Path(call["file"]).name),
            summary=call["summary"] or "",
            **write_options(call),
        )
    out.emit(plain(saved), saved.artifact.id)
    out.note(_fate(saved.artifact, "Already there" if saved.outcome != "saved" else "Saved"))


def _fate(artifact: Artifact, what: str) -> str:
    if artifact.until is None:
        named = f"{artifact.references:,} {'place names' if artifact.references == 1 else 'name'}"
        return f"{what}; {named} it, so it is kept"
    return f"{what}; kept until {artifact.until:%Y-%m-%d %H:%M} UTC unless something names it"


def _read(file: str) -> bytes:
    if file == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as exc:
        raise StorageFailed(
            "file_unreadable",
            f"{shown(file)} cannot be read: {exc.strerror}",
            hint="check the path and its permissions",
        ) from exc


def _mime(file: str) -> str:
    from mimetypes import guess_type

    kind, encoding = guess_type(file)
    return kind if kind and not encoding else ""


def get(call: Call, out: Output) -> None:
    if call["id"] is None:
        _check_listing(call)
    with seen_space(call) as space:
        artifacts = space.artifacts(call["store"])
        if call["id"] is None:
            found: list[Any] = [plain(each) for each in artifacts.list(limit=call["limit"])]
            for each in found:
                each["about"] = each["title"] or each["summary"]
            out.table(found, _COLUMNS, empty=f"No artifacts in {artifacts.store.label}")
            return
        if call["info"]:
            artifact = artifacts.get(call["id"])
            out.emit(plain(artifact), lambda: _whole(artifact))
            return
        if out.json or call["lines"] or call["bytes"]:
            piece = artifacts.read(call["id"], lines=call["lines"], bytes=call["bytes"])
            if out.json:
                out.emit(plain(piece), "")
                return
            content = artifacts.content(call["id"])[piece.start : piece.stop]
        else:
            content = artifacts.content(call["id"])
    out.raw(content)


def _check_listing(call: Call) -> None:
    for name in ("lines", "bytes", "info"):
        if call[name]:
            raise UsageError(
                "argument_missing", f"`--{name}` is of one artifact", hint="give its id"
            )


def _whole(artifact: Artifact) -> str:
    lines = "" if artifact.lines is None else f", {artifact.lines:,} lines"
    return "\n".join(
        [
            artifact.id,
            *([f"title     {artifact.title}"] if artifact.title else []),
            *([f"summary   {artifact.summary}"] if artifact.summary else []),
            f"content   {artifact.mime}, {artifact.size:,} bytes{lines}",
            f"saved     {artifact.created:%Y-%m-%d %H:%M} UTC",
            f"named by  {artifact.references:,}",
            *([f"lapses    {artifact.until:%Y-%m-%d %H:%M} UTC"] if artifact.until else []),
        ]
    )


stores = stores_of("artifacts")


def ids(call: Call, _prefix: str) -> list[tuple[str, str]]:
    with seen_space(call) as space:
        found = space.artifacts(call["store"]).list(limit=100)
    return [(each.id, each.title or each.summary) for each in found]
