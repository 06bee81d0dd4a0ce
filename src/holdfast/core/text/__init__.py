"""The one place where text is analysed: what an index holds, what finds it, what is the same.

Every function here is pure and answers for any `str`, in time that grows with its length and no
faster. An index stores `TEXT_VERSION` beside what it holds; when that is not the version of the
program, the index is built again.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.text.folding import fold, normal_form
    from holdfast.core.text.meets import satisfies
    from holdfast.core.text.query import (
        Phrase,
        Prefix,
        Query,
        Word,
        content_query,
        content_terms,
        is_plain,
        match_expression,
        parse,
    )
    from holdfast.core.text.similar import NEAR_MIN, similarity, sketch
    from holdfast.core.text.window import Snippet, snippet
    from holdfast.core.text.words import tokens

# Raised whenever a token of any text changes.
TEXT_VERSION = 1

__all__ = [
    "NEAR_MIN",
    "TEXT_VERSION",
    "Phrase",
    "Prefix",
    "Query",
    "Snippet",
    "Word",
    "content_query",
    "content_terms",
    "fold",
    "is_plain",
    "match_expression",
    "normal_form",
    "parse",
    "satisfies",
    "similarity",
    "sketch",
    "snippet",
    "tokens",
]

# Imported when first asked for: a program that only opens a vault asks for the version alone.
_LATER = {
    **dict.fromkeys(("fold", "normal_form"), "folding"),
    "tokens": "words",
    **dict.fromkeys(("NEAR_MIN", "similarity", "sketch"), "similar"),
    **dict.fromkeys(("Snippet", "snippet"), "window"),
    "satisfies": "meets",
    **dict.fromkeys(
        (
            *("Phrase", "Prefix", "Query", "Word", "content_query", "content_terms", "is_plain"),
            *("match_expression", "parse"),
        ),
        "query",
    ),
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = found
    return found
