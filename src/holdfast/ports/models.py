"""Language models as helpers.

A model is slow, costs money and may be down, so it is never called inside a transaction and never
needed: every use has a way without it. What it answers is a claim to be checked.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.model.completion import Completion, Prompt
    from holdfast.ports.review import Meter

    class LanguageModel(Protocol):
        """One model behind one service. May be called from several threads at once."""

        @property
        def name(self) -> str:
            """What the ledger and the log call it: the model as it is configured."""
            ...

        def complete(self, prompt: Prompt, meter: Meter) -> Completion:
            """Ask, and ask again where that may help; every request is a call of the meter.

            Raises ModelFailed where no usable answer came, and what the meter raises where its
            budget is spent, before anything is sent.
            """
            ...

        def close(self) -> None: ...
