"""A model behind Anthropic's messages. A form of answer is asked for as a call of a tool."""

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
    from holdfast.model.completion import ModelSettings, Prompt
    from holdfast.ports.review import Meter
    from holdfast.providers.asking import World

OFFICIAL = "https://api.anthropic.com"
_NO_KEY = "none"


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"null")


class _Usage(msgspec.Struct):
    input_tokens: Any = None
    output_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_read_input_tokens: Any = None


class _Answer(msgspec.Struct):
    content: list[_Block]
    usage: _Usage | None = None
    stop_reason: str | None = None
    model: str = ""


class AnthropicModel:
    """`ports.models.LanguageModel` over the SDK of Anthropic."""

    def __init__(self, settings: ModelSettings, world: World) -> None:
        self._settings, self._world = check_settings(settings), world
        key = key_from(settings, world.environ)
        try:
            import anthropic

            from holdfast.providers.limits import http_client
        except ImportError:
            raise not_installed("anthropic") from None
        self._sdk = anthropic
        # A key is always given, so that the SDK looks for none of its own.
        self._client = anthropic.Anthropic(
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
            raw = self._client.messages.with_raw_response.create(
                model=self._settings.model,
                max_tokens=prompt.tokens_out_max,
                system=prompt.task,
                messages=[{"role": "user", "content": prompt.material}],
                **self._tool(prompt),
            )
            content = raw.http_response.content
        except self._sdk.AnthropicError as error:
            raise failure_of(self._sdk, error) from None
        return completion_of(content, prompt, self._settings.model)

    def _tool(self, prompt: Prompt) -> dict[str, Any]:
        if prompt.schema is None or self._settings.answers == "json":
            return {}
        tool = {
            "name": prompt.name,
            "description": "Hand in the answer.",
            "input_schema": prompt.schema,
        }
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": prompt.name}}


def completion_of(content: bytes, prompt: Prompt, model: str) -> Completion:
    """What an answer's bytes say. Raises Failed for what is none."""
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise no_answer() from None
    if answer.stop_reason == "max_tokens":
        raise cut_off()
    if answer.stop_reason == "refusal":
        raise declined()
    text = _text_of(answer, prompt)
    if not text:
        raise no_answer("answered nothing")
    usage = answer.usage or _Usage()
    asked = estimate_tokens(prompt.task) + estimate_tokens(prompt.material)
    cached = (usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    return Completion(
        text=text,
        tokens_in=usable(usage.input_tokens, asked) + sum(usable(each, 0) for each in cached),
        tokens_out=usable(usage.output_tokens, estimate_tokens(text)),
        model=answer.model or model,
    )


def _text_of(answer: _Answer, prompt: Prompt) -> str:
    """What the tool was called with, else the text."""
    for block in answer.content:
        if block.type == "tool_use" and block.name == prompt.name:
            return bytes(block.input).decode("utf-8")
    return "".join(block.text for block in answer.content if block.type == "text")
