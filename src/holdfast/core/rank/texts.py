"""What a search knows of an entry: the tokens of what it says, and of what it is called by."""

from __future__ import annotations

from holdfast.core.text.words import MARK, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.model.entry import Entry


def terms_and_names(entry: Entry) -> tuple[list[str], list[str]]:
    return tokens(entry.text), name_tokens(entry.names)


def name_tokens(names: Iterable[str]) -> list[str]:
    """Those of each name, with marks between, so that no phrase reaches from one to the next."""
    return [token for name in names for token in (*tokens(name), MARK)]
