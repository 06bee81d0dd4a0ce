"""Near duplicates, and what only looks like one."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text import NEAR_MIN, normal_form, similarity, sketch, tokens

PAIRS = json.loads((Path(__file__).parent / "data" / "text" / "pairs.json").read_text())
texts = st.text(st.one_of(st.characters(), st.sampled_from("ab  .1é部署नहीं")), max_size=40)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['one']} | {pair['other']}")
def test_near_or_not(pair: dict[str, str]) -> None:
    assert (similarity(pair["one"], pair["other"]) >= NEAR_MIN) == pair["near"]


@given(one=texts, other=texts)
def test_a_pair_and_its_mirror_score_the_same(one: str, other: str) -> None:
    score = similarity(one, other)
    assert score == similarity(other, one)
    assert 0.0 <= score <= 1.0


@given(text=texts)
def test_a_text_is_as_similar_as_can_be_to_itself(text: str) -> None:
    assert similarity(text, f"  {text}\n") == 1.0
    assert similarity(text, normal_form(text)) == 1.0


def test_a_changed_number_counts_more_than_anything_shared() -> None:
    start = "The service that the whole platform team looks after listens on port "
    assert similarity(start + "8080", start + "8081") == 0.5
    assert similarity(start + "8080", start + "8,080") > NEAR_MIN


def test_near_duplicates_are_candidates_of_each_other() -> None:
    """A lookup by any term of the sketch finds every near duplicate."""
    index = apsw.Connection(":memory:")
    index.execute("CREATE VIRTUAL TABLE held USING fts5(x, content='', tokenize='ascii')")
    near = [pair for pair in PAIRS if pair["near"]]
    for row, pair in enumerate(near):
        terms = (row, " ".join(tokens(pair["other"])))
        index.execute("INSERT INTO held(rowid, x) VALUES (?, ?)", terms)
    for row, pair in enumerate(near):
        asked = " OR ".join(f'"{term}"' for term in sketch(pair["one"]))
        assert (row,) in list(index.execute("SELECT rowid FROM held WHERE held MATCH ?", (asked,)))


def test_a_sketch_is_few_long_terms_that_do_not_depend_on_order() -> None:
    text = "Deploys of the billing service go to staging before Maria approves production"
    words = text.split()
    assert sketch(text) == sketch(" ".join(reversed(words)))
    assert sketch(text)[:3] == ["product", "approv", "deploy"] or len(sketch(text)) == 8
    assert set(sketch(text)) < set(tokens(text))
    assert sketch("") == []
