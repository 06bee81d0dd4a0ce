"""`holdfast session`."""

from __future__ import annotations

from holdfast.cli.opening import opened_space, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.errors import UsageError
from holdfast.model.ids import short
from holdfast.model.importing import Imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.message import Message, Near, SessionHit


def start(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        session = space.start_session(
            call["title"] or "",
            agent=call["agent"] or "local",
            source=call["source"],
            **write_options(call),
        )
        out.emit(plain(session), session.id)


def say(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        said = space.transcript().say(
            call["role"],
            call["text"],
            id=call["id"],
            tool=call["tool"] or "",
            call=call["call"] or "",
            origin=call["origin"],
            said_at=call["said_at"],
            **write_options(call),
        )
        out.emit(plain(said), "")
        was = "Said before" if said.outcome == "unchanged" else "Kept"
        out.note(f"{was}, at place {said.message.place}")
        for notice in said.notices:
            out.note(notice)


def list_sessions(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = space.transcript().recent(
            state=call["state"], sources=call["source"], limit=call["limit"]
        )
        rows = [
            {
                **{name: plain(getattr(item.session, name)) for name in item.session.fields_},
                "title": item.title,
                "class": item.kind,
                "messages": item.messages,
                "turns": item.turns,
                "last": plain(item.last),
            }
            for item in found
        ]
        out.table(rows, _COLUMNS, empty="No sessions")


_COLUMNS = (
    Column(title="SESSION", key="id"),
    Column(title="STATE", key="state"),
    Column(title="LAST USED", key="last", show=lambda at: at[:16].replace("T", " ")),
    Column(title="SOURCE", key="source"),
    Column(title="AGENT", key="agent"),
    Column(title="MESSAGES", key="messages", right=True),
    Column(title="TITLE", key="title"),
)


def show(call: Call, out: Output) -> None:
    session = _named(call)
    with opened_space(call) as space:
        talk = space.transcript().read(
            session, place=call["place"], around=call["around"], limit=call["limit"]
        )
        out.emit(plain(talk), lambda: "\n".join(map(_message, talk.messages)))
        if not talk.messages:
            out.note(f"Nothing was said in session {talk.session.id}")
        if talk.cursor is not None:
            out.note(f"More: add --place {talk.cursor}")


def search(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        hits = space.transcript().search(
            call["query"],
            since=call["since"],
            until=call["until"],
            roles=call["role"],
            sources=call["source"],
            limit=call["limit"],
        )
        out.emit(plain(hits), lambda: "\n\n".join(map(_hit, hits)))
        if not hits:
            out.note("Nothing was found")


def end(call: Call, out: Output) -> None:
    named = _named(call)
    with opened_space(call) as space:
        session = space.end_session(named, **write_options(call))
        out.emit(plain(session), "")
        out.note(f"Session {session.id} is {session.state}")


def rewind(call: Call, out: Output) -> None:
    session = _named(call)
    with opened_space(call) as space:
        count = space.transcript().rewind(session, call["place"], **write_options(call))
        out.emit({"rewound": count}, "")
        out.note(f"Messages taken back: {count}")


def compact(call: Call, out: Output) -> None:
    named = _named(call)
    with opened_space(call) as space:
        session = space.transcript().compact(
            named, call["place"], call["summary"] or "", **write_options(call)
        )
        out.emit(plain(session), "")
        out.note(f"Summed up to place {session.compacted}")


def import_sessions(call: Call, out: Output) -> None:
    with opened_space(call, makes=not call["dry_run"]) as space:
        found = Imported(dry_run=call["dry_run"])
        for found in space.importing(call["path"], format=call["format"], dry_run=call["dry_run"]):
            out.progress(f"{found.files:,} files, {found.messages_new:,} messages")
        out.emit(plain(found), lambda: _imported(found))
        for each in found.examples:
            out.note(f"left out: {each.file}:{each.line}: {each.why}")


def _imported(found: Imported) -> str:
    would = "would be " if found.dry_run else ""
    lines = [
        f"{found.files:,} files read",
        f"{found.sessions_new:,} sessions {would}new, {found.sessions_grown:,} grown",
        f"{found.messages_new:,} messages {would}new, {found.messages_known:,} known before",
    ]
    lines += [f"{count:,} left out: {why}" for why, count in found.skipped.items()]
    return "\n".join(lines)


def _named(call: Call) -> str:
    name = call["id"] or call["session"]
    if name is None:
        raise UsageError("session_missing", "no session is named", hint="give its id, or --session")
    return name


def _message(message: Message) -> str:
    words = [message.text] if message.text else []
    words += [f"[calls {call.name}]" for call in message.calls]
    if message.left_out:
        words.append(f"[{message.left_out:,} bytes are not kept]")
    who = f"{message.role} {message.tool}".strip()
    mark = ", rewound" if message.rewound else ""
    head = f"{message.place}  {message.when:%Y-%m-%d %H:%M}  {who}{mark}"
    return "\n    ".join([head, *"\n".join(words).splitlines()])


def _hit(hit: SessionHit) -> str:
    head = f"{short(hit.session)}  {in_a_line(hit.title)}  ({hit.source}, {hit.caution})"
    found = f"  > {hit.place} {hit.role}: {in_a_line(' '.join(hit.snippet.split()))}"
    return "\n".join([head, *map(_near, hit.before), found, *map(_near, hit.after)])


def _near(near: Near) -> str:
    return f"    {near.place} {near.role}: {in_a_line(near.text)}"
