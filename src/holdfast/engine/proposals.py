"""Proposals: changes that wait for somebody to decide, and the inbox in which they wait.

A proposal is made once: what waits already, or was rejected, is not proposed again. Approving it
hands its suggestion to the store's strategy, in one unit with the decision, unless the target
changed since: then the proposal is stale. Only a person decides. A proposal about one user is not
shown to another.

What screening held stands in the proposal's row alone and never in the log: rejected, it is gone.
"""

from __future__ import annotations

from itertools import islice

from holdfast.core.canonical import canonical_text
from holdfast.core.suggesting import changes_of
from holdfast.engine import mounts, spaces
from holdfast.engine.forgetting import is_of_forgotten, told_of
from holdfast.engine.screening import marks_of, wanted_of
from holdfast.engine.work import mutate
from holdfast.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from holdfast.model.ids import ProposalId, is_id, is_short, short
from holdfast.model.names import check_str, shown
from holdfast.model.proposal import PROPOSAL_STATES, Proposal
from holdfast.model.query import check_limit
from holdfast.model.value import Value
from holdfast.model.write import Write
from holdfast.strategies import STRATEGIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Unpack

    from holdfast.engine.rescreening import Screened
    from holdfast.engine.work import Core, Work
    from holdfast.model.entry import Entry
    from holdfast.model.proposal import Finding, HeldFor, ProposalState
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store
    from holdfast.model.write import Caller, WriteOptions
    from holdfast.ports import Snapshot


class Decided(Value):
    """`entry` is what the approval made of the suggestion; None where nothing had to be done."""

    proposal: Proposal
    entry: Entry | None
    outcome: Literal["applied", "rejected", "stale", "unchanged"]


def propose(
    work: Work,
    space_name: str,
    suggestion: Suggestion,
    held: HeldFor,
    findings: tuple[Finding, ...] = (),
) -> Proposal:
    """Put a suggestion into the inbox. One that waits already, or was rejected, is given back."""
    named = mounts.store_named(work.tx, space_name, suggestion.store, suggestion.strategy)
    store = spaces.written_store(work, mounts.check_writable(named))
    if held != "screening" and (found := work.held(store, wanted_of(suggestion))):
        held, findings = "screening", found
    known = work.tx.proposal_same(store, _fingerprint(work, suggestion, held))
    if known is not None and (known.state == "pending" or _is_settled(known, work)):
        return known
    proposal = Proposal(
        id=ProposalId(work.new_id()),
        number=work.seq + 1,
        space=store.space_number,
        space_name=store.space_name,
        store=store.number,
        store_name=store.name,
        strategy=store.strategy,
        state="pending",
        held=held,
        findings=findings,
        suggestion=suggestion,
        actor=str(work.caller.actor),
        user=work.caller.user,
        session=work.session_id,
        created=work.at,
        revision=work.seq + 1,
    )
    return _put(work, proposal, None, suggestion, "propose")


def was_rejected(work: Work, store: Store, suggestion: Suggestion) -> bool:
    """Whether a person turned the same down before."""
    known = work.tx.proposal_same(store, _fingerprint(work, suggestion, "review"))
    return known is not None and known.state == "rejected"


def _is_settled(known: Proposal, work: Work) -> bool:
    """Turned down, for good; but a person who writes a held text again has thought about it."""
    again = known.held == "screening" and work.caller.actor.kind == "human"
    return known.state == "rejected" and not again


def approve(core: Core, caller: Caller, space: str | None, name: str, write: Write) -> Decided:
    _person(caller)

    def unit(work: Work) -> Decided:
        proposal = _named(work.tx, space, caller, name)
        work.expect(proposal.revision, f"the proposal {short(proposal.id)}")
        work.met()
        if proposal.state == "applied":
            known = told_of(work.tx, proposal)
            return Decided(proposal=known, entry=None, outcome="unchanged")
        wanted, store = _waiting(proposal), work.tx.store_numbered(proposal.store)
        work.of_space(store.space_name)
        if store.position is None:
            raise Refused(
                "store_withdrawn",
                f"{store.label} is no longer declared, so nothing can be added to it",
                hint="declare it again, or reject the proposal",
            )
        if _moved(work, store, wanted) or is_of_forgotten(work.tx, proposal):
            after = _decide(work, proposal, wanted, "stale")
            return Decided(proposal=after, entry=None, outcome="stale")
        after = _decide(work, proposal, wanted, "applied")
        entry = _stands(work, proposal, wanted)
        if entry is None:
            entry = STRATEGIES[store.strategy].accept(work, store, wanted)
        return Decided(proposal=after, entry=entry, outcome="applied")

    decided = mutate(core, caller, write, "review approve", {"id": name, "space": space}, unit)
    if decided.outcome == "stale":
        raise Conflict(
            "proposal_stale",
            f"what the proposal {short(decided.proposal.id)} would change has changed since",
            hint="look at what is there now, and change that",
        )
    return decided


def reject(core: Core, caller: Caller, space: str | None, name: str, write: Write) -> Decided:
    """It is not proposed again. A text that screening held is gone with it, and an entry that it
    found where it stands is forgotten."""
    _person(caller)

    def unit(work: Work) -> Decided:
        proposal = _named(work.tx, space, caller, name)
        work.expect(proposal.revision, f"the proposal {short(proposal.id)}")
        if proposal.state == "rejected":
            known = told_of(work.tx, proposal)
            return Decided(proposal=known, entry=None, outcome="unchanged")
        wanted = _waiting(proposal)
        work.of_space(proposal.space_name)
        after = _decide(work, proposal, wanted, "rejected")
        entry = _stands(work, proposal, wanted)
        if entry is not None:
            store = work.tx.store_numbered(proposal.store)
            entry = work.gate(store).veiled(work.move(store, entry, "forget"))
        return Decided(proposal=told_of(work.tx, after), entry=entry, outcome="rejected")

    return mutate(core, caller, write, "review reject", {"id": name, "space": space}, unit)


