"""A search as rows of tokens: what a text must have, and what its score counts.

In the query language every group must be met by one of its rows; for a sentence any row counts.
The same `Asked` is turned into an expression for an index and held against texts that no index has.
"""

from __future__ import annotations

from itertools import chain

from holdfast.core.text.meets import stands_in
from holdfast.core.text.query import (
    QUERY_CHARS_MAX,
    Way,
    content_ways,
    expression,
    groups_of,
    without,
)
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.core.text.query import Group
    from holdfast.model.search import SearchQuery

SENTENCE_TERMS_MAX = 64


class Asked(Value):
    """`groups` are met by the whole text, `subjects` by its names alone."""

    groups: tuple[Group, ...] = ()
    unwanted: tuple[Way, ...] = ()
    subjects: tuple[Group, ...] = ()
    unwanted_subjects: tuple[Way, ...] = ()
    is_sentence: bool = False
    finds_all: bool = False
    finds_nothing: bool = False

    @property
    def rows(self) -> tuple[Way, ...]:
        """Every row that counts in a score, once."""
        return tuple(dict.fromkeys(chain.from_iterable((*self.groups, *self.subjects))))


def asked_of(query: SearchQuery) -> Asked:
    subjects, not_subjects = groups_of(query.subject) if query.subject else ((), ())
    if query.match == "any":
        rows = content_ways(query.text[:QUERY_CHARS_MAX])[:SENTENCE_TERMS_MAX]
        groups, unwanted = tuple((row,) for row in rows), ()
    else:
        groups, unwanted = groups_of(query.text)
    blank = not query.text.strip(), not query.subject.strip()
    return Asked(
        groups=groups,
        unwanted=unwanted,
        subjects=subjects,
        unwanted_subjects=not_subjects,
        is_sentence=query.match == "any" and bool(groups),
        finds_all=all(blank),
        finds_nothing=(not groups and not blank[0]) or (not subjects and not blank[1]),
    )


def expression_of(asked: Asked) -> str:
    """The whole for a full-text index, except that the rows of a sentence are left out."""
    parts = [] if asked.is_sentence else [without(expression(asked.groups), asked.unwanted)]
    if not asked.subjects:
        return parts[0] if parts else ""
    subject = without(expression(asked.subjects), asked.unwanted_subjects)
    parts += [f"names : ({subject})"] if subject else []
    return " AND ".join(f"({part})" for part in parts if part)


def meets(asked: Asked, text: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a text with these tokens would be found."""
    if asked.finds_all or asked.finds_nothing:
        return asked.finds_all
    both = (text, names)
    wanted = any if asked.is_sentence else all
    return (
        (not asked.groups or wanted(_one_stands(group, both) for group in asked.groups))
        and not _one_stands(asked.unwanted, both)
        and all(_one_stands(group, (names,)) for group in asked.subjects)
        and not _one_stands(asked.unwanted_subjects, (names,))
    )


def _one_stands(rows: Sequence[Way], texts: Sequence[Sequence[str]]) -> bool:
    return any(stands_in(text, row) for row in rows for text in texts)
