"""`holdfast review`."""

from __future__ import annotations

from contextlib import contextmanager

from holdfast.cli.opening import opened_vault, space_of, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.errors import NotFound
from holdfast.model.ids import SHORT_CHARS, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from typing import Any

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.proposals import Inbox
    from holdfast.model.job import Job
    from holdfast.model.proposal import Proposal


@contextmanager
def _inbox(call: Call) -> Generator[Inbox]:
    with opened_vault(call) as vault:
        yield vault.inbox() if call["all"] else space_of(call, vault).inbox()


def inbox(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        box = vault.inbox() if call["all"] else space_of(call, vault).inbox()
        found = box.read(state=call["state"], limit=call["limit"])
        rows = [_row(each) for each in found]
        out.table(rows, _COLUMNS, empty="Nothing waits" if call["state"] == "pending" else "None")
        for line in _how_reviews_stand(vault.reviews(limit=1_000)):
            out.note(line)


def _how_reviews_stand(jobs: Sequence[Job]) -> Iterator[str]:
    """Where a review waits, was given up, or was not made by the model that is set up."""
    waiting = sum(job.state in ("waiting", "running") for job in jobs)
    failed = sum(job.state == "failed" for job in jobs)
    if waiting:
        yield f"Reviews that are due: {waiting} (holdfast review run)"
    if failed:
        yield f"Reviews that were given up: {failed} (holdfast review run --all)"
    last = next((job.answer for job in jobs if job.answer is not None), None)
    if last is not None and last.note:
        yield f"The last review was made by {last.reviewer} ({last.note})"


def _row(proposal: Proposal) -> dict[str, Any]:
    fields: Any = plain(proposal)
    return {**fields, "what": _what(proposal), "why": _why(proposal)}


_COLUMNS = (
    Column(title="PROPOSAL", key="id", show=short),
    Column(title="STORE", key="store_name"),
    Column(title="FROM", key="actor"),
    Column(title="WHY", key="why"),
    Column(title="WHAT", key="what"),
)


def show(call: Call, out: Output) -> None:
    if call["id"].isascii() and call["id"].isdigit() and len(call["id"]) < SHORT_CHARS:
        _show_review(call, out)
        return
    with _inbox(call) as box:
        found = box.get(call["id"])
        out.emit(plain(found), lambda: _whole(found))


def _show_review(call: Call, out: Output) -> None:
    from holdfast.cli.handlers.reviews import whole

    number = int(call["id"])
    with opened_vault(call) as vault:
        found = next((job for job in vault.reviews(limit=1_000) if job.number == number), None)
    if found is None:
        raise NotFound(
            "review_not_found",
            f"there is no review {number} among the newest 1,000",
            hint="holdfast review list",
        )
    out.emit(plain(found), lambda: whole(found))


def screen(call: Call, out: Output) -> None:
    with _inbox(call) as box:
        done = box.screen()
        rows = [_row(each) for each in done.held]
        out.table(rows, _COLUMNS)
        out.note(f"{done.looked:,} looked at, {len(done.held):,} held")


def approve(call: Call, out: Output) -> None:
    with _inbox(call) as box:
        decided = box.approve(call["id"], **write_options(call))
        entry = decided.entry
        out.emit(plain(decided), "" if entry is None else entry.handle)
        where = decided.proposal.label
        before = decided.outcome == "unchanged"
        out.note("It was applied before" if before else f"Applied to {where}")


def reject(call: Call, out: Output) -> None:
    with _inbox(call) as box:
        decided = box.reject(call["id"], **write_options(call))
        out.emit(plain(decided), "")
        before = decided.outcome == "unchanged"
        out.note("It was rejected before" if before else "Rejected; it will not be proposed again")


def waiting(call: Call, _prefix: str) -> list[tuple[str, str]]:
    """The proposals that wait, with what they would do."""
    with opened_vault(call) as vault:
        return [(short(each.id), _what(each)) for each in space_of(call, vault).inbox().read()]


def _what(proposal: Proposal) -> str:
    wanted = proposal.suggestion
    if wanted is None:
        return "(gone)"
    if proposal.held == "screening":
        return f"{wanted.op} (to read it: review show)"
    return f"{wanted.op} {in_a_line(wanted.subject or wanted.text)}"


def _why(proposal: Proposal) -> str:
    found = sorted({finding.code for finding in proposal.findings})
    return f"{proposal.held}: {', '.join(found)}" if found else proposal.held


def _whole(proposal: Proposal) -> str:
    wanted = proposal.suggestion
    decided = "" if proposal.decided is None else f" by {proposal.decided_by}"
    lines = [
        f"id        {proposal.id}",
        f"store     {proposal.label}",
        f"state     {proposal.state}{decided}, revision {proposal.revision}",
        f"from      {proposal.actor}, {proposal.created:%Y-%m-%d %H:%M} UTC",
        f"held for  {proposal.held}",
        *(f"found     {finding}" for finding in proposal.findings),
    ]
    if wanted is None:
        return "\n".join([*lines, "", "What it held is gone or forgotten."])
    about = {
        "what": f"{wanted.op} {wanted.kind}".strip(),
        "target": "" if wanted.target is None else f"{short(wanted.target)} at {wanted.revision}",
        "subject": wanted.subject,
        "origin": f"{wanted.origin}, trust {wanted.trust}",
        "reason": wanted.reason,
        "evidence": " ".join(map(short, wanted.evidence)),
    }
    lines += [f"{name:<8}  {text}" for name, text in about.items() if text]
    return "\n".join([*lines, "", wanted.text])
