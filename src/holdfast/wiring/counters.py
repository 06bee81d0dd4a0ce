"""What counts tokens, by the name that `context.tokenizer` has; a library only if one is named."""

from __future__ import annotations

from holdfast.core.budget import ESTIMATE, estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.budget import CountTokens


def counters_of(name: str) -> CountTokens:
    if name == ESTIMATE:
        return estimate_tokens
    from holdfast.providers.tokens import counter

    return counter(name)