def _stands(work: Work, proposal: Proposal, wanted: Suggestion) -> Entry | None:
    """The entry that says already what is proposed: screening found it where it stands."""
    store = work.tx.store_numbered(proposal.store)
    if proposal.held != "screening" or wanted.op != "update" or wanted.target is None:
        return None
    entry = None if _moved(work, store, wanted) else work.tx.entry(store, wanted.target)
    return None if entry is None or changes_of(wanted, entry) else entry


class Inbox:
    """The proposals of a space, or of a whole vault."""

    def __init__(self, core: Core, caller: Caller, space: str | None) -> None:
        self._core = core
        self._caller = caller
        self._space = space

    def read(
        self, *, state: ProposalState | None = "pending", limit: int = 100
    ) -> Sequence[Proposal]:
        """What waits, the oldest first; or what is in another state, the newest first. With None
        whatever there is."""
        check_limit(limit, 10_000)
        if state not in (None, *PROPOSAL_STATES):
            raise InvalidInput(
                "state_invalid",
                f"{shown(state)} is no state of a proposal",
                hint=f"one of {', '.join(PROPOSAL_STATES)}",
            )

        def unit(snapshot: Snapshot) -> Sequence[Proposal]:
            space = None if self._space is None else spaces.space_named(snapshot, self._space)
            if space is None and self._space is not None:
                return []
            every = snapshot.pending(space) if state == "pending" else snapshot.proposals(space)
            fitting = (
                each
                for each in every
                if each.user == self._caller.user and state in (None, each.state)
            )
            return [told_of(snapshot, each) for each in islice(fitting, limit)]

        return self._core.storage.read(unit)

    def get(self, id: str) -> Proposal:
        """One proposal, by its id or the short form of it, in whatever state."""
        return self._core.storage.read(
            lambda snapshot: told_of(snapshot, _named(snapshot, self._space, self._caller, id))
        )

    def approve(self, id: str, **write: Unpack[WriteOptions]) -> Decided:
        """Apply what is proposed. Raises Conflict when its target changed since."""
        return approve(self._core, self._caller, self._space, id, Write(**write))

    def screen(self) -> Screened:
        """Look again at every entry that is there; what does not pass screening waits here."""
        from holdfast.engine.rescreening import screen

        return screen(self._core, self._caller, self._space)

    def reject(self, id: str, **write: Unpack[WriteOptions]) -> Decided:
        """Turn it down; give a `reason`. It is not proposed again."""
        return reject(self._core, self._caller, self._space, id, Write(**write))


def _named(snapshot: Snapshot, space: str | None, caller: Caller, name: str) -> Proposal:
    check_str(name, "the proposal")
    one = snapshot.proposal(name) if is_id(name) else None
    found = [] if one is None else [one]
    if is_short(name):
        found = list(snapshot.proposals_like(name))
    found = [p for p in found if p.user == caller.user and space in (None, p.space_name)]
    if len(found) > 1:
        raise Ambiguous(
            "proposal_ambiguous",
            f"{shown(name)} fits the proposals {', '.join(each.id for each in found)}",
            hint="use a whole id",
        )
    if not found:
        raise NotFound(
            "proposal_not_found",
            f"there is no proposal {shown(name)}",
            hint="holdfast review inbox lists what waits",
        )
    return found[0]


def _waiting(proposal: Proposal) -> Suggestion:
    if proposal.state != "pending" or proposal.suggestion is None:
        raise Conflict(
            "proposal_decided",
            f"the proposal {short(proposal.id)} is {proposal.state} already",
            hint="make the change itself, if it is wanted now",
        )
    return proposal.suggestion


def _moved(work: Work, store: Store, wanted: Suggestion) -> bool:
    """Whether the entry that it would change is not what was seen."""
    if wanted.target is None:
        return False
    entry = work.tx.entry(store, wanted.target)
    return entry is None or entry.state == "forgotten" or entry.revision != wanted.revision


def _person(caller: Caller) -> None:
    if caller.actor.kind != "human":
        raise Refused(
            "person_needed",
            f"{caller.actor} cannot decide on a proposal: a person does",
            hint="decide without --agent",
        )


def _decide(work: Work, proposal: Proposal, wanted: Suggestion, state: ProposalState) -> Proposal:
    gone = state == "rejected" and proposal.held == "screening"
    after = proposal.replace(
        state=state,
        suggestion=None if gone else wanted,
        decided=work.at,
        decided_by=str(work.caller.actor),
    )
    op = {"applied": "approve", "rejected": "reject"}.get(state, "expire")
    return _put(work, after, proposal, wanted, op)


def _put(
    work: Work, after: Proposal, before: Proposal | None, wanted: Suggestion, op: str
) -> Proposal:
    fingerprint = _fingerprint(work, wanted, after.held)
    let_in = after.state == "applied" and after.held == "screening"
    passes = marks_of(work.secret, wanted) if let_in else None
    return work.put_proposal(after, before, op, fingerprint, passes)


def _fingerprint(work: Work, wanted: Suggestion, held: HeldFor) -> bytes:
    """By which the same proposal is found again. What screening held is told apart to the letter
    of its details, because it is a write and no opinion."""
    parts = [wanted.op, wanted.kind, wanted.target or "", wanted.subject, wanted.text]
    if held == "screening":
        parts.append(canonical_text(dict(wanted.details)))
    return work.fingerprint("\n".join(parts))
