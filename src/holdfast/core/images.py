"""After-images: what the log says of a thing after each change, as JSON, and back.

An image holds everything that makes the thing what it is; only the revision is not in it, since
that is the seq of the change which holds the image. Times are microseconds since 1970.
"""

from __future__ import annotations

from holdfast.core.canonical import canonical, digest
from holdfast.core.codec import plain
from holdfast.core.suggesting import suggestion_image
from holdfast.model.artifact import ArtifactRow
from holdfast.model.entry import Entry
from holdfast.model.space import SpaceInfo, Store
from holdfast.model.times import from_us, to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from holdfast.model.directory import Directory, Version
    from holdfast.model.entry import Json
    from holdfast.model.erasure import Erasure
    from holdfast.model.message import Message
    from holdfast.model.proposal import Proposal
    from holdfast.model.run import Run
    from holdfast.model.session import Session

    Image = dict[str, Json]


def entry_image(entry: Entry) -> Image:
    held: Image = {"holds": list(entry.holds)} if entry.holds else {}
    return {
        **held,
        "number": entry.number,
        "id": entry.id,
        "given_id": entry.given_id,
        "kind": entry.kind,
        "subject": entry.subject,
        "text": entry.text,
        "state": entry.state,
        "hidden": entry.hidden,
        "importance": entry.importance,
        "pinned": entry.pinned,
        "tags": list(entry.tags),
        "refs": list(entry.refs),
        "scope": entry.scope,
        "facts": dict(entry.facts),
        "metadata": dict(entry.metadata),
        "origin": entry.origin,
        "trust": entry.trust,
        "session": entry.session,
        "bound": entry.bound,
        "created_us": to_us(entry.created),
        "updated_us": to_us(entry.updated),
        "said_us": _us(entry.said_at),
        "when_us": to_us(entry.when),
        "until_us": _us(entry.until),
    }


def entry_from_image(image: Mapping[str, Any], revision: int) -> Entry:
    said_us, until_us = image["said_us"], image["until_us"]
    return Entry(
        number=image["number"],
        id=image["id"],
        given_id=image["given_id"],
        kind=image["kind"],
        subject=image["subject"],
        text=image["text"],
        state=image["state"],
        hidden=image["hidden"],
        importance=image["importance"],
        pinned=image["pinned"],
        tags=tuple(image["tags"]),
        refs=tuple(image["refs"]),
        scope=image["scope"],
        facts=image["facts"],
        holds=tuple(image.get("holds", ())),
        metadata=image["metadata"],
        origin=image["origin"],
        trust=image["trust"],
        session=image["session"],
        bound=image["bound"],
        created=from_us(image["created_us"]),
        updated=from_us(image["updated_us"]),
        said_at=None if said_us is None else from_us(said_us),
        when=from_us(image["when_us"]),
        until=None if until_us is None else from_us(until_us),
        revision=revision,
    )


def space_image(space: SpaceInfo) -> Image:
    return {
        "number": space.number,
        "id": space.id,
        "name": space.name,
        "path": space.path,
        "declared": space.declared,
        "settings": dict(space.settings),
        "created_us": to_us(space.created),
    }


def space_from_image(image: Mapping[str, Any], revision: int) -> SpaceInfo:
    return SpaceInfo(
        id=image["id"],
        number=image["number"],
        name=image["name"],
        path=image["path"],
        declared=image["declared"],
        settings=image["settings"],
        created=from_us(image["created_us"]),
        revision=revision,
    )


def store_image(store: Store) -> Image:
    return {
        "number": store.number,
        "id": store.id,
        "space": store.space,
        "name": store.name,
        "type": store.type,
        "strategy": store.strategy,
        "options": dict(store.options),
        "position": store.position,
    }


def store_from_image(image: Mapping[str, Any], space: SpaceInfo, revision: int) -> Store:
    return Store(
        id=image["id"],
        number=image["number"],
        space=space.id,
        space_number=space.number,
        space_name=space.name,
        name=image["name"],
        type=image["type"],
        strategy=image["strategy"],
        options=image["options"],
        position=image["position"],
        revision=revision,
    )


def session_image(session: Session) -> Image:
    return {
        "number": session.number,
        "id": session.id,
        "space": session.space,
        "state": session.state,
        "title": session.title,
        "agent": session.agent,
        "user": session.user,
        "started_us": to_us(session.started),
        "ended_us": _us(session.ended),
        "source": session.source,
        "given_id": session.given_id,
        "compacted": session.compacted,
    }


