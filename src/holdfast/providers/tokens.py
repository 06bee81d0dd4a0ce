"""Counting tokens with a real tokenizer, where one is installed and a setting names it.

`tiktoken:ENCODING` asks the package `tiktoken` for one of its encodings, `tokenizers:FILE` reads a
`tokenizer.json` with the package `tokenizers`. Each line is counted with the break behind it, so a
text costs what its lines cost. What is named and is not there is an error, and never an estimate: a
context is a function of its configuration, not of what happens to be installed.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path

from holdfast.errors import InvalidInput, Unsupported
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.core.budget import CountTokens

LINES_KEPT = 8_192


@lru_cache(maxsize=8)
def counter(name: str) -> CountTokens:
    package, _, which = name.partition(":")
    if package not in ("tiktoken", "tokenizers") or not which:
        raise InvalidInput(
            "tokenizer_invalid",
            f"{shown(name)} names no tokenizer",
            hint="estimate, tiktoken:ENCODING or tokenizers:FILE",
        )
    try:
        library = import_module(package)
    except ModuleNotFoundError:
        raise Unsupported(
            "tokenizer_missing",
            f"context.tokenizer asks for {package}, which is not installed",
            hint=f"pip install {package}, or set context.tokenizer to estimate",
        ) from None
    return _by_lines(_tiktoken(library, which) if package == "tiktoken" else _file(library, which))


def _tiktoken(library: Any, encoding: str) -> Callable[[str], int]:
    try:
        found = library.get_encoding(encoding)
    except (ValueError, OSError) as exc:
        raise _unusable(f"tiktoken:{encoding}") from exc
    return lambda text: len(found.encode_ordinary(text))


def _file(library: Any, file: str) -> Callable[[str], int]:
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, ValueError) as exc:
        raise _unusable(f"tokenizers:{file}") from exc
    found = library.Tokenizer.from_str(text)
    return lambda text: len(found.encode(text, add_special_tokens=False).ids)


def _unusable(name: str) -> Unsupported:
    return Unsupported(
        "tokenizer_missing",
        f"there is no tokenizer {shown(name)} here",
        hint="name one that is there, or set context.tokenizer to estimate",
    )


def _by_lines(encode: Callable[[str], int]) -> CountTokens:
    @lru_cache(maxsize=LINES_KEPT)
    def line(text: str) -> int:
        return encode(f"{text}\n")

    def count(text: str) -> int:
        return sum(map(line, text.removesuffix("\n").split("\n")))

    return count
