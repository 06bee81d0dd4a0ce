"""Fitting blocks into a budget of tokens.

Blocks are served by priority; blocks of one priority take turns, one line at a time, so that a
talkative store cannot starve a quiet one. A line is only ever dropped together with all lines that
are less wanted, so the newest never goes before the older. The cost of a text is the sum of the
costs of its lines, so what is shown never exceeds the budget.
"""

from __future__ import annotations

from itertools import accumulate

from holdfast.errors import InvalidInput
from holdfast.model.context import Block, Context, Draft, Line
from holdfast.model.names import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    CountTokens = Callable[[str], int]


ESTIMATE = "estimate"
TOKENS_MAX = 2**31
NAMING_SHARE = 4  # no more than one part in so many goes to the names of what found no room


def estimate_tokens(text: str) -> int:
    """Tokens of a text without a tokenizer: a quarter for each ASCII character, one for each other.

    Every line is rounded up, so the estimate of a text is the sum of that of its lines.
    """
    if text.isascii() and "\n" not in text:
        return len(text) // 4 + 1
    return sum(map(_line_tokens, text.removesuffix("\n").split("\n")))


def _line_tokens(line: str) -> int:
    wide = 0 if line.isascii() else sum(1 for char in line if ord(char) > 127)
    return wide + (len(line) - wide) // 4 + 1


def line_of(text: str) -> Line:
    """A line of a block, with what it is estimated to cost."""
    return Line(text=text, tokens=estimate_tokens(text))


def lines_of(texts: Iterable[str]) -> tuple[Line, ...]:
    return tuple(map(line_of, texts))


def counted_more(reach: str, more: int, is_known: bool) -> str:
    """How to reach more, with how many more there are."""
    if "{more}" not in reach:
        return reach
    return reach.replace("{more}", f"{more:,}" if is_known else f"at least {more:,}")


def fit(
    drafts: Sequence[Draft], budget: int | None, count: CountTokens, counted_by: str = ESTIMATE
) -> Context:
    """The context of these drafts. Without a budget everything is shown in full. `count` is what
    counts tokens, and `counted_by` its name; a text costs what its lines cost."""
    plans = [_Plan(draft, count) for draft in drafts]
    for plan in plans:
        plan.taken = len(plan.draft.lines)
    blank = count("")  # between blocks; the last one ends without it
    if budget is not None and sum(plan.cost(plan.taken) for plan in plans) > budget + blank:
        _take(plans, budget + blank)
        unseen = [plan.draft.label for plan in plans if plan.draft.lines and not plan.taken]
        naming = count(_left_out(unseen)) if unseen else 0
        if 0 < naming * NAMING_SHARE <= budget:  # what is left out is named, where that is cheap
            _take(plans, budget + blank - naming)
    blocks = tuple(plan.block() for plan in plans)
    parts = [block.text for block in blocks if block.text]
    used = sum(block.tokens for block in blocks)
    unseen = [block.label for block in blocks if block.left_out and not block.shown]
    line = _naming(unseen, budget - used, count) if unseen and budget is not None else ""
    if line:
        parts.append(f"{line}\n")
        used += count(line)
    elif parts:
        parts[-1] = parts[-1].removesuffix("\n")
        used -= blank
    return Context(
        text="".join(parts), tokens=used, budget=budget, blocks=blocks, counted_by=counted_by
    )


def _naming(labels: Sequence[str], left: int, count: CountTokens) -> str:
    """A line that names the blocks that found no room, as many as there is room to name."""
    for kept in range(len(labels), 0, -1):
        line = _left_out(labels[:kept], " and more" if kept < len(labels) else "")
        if count(line) <= left:
            return line
    return ""


def _left_out(labels: Sequence[str], more: str = "") -> str:
    return f"Left out by the budget: {', '.join(labels)}{more}"


def _take(plans: Sequence[_Plan], budget: int) -> None:
    """Decide how many lines of each block fit: by priority, in turns within a priority."""
    left = budget
    for plan in plans:
        plan.taken = 0
    for priority in sorted({plan.draft.priority for plan in plans}, reverse=True):
        waiting = [plan for plan in plans if plan.draft.priority == priority]
        while waiting:
            still: list[_Plan] = []
            for plan in waiting:
                spent = plan.step(left)
                if spent is not None:
                    left -= spent
                    still.append(plan)
            waiting = still


class _Plan:
    """A block, and how many of its lines are taken."""

    def __init__(self, draft: Draft, count: CountTokens) -> None:
        self.draft = draft
        self.taken = 0
        costs = (
            [line.tokens for line in draft.lines]
            if count is estimate_tokens
            else [count(line.text) for line in draft.lines]
        )
        self._sums = [*accumulate(costs, initial=0)]
        self._frame = count(draft.heading) + count("")
        self._count = count

    def cost(self, taken: int) -> int:
        """The tokens of the block with so many lines; none without any."""
        if taken == 0 or taken >= len(self._sums):
            return 0
        reach = self._reach(taken)
        return self._sums[taken] + self._frame + (0 if reach is None else self._count(reach))

    def step(self, left: int) -> int | None:
        """Take one line more, or all that are left where only that fits. What it costs; None where
        none is taken."""
        whole = len(self.draft.lines)
        before = self.cost(self.taken)
        for taken in (self.taken + 1, whole) if self.taken < whole else ():
            cost = self.cost(taken) - before
            if cost <= left:
                self.taken = taken
                return cost
        return None

    def block(self) -> Block:
        draft, taken = self.draft, self.taken
        reach = self._reach(taken)
        lines = [line.text for line in draft.lines[:taken]]
        if lines:
            lines = [draft.heading, *lines, *([] if reach is None else [reach]), "", ""]
        return Block(
            label=draft.label,
            priority=draft.priority,
            text="\n".join(lines),
            tokens=self.cost(taken),
            shown=taken,
            left_out=len(draft.lines) - taken,
            more=reach is not None,
            reach=reach or "",
        )

    def _reach(self, taken: int) -> str | None:
        """How to reach what is not shown; None where everything is."""
        draft, left = self.draft, len(self.draft.lines) - taken
        if not left and not draft.more:
            return None
        return counted_more(draft.reach, draft.beyond + left, draft.beyond_known)


def check_budget(budget: int | None) -> None:
    if budget is not None and (type(budget) is not int or not 1 <= budget <= TOKENS_MAX):
        raise InvalidInput(
            "budget_invalid",
            f"{told(budget)} tokens are no budget",
            hint="ask for a whole number, 1 or more",
        )
