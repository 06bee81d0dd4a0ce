"""What was learned when, and what is not as it was when a session began."""

from __future__ import annotations

from holdfast.core.metadata import check_origin
from holdfast.errors import Refused
from holdfast.model.profile import FILES, Difference, Learned
from holdfast.strategies.profile.policy import check_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.model.change import Change
    from holdfast.model.entry import Entry, Json
    from holdfast.model.profile import ChangeKind, File
    from holdfast.model.space import Store
    from holdfast.ports import View


def changes(view: View, store: Store, session: str | None) -> tuple[Difference, ...]:
    """The differences, in the order in which they came about."""
    name = session or view.session_id
    if name is None:
        raise Refused(
            "session_needed",
            "what changed since a session began needs a session, and this call names none",
            hint="give --session (HOLDFAST_SESSION), from holdfast session start",
        )
    since = view.session_of(store, name).number
    moved = [entry for entry in _theirs(view, store) if entry.revision > since]
    found = [_difference(view, entry, since) for entry in sorted(moved, key=lambda e: e.revision)]
    return tuple(each for each in found if each is not None)


def _theirs(view: View, store: Store) -> Iterator[Entry]:
    """What is or was in the files for the caller."""
    for entry in view.in_every_state(store):
        if entry.kind in FILES and view.sees(entry) and entry.state != "draft":
            yield entry


def _difference(view: View, entry: Entry, since: int) -> Difference | None:
    before = next((each for each in view.history(entry) if each.seq <= since), None)
    image = None if before is None else before.after
    was = image is not None and _stands(image)
    text = str(image["text"]) if image is not None and was else ""
    if view.is_gone(entry):  # of what stood there, nothing is told but that it went
        if image is None or image["hidden"]:
            return None
        return Difference(kind="removed", file=check_file(entry.kind), entry=entry)
    now = entry.state != "forgotten" and not entry.hidden
    kind: ChangeKind
    if now:
        kind = "changed" if was else "added"
        if image is not None and not was:
            kind = "restored"
    elif was:
        kind = "archived" if entry.state != "forgotten" else "removed"
    else:
        return None
    if kind == "changed" and text == entry.text:
        return None
    return Difference(kind=kind, file=check_file(entry.kind), entry=entry, before=text)


def learned(view: View, store: Store, file: File | None, limit: int) -> tuple[Learned, ...]:
    """The moments of all entries, the newest first."""
    moments = [
        moment
        for entry in _theirs(view, store)
        if file in (None, entry.kind)
        for moment in _moments(view, entry)
    ]
    moments.sort(key=lambda moment: moment.seq, reverse=True)
    return tuple(moments[:limit])


def _moments(view: View, entry: Entry) -> Iterator[Learned]:
    """The changes of an entry that its reader would notice; of a forgotten one, that it went."""
    versions = list(view.history(entry))
    if view.is_gone(entry):
        versions = versions[:1]
    for change, before in zip(versions, [*versions[1:], None], strict=True):
        image = change.after
        if image is None:
            continue
        kind = _kind(image, None if before is None else before.after)
        if kind is not None:
            yield _learned(entry, change, image, kind)


def _kind(image: Mapping[str, Json], before: Mapping[str, Json] | None) -> ChangeKind | None:
    if image["state"] == "forgotten":
        return "removed"
    if before is None:
        return "added"
    if image["hidden"] != before["hidden"]:
        return "archived" if image["hidden"] else "restored"
    return "changed" if image["text"] != before["text"] else None


def _learned(entry: Entry, change: Change, image: Mapping[str, Json], kind: ChangeKind) -> Learned:
    return Learned(
        at=change.at,
        kind=kind,
        file=check_file(entry.kind),
        entry=entry.handle,
        text=str(image["text"]),
        actor=change.actor,
        session=change.session,
        origin=check_origin(str(image["origin"])),
        reason=change.reason,
        seq=change.seq,
    )


def _stands(image: Mapping[str, Json]) -> bool:
    return image["state"] != "forgotten" and not image["hidden"]
