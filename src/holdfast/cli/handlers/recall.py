"""`holdfast recall`."""

from __future__ import annotations

from holdfast.cli.opening import seen_space
from holdfast.core.codec import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.recall import Recall


def recall(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        detail = "basic" if call["explain"] else "off"
        found = space.recall(call["query"], call["budget"], diagnostics=detail)
    out.emit(plain(found), lambda: _explained(found) if call["explain"] else found.text)
    if not found.hits:
        out.note("Nothing was found" if not found.left_out else "Nothing fits into the budget")
        return
    left = f", {found.left_out} more found" if found.left_out else ""
    out.note(f"{len(found.hits)} shown{left}; {found.tokens:,} of {found.budget:,} tokens")


def _explained(found: Recall) -> str:
    lines: list[str] = []
    shown = found.text.split("\n") if found.hits else []
    for line, hit in zip(shown, found.hits, strict=True):
        parts = " ".join(f"{name} {worth:+.3f}" for name, worth in hit.why.items())
        lines += [line, f"    place {hit.place}, {hit.score:.3f}: {parts}"]
    looked = found.looked
    assert looked is not None
    counts = f"{looked.matched:,} weighed, {looked.filtered:,} filtered out"
    more = ", more met the words" if looked.cut else ""
    return "\n".join([*lines, f"{counts}{more}; {looked.took_us / 1000:.1f} ms"])
