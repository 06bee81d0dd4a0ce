"""Fitting blocks into a budget of tokens.

Blocks are served by priority; blocks of one priority take turns, one line at a time, so that a
talkative store cannot starve a quiet one. A line is only ever dropped together with all lines that
are less wanted, so the newest never goes before the older. The cost of a text is the sum of the
costs of its lines, so what is shown never exceeds the budget.
"""

from __future__ import annotations

from holdfast.model.context import Block, Context, Draft, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    CountTokens = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Tokens of a text without a tokenizer: a quarter for each ASCII character, one for each other.

    Every line is rounded up, so the estimate of a text is the sum of that of its lines.
    """
    total = 0
    for line in text.splitlines():
        wide = len(line) if not line.isascii() else 0
        if wide:
            wide = sum(1 for char in line if ord(char) > 127)
        total += wide + (len(line) - wide) // 4 + 1
    return total


def fit(drafts: Sequence[Draft], budget: int | None, count: CountTokens) -> Context:
    """The context of these drafts. Without a budget everything is shown in full."""
    taken = [len(draft.lines) for draft in drafts]
    if budget is not None:
        taken = _take(drafts, budget, count)
    blocks = tuple(_block(draft, kept, count) for draft, kept in zip(drafts, taken, strict=True))
    shown = [block for block in blocks if block.text]
    return Context(
        text="\n".join(block.text for block in shown),
        tokens=sum(block.tokens for block in shown),
        budget=budget,
        blocks=blocks,
    )


def _take(drafts: Sequence[Draft], budget: int, count: CountTokens) -> list[int]:
    """How many lines of each draft fit: by priority, in turns within a priority."""
    taken = [0] * len(drafts)
    left = budget
    for priority in sorted({draft.priority for draft in drafts}, reverse=True):
        open_blocks = [i for i, draft in enumerate(drafts) if draft.priority == priority]
        while open_blocks:
            still: list[int] = []
            for i in open_blocks:
                line = _next_line(drafts[i], taken[i])
                cost = _step_cost(drafts[i], taken[i], count)
                if line is None or cost > left:
                    continue
                left -= cost
                taken[i] += 1
                still.append(i)
            open_blocks = still
    return taken


def _next_line(draft: Draft, taken: int) -> Line | None:
    return draft.lines[taken] if taken < len(draft.lines) else None


def _step_cost(draft: Draft, taken: int, count: CountTokens) -> int:
    """What one more line costs: exactly the growth of the block's text."""
    before = _block(draft, taken, count).tokens if taken else 0
    return _block(draft, taken + 1, count).tokens - before if taken < len(draft.lines) else 0


def _block(draft: Draft, kept: int, count: CountTokens) -> Block:
    left_out = len(draft.lines) - kept
    more = draft.more or left_out > 0
    lines = [line.text for line in draft.lines[:kept]]
    tokens = sum(line.tokens for line in draft.lines[:kept])
    if lines:
        lines.insert(0, draft.heading)
        tokens += count(draft.heading)
        if more:
            lines.append(draft.reach)
            tokens += count(draft.reach)
    text = "\n".join(lines) + "\n" if lines else ""
    return Block(
        label=draft.label,
        text=text,
        tokens=tokens,
        shown=kept,
        left_out=left_out,
        more=more,
        reach=draft.reach if more else "",
    )
