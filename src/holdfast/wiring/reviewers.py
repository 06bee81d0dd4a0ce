"""Who reviews what was said, by a space's settings: a model where one is set up, and the rules.

The rules need nothing and never fail, so they come last. A model is looked for only when a review
is under way, so that an SDK that is missing, a key that is not there or a setting that cannot work
is the reason why the rules reviewed, and never an error of whoever talked. The key stays in the
environment: no setting, log or ledger holds it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.core.preferences import Settings
    from holdfast.model.completion import ModelSettings
    from holdfast.model.review import Known, Said, Suggestion
    from holdfast.ports.models import LanguageModel
    from holdfast.ports.review import Meter, Reviewer

_OWN_KEY = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class RulesReviewer:
    """`ports.review.Reviewer` that needs no model."""

    name = "rules"

    def review(
        self,
        said: Sequence[Said],
        known: Sequence[Known],
        meter: Meter,  # noqa: ARG002 - rules cost nothing
    ) -> Sequence[Suggestion]:
        from holdfast.core.rules import review

        return review(said, known)


class ConfiguredReviewer:
    """The reviewer that asks the model which the settings name, opened for one review at a time."""

    def __init__(self, settings: ModelSettings, environ: Mapping[str, str]) -> None:
        self._settings, self._environ = settings, environ
        self.name = settings.model or settings.provider

    def review(
        self, said: Sequence[Said], known: Sequence[Known], meter: Meter
    ) -> Sequence[Suggestion]:
        from holdfast.providers.reviewer import ModelReviewer

        model = opened_model(self._settings, self._environ)
        try:
            reviewer = ModelReviewer(
                model,
                answers=self._settings.answers,
                tokens_out_max=self._settings.tokens_out_max,
            )
            return reviewer.review(said, known, meter)
        finally:
            model.close()


def reviewers_of(settings: Settings) -> Sequence[Reviewer]:
    rules = RulesReviewer()
    model = model_settings(settings)
    if model is None or settings.word("review.reviewer") == "rules":
        return (rules,)
    return (ConfiguredReviewer(model, os.environ), rules)


def model_settings(settings: Settings) -> ModelSettings | None:
    """The language model that the settings name; None where they name none."""
    from holdfast.model.completion import ModelSettings

    provider, base_url = settings.word("model.provider"), settings.word("model.base_url")
    if provider == "none":
        return None
    return ModelSettings(
        provider=provider,
        model=settings.word("model.name"),
        base_url=base_url,
        key_env=settings.word("model.key_env") or ("" if base_url else _OWN_KEY[provider]),
        timeout_s=settings.whole("model.timeout_s"),
        attempts=settings.whole("model.attempts"),
        answers=settings.word("model.answers"),
        tokens_out_max=settings.whole("model.tokens_answer"),
    )


def opened_model(settings: ModelSettings, environ: Mapping[str, str]) -> LanguageModel:
    """The model, ready to be asked; whoever has it closes it."""
    import random
    import time

    from holdfast.providers.asking import World

    world = World(
        clock_us=lambda: time.monotonic_ns() // 1000,
        sleep=time.sleep,
        chance=random.random,
        environ=environ,
    )
    return _adapter(settings.provider)(settings, world)


def _adapter(provider: str) -> Callable[..., LanguageModel]:
    if provider == "anthropic":
        from holdfast.providers.anthropic import AnthropicModel

        return AnthropicModel
    from holdfast.providers.openai import OpenAIModel

    return OpenAIModel
