"""What proposals need of storage: their rows, and those of them that are the same."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from holdfast.model.proposal import Proposal
    from holdfast.model.space import SpaceInfo, Store

    class ProposalReads(Protocol):
        def proposal(self, proposal: str) -> Proposal | None: ...

        def proposals_like(self, short: str) -> Sequence[Proposal]:
            """Those whose id ends so."""
            ...

        def proposal_same(self, store: Store, fingerprint: bytes) -> Proposal | None:
            """The newest that was the same, in whatever state."""
            ...

        def pending(self, space: SpaceInfo | None) -> Iterator[Proposal]:
            """What waits, the oldest first; in all spaces where None."""
            ...

        def proposals(self, space: SpaceInfo | None) -> Iterator[Proposal]:
            """Those of every state, the newest first; in all spaces where None."""
            ...

        def passes(self, store: Store, mark: bytes) -> bool:
            """Whether a person let the text with this mark into the store."""
            ...

    class ProposalWrites(ProposalReads, Protocol):
        def put_proposal(
            self, proposal: Proposal, fingerprint: bytes, passes: bytes | None
        ) -> None:
            """`passes`: the marks of the texts that it lets in, one after the other."""
            ...
