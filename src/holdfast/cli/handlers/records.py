"""`holdfast record`."""

from __future__ import annotations

from holdfast.cli.opening import opened_space, seen_space, stores_of, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.errors import UsageError
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.entry import Entry, Json
    from holdfast.model.record import (
        RecordDiff,
        RecordLink,
        RecordRead,
        RecordRow,
        RecordRows,
        RecordVersion,
    )

_ROWS = (
    Column(title="ID", key="id"),
    Column(title="KIND", key="kind"),
    Column(title="STATE", key="state"),
    Column(title="SUBJECT", key="subject"),
)
_LINKS = (
    Column(title="FROM", key="source"),
    Column(title="TO", key="target"),
    Column(title="STATE", key="state"),
    Column(title="SUBJECT", key="subject"),
)


# Writing


def add(call: Call, out: Output) -> None:
    body = _body(call, needed=True)
    with opened_space(call, makes=True) as space:
        records = space.records(call["store"])
        added = records.add(
            body,
            kind=call["kind"] or "project_fact",
            subject=call["subject"],
            id=call["id"],
            scope=call["scope"],
            task=call["task"],
            said_at=call["said_at"],
            supersedes=call["supersedes"],
            pinned=True if call["pin"] else None,
            **_about(call),
            **write_options(call),
        )
        out.emit(plain(added), added.entry.handle)
        words = {
            "added": f"Added to {records.store.label} as {_standing(added.entry)}",
            "again": f"Already in {records.store.label}; it was corroborated",
            "reopened": f"Open again in {records.store.label}",
            "unchanged": f"Already in {records.store.label}",
        }
        out.note(words[added.outcome])
        for row in added.near:
            what = f"nearly the same is there: {row.id}, {shown(row.subject)}"
            out.warn(what, code="record_near")
        _tell_superseded(out, added.supersedes)


def _standing(entry: Entry) -> str:
    return "a draft" if entry.state == "draft" else "confirmed"


