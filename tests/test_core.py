"""Canonical bytes, digests, stored answers, lifecycle, budgets, and advice on notes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.budget import estimate_tokens, fit
from holdfast.core.canonical import canonical, digest, encoder, keyed, row_digest
from holdfast.core.codec import pack, plain, unpack
from holdfast.core.handles import handles
from holdfast.core.images import entry_from_image, entry_image
from holdfast.core.lifecycle import step
from holdfast.core.terse import advice_on
from holdfast.errors import Conflict, Refused
from holdfast.model.context import Draft, Line
from holdfast.model.entry import Advice, Entry
from holdfast.model.ids import EntryId
from holdfast.model.times import DAY_US, date_of, from_us
from holdfast.strategies.narrative import Saved
from holdfast.testing import raises

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)
AT = datetime(2026, 1, 15, 12, tzinfo=UTC)


def entry(**changes: object) -> Entry:
    fields: dict[str, object] = {
        "id": EntryId("01kf0z3y00e00040g2081g60w1"),
        "text": "a fact",
        "state": "confirmed",
        "metadata": {"a": [1, {"b": None}]},
        "origin": "user",
        "trust": "high",
        "created": AT,
        "updated": AT,
        "when": AT,
        "number": 3,
        "revision": 3,
    }
    return Entry(**{**fields, **changes})  # pyright: ignore[reportArgumentType]


# These bytes are in every vault. If one of them changes, a migration is needed.


def test_canonical_bytes_are_golden() -> None:
    value = {"b": [1, 2.5, -0.0, 1e21, True, None], "a": "é\n\u2028\U0001f600", "": {}}
    assert canonical(value) == (
        '{"":{},"a":"é\\n\u2028\U0001f600","b":[1,2.5,-0.0,1e+21,true,null]}'.encode()
    )


def test_digests_are_golden() -> None:
    assert digest("body", b"salt", b"text").hex() == GOLDEN["digest"]
    assert row_digest("entry", (1, "a", None, b"\x00\xff", 2.5)).hex() == GOLDEN["row"]
    assert keyed(bytes(32), "a fact").hex() == GOLDEN["keyed"]
    assert digest("image", canonical(entry_image(entry()))).hex() == GOLDEN["image"]


GOLDEN = {
    "digest": "de31bd865ab829259908ebce5c879c2bdfd4b7e089c8b0085e1f44ad9b83e428",
    "row": "058de049a47737842ed9f98447d175a55dd3a9a09e410716e81013ac5fa63a21",
    "keyed": "6082103a7c36af1a9a6f2a443c4172fd",
    "image": "a2b2d54e2038a2798b251d51a2e7e62b9c079817377331172d27faa770be472f",
}


def test_parts_cannot_be_moved_between_each_other() -> None:
    assert digest("x", b"ab", b"c") != digest("x", b"a", b"bc")
    assert digest("x", b"ab") != digest("x", b"ab", b"")
    assert digest("x", b"a") != digest("y", b"a")
    assert row_digest("t", (None,)) != row_digest("t", ("null",))
    assert row_digest("t", (1,)) != row_digest("t", ("1",))


@given(JSON)
def test_canonical_json_is_json_and_does_not_depend_on_the_order_of_keys(value: object) -> None:
    data = canonical(value)  # pyright: ignore[reportArgumentType]
    assert canonical(json.loads(data)) == data

    def turned(item: object) -> object:
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(list(item))}
        return [turned(inner) for inner in item] if isinstance(item, list) else item

    assert canonical(turned(value)) == data  # pyright: ignore[reportArgumentType]


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_an_answer_comes_back_equal(metadata: dict[str, object]) -> None:
    saved = Saved(
        entry=entry(metadata=metadata, said_at=AT, session=None),
        outcome="saved",
        advice=(Advice(code="a", message="b"), Advice(code="c", message="d")),
        fell_out=0,
    )
    assert unpack(json.loads(json.dumps(pack(saved)))) == saved


def test_an_image_comes_back_equal() -> None:
    for one in (entry(), entry(said_at=AT, given_id="x", bound=True, session="s", hidden=True)):
        assert entry_from_image(json.loads(canonical(entry_image(one))), one.revision) == one


def test_values_are_plain_outside() -> None:
    shown = plain(entry(said_at=AT))
    assert isinstance(shown, dict)
    assert shown["said_at"] == "2026-01-15T12:00:00Z"
    assert shown["metadata"] == {"a": [1, {"b": None}]}


# Lifecycle


def test_both_ways_to_write_json_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"b": [1, -0.0, 1e300, 10**600, True, None, ""], "a": {"é": 'x"\\\n\u2028', "": "東京"}}
    for sort_keys in (False, True):
        quick = encoder(sort_keys=sort_keys)
        with monkeypatch.context() as patched:
            patched.setattr(json.encoder, "c_make_encoder", None)
            plain = encoder(sort_keys=sort_keys)
        assert quick(value) == plain(value)
        assert [quick(each) for each in ("é", 7, [])] == ['"é"', "7", "[]"]
        for write in (quick, plain):
            for refused in (float("nan"), {1, 2}):
                with pytest.raises((ValueError, TypeError)):
                    write([refused])


@pytest.mark.parametrize(
    ("state", "event", "after"),
    [
        ("draft", "promote", "confirmed"),
        ("draft", "update", "draft"),
        ("confirmed", "update", "updated"),
        ("updated", "update", "updated"),
        ("confirmed", "hide", "confirmed"),
        ("updated", "show", "updated"),
        ("draft", "forget", "forgotten"),
        ("updated", "expire", "forgotten"),
        ("forgotten", "forget", "forgotten"),
    ],
)
def test_steps_of_a_life(state: str, event: str, after: str) -> None:
    assert step(state, event, "x") == after  # pyright: ignore[reportArgumentType]


def test_steps_that_no_life_takes() -> None:
    with raises(Refused, "lifecycle_refused"):
        step("confirmed", "promote", "x")
    for event in ("promote", "update", "hide", "show"):
        with raises(Conflict, "entry_forgotten"):
            step("forgotten", event, "x")  # pyright: ignore[reportArgumentType]


# Budgets

LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=60), max_size=8
)
DRAFTS = st.lists(
    st.builds(
        lambda label, priority, lines, more: Draft(
            label=label,
            priority=priority,
            heading=f"## {label}",
            lines=tuple(Line(text=line, tokens=estimate_tokens(line)) for line in lines),
            more=more,
            reach="More: ask",
        ),
        st.text("abc", min_size=1, max_size=3),
        st.integers(0, 2),
        LINES,
        st.booleans(),
    ),
    max_size=5,
)


@given(DRAFTS, st.integers(1, 200))
def test_no_budget_is_exceeded_and_what_is_dropped_is_the_least_wanted(
    drafts: list[Draft], budget: int
) -> None:
    context = fit(drafts, budget, estimate_tokens)
    assert context.tokens <= budget
    assert not context.text or estimate_tokens(context.text) <= budget
    for draft, block in zip(drafts, context.blocks, strict=True):
        assert block.shown + block.left_out == len(draft.lines)
        kept = [line.text for line in draft.lines[: block.shown]]
        if kept:
            assert block.text.startswith("\n".join([draft.heading, *kept]) + "\n")
            assert (draft.reach in block.text.splitlines()) == (draft.more or block.left_out > 0)
        else:
            assert block.text == ""


@given(DRAFTS)
def test_without_a_budget_everything_is_shown(drafts: list[Draft]) -> None:
    context = fit(drafts, None, estimate_tokens)
    assert [block.shown for block in context.blocks] == [len(draft.lines) for draft in drafts]
    assert fit(drafts, max(context.tokens, 1), estimate_tokens).text == context.text


def test_blocks_of_one_priority_take_turns_and_higher_ones_come_first() -> None:
    def draft(label: str, priority: int, count: int) -> Draft:
        lines = tuple(Line(text=f"- {label}{i}", tokens=2) for i in range(count))
        return Draft(
            label=label, priority=priority, heading=label, lines=lines, more=False, reach="r"
        )

    context = fit([draft("a", 1, 9), draft("b", 1, 9), draft("c", 2, 1)], 24, estimate_tokens)
    assert [block.shown for block in context.blocks] == [4, 3, 1]


def test_tokens_are_estimated_by_the_line() -> None:
    assert estimate_tokens("") == 1
    assert estimate_tokens("abcd") == 2
    assert estimate_tokens("北京大学") == 5
    assert estimate_tokens("abcd\nefgh") == estimate_tokens("abcd") + estimate_tokens("efgh")


@given(st.lists(st.text(alphabet=" abc\u00e9\u4eac", max_size=9), min_size=1, max_size=4))
def test_the_estimate_of_a_text_is_the_sum_of_that_of_its_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert estimate_tokens(f"{text}\n") == sum(map(estimate_tokens, lines))


@given(st.integers(min_value=-719_162, max_value=2_932_896), st.integers(0, DAY_US - 1))
def test_a_date_is_the_same_at_every_moment_of_its_utc_day(day: int, within: int) -> None:
    us = day * DAY_US + within
    assert date_of(us) == date_of(day * DAY_US) == f"{from_us(us):%Y-%m-%d}"


def test_a_handle_is_the_given_id_the_short_form_where_unique_or_the_whole_id() -> None:
    ids = ["01" + "A" * 16 + tail for tail in ("00000001", "00000002", "00000001")]
    assert handles([(ids[0], None), (ids[1], None)]) == ["00000001", "00000002"]
    assert handles([(ids[0], "mine"), (ids[1], None)]) == ["mine", "00000002"]
    other = f"02{ids[2][2:]}"
    assert handles([(ids[0], None), (ids[1], "mine"), (other, None)]) == [ids[0], "mine", other]


# Advice


@pytest.mark.row("H08")
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Deploys go out on Tuesdays", []),
        ("Uses e.g. ruff and mypy for checks", []),
        ("The API key rotates every 90 days", []),
        ("Version 3.14 is required", []),
        ("x" * 100, []),
        ("x" * 101, ["note_long"]),
        ("x" * 500, ["note_long"]),
        ("x" * 501, ["note_is_document"]),
        ("The user said that deploys go out on Tuesdays", ["note_preamble"]),
        ("User mentioned she prefers tea", ["note_preamble"]),
        ("Remember that tabs are preferred", ["note_preamble"]),
        ("Note: tabs are preferred", ["note_preamble"]),
        ("Deploys go out on Tuesdays. Reviews are on Mondays.", ["note_many_facts"]),
        ("Uses tabs; dislikes semicolons", ["note_many_facts"]),
        ("東京に住んでいます。犬を飼っています。", ["note_many_facts"]),
        ("The freeze starts tomorrow", ["note_undated"]),
        ("The freeze starts next week", ["note_undated"]),
        ("The freeze starts next week (2026-12-18)", []),
        ("Currently on call: Ada", ["note_undated"]),
        (
            "User said the demo is today. Also prefers tea.",
            ["note_preamble", "note_many_facts", "note_undated"],
        ),
    ],
)
def test_advice_on_a_note(text: str, codes: list[str]) -> None:
    assert [advice.code for advice in advice_on(text)] == codes


@given(st.text(max_size=600))
def test_advice_is_given_on_any_text(text: str) -> None:
    assert all(advice.message for advice in advice_on(text))


def test_advice_on_a_long_text_takes_no_longer_than_on_a_short_one() -> None:
    """Whatever it matches against is bounded: a megabyte of sentences is looked at in its head."""
    head = "It rains. He said so. " * 100
    assert advice_on(head + "Tomorrow it rains. " * 50_000)[1:] == advice_on(head)[1:]
