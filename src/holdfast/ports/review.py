"""What a reviewer is, and how one that calls a model is held to its budget."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Protocol

    from holdfast.core.preferences import Settings
    from holdfast.model.review import Known, Said, Suggestion

    class Metered(Protocol):
        """A call of a model that is under way."""

        def used(self, tokens_in: int, tokens_out: int) -> None:
            """What the model says that it took. Without it, what was reserved counts."""
            ...

    class Meter(Protocol):
        """The ledger, for one review."""

        def call(
            self, model: str, tokens_in: int, tokens_out_max: int
        ) -> AbstractContextManager[Metered]:
            """Reserve the tokens for one call, which is made inside the block.

            Raises `Refused` with the code `budget_spent` where they are more than what is left of
            the review's or the day's budget. A block that raises counts as a failed call, with what
            was reserved for its prompt.
            """
            ...

    class Reviewer(Protocol):
        """From what was said and what is known to suggestions. It changes nothing."""

        @property
        def name(self) -> str:
            """Who the log says wrote what it suggested."""
            ...

        def review(
            self, said: Sequence[Said], known: Sequence[Known], meter: Meter
        ) -> Sequence[Suggestion]:
            """Nothing is a fine answer. A reviewer that cannot work now raises a HoldfastError, and
            the next one is asked."""
            ...

    # The reviewers to ask, the first first, for the settings of a space.
    Reviewers = Callable[[Settings], Sequence[Reviewer]]
