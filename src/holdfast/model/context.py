"""What a session starts with: labelled blocks of text, what they cost and what they leave out."""

from __future__ import annotations

from holdfast.model.value import Readable, Value


class Line(Value):
    """One entry as a block shows it. Lines of a block stand from most to least wanted."""

    text: str
    tokens: int

    def __init__(self, *, text: str, tokens: int) -> None:  # a context has some sixty of them
        fields = self.__dict__
        fields["text"], fields["tokens"] = text, tokens


class Draft(Value):
    """A block before it is fitted into a budget: a heading and its lines, most wanted first.

    `more` says that there is more in the store than the lines show; `reach` says how to get it.
    Where it has `{more}` in it, that is how many there are beyond the lines that are shown:
    `beyond` of the store, with those that the budget drops; at least so many where they are not
    all counted.
    """

    label: str
    priority: int
    heading: str
    lines: tuple[Line, ...]
    more: bool
    reach: str
    beyond: int = 0
    beyond_known: bool = True


class Block(Value):
    """A labelled piece of text for the agent. `left_out` counts lines that the budget cost it."""

    label: str
    priority: int
    text: str
    tokens: int
    shown: int
    left_out: int
    more: bool
    reach: str


class Context(Readable):
    """The ordered blocks. A function of (log position, UTC day, configuration, budget)."""

    tokens: int
    budget: int | None
    blocks: tuple[Block, ...]
    counted_by: str = "estimate"
