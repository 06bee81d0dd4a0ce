"""Language models as helpers, and who counts what they cost.

A model is slow, costs money and may be down, so it is never called inside a transaction and never
needed: every use has a way without it. What it answers is a claim to be checked.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.model.completion import Completion, ModelCall, Prompt, Purpose, Reviewed
    from holdfast.model.review import Known, Said

    class LanguageModel(Protocol):
        """One model behind one service. May be called from several threads at once."""

        @property
        def name(self) -> str:
            """What a ledger calls it, the model as it is configured."""
            ...

        def complete(self, prompt: Prompt, purpose: Purpose, ledger: Ledger) -> Completion:
            """Ask, and ask again where that may help; every request is recorded in the ledger.

            Raises ModelFailed where no usable answer came, and ModelRefused where the ledger has
            no room left, before anything is sent.
            """
            ...

    class Ledger(Protocol):
        """What was spent, and what may be. The caller makes one for a review, so that its caps,
        the review's and the day's, are those of this moment."""

        def left(self, purpose: Purpose) -> int | None:
            """The tokens, in and out, that may still be spent; None without a cap. Never asked
            from within a transaction."""
            ...

        def record(self, call: ModelCall) -> None:
            """Count a request. It is durable when this returns."""
            ...

    class Reviewer(Protocol):
        """From what was said and what is known to what should change. It changes nothing."""

        @property
        def name(self) -> str:
            """What the log calls it: `rules`, or the model's name."""
            ...

        def review(self, said: Sequence[Said], known: Sequence[Known], ledger: Ledger) -> Reviewed:
            """What was said is of one session, in its order. Nothing to save is a fine answer.

            The rules never fail, and never ask the ledger.
            """
            ...
