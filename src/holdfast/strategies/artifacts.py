"""`artifacts`: what is too large to be a note, under an id that a note can name.

The same content in a store is one artifact, whoever saves it again. It is kept for 24 hours, and
for as long as an entry or a message refers to it by its id; the answer of the call that made it is
no reference. When the last one goes, by an edit, a forgetting, the end of a session or a rule of a
store, the hours begin again. A session sees what the newest are about, and reads what it needs.
"""

from __future__ import annotations

from itertools import islice

from holdfast.core.budget import lines_of
from holdfast.core.forms import Whole, checked_options
from holdfast.core.ranges import ENDLESS, lines_between, parse_range, whole_characters
from holdfast.core.suggesting import of_no_entries
from holdfast.core.trees.digest import digest_of
from holdfast.errors import InvalidInput
from holdfast.model.artifact import (
    ARTIFACT_MIB,
    ARTIFACT_MIB_MAX,
    HOURS,
    MIME_CHARS_MAX,
    SUMMARY_CHARS_MAX,
    TITLE_CHARS_MAX,
    Artifact,
    ArtifactForgotten,
    ArtifactRow,
    ArtifactSaved,
    Piece,
)
from holdfast.model.context import Draft
from holdfast.model.names import check_str, is_unicode
from holdfast.model.query import check_limit
from holdfast.model.times import to_us
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from holdfast.core.forms import Form
    from holdfast.model.entry import Entry, Json
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk

NAME = "artifacts"
HOLDS = "contents"
INJECTED = 10
PRIORITY = 30
SHOWN_CHARS = 160
MIB = 1024 * 1024
# So much of an artifact a tool gives at once, where nobody said how much.
TOOL_BYTES = 16_000
TEXT, BINARY = "text/plain", "application/octet-stream"


# Declaration

_OPTIONS: Mapping[str, Form] = {
    "hours": Whole(
        about="for how many hours an artifact is kept that nothing refers to",
        low=1,
        high=87_600,
        default=HOURS,
    ),
    "mib": Whole(
        about="how large one may be, in MiB", low=1, high=ARTIFACT_MIB_MAX, default=ARTIFACT_MIB
    ),
    "priority": Whole(
        about="which block a small budget serves first", low=0, high=100, default=PRIORITY
    ),
}
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {"short_term": _OPTIONS, "long_term": _OPTIONS}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    return checked_options(spec, OPTIONS)


def _whole(store: Store, option: str) -> int:
    found = store.options[option]
    assert isinstance(found, int)
    return found


# Policy


class NewArtifact:
    """What somebody wants to save: bytes, and what is said of them. Empty means nothing is."""

    def __init__(self, content: str | bytes, mime: str, title: str, summary: str) -> None:
        self.mime = _label(mime, "the mime type", MIME_CHARS_MAX)
        self.title = _label(title, "the title", TITLE_CHARS_MAX)
        self.summary = _label(summary, "the summary", SUMMARY_CHARS_MAX)
        self.data = _data(content)
        self.name = digest_of(self.data)
        self.lines = _lines(self.data)


def save(work: Work, store: Store, new: NewArtifact) -> ArtifactSaved:
    known = work.same_artifact(store, new.name)
    if known is None or known.state == "forgotten":
        work.expect(0, f"the new artifact in {store.label}")
        row = _row(work, store, new, known)
        return ArtifactSaved(
            artifact=shown(work, work.put_artifact(store, row, known, "save")), outcome="saved"
        )
    work.expect(known.revision, f"{store.label} {known.id}")
    said = {
        name: text
        for name in ("mime", "title", "summary")
        if (text := getattr(new, name)) and text != getattr(known, name)
    }
    if said or known.until is not None:  # its hours begin again, if nothing refers to it
        after, op = known.replace(**said), "describe" if said else "renew"
        known = work.put_artifact(store, after, known, op)
    outcome = "described" if said else "unchanged"
    return ArtifactSaved(artifact=shown(work, known), outcome=outcome)


def _row(work: Work, store: Store, new: NewArtifact, known: ArtifactRow | None) -> ArtifactRow:
    return ArtifactRow(
        id=work.artifact_id(store, new.name),
        number=work.seq + 1 if known is None else known.number,
        content=new.name,
        mime=new.mime or (BINARY if new.lines is None else TEXT),
        title=new.title,
        summary=new.summary or _first_line(new),
        size=len(new.data),
        lines=new.lines,
        state="kept",
        session=work.caller.session,
        created=work.at,
        hours=_whole(store, "hours"),
        until=None,
        revision=0,
    )


