"""The reviewer that asks a language model.

It raises where the model gives no usable answer or its budget is spent; whoever asked it then asks
the rules, which always answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model.completion import TOKENS_OUT_MAX
from holdfast.providers.answers import suggestions_in
from holdfast.providers.prompts import questions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.review import Known, Said, Suggestion
    from holdfast.ports.models import LanguageModel
    from holdfast.ports.review import Meter


class ModelReviewer:
    """`ports.review.Reviewer` over any language model."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        answers: str = "schema",
        tokens_out_max: int = TOKENS_OUT_MAX,
    ) -> None:
        self._model, self._in_words = model, answers == "json"
        self._tokens_out_max = tokens_out_max

    @property
    def name(self) -> str:
        return self._model.name

    def review(
        self, said: Sequence[Said], known: Sequence[Known], meter: Meter
    ) -> Sequence[Suggestion]:
        """What was said is of one session, in its order."""
        if not any(each.role == "user" for each in said):
            return ()
        found: list[Suggestion] = []
        for question in questions(said, known, in_words=self._in_words):
            prompt = question.prompt.replace(tokens_out_max=self._tokens_out_max)
            completion = self._model.complete(prompt, meter)
            found += suggestions_in(completion.text, question)
        return tuple(found)
