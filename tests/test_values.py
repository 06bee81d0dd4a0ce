"""Values by key through a space: what `kv` offers, whose they are, and what a store may declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from holdfast.core.keyvalue import TTL_S_MAX
from holdfast.engine.history import LogQuery
from holdfast.errors import Conflict, InvalidInput, NotFound, OptionInvalid, Refused
from holdfast.kernel import MISSING, Delete, Increment, Set
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.model.times import from_us
from holdfast.storage.sqlite.values import after_prefix
from holdfast.strategies import keyvalue
from holdfast.testing import ManualClock, raises
from holdfast.testing.kit import HOSTILE_KEYS, NOT_KEYS, assert_same, not_values

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.space import StoreType


@pytest.fixture(params=["memory:", "disk"])
def vault(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    where = "memory:" if request.param == "memory:" else tmp_path / "vault"
    with holdfast.open(where, clock=clock) as vault:
        yield vault


def declared(vault: Vault, kind: StoreType = "long_term", **options: Any) -> Space:
    store = StoreSpec(name="scratch", strategy="keyvalue", type=kind, options=options)
    spec = SpaceSpec(name="work", path="/work", text=repr(options), stores=(keyvalue.check(store),))
    return vault.declare(spec)


@pytest.mark.row("C02")
def test_a_value_is_kept_read_and_removed(vault: Vault) -> None:
    values = vault.space().kv("config")
    assert values.get("key") is None
    assert values.get("key", MISSING) is MISSING
    assert values.stored("key") is None
    assert not values.delete("key")
    assert values.stats() == []
    values.set("key", None)
    assert values.get("key", 1) is None
    values.set("key", {"b": [1, 1.0, True], "a": "é"})
    assert_same(values.get("key"), {"b": [1, 1.0, True], "a": "é"})
    assert list(values.get("key")) == ["b", "a"]
    assert values.items() == {"key": {"b": [1, 1.0, True], "a": "é"}}
    assert values.delete("key")
    assert values.list() == []


@pytest.mark.row("C02", "C03")
def test_keys_and_values_are_what_they_are_everywhere(vault: Vault) -> None:
    values = vault.space().kv("a%_")
    for key in HOSTILE_KEYS:
        values.set(key, key)
    assert values.list() == sorted(HOSTILE_KEYS)
    for prefix in (*HOSTILE_KEYS, "", "a", "\0", "\ud800", "\U0010ffff\U0010ffff"):
        assert values.list(prefix) == sorted(k for k in HOSTILE_KEYS if k.startswith(prefix))
        assert list(values.items(prefix)) == values.list(prefix)
    for bad in NOT_KEYS:
        for call in (values.get, values.stored, values.delete, values.increment):
            with pytest.raises(InvalidInput):
                call(bad)
        with pytest.raises(InvalidInput):
            vault.space().kv(bad)
    for value in not_values():
        with raises(InvalidInput, "value_not_json"):
            values.set("key", value)
    assert values.get("key") == "key"
    assert vault.space().kv("a%").list() == vault.space().kv("a%X").list() == []


@pytest.mark.parametrize(
    ("prefix", "after"),
    [
        *(("a", "b"), ("a_", "a`"), ("a\U0010ffff", "b"), ("", None), ("\U0010ffff", None)),
        *(("\ud7ff", "\ue000"), ("x\U0010ffff\U0010ffff", "y"), ("é", "ê")),
    ],
)
def test_a_prefix_ends_before_the_first_text_that_no_longer_begins_so(
    prefix: str, after: str | None
) -> None:
    assert after_prefix(prefix) == after


@pytest.mark.row("C13")
def test_several_keys_change_at_once_or_not_at_all(vault: Vault) -> None:
    values = vault.space().kv()
    first = values.compare_and_set("plan", ["a"], MISSING)
    assert values.compare_and_set("plan", ["b"], first) > first
    for expected in (first, MISSING):
        with raises(Conflict, "value_changed"):
            values.compare_and_set("plan", ["lost"], expected)
    with raises(Conflict, "value_changed"):
        values.batch([Set(key="new", value=1), Delete(key="plan", expected=first)])
    assert values.items() == {"plan": ["b"]}
    outcomes = values.batch([Set(key="new", value=1), Increment(key="runs", by=2)])
    assert [(outcome.existed, outcome.number) for outcome in outcomes] == [
        (False, None),
        (False, 2),
    ]
    assert values.increment("runs") == 3
    assert values.increment("runs", -0.5) == 2.5
    held = values.stored("runs")
    assert held is not None
    with raises(Conflict, "value_changed"):
        values.delete("runs", expect=int(held.revision) - 1)
    assert values.delete("runs", expect=int(held.revision))
    assert values.set("runs", 1, expect=0) > held.revision
    for refused, said in ((0, "a value already"), (10**6, "is at revision")):
        with pytest.raises(Conflict, match=said):
            values.set("runs", 2, expect=refused)
    with pytest.raises(Conflict, match="'gone' has no value"):
        values.set("gone", 2, expect=7)
    assert values.clear() == 3
    assert values.stats() == []


@pytest.mark.row("C13")
def test_no_revision_is_given_twice_to_a_key(vault: Vault, clock: ManualClock) -> None:
    values = vault.space().kv("plans")
    given: list[str] = []

    def keep(number: int) -> None:
        given.append(values.set("plan", number))

    keep(1)
    keep(2)
    values.set("other", 1)
    values.delete("plan")
    keep(3)
    values.set("plan", 4, ttl_s=5)
    given.append(values.set("plan", 5, ttl_s=5))
    clock.advance(seconds=6)
    vault.tidy()
    assert values.list() == ["other"]
    keep(6)
    values.clear()
    keep(7)
    keep(8)
    with raises(Conflict, "value_changed"):
        values.compare_and_set("plan", "lost", given[-2])
    assert given == sorted(set(given), key=int)
    assert list(vault.verify()) == []


@pytest.mark.row("C13", "C15")
def test_bytes_are_counted_from_the_first_limit_on(vault: Vault) -> None:
    kept = StoreSpec(
        name="kept",
        type="long_term",
        strategy="keyvalue",
        options={"namespace_bytes_max": 12},
    )
    free = kept.replace(options={})
    spec = SpaceSpec(name="counted", path="/counted", text="one", stores=(free,))
    values = vault.declare(spec).kv(store="kept")
    values.set("a", "123")
    values.set("b", "1")
    vault.declare(spec.replace(text="two", stores=(kept,)))
    for key in ("b", "c"):
        with raises(Refused, "quota"):
            values.set(key, "12345678")
    values.set("b", "12")
    with raises(Refused, "quota"):
        values.set("b", "1234")
    values.delete("a")
    values.set("b", "1234")
    vault.declare(spec.replace(text="three", stores=(free,)))
    values.set("b", "123456789")
    values.set("c", "1")
    assert list(vault.verify()) == []
    vault.declare(spec.replace(text="four", stores=(kept,)))
    values.set("b", "1")
    with raises(Refused, "quota"):
        values.set("b", "123456")
    assert values.items() == {"b": "1", "c": "1"}
    assert list(vault.verify()) == []


@pytest.mark.row("C13")
def test_a_call_that_is_repeated_with_its_key_happens_once(vault: Vault) -> None:
    values = vault.space().kv()
    assert [values.increment("n", 5, key="once") for _ in range(3)] == [5, 5, 5]
    first = values.set("a", [1], key="set")
    values.set("a", [2])
    assert values.set("a", [1], key="set") == first
    assert values.get("a") == [2]
    for call in (
        lambda: values.increment("n", 6, key="once"),
        lambda: values.set("a", [3], key="set"),
        lambda: vault.space().kv("other").set("a", [1], key="set"),
        lambda: values.set("a", [1], ttl_s=5, key="set"),
    ):
        with raises(Conflict, "key_reused"):
            call()


@pytest.mark.row("C04", "C07")
def test_stores_spaces_and_namespaces_do_not_see_one_another(vault: Vault) -> None:
    work = declared(vault)
    homes = [vault.space().kv(), vault.space().kv("other"), work.kv(), work.kv("other")]
    for number, home in enumerate(homes):
        home.set("key", number)
    assert [home.get("key") for home in homes] == [0, 1, 2, 3]
    homes[0].clear()
    assert [home.get("key") for home in homes] == [None, 1, 2, 3]
    assert [(s.namespace, s.entries, s.bytes) for s in homes[2].stats()] == [
        ("default", 1, 4),
        ("other", 1, 4),
    ]
    for call in (lambda: work.kv(store="keyvalue"), lambda: vault.space().kv(store="narrative")):
        with raises(NotFound, "store_not_declared"):
            call()


@pytest.mark.row("C12")
def test_what_has_expired_is_gone_and_swept(vault: Vault, clock: ManualClock) -> None:
    values = vault.space().kv()
    values.set("soon", 1, ttl_s=10)
    values.set("later", 2, ttl_s=20.5)
    values.set("stays", 3)
    clock.advance(seconds=10)
    assert values.list() == ["later", "stays"]
    assert values.get("soon") is None
    assert [stats.entries for stats in values.stats()] == [2]
    assert [stats.bytes for stats in values.stats()] == [len("later2stays3")]
    values.compare_and_set("soon", 4, MISSING)
    clock.advance(days=1)
    assert values.items() == {"soon": 4, "stays": 3}
    vault.tidy()
    assert vault.space().kv().items() == {"soon": 4, "stays": 3}
    assert list(vault.verify()) == []
    for ttl in (0, -1, float("nan"), float("inf"), True, "5", TTL_S_MAX + 1):
        with raises(InvalidInput, "ttl_invalid"):
            values.set("key", 1, ttl_s=ttl)  # pyright: ignore[reportArgumentType]


@pytest.mark.row("C15")
def test_a_store_bounds_what_a_namespace_holds(vault: Vault) -> None:
    values = declared(vault, namespace_bytes_max=20).kv()
    values.set("key", "x" * 10)
    with raises(Refused, "quota"):
        values.set("two", "x" * 10)
    with raises(Refused, "quota"):
        values.batch([Set(key="a", value=1), Set(key="two", value="x" * 10)])
    values.set("key", "y" * 15)
    assert values.items() == {"key": "y" * 15}
    declared(vault, namespace_bytes_max=200).kv("other").set("two", "x" * 100)
    values.set("two", "x" * 100)


@pytest.mark.row("C12")
def test_nothing_stays_for_ever_in_a_short_term_store(vault: Vault, clock: ManualClock) -> None:
    values = declared(vault, "short_term", ttl_s=60).kv()
    values.set("set", 1)
    values.increment("count")
    values.set("longer", 1, ttl_s=90)
    clock.advance(seconds=59)
    assert values.list() == ["count", "longer", "set"]
    clock.advance(seconds=1)
    assert values.list() == ["longer"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("long_term", {"ttl_s": 5}),
        ("long_term", {"keep": 5}),
        ("long_term", {"namespace_bytes_max": 0}),
        ("long_term", {"namespace_bytes_max": "5"}),
        ("short_term", {"ttl_s": True}),
        ("short_term", {"ttl_s": TTL_S_MAX + 1}),
    ],
)
def test_an_option_that_cannot_be_is_named(kind: StoreType, options: dict[str, Any]) -> None:
    with raises(OptionInvalid, "option_invalid"):
        keyvalue.check(StoreSpec(name="a", strategy="keyvalue", type=kind, options=options))


@pytest.mark.row("C02")
def test_values_leave_no_change_in_the_log_and_nothing_in_a_context(vault: Vault) -> None:
    space = vault.space()
    values = space.kv()
    values.set("key", 1, reason="a first value makes the store")
    made = [(change.kind, change.op) for change in vault.log(LogQuery())]
    assert made == [("store", "create"), ("space", "create")]
    for number in range(5):
        values.set("key", number)
    assert len(vault.log(LogQuery())) == 2
    assert "key" not in space.context().text


def test_values_have_no_past(vault: Vault) -> None:
    space = vault.space()
    space.kv().set("key", 1)
    past = space.as_of(1).kv()
    for call in (past.list, past.stats, lambda: past.stored("key")):
        with raises(Refused, "values_without_past"):
            call()
    for call in (lambda: past.get("key"), lambda: past.set("key", 1)):
        with raises(Refused, "past_is_fixed"):
            call()


@pytest.mark.row("C01")
def test_the_tools_reach_the_namespace_default_and_no_other(vault: Vault) -> None:
    space = vault.space()
    space.kv("process/other").set("secret", 1)
    tools = {tool.__name__: tool for tool in space.tools()}
    get, put = tools["memory_get"], tools["memory_set"]
    assert get("key") == {"found": False}
    put("key", None)
    assert get("key") == {"found": True, "value": None}
    assert tools["memory_list"]() == ["key"]
    assert space.kv().get("key", 1) is None
    assert tools["memory_delete"]("key") is True
    assert get("secret") == {"found": False}


def test_an_object_made_before_the_store_sees_what_is_written_later(vault: Vault) -> None:
    early, late = vault.space().kv(), vault.space().kv()
    late.set("key", 1)
    assert early.get("key") == 1
    early.set("key", 2)
    assert late.get("key") == 2


def test_what_expired_at_the_first_moment_of_all_is_gone_too(vault: Vault) -> None:
    values = vault.space().kv("x")
    values.batch([Set(key="old", value=1, expires_at=from_us(0))])
    values.set("new", 2, ttl_s=60)
    assert values.list() == ["new"]
    assert [(each.entries, each.bytes) for each in values.stats()] == [(1, len("new2"))]
    assert not list(vault.verify())
    assert values.clear() == 1
