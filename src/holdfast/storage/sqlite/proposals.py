"""Proposals in SQLite: `ports.proposals`."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.canonical import canonical_text
from holdfast.core.codec import plain
from holdfast.core.suggesting import suggestion_from, suggestion_image
from holdfast.model.proposal import Finding, Proposal
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import sealed, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.model.space import SpaceInfo, Store
    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("proposals.sql"))


class ProposalReads:
    """`ports.proposals.ProposalReads` on a connection."""

    _conn: apsw.Connection

    def _found(self, name: str, bindings: Any) -> Iterator[Proposal]:
        return map(proposal_from, fetch(self._conn, STATEMENTS[name], bindings))

    def proposal(self, proposal: str) -> Proposal | None:
        return next(self._found("proposal", (proposal,)), None)

    def proposals_like(self, short: str) -> Sequence[Proposal]:
        return list(self._found("proposals_like", (short,)))

    def proposal_same(self, store: Store, fingerprint: bytes) -> Proposal | None:
        return next(self._found("proposals_same", (store.number, fingerprint)), None)

    def pending(self, space: SpaceInfo | None) -> Iterator[Proposal]:
        return self._found("pending", {"space": None if space is None else space.number})

    def proposals(self, space: SpaceInfo | None) -> Iterator[Proposal]:
        return self._found("proposals", {"space": None if space is None else space.number})

    def passes(self, store: Store, mark: bytes) -> bool:
        found = fetch(self._conn, STATEMENTS["passes"], (store.number,))
        size = len(mark)
        return any(
            marks[at : at + size] == mark for (marks,) in found for at in range(0, len(marks), size)
        )


class ProposalWrites(ProposalReads):
    """`ports.proposals.ProposalWrites` on a connection that is in a transaction."""

    def put_proposal(self, proposal: Proposal, fingerprint: bytes, passes: bytes | None) -> None:
        row = _proposal_row(proposal, fingerprint, passes)
        self._conn.execute(STATEMENTS["put_proposal"], row)


def _proposal_row(proposal: Proposal, fingerprint: bytes, passes: bytes | None) -> Row:
    wanted = proposal.suggestion
    columns = (
        *(proposal.number, proposal.id, proposal.space, proposal.store, proposal.state),
        canonical_text({"for": proposal.held, "findings": plain(proposal.findings)}),
        None if wanted is None else canonical_text(suggestion_image(wanted)),
        *(proposal.actor, proposal.user, proposal.session, to_us(proposal.created)),
        None if proposal.decided is None else to_us(proposal.decided),
        *(proposal.decided_by, fingerprint, passes, proposal.revision),
    )
    return sealed("proposal", columns)


@whole
def proposal_from(row: Row) -> Proposal:
    number, proposal_id, space, store, state, held_text, wanted, actor, user, session = row[:10]
    created_us, decided_us, decided_by, _, _, revision, space_name, store_name, strategy = row[10:]
    held = json.loads(held_text)
    return Proposal(
        id=proposal_id,
        number=number,
        space=space,
        space_name=space_name,
        store=store,
        store_name=store_name,
        strategy=strategy,
        state=state,
        held=held["for"],
        findings=tuple(Finding(**each) for each in held["findings"]),
        suggestion=None if wanted is None else suggestion_from(json.loads(wanted)),
        actor=actor,
        user=user,
        session=session,
        created=from_us(created_us),
        decided=None if decided_us is None else from_us(decided_us),
        decided_by=decided_by,
        revision=revision,
    )
