"""Asking a service: how often, how long apart, and what every failure is called.

An adapter sends one request and raises `Failed`; this module decides whether to ask again. What is
asked again waits twice as long each time, with chance in it so that many do not come at once, or as
long as the service says. Clock, chance and sleep are passed in.

A failure's own text is never shown: it may repeat what was sent, the key included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.core.budget import estimate_tokens
from holdfast.errors import InvalidInput, ModelFailed, Unsupported
from holdfast.model.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from holdfast.model.completion import Completion, ModelSettings, Prompt
    from holdfast.ports.review import Meter

FIRST_WAIT_S = 0.5
WAIT_S_MAX = 30.0
MEANWHILE = "the rules review meanwhile"
_LOCAL = ("localhost", "127.0.0.1", "::1")


class World(Value):
    """What asking needs from outside. `clock_us` never goes back; `chance` is from 0 to 1."""

    clock_us: Callable[[], int]
    sleep: Callable[[float], None]
    chance: Callable[[], float]
    environ: Mapping[str, str]


class Failed(Exception):
    """One request came to nothing. `again` where another may do better, after so many seconds."""

    def __init__(self, error: ModelFailed, *, again: bool = False, after_s: float = 0) -> None:
        super().__init__(error.code)
        self.error, self.again, self.after_s = error, again, after_s


def ask(
    send: Callable[[Prompt], Completion],
    prompt: Prompt,
    meter: Meter,
    settings: ModelSettings,
    world: World,
) -> Completion:
    """The answer of the first request that has one. Each request is one call of the meter."""
    tokens_in = estimate_tokens(prompt.task) + estimate_tokens(prompt.material)
    wait_s = FIRST_WAIT_S
    for left in range(settings.attempts - 1, -1, -1):
        try:
            with meter.call(settings.model, tokens_in, prompt.tokens_out_max) as metered:
                completion = send(prompt)
                metered.used(completion.tokens_in, completion.tokens_out)
        except Failed as failed:
            if not failed.again or not left or failed.after_s > WAIT_S_MAX:
                raise _told(failed, settings) from None
            pause_s = max(wait_s * (0.5 + world.chance() / 2), failed.after_s)
        else:
            return completion
        world.sleep(pause_s)
        wait_s = min(wait_s * 2, WAIT_S_MAX)
    raise AssertionError("there is at least one attempt")


def _told(failed: Failed, settings: ModelSettings) -> ModelFailed:
    error, where = failed.error, host_of(settings.base_url) or settings.provider
    said = f"{settings.model} at {where} {error.message}"
    return ModelFailed(error.code, said, hint=error.hint)


def no_answer(what: str = "answered what is no answer") -> Failed:
    return Failed(ModelFailed("model_answer_invalid", what, hint=MEANWHILE), again=True)


def cut_off() -> Failed:
    return Failed(
        ModelFailed("model_answer_cut", "was cut off before its answer ended", hint=MEANWHILE)
    )


def declined() -> Failed:
    return Failed(ModelFailed("model_declined", "declines to answer", hint=MEANWHILE))


def failure_of(sdk: ModuleType, error: Any) -> Failed:
    """What an error of a service's SDK is called here; both SDKs have the same classes."""
    if isinstance(error, sdk.APITimeoutError):
        late = ModelFailed("model_timed_out", "did not answer in time", hint=MEANWHILE)
        return Failed(late, again=True)
    if isinstance(error, sdk.APIConnectionError):
        hint = f"check model.base_url; {MEANWHILE}"
        lost = ModelFailed("model_unreachable", "cannot be reached, or broke off", hint=hint)
        return Failed(lost, again=True)
    if isinstance(error, sdk.APIStatusError):
        return _of_status(error.response.status_code, error.response.headers)
    return no_answer()


def _of_status(status: int, headers: Mapping[str, str]) -> Failed:
    after_s = retry_after_s(headers)
    if status in (401, 403):
        hint = "check the key in the variable that model.key_env names"
        return Failed(ModelFailed("model_denied", f"refuses the key ({status})", hint=hint))
    if status == 429:
        busy = ModelFailed("model_limited", "is asked too often", hint=f"wait; {MEANWHILE}")
        return Failed(busy, again=True, after_s=after_s)
    if status in (408, 409, 425) or status >= 500:
        failing = ModelFailed("model_failing", f"fails ({status})", hint=MEANWHILE)
        return Failed(failing, again=True, after_s=after_s)
    hint = "check model.name, model.base_url and model.answers"
    return Failed(
        ModelFailed("model_request_refused", f"refuses the request ({status})", hint=hint)
    )


def retry_after_s(headers: Mapping[str, str]) -> float:
    """How many seconds the service asks to wait; 0 where it says nothing usable."""
    said = headers.get("retry-after", "").strip()
    plain = said.isascii() and said.replace(".", "", 1).isdigit() and len(said) < 12
    return float(said) if plain else 0


def host_of(base_url: str) -> str:
    parts = urlsplit(base_url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""


def check_settings(settings: ModelSettings) -> ModelSettings:
    """Raises InvalidInput for what cannot work, or would show the key on the way."""
    if not settings.model:
        raise _unset("model.name", "no model is named", "such as gpt-5-mini")
    if not settings.base_url:
        return settings
    try:
        parts = urlsplit(settings.base_url)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        known, parts = False, urlsplit("")
    if not known or parts.username or parts.password or parts.query or parts.fragment:
        raise _unset(
            "model.base_url",
            "the model's address is not of its form, or has a key in it",
            "such as http://localhost:8080/v1; the key goes into the environment",
        )
    if parts.scheme == "http" and settings.key_env and parts.hostname not in _LOCAL:
        raise _unset(
            "model.base_url", "a key would be sent without encryption", "use https, or no key"
        )
    return settings


def _unset(name: str, what: str, cure: str) -> InvalidInput:
    return InvalidInput("model_settings_invalid", f"{name}: {what}", hint=cure)


def key_from(settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """The key; empty where no variable is named, as for a service on one's own machine."""
    if not settings.key_env:
        return ""
    key = environ.get(settings.key_env, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            "model_key_missing",
            f"the variable {settings.key_env} holds no usable key",
            hint=f"export {settings.key_env}=…, or name another with model.key_env",
        )
    return key


def not_installed(name: str) -> Unsupported:
    return Unsupported(
        "sdk_not_installed",
        f"the package {name} is not installed",
        hint="pip install 'holdfast[llm]'",
    )


def usable(value: Any, estimated: int) -> int:
    """A count of tokens as the service said it; the estimate where it said none that can be."""
    return value if type(value) is int and 0 <= value < 2**31 else estimated