def message_image(message: Message) -> Image:
    """The text stands in the row alone, so that it is kept once; the image has the digest of it."""
    calls: list[Json] = [[call.id, call.name, dict(call.arguments)] for call in message.calls]
    said = digest("said", message.text.encode(), canonical(calls))
    return {
        "number": message.number,
        "id": message.id,
        "session": message.session,
        "place": message.place,
        "role": message.role,
        "said": said.hex(),
        "call": message.call,
        "tool": message.tool,
        "given_id": message.given_id,
        "origin": message.origin,
        "trust": message.trust,
        "said_us": _us(message.said_at),
        "when_us": to_us(message.when),
        "rewound": message.rewound,
        "left_out": message.left_out,
    }


def directory_image(directory: Directory) -> Image:
    return {
        "number": directory.number,
        "id": directory.id,
        "space": directory.space_number,
        "name": directory.name,
        "type": directory.type,
        "state": directory.state,
        "hidden": directory.hidden,
        "head": directory.head,
        "created_us": to_us(directory.created),
    }


def version_image(version: Version) -> Image:
    return {
        "number": version.number,
        "id": version.id,
        "directory": version.directory,
        "v": version.v,
        "tree": version.tree,
        "files": version.files,
        "size": version.size,
        "parents": list(version.parents),
        "kind": version.kind,
        "author": version.author,
        "run": version.run,
        "session": version.session,
        "message": version.message,
        "at_us": to_us(version.at),
    }


_OF_THE_ROW = frozenset(
    [
        *("id", "number", "space_number", "space_name", "agent", "state", "session", "worker"),
        *("created", "started", "ended", "revision"),
    ]
)


def run_body(run: Run) -> Image:
    """What of a run has no column of its own."""
    return {name: plain(getattr(run, name)) for name in run.fields_ if name not in _OF_THE_ROW}


def run_image(run: Run) -> Image:
    """What the log says of a run. What its agent was asked and said stands elsewhere."""
    body = run_body(run)
    del body["prompt"]
    return {
        **body,
        "number": run.number,
        "id": run.id,
        "space": run.space_number,
        "agent": run.agent,
        "state": run.state,
        "session": run.session,
        "created_us": to_us(run.created),
        "started_us": _us(run.started),
        "ended_us": _us(run.ended),
    }


def artifact_image(artifact: ArtifactRow) -> Image:
    return {
        "number": artifact.number,
        "id": artifact.id,
        "content": artifact.content,
        "mime": artifact.mime,
        "title": artifact.title,
        "summary": artifact.summary,
        "size": artifact.size,
        "lines": artifact.lines,
        "state": artifact.state,
        "session": artifact.session,
        "created_us": to_us(artifact.created),
        "hours": artifact.hours,
    }


def artifact_from_image(image: Mapping[str, Any], revision: int) -> ArtifactRow:
    """An artifact as the log has it, which does not say what refers to it."""
    return ArtifactRow(
        id=image["id"],
        number=image["number"],
        content=image["content"],
        mime=image["mime"],
        title=image["title"],
        summary=image["summary"],
        size=image["size"],
        lines=image["lines"],
        state=image["state"],
        session=image["session"],
        created=from_us(image["created_us"]),
        hours=image["hours"],
        until=None,
        revision=revision,
    )


def proposal_image(proposal: Proposal) -> Image:
    """What the log says of a proposal. A text that screening held is not in it: the row has it,
    until somebody decides."""
    wanted = proposal.suggestion
    held = proposal.held == "screening"
    return {
        "number": proposal.number,
        "id": proposal.id,
        "space": proposal.space,
        "store": proposal.store,
        "state": proposal.state,
        "held": proposal.held,
        "findings": plain(proposal.findings),
        "suggestion": None if wanted is None or held else suggestion_image(wanted),
        "actor": proposal.actor,
        "user": proposal.user,
        "session": proposal.session,
        "created_us": to_us(proposal.created),
        "decided_us": _us(proposal.decided),
        "decided_by": proposal.decided_by,
    }


def erasure_image(erasure: Erasure) -> Image:
    return {
        "number": erasure.number,
        "id": erasure.id,
        "space": erasure.space,
        "what": erasure.what,
        "state": erasure.state,
        "targets": list(erasure.targets),
        "gone": dict(erasure.gone),
        "searched": erasure.searched,
        "elsewhere": dict(erasure.elsewhere),
        "copies": list(erasure.copies),
        "asked_us": to_us(erasure.asked),
        "done_us": _us(erasure.done),
    }


def _us(moment: datetime | None) -> int | None:
    return None if moment is None else to_us(moment)
