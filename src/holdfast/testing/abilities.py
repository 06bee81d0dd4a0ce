"""The contract of what a backend may declare beyond the eight methods, skipped where it has not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from holdfast.core.canonical import canonical
from holdfast.core.keyvalue import size_of
from holdfast.errors import Closed, Conflict, InvalidInput, Refused
from holdfast.model.keyvalue import MISSING, Delete, Increment, Set, ValueChange
from holdfast.ports.values import NAMESPACES, STATS_NOW, TRANSACTIONS, WATCH, capabilities_of
from holdfast.testing.kit import (
    HOSTILE_KEYS,
    assert_holds,
    assert_raises,
    assert_same,
    needs,
    with_backend,
)

if TYPE_CHECKING:
    from typing import Any

    from holdfast.ports.values import (
        MemoryBackend,
        RichBackend,
        SupportsNamespaces,
        SupportsStatsNow,
    )

WAIT_S = 10


class AbilitiesContract:
    """Transactions, watching, counting and listing, where they are declared."""

    # Transactions: expiry, compare-and-set, batches, increments, quotas

    @with_backend
    async def test_a_revision_is_that_of_its_value(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)
        assert await backend.stored("a", "key") is None
        await backend.set("a", "key", {"n": 1})
        first = await backend.stored("a", "key")
        assert first is not None
        assert (first.key, first.value, first.expires_at) == ("key", {"n": 1}, None)
        assert await backend.stored("a", "key") == first
        (outcome,) = await backend.apply("a", [Set(key="key", value={"n": 2})])
        second = await backend.stored("a", "key")
        assert second is not None
        assert second.value == {"n": 2}
        assert outcome.existed
        assert second.revision == outcome.revision != first.revision
        assert await backend.snapshot("a") == [second]
        await assert_holds(backend, {"a": {"key": {"n": 2}}})

    @with_backend
    async def test_compare_and_set_lets_one_through(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)
        first = [Set(key="key", value=1, expected=MISSING)]
        (outcome,) = await backend.apply("a", first)
        await assert_raises(Conflict, backend.apply("a", first))
        stale = outcome.revision
        await backend.apply("a", [Set(key="key", value=2, expected=stale)])
        await assert_raises(Conflict, backend.apply("a", [Set(key="key", value=3, expected=stale)]))
        await assert_raises(Conflict, backend.apply("a", [Delete(key="key", expected=stale)]))
        await assert_raises(Conflict, backend.apply("a", [Set(key="no", value=3, expected=stale)]))
        await assert_raises(Conflict, backend.apply("a", [Delete(key="no", expected=stale)]))
        await assert_holds(backend, {"a": {"key": 2}})

    @with_backend
    async def test_read_compute_and_compare_loses_no_update(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)

        async def append(number: int) -> None:
            while True:
                held = await backend.stored("a", "list")
                await asyncio.sleep(0)  # let the others read the same
                value: list[Any] = [*(held.value if held else []), number]
                expected = held.revision if held else MISSING
                try:
                    await backend.apply("a", [Set(key="list", value=value, expected=expected)])
                except Conflict:
                    continue
                return

        await asyncio.gather(*(append(number) for number in range(12)))
        assert sorted(await backend.get("a", "list")) == list(range(12))

    @with_backend
    async def test_a_batch_happens_at_once_or_not_at_all(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)
        await backend.set("a", "gone", 1)
        await backend.set("a", "n", 5)
        outcomes = await backend.apply(
            "a", [Delete(key="gone"), Set(key="new", value=[1]), Increment(key="n", by=2)]
        )
        assert [(each.existed, each.number) for each in outcomes] == [
            (True, None),
            (False, None),
            (True, 7),
        ]
        held = {"n": 7, "new": [1]}
        await assert_holds(backend, {"a": held})
        for stop in (
            *(
                Set(key="x", value=1, expected="none"),
                Set(key="x", value=(1,)),
                Set(key="", value=1),
            ),
            *(
                Increment(key="new"),
                Set(key="x", value=float("nan")),
                Delete(key="x", expected="no"),
            ),
            Set(key="n", value=0),
        ):
            batch = [Set(key="y", value=2), Increment(key="n"), Delete(key="new"), stop]
            await assert_raises((Conflict, InvalidInput), backend.apply("a", batch))
            await assert_holds(backend, {"a": held})
        assert await backend.apply("a", []) == []

    @with_backend
    async def test_increments_add_up(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)
        await asyncio.gather(*(backend.apply("a", [Increment(key="n")]) for _ in range(50)))
        assert_same(await backend.get("a", "n"), 50)
        for by, wanted in ((2**64, 50 + 2**64), (-(2**64), 50), (0.5, 50.5), (-50, 0.5)):
            (outcome,) = await backend.apply("a", [Increment(key="n", by=by)])
            assert_same(outcome.number, wanted)
            assert_same(await backend.get("a", "n"), wanted)
        for value in cast("list[Any]", ["1", None, True, [1], {}]):
            await backend.set("a", "no", value)
            await assert_raises(InvalidInput, backend.apply("a", [Increment(key="no")]))
            assert_same(await backend.get("a", "no"), value)
        for by in cast("list[Any]", ["1", None, True, float("nan"), float("inf"), 10**640]):
            await assert_raises(InvalidInput, backend.apply("a", [Increment(key="n", by=by)]))
        assert_same(await backend.get("a", "n"), 0.5)

    @with_backend
    async def test_what_has_expired_is_gone_for_every_method(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)
        past, future = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
        future = future.replace(microsecond=7)
        for namespace in ("a", "b"):
            await backend.set(namespace, "x", "old")
            await backend.apply(namespace, [Set(key="x", value=1, expires_at=past)])
        await backend.apply("a", [Set(key="y", value=[1], expires_at=future)])
        await backend.set("a", "z", 2)
        assert await backend.get("a", "x") is MISSING
        assert await backend.stored("a", "x") is None
        assert [each.key for each in await backend.snapshot("a")] == ["y", "z"]
        assert await backend.delete("b", "x") is False
        await assert_holds(backend, {"a": {"y": [1], "z": 2}})
        held = await backend.stored("a", "y")
        assert held is not None
        assert (held.value, held.expires_at) == ([1], future)
        await backend.apply("a", [Set(key="x", value=3, expected=MISSING)])
        await backend.sweep()
        await assert_holds(backend, {"a": {"x": 3, "y": [1], "z": 2}})
        assert await backend.sweep() == 0

    @with_backend
    async def test_an_increment_keeps_the_expiry_and_a_set_ends_it(
        self, backend: RichBackend
    ) -> None:
        needs(backend, TRANSACTIONS)
        future = datetime(2999, 1, 1, tzinfo=UTC)
        await backend.apply("a", [Set(key="n", value=1, expires_at=future)])
        await backend.apply("a", [Increment(key="n")])
        held = await backend.stored("a", "n")
        assert held is not None
        assert (held.value, held.expires_at) == (2, future)
        await backend.set("a", "n", 2)
        held = await backend.stored("a", "n")
        assert held is not None
        assert held.expires_at is None
        naive = future.replace(tzinfo=None)
        wrong = [Set(key="n", value=1, expires_at=naive)]
        await assert_raises(InvalidInput, backend.apply("a", wrong))

    @with_backend
    async def test_a_quota_is_exact_among_many_writers(self, backend: RichBackend) -> None:
        needs(backend, TRANSACTIONS)
        size = size_of("key00", canonical("x" * 10))

        async def put(number: int) -> bool:
            operation = Set(key=f"key{number:02}", value="x" * 10)
            try:
                await backend.apply("a", [operation], bytes_max=5 * size + 3)
            except Refused:
                return False
            return True

        assert sum(await asyncio.gather(*(put(number) for number in range(20)))) == 5
        kept = await backend.list("a")
        assert len(kept) == 5
        smaller = [Set(key=kept[0], value=""), Delete(key=kept[1])]
        await backend.apply("a", smaller, bytes_max=1)
        grown = [Set(key=kept[0], value="x" * 11), Set(key=kept[2], value="")]
        await assert_raises(Refused, backend.apply("a", grown, bytes_max=3 * size))
        assert await backend.list("a") == [kept[0], *kept[2:]]
        assert await backend.get("a", kept[0]) == ""
        past = datetime.now(UTC) - timedelta(days=1)
        await backend.apply("a", [Set(key="z", value="x" * 100, expires_at=past)])
        await backend.apply("a", [Set(key="key", value="")], bytes_max=4 * size)

    # The other capabilities

    @with_backend
    async def test_watchers_hear_every_change_of_their_namespace(
        self, backend: RichBackend
    ) -> None:
        needs(backend, WATCH)
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[ValueChange] = asyncio.Queue()

        def listen(changes: Any) -> None:
            for change in changes:
                loop.call_soon_threadsafe(heard.put_nowait, change)

        async def next_changes(count: int) -> list[tuple[str, bool]]:
            found = [await asyncio.wait_for(heard.get(), WAIT_S) for _ in range(count)]
            assert {each.namespace for each in found} == {"a"}
            return sorted((each.key, each.deleted) for each in found)

        stop = backend.subscribe("a", listen)
        await backend.set("b", "x", 0)
        await backend.set("a", "x", 1)
        assert await next_changes(1) == [("x", False)]
        await backend.delete("a", "no")
        await backend.delete("a", "x")
        assert await next_changes(1) == [("x", True)]
        await backend.set("a", "y", 1)
        await backend.set("a", "z", 1)
        await next_changes(2)
        await backend.clear("b")
        await backend.clear("a")
        assert await next_changes(2) == [("y", True), ("z", True)]
        if TRANSACTIONS in capabilities_of(backend):
            await backend.apply(
                "a", [Set(key="x", value=1), Delete(key="no"), Set(key="y", value=1)]
            )
            assert await next_changes(2) == [("x", False), ("y", False)]
        stop()
        await backend.set("a", "unheard", 1)
        backend.subscribe("a", listen)
        await backend.set("a", "heard", 1)
        assert await next_changes(1) == [("heard", False)]

    @with_backend
    async def test_stats_now_says_what_stats_says(self, backend: MemoryBackend) -> None:
        needs(backend, STATS_NOW)
        now = cast("SupportsStatsNow", backend).stats_now
        assert now() == await backend.stats()
        await backend.set("a", "x", 1)
        assert now() == await backend.stats()
        await backend.close()
        with suppress(Closed):
            raise AssertionError(f"closed, and yet it answers {now()}")

    @with_backend
    async def test_namespaces_are_those_with_values(self, backend: MemoryBackend) -> None:
        needs(backend, NAMESPACES)
        names = cast("SupportsNamespaces", backend).namespaces
        assert await names() == []
        for name in HOSTILE_KEYS:
            await backend.set(name, "key", 1)
        assert await names() == sorted(HOSTILE_KEYS)
        await backend.delete("a", "key")
        await backend.clear("A")
        assert await names() == sorted(set(HOSTILE_KEYS) - {"a", "A"})
