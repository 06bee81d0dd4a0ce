"""What a language model is asked, and what it answers.

A prompt says the task apart from the material, because the material was written by anybody. Where
it has a schema, the answer is JSON of that form; whoever asked checks it like any input.
"""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.model.entry import Json

TOKENS_OUT_MAX = 2_000


class Prompt(Value):
    """One question. `task` is ours, `material` is data; `name` is what the answer is called."""

    task: str
    material: str
    schema: Mapping[str, Json] | None = None
    name: str = "answer"
    tokens_out_max: int = TOKENS_OUT_MAX


class Completion(Value):
    """One answer. `model` is what the service says that answered.

    Where the service did not say what it counted, the tokens are estimates.
    """

    text: str
    tokens_in: int
    tokens_out: int
    model: str


class ModelSettings(Value):
    """Which model helps, and where it is. The key stands in the environment, under this name.

    `answers` says how the form of an answer is asked for: by a schema, or as JSON of which the task
    says the form, for services that know no schemas.
    """

    provider: str
    model: str
    base_url: str = ""
    key_env: str = ""
    timeout_s: int = 60
    attempts: int = 4
    answers: str = "schema"
    tokens_out_max: int = TOKENS_OUT_MAX
