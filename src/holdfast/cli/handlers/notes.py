"""`holdfast note`."""

from __future__ import annotations

from holdfast.cli.opening import opened_space, seen_space, stores_of, write_options
from holdfast.cli.output import in_a_line
from holdfast.core.codec import plain
from holdfast.errors import UsageError
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.entry import Entry, Json


def save(call: Call, out: Output) -> None:
    metadata = _metadata(call)
    with opened_space(call, makes=True) as space:
        notes = space.notes(call["store"])
        saved = notes.save(
            call["text"],
            id=call["id"],
            metadata=metadata,
            origin=call["origin"],
            said_at=call["said_at"],
            **write_options(call),
        )
        out.emit(plain(saved), saved.entry.handle)
        unchanged = saved.outcome == "unchanged"
        out.note(f"{'Already there' if unchanged else 'Saved'} in {notes.store.label}")
        for advice in saved.advice:
            out.warn(advice.message, code=advice.code)
        if saved.fell_out:
            out.note(f"{saved.fell_out} older fell out of {notes.store.label}")


def read(call: Call, out: Output) -> None:
    metadata = _metadata(call)
    with seen_space(call) as space:
        notes = space.notes(call["store"])
        if call["id"] is not None:
            entry = notes.get(call["id"])
            out.emit(plain(entry), lambda: _whole(entry))
            return
        page = notes.read(
            since=call["since"],
            until=call["until"],
            text=call["text"],
            metadata=metadata,
            limit=call["limit"],
            cursor=call["cursor"],
            order=call["order"],
        )
        out.emit(plain(page), lambda: "\n".join(map(_line, page.entries)))
        if not page.entries:
            chosen = any(call[key] for key in ("since", "until", "text", "meta", "cursor"))
            out.note(f"No {'such ' if chosen else ''}notes in {notes.store.label}")
        if page.cursor is not None:
            out.note(f"More: add --cursor {page.cursor}")


def remove(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        notes = space.notes(call["store"])
        removed = notes.remove(call["id"], **write_options(call))
        out.emit(plain(removed), "")
        unchanged = removed.outcome == "unchanged"
        what = f"{notes.store.label} {removed.entry.handle}"
        out.note(f"{what} was removed before" if unchanged else f"Removed {what}")


stores = stores_of("narrative")


def _metadata(call: Call) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in call["meta"]:
        if key in found:
            raise UsageError(
                "option_repeated", f"`--meta` gives {shown(key)} twice", hint="keep one"
            )
        found[key] = value
    return found


def _line(entry: Entry) -> str:
    return f"{entry.handle}  {entry.when:%Y-%m-%d %H:%M}  {in_a_line(entry.text)}"


def _whole(entry: Entry) -> str:
    given = "" if entry.given_id is None else f"{entry.given_id} · "
    hidden = ", hidden" if entry.hidden else ""
    said = "saved" if entry.said_at is None else "said"
    facts = [f"{key}={value}" for key, value in entry.metadata.items()]
    return "\n".join(
        [
            "It was forgotten." if entry.state == "forgotten" else entry.text,
            "",
            f"id        {given}{entry.id}",
            f"state     {entry.state}{hidden}, revision {entry.revision}",
            f"{said:<8}  {entry.when:%Y-%m-%d %H:%M} UTC",
            f"origin    {entry.origin}, trust {entry.trust}",
            *([f"session   {entry.session}"] if entry.session else []),
            *([f"metadata  {' '.join(facts)}"] if facts else []),
        ]
    )
