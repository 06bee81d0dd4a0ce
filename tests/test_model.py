"""Values, ids, times and names: the rules of form that everything rests on."""

from __future__ import annotations

import ast
import importlib
import pickle
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast import errors
from holdfast.errors import Conflict, HoldfastError, InvalidInput, OptionInvalid
from holdfast.model.ids import ALPHABET, at_of, is_id, is_short, make_id, short
from holdfast.model.names import RESERVED, check_given_id, check_label, check_name, shown
from holdfast.model.query import cursor_from
from holdfast.model.times import from_us, given_us, stamp, to_us
from holdfast.model.value import Value
from holdfast.model.write import Actor, Write, actor_from, check_write
from holdfast.testing import raises

MOMENTS = st.integers(0, 4_102_444_800_000_000)


class Point(Value):
    x: int
    y: int = 0


class Named(Point):
    name: str


def test_a_value_is_frozen_equal_by_fields_and_says_what_it_is() -> None:
    point = Point(x=1)
    assert point == Point(x=1, y=0)
    assert point != Point(x=1, y=1)
    assert point != Named(x=1, name="a")
    assert hash(point) == hash(Point(x=1))
    assert repr(Named(x=1, name="a")) == "Named(x=1, y=0, name='a')"
    assert point.replace(y=5) == Point(x=1, y=5)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x


@pytest.mark.parametrize(
    ("given_fields", "says"),
    [({}, "missing x"), ({"x": 1, "z": 2}, "unknown z"), ({"z": 1}, "missing x; unknown z")],
)
def test_a_value_takes_its_fields_and_no_others(given_fields: dict[str, int], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Point(**given_fields)


def test_ids_are_golden() -> None:
    assert make_id(1_768_478_400_000_000, bytes(range(10))) == "01kf0rdqg0e02840r40m30e209"


@given(MOMENTS, st.binary(min_size=10, max_size=10))
def test_an_id_is_a_uuid7_that_keeps_its_time(us: int, random: bytes) -> None:
    made = make_id(us, random)
    assert is_id(made)
    assert is_short(short(made))
    assert at_of(made) == us // 1000 * 1000
    number = 0
    for char in made:
        number = number * 32 + ALPHABET.index(char)
    assert number < 2**128
    assert number >> 76 & 0xF == 7, "the version"
    assert number >> 62 & 0b11 == 0b10, "the variant"


@given(MOMENTS, MOMENTS, st.binary(min_size=10, max_size=10))
def test_ids_sort_as_their_times_do(one: int, other: int, random: bytes) -> None:
    if one // 1000 != other // 1000:
        assert (make_id(one, random) < make_id(other, random)) == (one < other)


def test_the_short_form_is_random_alone() -> None:
    same = bytes(5)
    assert short(make_id(0, bytes(5) + same)) == short(make_id(9**15, bytes(5) + same))
    assert len({short(make_id(0, bytes(9) + bytes([i]))) for i in range(256)}) == 256


@given(MOMENTS)
def test_times_come_back(us: int) -> None:
    assert to_us(from_us(us)) == us
    assert from_us(us).utcoffset() == timedelta(0)
    assert datetime.fromisoformat(stamp(from_us(us))) == from_us(us)


def test_a_time_is_written_in_one_way() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert stamp(datetime(2026, 1, 15, 17, 30, tzinfo=east)) == "2026-01-15T12:00:00Z"
    assert stamp(datetime(2026, 1, 15, 12, 0, 0, 7, tzinfo=UTC)) == "2026-01-15T12:00:00.000007Z"
    with raises(InvalidInput, "time_without_zone"):
        given_us(datetime(2026, 1, 15))  # noqa: DTZ001


@pytest.mark.parametrize("name", ["a", "a-b_c9", "9" * 64, "narrative"])
def test_names_that_are(name: str) -> None:
    assert check_name(name, "store") == name


@pytest.mark.parametrize(
    "name", ["", "-a", "a-", "_a", "A", "a b", "ä", "a/b", "a\0", "x" * 65, "a\n", "٣", "ａ", ".."]
)
def test_names_that_are_not(name: str) -> None:
    with raises(InvalidInput, "name_invalid"):
        check_name(name, "store")


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_words_of_the_command_line_are_not_names(name: str) -> None:
    with pytest.raises(InvalidInput):
        check_name(name, "store")


@given(st.text(max_size=80))
def test_what_is_shown_in_a_message_is_short_and_printable(text: str) -> None:
    said = shown(text)
    assert said.isprintable()
    assert len(said) < 700


@given(st.text(max_size=300))
def test_ids_and_labels_are_taken_as_they_are_or_refused(text: str) -> None:
    for check in (check_given_id, lambda t: check_label(t, "a user")):
        try:
            assert check(text) == text
        except InvalidInput as error:
            assert error.hint


def test_actors_are_read_as_they_are_written() -> None:
    for text in ("human:ada", "agent:planner", "tool:a:b"):
        assert str(actor_from(text)) == text
    assert actor_from("planner") == Actor(kind="agent", name="planner")
    for bad in ("robot:x", "agent:", ":", "human:a\nb"):
        with pytest.raises(InvalidInput):
            actor_from(bad)


def test_conditions_of_a_write_have_limits() -> None:
    assert check_write(Write(reason="x" * 2000, key="k" * 200)).expect is None
    with raises(InvalidInput, "reason_too_long"):
        check_write(Write(reason="x" * 2001))
    for key in ("", "x" * 201, "a\0"):
        with raises(InvalidInput, "key_invalid"):
            check_write(Write(key=key))


@pytest.mark.parametrize("text", ["", "-", "zz-1", "1", "1-", "1-2-3", "1-2 ", "+1-2", "1_0-2"])
def test_cursors_that_are_not(text: str) -> None:
    with raises(InvalidInput, "cursor_invalid"):
        cursor_from(text)


def test_errors_have_one_root_a_code_and_a_cure() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert all(issubclass(kind, HoldfastError) for kind in kinds)
    assert all(kind.__doc__ for kind in kinds)
    error = Conflict("revision_moved", "a is at 3", hint="read it again")
    assert str(error) == "a is at 3 (hint: read it again)"
    for one in (error, OptionInvalid("keep", "keep is wrong", "such as 5")):
        copy = pickle.loads(pickle.dumps(one))
        assert (type(copy), copy.code, copy.message, copy.hint) == (
            type(one),
            one.code,
            one.message,
            one.hint,
        )


def test_what_is_filled_in_one_go_names_every_field() -> None:
    """`filled_` looks at nothing, so each use of it is held against its class here."""
    source = Path(holdfast.__file__).parent
    found: set[str] = set()
    for file in source.rglob("*.py"):
        text = file.read_text("utf-8")
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        for call in calls if ".filled_(" in text else ():
            match call:
                case ast.Call(
                    func=ast.Attribute(attr="filled_", value=ast.Name(id=name)),
                    args=[ast.Dict(keys=keys)],
                ):
                    module = ".".join(("holdfast", *file.relative_to(source).with_suffix("").parts))
                    kind = getattr(importlib.import_module(module), name)
                    said = [key.value for key in keys if isinstance(key, ast.Constant)]
                    assert sorted(map(str, said)) == sorted(kind.fields_), f"{module}: {name}"
                    found.add(name)
                case _:
                    continue
    assert {"Entry", "Hit", "Found", "SearchQuery", "Statistics"} <= found