def forget(work: Work, store: Store, name: str) -> ArtifactForgotten:
    found = work.artifact(store, name)
    work.expect(found.revision, f"{store.label} {found.id}")
    work.put_artifact(store, found.as_forgotten(), found, "forget")
    return ArtifactForgotten(id=found.id, outcome="forgotten")


def shown(view: View, row: ArtifactRow) -> Artifact:
    return Artifact(
        id=row.id,
        mime=row.mime,
        size=row.size,
        lines=row.lines,
        title=row.title,
        summary=row.summary,
        created=row.created,
        references=view.references(row),
        until=row.until,
        revision=row.revision,
    )


def newest(view: View, store: Store, limit: int) -> Iterator[Artifact]:
    """Those that have not lapsed; a view may have some of this day that did."""
    rows = view.newest_artifacts(store, ENDLESS)
    kept = (row for row in rows if row.until is None or to_us(row.until) > view.at_us)
    return (shown(view, row) for row in islice(kept, limit))


def piece(
    view: View, store: Store, name: str, lines: str | None, bytes_: str | None, limit: int | None
) -> Piece:
    """A part by its lines or bytes; all where neither is said, up to a limit of bytes."""
    row = view.artifact(store, name)
    if lines is not None and bytes_ is not None:
        raise InvalidInput("range_invalid", "a part is of lines or of bytes", hint="give one")
    first = count = None
    start, stop = 0, row.size
    if bytes_ is not None:
        start, last = parse_range(bytes_, "bytes", first=0)
        start, stop = min(start, row.size), min(last + 1, row.size)
    elif lines is not None:
        if row.lines is None:
            raise InvalidInput(
                "range_invalid", f"{row.id} is no text and has no lines", hint="ask for bytes"
            )
        first, last = parse_range(lines, "lines", first=1)
        start, stop, count = lines_between(view.pieces(row.content), first, last)
    if limit is not None:
        stop = min(stop, start + limit)
    return _piece(row, view.stretch(row.content, start, stop), start, first, count)


def _piece(
    row: ArtifactRow, data: bytes, start: int, first: int | None, count: int | None
) -> Piece:
    if row.lines is None:
        from base64 import b64encode

        text = b64encode(data).decode()
    else:
        before, after = whole_characters(data)
        start, data = start + before, data[before : len(data) - after]
        text = data.decode(errors="replace")
    return Piece(
        text=text,
        id=row.id,
        mime=row.mime,
        size=row.size,
        start=start,
        stop=start + len(data),
        more=start + len(data) < row.size,
        encoding="base64" if row.lines is None else "utf-8",
        first_line=first if count else None,
        last_line=first + count - 1 if first is not None and count else None,
    )


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:  # noqa: ARG001
    raise of_no_entries(store)


# What is given


