"""What a value is: whatever is accepted comes back equal, and the rest is refused and said why."""

from __future__ import annotations

import json
import math
import sys
from collections import OrderedDict
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given

from holdfast.core.canonical import canonical
from holdfast.core.jsonvalue import (
    DEPTH_MAX,
    Limits,
    check_key,
    check_namespace,
    check_prefix,
    decode,
    encode,
)
from holdfast.errors import Damaged, InvalidInput
from holdfast.testing import raises
from holdfast.testing.kit import NOT_KEYS, json_values, keys, not_values


class Level(IntEnum):
    LOW = 1


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.row("C02")
@given(json_values())
def test_what_is_encoded_comes_back_equal_and_of_the_same_types(value: Any) -> None:
    data = encode(value)
    found = decode(data)
    assert canonical(found) == canonical(value)
    assert encode(found) == data
    assert json.loads(data) == value


@pytest.mark.row("C02")
def test_the_members_of_a_dict_keep_their_order() -> None:
    value = {"z": 1, "a": {"y": 1, "b": 2}}
    assert list(decode(encode(value))) == ["z", "a"]
    assert encode(value) == b'{"z":1,"a":{"y":1,"b":2}}'
    assert encode("日本\u2028") == '"日本\u2028"'.encode()


@pytest.mark.row("C02")
def test_decode_gives_a_new_value_each_time() -> None:
    data = encode({"a": [1]})
    first = decode(data)
    first["a"].append(2)
    assert decode(data) == {"a": [1]}


@pytest.mark.row("C02")
@pytest.mark.parametrize(
    "value", [1e308, -1e308, 5e-324, 0.1 + 0.2, 1e22, 123456789012345680.0, 2.0**70, -0.0, 1e-7]
)
def test_floats_keep_every_bit(value: float) -> None:
    found = decode(encode(value))
    assert type(found) is float
    assert found.hex() == value.hex()


@pytest.mark.row("C02")
def test_ints_of_640_digits_are_read_back_under_the_strictest_setting() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for value in (10**640 - 1, -(10**640) + 1, 2**64, -(2**63) - 1):
            assert decode(encode(value)) == value
        for value in (10**640, -(10**640), 10**5000):
            with raises(InvalidInput, "value_not_json"):
                encode(value)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.row("C02")
@pytest.mark.parametrize("value", not_values(), ids=lambda value: type(value).__name__)
def test_what_is_not_json_is_refused_at_any_depth(value: Any) -> None:
    for place in (value, [value], {"a": [1, {"b": value}]}):
        with raises(InvalidInput, "value_not_json"):
            encode(place)


@pytest.mark.row("C02")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((1,), "it is of type tuple (hint: use a list: a tuple would come back as one)"),
        ([1, {"a": {2: 3}}], "item 2 > member 1 > member 1 > its key is of type int"),
        ({"a": 1, "b": [math.nan]}, "member 2 > item 1 > a float that is NaN or infinite"),
        ({"\ud800": 1}, "member 1 > text that holds half of a character"),
        ([10**640], "item 1 > an int of more than 640 digits"),
        (Level.LOW, "it is of type Level"),
        (OrderedDict(a=1), "it is of type OrderedDict"),
        (Decimal("1.5"), "str(number), which keeps every digit"),
        (nested(DEPTH_MAX + 1), "it nests deeper than 128 levels, or holds itself"),
    ],
)
def test_a_refusal_says_what_where_and_what_to_do(value: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        encode(value)
    assert words in str(caught.value)


def test_a_refusal_carries_no_text_of_the_value() -> None:
    for value in ({"secret": (1,)}, {"secret": {"secret": {1: "secret"}}}, ["secret\ud800"]):
        with pytest.raises(InvalidInput) as caught:
            encode(value)
        assert "secret" not in str(caught.value)


@pytest.mark.row("C02")
def test_nesting_ends_at_128_levels() -> None:
    assert decode(encode(nested(DEPTH_MAX))) == nested(DEPTH_MAX)
    loop: dict[str, Any] = {}
    loop["self"] = [loop, loop]
    for value in (nested(DEPTH_MAX + 1), nested(100_000), loop):
        with raises(InvalidInput, "value_not_json"):
            encode(value)


@pytest.mark.row("C02")
def test_a_value_has_a_size_that_it_may_have() -> None:
    limits = Limits(value_bytes_max=100)
    assert len(encode("x" * 98, limits)) == 100
    assert len(encode([1] * 49, limits)) == 99
    for value in ("x" * 99, "é" * 50, [1] * 50, {"a": "x" * 93}, "x" * 1000):
        with raises(InvalidInput, "value_too_large"):
            encode(value, limits)


@pytest.mark.row("C02")
def test_a_small_object_that_unfolds_to_a_huge_one_is_refused_early() -> None:
    value: list[Any] = []
    for _ in range(100):
        value = [value, value]
    with raises(InvalidInput, "value_too_large"):
        encode(value, Limits(value_bytes_max=10_000))


@pytest.mark.parametrize(
    "data",
    [b"", b"1 2", b"{", b"NaN", b"-Infinity", b"\xff", b'{"a":1', b"'a'", b"[" * 9999, b"9" * 5000],
    ids=repr,
)
def test_bytes_that_are_no_value_are_damage_and_not_a_missing_value(data: bytes) -> None:
    with raises(Damaged, "value_unreadable"):
        decode(data)


@given(keys())
def test_every_key_is_accepted_as_it_is(key: str) -> None:
    check_key(key)
    check_namespace(key)


@pytest.mark.parametrize("key", NOT_KEYS, ids=lambda key: ascii(key)[:20])
def test_what_is_no_key_is_refused(key: Any) -> None:
    for check, what in ((check_key, "key"), (check_namespace, "namespace")):
        with pytest.raises(InvalidInput) as caught:
            check(key)
        long = isinstance(key, str) and len(key) > 500
        assert caught.value.code == f"{what}_{'too_long' if long else 'invalid'}"
        assert what in caught.value.message


def test_keys_may_be_given_another_limit() -> None:
    check_key("a" * 2000, Limits(key_bytes_max=2000))
    with raises(InvalidInput, "key_too_long"):
        check_key("é" * 2, Limits(key_bytes_max=3))


def test_a_prefix_is_any_text() -> None:
    for prefix in ("", "\0", "a" * 5000, "\ud800"):
        check_prefix(prefix)
    with raises(InvalidInput, "prefix_invalid"):
        check_prefix(None)