def promote(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        records = space.records(call["store"])
        done = records.promote(call["id"], supersedes=call["supersedes"], **write_options(call))
        out.emit(plain(done), "")
        what = f"{records.store.label} {done.entry.handle}"
        words = {
            "promoted": f"Promoted {what}",
            "merged": f"The same was confirmed before: {what}",
            "unchanged": f"{what} was confirmed before",
        }
        out.note(words[done.outcome])
        _tell_superseded(out, done.supersedes)


def update(call: Call, out: Output) -> None:
    if call["pin"] and call["unpin"]:
        raise UsageError("option_misplaced", "`--pin` and `--unpin` contradict", hint="keep one")
    body = _body(call, needed=False)
    with opened_space(call) as space:
        records = space.records(call["store"])
        done = records.update(
            call["id"],
            body,
            subject=call["subject"],
            kind=call["kind"],
            supersedes=call["supersedes"],
            pinned=True if call["pin"] else False if call["unpin"] else None,
            **_about(call),
            **write_options(call),
        )
        out.emit(plain(done), "")
        what = f"{records.store.label} {done.entry.handle}"
        out.note(f"{what} is so already" if done.outcome == "unchanged" else f"Updated {what}")
        _tell_superseded(out, done.supersedes)
        if done.outcome == "updated" and body is not None and call["subject"] is None:
            _tell_subject(out, records.history(call["id"], limit=2))


def _tell_subject(out: Output, versions: Sequence[RecordVersion]) -> None:
    """A subject that was the first sentence of the earlier text stays, and says what it said."""
    from holdfast.core.records.body import subject_of

    new, old = versions[0], versions[-1]
    if old.body.startswith(("#", "{")) or new.body.startswith("{"):
        return  # a heading and a field's name are names, and still fit
    made = subject_of(old.body, is_fields=False)
    if old.subject == new.subject == made != subject_of(new.body, is_fields=False):
        what = f"its subject, which sessions start with, is still {shown(new.subject)}"
        out.warn(what, code="subject_kept", hint="say another with --subject")


def forget(call: Call, out: Output) -> None:
    if (call["id"] is None) == (call["query"] is None):
        raise UsageError(
            "argument_missing", "`record forget` takes an ID or a --query", hint="give one of them"
        )
    if call["query"] is not None and call["expect"] is not None:
        raise UsageError(
            "options_exclude",
            "`--query` and `--expect` exclude each other: what is found is shown, and just that "
            "is forgotten",
            hint="leave one",
        )
    with opened_space(call) as space:
        records = space.records(call["store"])
        confirm = None
        if call["query"] is not None:
            asked = records.forget(query=call["query"])
            if not asked.rows:
                out.emit(plain(asked), "")
                out.note(f"Nothing in {records.store.label} meets the query")
                return
            for row in asked.rows:
                out.note(f"{row.id}  {row.subject}")
            count = len(asked.rows)
            out.confirm(f"Forget {'this record' if count == 1 else f'these {count} records'}?")
            confirm = asked.confirm
        done = records.forget(
            call["id"], query=call["query"], confirm=confirm, **write_options(call)
        )
        out.emit(plain(done), "")
        for row in done.rows:
            what = f"{records.store.label} {row.id}"
            before = done.outcome == "unchanged"
            out.note(f"{what} was forgotten before" if before else f"Forgot {what}")


def revert(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        records = space.records(call["store"])
        done = records.revert(call["id"], call["to"], **write_options(call))
        out.emit(plain(done), "")
        what = f"{records.store.label} {done.entry.handle}"
        said = done.outcome == "unchanged"
        out.note(f"{what} says that already" if said else f"{what} says again: {_line(done.entry)}")


def _line(entry: Entry) -> str:
    return in_a_line(entry.text if len(entry.text) <= 60 else f"{entry.text[:59]}…")


def _body(call: Call, *, needed: bool) -> Any:
    text, fields = call["text"], call["fields"]
    if (text is None) == (fields is None) and (needed or text is not None):
        raise UsageError(
            "argument_missing",
            "the body is either TEXT or --fields",
            hint="give one of them; TEXT may be `-`, for standard input",
        )
    if fields is not None and not isinstance(fields, dict):
        raise UsageError(
            "value_invalid", "`--fields` takes a JSON object", hint='such as {"port": 8080}'
        )
    return text if fields is None else fields


def _about(call: Call) -> Any:
    metadata: dict[str, Json] = dict(call["meta"])
    return {
        "tags": call["tag"] or None,
        "refs": call["ref"] or None,
        "confidence": call["confidence"],
        "importance": call["importance"],
        "source": call["source"],
        "origin": call["origin"],
        "since": call["since"],
        "until": call["until"],
        "metadata": metadata or None,
    }


def _tell_superseded(out: Output, rows: Sequence[RecordRow]) -> None:
    for row in rows:
        out.note(f"It supersedes {row.id}, {shown(row.subject)}")


# Reading


def search(call: Call, out: Output) -> None:
    asked: Any = {
        "subject": call["subject"] or "",
        "kinds": call["kind"],
        "tags": call["tag"],
        "since": call["since"],
        "until": call["until"],
        "task": call["task"],
        "hidden": call["closed"],
        "cursor": call["cursor"],
    }
    asked |= {"states": call["state"]} if call["state"] else {}
    asked |= {"limit": call["limit"]} if call["limit"] is not None else {}
    asked |= {"diagnostics": "basic"} if call["explain"] else {}
    with seen_space(call) as space:
        records = space.records(call["store"])
        found = records.search(
            call["query"] or "", budget=call["budget"], summary=call["summary"], **asked
        )
        unsaid = not found.rows and not call["state"]
        drafts = unsaid and records.list("draft", limit=1, everybodys=True).rows
    out.emit(plain(found), lambda: _told(found, explain=call["explain"]))
    others = "; `holdfast record list --state draft` has drafts" if drafts else ""
    _tell_rest(out, found, f"No such records in {records.store.label}{others}")


def _told(found: RecordRows, *, explain: bool) -> str:
    lines: list[str] = []
    for row in found.rows:
        lines.append(f"{row.id}  {row.kind}  {in_a_line(row.subject)}{_aside(row)}")
        lines += [f"    {in_a_line(row.summary)}"] if row.summary else []
        if explain and row.score is not None:
            parts = " ".join(f"{name} {worth:+.3f}" for name, worth in row.why.items())
            lines.append(f"    {row.score:.3f}: {parts}")
    looked = found.looked
    if explain and looked is not None:
        counts = f"{looked.matched:,} weighed, {looked.filtered:,} filtered out"
        dropped = f"{looked.dropped:,} not on this page, {found.left_out} beyond the budget"
        lines.append(f"{counts}, {dropped}; {found.tokens:,} tokens")
    return "\n".join(lines)


def _aside(row: RecordRow) -> str:
    words = ["draft"] if row.state == "draft" else []
    words += [f"closed: {row.closed}"] if row.closed else []
    return f"  ({', '.join(words)})" if words else ""


def _tell_rest(out: Output, found: RecordRows, empty: str) -> None:
    if not found.rows:
        out.note(empty if not found.left_out else "Nothing fits into the budget")
    if found.cursor is not None:
        out.note(f"More: add --cursor {found.cursor}")


def list_(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        records = space.records(call["store"])
        found = records.list(
            call["state"],
            kinds=call["kind"],
            limit=call["limit"],
            cursor=call["cursor"],
            everybodys=call["session"] is None,
        )
        rows: Any = plain(found.rows)
        if call["json"]:
            out.emit(plain(found), "")
        else:
            out.table(rows, _ROWS)
        label = records.store.label
        drafts = "" if call["state"] != "shown" else "; drafts are listed with --state draft"
        _tell_rest(out, found, f"No such records in {label}{drafts}")


def read(call: Call, out: Output) -> None:
    if (call["id"] is None) == (call["query"] is None):
        raise UsageError(
            "argument_missing", "`record read` takes an ID or a --query", hint="give one of them"
        )
    with seen_space(call) as space:
        found = space.records(call["store"]).read(call["id"], query=call["query"])
        out.emit(plain(found), lambda: _whole(found))
        for row in found.others:
            out.note(f"Also: {row.id}  {row.subject}")


def expand(call: Call, out: Output) -> None:
    part = call["id"] is not None and call["path"] is not None
    if part == (call["layer"] is not None) or (call["id"] is not None and not part):
        raise UsageError(
            "argument_missing",
            "`record expand` takes an ID and a PATH, or a --layer",
            hint="holdfast record read ID shows the sections of a record",
        )
    with seen_space(call) as space:
        records = space.records(call["store"])
        if call["layer"] is not None:
            found = records.layer(call["layer"], limit=call["limit"] or 50, cursor=call["cursor"])
            out.emit(plain(found), lambda: _told(found, explain=False))
            _tell_rest(out, found, f"Nothing {call['layer']} in {records.store.label}")
            return
        one = records.expand(call["id"], call["path"])
        out.emit(plain(one), lambda: one.text or _as_json(one.value))


def _as_json(value: Json) -> str:
    from json import dumps

    return value if isinstance(value, str) else dumps(value, ensure_ascii=False, indent=2)


def history(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        found = space.records(call["store"]).history(call["id"], limit=call["limit"])
        out.emit(plain(list(found)), lambda: "\n".join(map(_version, found)))


def _version(version: RecordVersion) -> str:
    why = f"  {in_a_line(version.reason)}" if version.reason else ""
    head = f"{version.revision}  {version.at:%Y-%m-%d %H:%M}  {version.actor}  {version.op}"
    body = in_a_line(version.body if len(version.body) <= 60 else f"{version.body[:59]}…")
    return f"{head}{why}\n    {body}" if body else f"{head}{why}"


def compare(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        records = space.records(call["store"])
        found = records.compare(call["id"], call["before"], call["after"])
        out.emit(plain(found), lambda: _difference(found))
        if not found.fields and not found.body:
            newest = records.history(call["id"], limit=1)[0]
            gone = newest.state == "forgotten"
            out.note("It was forgotten, its versions too" if gone else "They are the same")


def _difference(found: RecordDiff) -> str:
    lines: list[str] = []
    for name, pair in found.fields.items():
        before, after = pair if isinstance(pair, list) else (None, None)
        lines.append(f"{name}: {_as_json(before)} → {_as_json(after)}")
    return "\n".join([*lines, *([found.body] if found.body else [])])


def links(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        found = space.records(call["store"]).links(call["id"])
        every = [*found.refers, *found.referred]
        if call["json"]:
            out.emit(plain(found), "")
        else:
            out.table([_fields(link) for link in every], _LINKS, empty="No links")
        _warn_dead(out, found.refers)


def neighbours(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        found = space.records(call["store"]).neighbours(
            call["id"], depth=call["depth"], limit=call["limit"]
        )
        rows: list[Any] = [{"depth": far, **_fields(row)} for far, row in found.rows]
        if call["json"]:
            out.emit(plain(found), "")
        else:
            out.table(rows, (Column(title="LINKS", key="depth", right=True), *_ROWS))
        if not rows:
            out.note("No neighbours")
        if found.more:
            out.note("There are more: raise --limit")
        _warn_dead(out, found.dead)


def _fields(value: RecordLink | RecordRow) -> dict[str, Any]:
    fields: Any = plain(value)
    return fields


def _warn_dead(out: Output, found: Sequence[RecordLink]) -> None:
    for link in found:
        if link.is_dead:
            what = f"{link.source} refers to {link.target}, which is {link.state}"
            out.warn(what, code="link_dead")


def _whole(found: RecordRead) -> str:
    entry = found.entry
    given = "" if entry.given_id is None else f"{entry.given_id} · "
    said = "added" if entry.said_at is None else "said"
    confidence = "" if found.confidence is None else f", confidence {found.confidence:g}"
    facts = [f"{key}={value}" for key, value in entry.metadata.items()]
    closed = ", closed" if entry.hidden else ""
    since = "" if found.since is None else f" from {found.since:%Y-%m-%d %H:%M}"
    until = "" if entry.until is None else f" until {entry.until:%Y-%m-%d %H:%M}"
    pin = ", pinned" if entry.pinned else ""
    linked = [f"{link.target}{f' ({link.state})' if link.is_dead else ''}" for link in found.links]
    is_title = found.body.partition("\n")[0].strip() == entry.subject
    title = [] if is_title or not found.body else [entry.subject, ""]
    lines = [
        *title,
        *([found.body.rstrip(), ""] if found.body else []),
        f"id          {given}{entry.id}",
        f"kind        {entry.kind}, {found.layer}",
        f"state       {entry.state}{closed}, revision {entry.revision}",
        *([f"            {found.says}"] if found.says else []),
        f"{said:<10}  {entry.when:%Y-%m-%d %H:%M} UTC",
        f"origin      {entry.origin}, trust {entry.trust}{confidence}",
        f"importance  {entry.importance}{pin}",
        *([f"true       {since}{until} UTC"] if since or until else []),
        *([f"scope       {entry.scope}"] if entry.scope else []),
        *([f"source      {found.source}"] if found.source else []),
        *([f"tags        {', '.join(entry.tags)}"] if entry.tags else []),
        *([f"refers to   {', '.join(linked)}"] if linked else []),
        *([f"session     {entry.session}"] if entry.session else []),
        *([f"metadata    {' '.join(facts)}"] if facts else []),
    ]
    return "\n".join(lines)


# Completion


stores = stores_of("records")


def kinds(call: Call, _prefix: str) -> list[str]:
    """The kinds that a record may have."""
    from holdfast.core.records.kinds import kinds_of

    with seen_space(call) as space:
        return list(kinds_of(space.records(call["store"]).store.options))