def _data(content: str | bytes) -> bytes:
    if isinstance(content, str):
        if not is_unicode(content):
            raise InvalidInput(
                "text_not_unicode",
                "the content holds half of a character (a lone surrogate)",
                hint="decode the bytes as UTF-8 first, or save them as bytes",
            )
        content = content.encode()
    if not isinstance(content, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("content_invalid", "a content is text or bytes", hint="encode it first")
    if not content:
        raise InvalidInput("content_empty", "there is nothing to save", hint="give a content")
    return content


def _lines(data: bytes) -> int | None:
    """How many lines a text has; None where it is none."""
    if b"\0" in data:
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    return data.count(b"\n") + (not data.endswith(b"\n"))


def _label(text: str, what: str, chars_max: int) -> str:
    check_str(text, what)
    if not is_unicode(text) or len(text) > chars_max:
        raise InvalidInput(
            "label_invalid",
            f"{what} is not up to {chars_max:,} characters of text",
            hint="say it shorter",
        )
    return " ".join(text.split())


def _first_line(new: NewArtifact) -> str:
    """What a text says of itself: its first words."""
    if new.lines is None:
        return ""
    head = new.data[: 4 * SHOWN_CHARS].decode(errors="ignore")
    line = next((line for line in head.splitlines() if line.strip()), "")
    return " ".join(line.split())[:SHOWN_CHARS]


# Block


def block(view: View, store: Store) -> Draft | None:
    rows = view.newest_artifacts(store, INJECTED + 1)
    if not rows:
        return None
    lines = [_line(row, view.screened(store, _about(row))) for row in rows[:INJECTED]]
    return Draft(
        label=store.label,
        priority=_whole(store, "priority"),
        heading=f"## Artifacts {store.label} (newest first; artifact_get reads one)",
        lines=lines_of(lines),
        more=len(rows) > INJECTED,
        reach=f"More: artifact_get(store={store.called!r})",
    )


def _about(row: ArtifactRow) -> str:
    return " — ".join(filter(None, (row.title, row.summary[:SHOWN_CHARS])))


def _line(row: ArtifactRow, about: str) -> str:
    size = f"{row.size:,} bytes" if row.lines is None else f"{row.lines:,} lines"
    return f"- {row.created:%Y-%m-%d} {row.id} {row.mime}, {size}{': ' if about else ''}{about}"


# Face


class Artifacts:
    """The artifacts of one store."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.store = desk.store

    def save(
        self,
        content: str | bytes,
        *,
        mime: str = "",
        title: str = "",
        summary: str = "",
        **write: Unpack[WriteOptions],
    ) -> ArtifactSaved:
        """Keep text or bytes under an id. The same content again is the same artifact."""
        new = NewArtifact(content, mime, title, summary)
        size_max = _whole(self.store, "mib") * MIB
        if len(new.data) > size_max:
            raise InvalidInput(
                "artifact_too_large",
                f"the content has {len(new.data):,} bytes; {self.store.label} takes {size_max:,}",
                hint="push it as a directory: holdfast artifact init, then push",
            )
        meant: dict[str, Json] = {
            "content": new.name,
            "mime": new.mime,
            "title": new.title,
            "summary": new.summary,
        }
        return self._desk.mutate(
            "artifact save",
            meant,
            lambda work, store: save(work, store, new),
            Write(**write),
            contents=(new.data,),
        )

    def get(self, id: str) -> Artifact:
        """What is known of one artifact: its size, what refers to it, when it lapses."""
        return self._desk.read(lambda view, store: shown(view, view.artifact(store, id)))

    def read(self, id: str, *, lines: str | None = None, bytes: str | None = None) -> Piece:
        """An artifact, or the part of it with these lines (`10-20`, from 1) or bytes (from 0)."""
        return self._desk.read(lambda view, store: piece(view, store, id, lines, bytes, None))

    def content(self, id: str) -> bytes:
        """All bytes of an artifact."""

        def unit(view: View, store: Store) -> bytes:
            row = view.artifact(store, id)
            return view.stretch(row.content, 0, row.size)

        return self._desk.read(unit)

    def list(self, *, limit: int = 20) -> tuple[Artifact, ...]:
        """The newest first."""
        check_limit(limit)
        return self._desk.read(lambda view, store: tuple(newest(view, store, limit)))

    def forget(self, id: str, **write: Unpack[WriteOptions]) -> ArtifactForgotten:
        """Let go of an artifact now, whatever refers to it."""
        return self._desk.mutate(
            "artifact forget",
            {"id": id},
            lambda work, store: forget(work, store, id),
            Write(**write),
        )


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered for the artifacts of a space."""

    def artifact_save(
        text: str = "",
        base64: str = "",
        title: str = "",
        summary: str = "",
        mime: str = "",
        store: str | None = None,
    ) -> ArtifactSaved:
        """Keep long text, or bytes in base64, under an id. It lapses after a day unless a note or
        message names that id."""
        return Artifacts(desk(store)).save(
            _decoded(base64) if base64 else text, mime=mime, title=title, summary=summary
        )

    def artifact_get(
        id: str | None = None,
        lines: str | None = None,
        bytes: str | None = None,
        store: str | None = None,
    ) -> Piece | tuple[Artifact, ...]:
        """Read an artifact, or a range of it such as lines="120-160"; without an id, list the
        newest."""
        at = desk(store)
        if id is None:
            return Artifacts(at).list()
        limit = None if lines or bytes else TOOL_BYTES
        return at.read(lambda view, now: piece(view, now, id, lines, bytes, limit))

    return artifact_save, artifact_get


def _decoded(text: str) -> bytes:
    from base64 import b64decode

    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise InvalidInput(
            "content_invalid", "the content is not base64", hint="or give it as text"
        ) from None
