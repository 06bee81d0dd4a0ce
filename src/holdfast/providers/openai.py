"""A model behind any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.core.budget import estimate_tokens
from holdfast.model.completion import Completion
from holdfast.providers.asking import (
    ask,
    check_settings,
    cut_off,
    declined,
    failure_of,
    key_from,
    no_answer,
    not_installed,
    usable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.model.completion import ModelSettings, Prompt
    from holdfast.model.entry import Json
    from holdfast.ports.review import Meter
    from holdfast.providers.asking import World

OFFICIAL = "https://api.openai.com/v1"
# The SDK insists on a key; a service without one does not look at it.
_NO_KEY = "none"


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: Any = None
    completion_tokens: Any = None


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None
    model: str = ""


class OpenAIModel:
    """`ports.models.LanguageModel` over the SDK of OpenAI."""

    def __init__(self, settings: ModelSettings, world: World) -> None:
        self._settings, self._world = check_settings(settings), world
        key = key_from(settings, world.environ)
        try:
            import openai

            from holdfast.providers.limits import http_client
        except ImportError:
            raise not_installed("openai") from None
        self._sdk = openai
        self._client = openai.OpenAI(
            api_key=key or _NO_KEY,
            base_url=settings.base_url or OFFICIAL,
            max_retries=0,
            http_client=http_client(settings.timeout_s, world.clock_us, with_key=bool(key)),
        )

    @property
    def name(self) -> str:
        return self._settings.model

    def complete(self, prompt: Prompt, meter: Meter) -> Completion:
        return ask(self._send, prompt, meter, self._settings, self._world)

    def close(self) -> None:
        self._client.close()

    def _send(self, prompt: Prompt) -> Completion:
        try:
            raw = self._client.chat.completions.with_raw_response.create(
                model=self._settings.model,
                messages=[
                    {"role": "system", "content": prompt.task},
                    {"role": "user", "content": prompt.material},
                ],
                **self._how(prompt),
            )
            content = raw.http_response.content
        except self._sdk.OpenAIError as error:
            raise failure_of(self._sdk, error) from None
        return completion_of(content, prompt, self._settings.model)

    def _how(self, prompt: Prompt) -> dict[str, Any]:
        """What differs between the service itself and those that speak like it."""
        how: dict[str, Any] = {"max_tokens": prompt.tokens_out_max, "temperature": 0}
        if not self._settings.base_url:
            how = {"max_completion_tokens": prompt.tokens_out_max}
        if prompt.schema is not None:
            how["response_format"] = self._format(prompt.name, prompt.schema)
        return how

    def _format(self, name: str, schema: Mapping[str, Json]) -> dict[str, Any]:
        if self._settings.answers == "json":
            return {"type": "json_object"}
        return {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": schema, "strict": True},
        }


def completion_of(content: bytes, prompt: Prompt, model: str) -> Completion:
    """What an answer's bytes say. Raises Failed for what is none."""
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise no_answer() from None
    if not answer.choices:
        raise no_answer("answered nothing")
    choice = answer.choices[0]
    if choice.finish_reason == "length":
        raise cut_off()
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise declined()
    text = choice.message.content
    if not text:
        raise no_answer("answered nothing")
    usage = answer.usage or _Usage()
    asked = estimate_tokens(prompt.task) + estimate_tokens(prompt.material)
    return Completion(
        text=text,
        tokens_in=usable(usage.prompt_tokens, asked),
        tokens_out=usable(usage.completion_tokens, estimate_tokens(text)),
        model=answer.model or model,
    )
