"""The merge of one file's contents: which strategy, by its name and by what is in it."""

from __future__ import annotations

from .structured import merge_json, merge_yaml
from .text import (
    Clash,
    is_binary,
    merge_new_texts,
    merge_text,
    unite_at_end,
    unite_items,
    unite_markdown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .structured import LoadYaml

TEXT_BYTES_MAX = 32 * 1024 * 1024  # larger files are not merged, and so not read for it
JSON_ENDINGS = (".json", ".ipynb")
YAML_ENDINGS = (".yaml", ".yml")
MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")


def merge_contents(
    name: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    load_yaml: LoadYaml | None = None,
) -> bytes | Clash:
    """The merged content, or why there is none. Without a base both sides have made the file."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if any(is_binary(data) for data in (base or b"", ours, theirs)):
        return Clash(reason="binary")
    name = name.lower()
    merged: bytes | Clash | None = None
    if name.endswith(JSON_ENDINGS):
        merged = merge_json(base, ours, theirs)
    elif name.endswith(YAML_ENDINGS) and load_yaml is not None:
        merged = merge_yaml(base, ours, theirs, load_yaml)
    return _merge_as_text(name, base, ours, theirs) if merged is None else merged


def _merge_as_text(name: str, base: bytes | None, ours: bytes, theirs: bytes) -> bytes | Clash:
    markdown = name.endswith(MARKDOWN_ENDINGS)
    if base is not None:
        return merge_text(base, ours, theirs, unite_markdown if markdown else unite_at_end)
    if markdown:
        return merge_new_texts(ours, theirs, unite_items)
    return Clash(reason="both_added")
