"""The contract of a `MemoryBackend`, as a test class. Bind it to a backend and run pytest:

    class TestMyBackend(BackendContract):
        persistent = True

        async def open(self, folder):
            return MyBackend(folder / "values.json")

`open` is called with an empty folder of the test's own, and must give a backend with nothing in
it. With `persistent`, it is called again with the same folder and must find what was acknowledged.
What the backend declares in `capabilities` is tested too; the rest of those tests are skipped.
Needs pytest and hypothesis.
"""

from __future__ import annotations

import asyncio
from math import copysign
from typing import TYPE_CHECKING, ClassVar, cast
from unittest import SkipTest

from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import Closed, InvalidInput
from holdfast.model.keyvalue import MISSING
from holdfast.ports.values import check_backend, limits_of
from holdfast.testing.abilities import AbilitiesContract
from holdfast.testing.kit import (
    HOSTILE_KEYS,
    NOT_KEYS,
    assert_holds,
    assert_raises,
    assert_same,
    json_values,
    keys,
    not_values,
    some,
    with_backend,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path
    from typing import Any

    from holdfast.ports.values import MemoryBackend


class BackendContract(AbilitiesContract):
    """What every backend promises. A test class that derives from it gives `open`."""

    persistent: ClassVar[bool] = False
    folder: Path

    async def open(self, folder: Path) -> MemoryBackend:
        """An open backend that keeps what it keeps in this folder."""
        raise NotImplementedError("give the contract an open(folder)")

    async def run_with_backend(self, test: Callable[[Any], Awaitable[None]]) -> None:
        backend = await self.open(self.folder)
        try:
            await test(backend)
        finally:
            await backend.close()

    # The eight methods

    @with_backend
    async def test_it_has_what_it_declares(self, backend: MemoryBackend) -> None:
        check_backend(backend)
        assert backend.name
        assert (await backend.stats())["backend"] == backend.name

    @with_backend
    async def test_a_missing_key_is_missing_and_reading_creates_nothing(
        self, backend: MemoryBackend
    ) -> None:
        assert await backend.get("nowhere", "key") is MISSING
        assert await backend.list("nowhere") == []
        assert await backend.delete("nowhere", "key") is False
        await backend.clear("nowhere")
        await backend.delete_namespace("nowhere")
        await assert_holds(backend, {})
        await backend.set("a", "key", 1)
        assert await backend.get("a", "other") is MISSING
        assert await backend.get("nowhere", "key") is MISSING
        await assert_holds(backend, {"a": {"key": 1}})

    @with_backend
    async def test_none_is_a_value(self, backend: MemoryBackend) -> None:
        await backend.set("a", "key", None)
        assert await backend.get("a", "key") is None
        await assert_holds(backend, {"a": {"key": None}})
        assert await backend.delete("a", "key") is True
        assert await backend.get("a", "key") is MISSING

    @some
    @given(values=st.lists(json_values(), min_size=2, max_size=8))
    @with_backend
    async def test_values_come_back_equal(
        self, backend: MemoryBackend, values: list[object]
    ) -> None:
        for number, value in enumerate(values):
            await backend.set("a", f"key{number}", value)
        for number, value in enumerate(values):
            assert_same(await backend.get("a", f"key{number}"), value)

    @with_backend
    async def test_numbers_and_text_keep_their_last_bit(self, backend: MemoryBackend) -> None:
        deep: object = "core"
        for _ in range(128):
            deep = [deep]
        hard: list[Any] = [
            *(0, 1, True, False, 1.0, 0.1 + 0.2, 1e308, 5e-324, 2**53 + 1, 2**64, 10**640 - 1),
            *(
                "",
                "\0",
                "\u2028",
                "\U0010ffff",
                '"\\/\b\f\n\r\t',
                "e\u0301",
                [],
                {},
                [[]],
                {"": {}},
            ),
            *(deep, {"a": [1, 1.0, True, None, "1"]}, {"$holdfast": {}, "value": 1}, "x" * 100_000),
        ]
        for value in hard:
            await backend.set("a", "key", value)
            assert_same(await backend.get("a", "key"), value)
        await backend.set("a", "zero", -0.0)
        assert copysign(1, await backend.get("a", "zero")) == -1

    @with_backend
    async def test_what_is_no_value_is_refused_and_changes_nothing(
        self, backend: MemoryBackend
    ) -> None:
        await backend.set("a", "key", "before")
        for value in not_values():
            await assert_raises(InvalidInput, backend.set("a", "key", value))
            await assert_raises(InvalidInput, backend.set("b", "new", [value]))
        await assert_holds(backend, {"a": {"key": "before"}})

    @with_backend
    async def test_a_value_over_the_limit_is_refused(self, backend: MemoryBackend) -> None:
        bytes_max = limits_of(backend).value_bytes_max
        if bytes_max > 2**20:
            raise SkipTest("open a backend with limits=Limits(value_bytes_max=…) to test it")
        fits = "x" * (bytes_max - 2)
        await backend.set("a", "key", fits)
        await assert_raises(InvalidInput, backend.set("a", "key", fits + "x"))
        await assert_raises(InvalidInput, backend.set("a", "key", [fits]))
        await assert_holds(backend, {"a": {"key": fits}})

    @with_backend
    async def test_what_is_no_key_is_refused_everywhere(self, backend: MemoryBackend) -> None:
        for bad in cast("list[Any]", NOT_KEYS):
            calls: list[tuple[Any, ...]] = [
                *((backend.get, "a", bad), (backend.set, "a", bad, 1), (backend.delete, "a", bad)),
                *((backend.get, bad, "a"), (backend.set, bad, "a", 1), (backend.delete, bad, "a")),
                *((backend.list, bad), (backend.clear, bad), (backend.delete_namespace, bad)),
            ]
            for method, *arguments in calls:
                await assert_raises(InvalidInput, method(*arguments))
        await assert_holds(backend, {})

    @with_backend
    async def test_every_key_means_itself(self, backend: MemoryBackend) -> None:
        held = {key: number for number, key in enumerate(HOSTILE_KEYS)}
        for key, value in held.items():
            await backend.set("a", key, value)
        await assert_holds(backend, {"a": held})
        for key in HOSTILE_KEYS[::2]:
            assert await backend.delete("a", key) is True
            del held[key]
        await assert_holds(backend, {"a": held})

    @with_backend
    async def test_every_namespace_means_itself(self, backend: MemoryBackend) -> None:
        held = {name: {"key": name, "a": 1} for name in HOSTILE_KEYS}
        for name, values in held.items():
            for key, value in values.items():
                await backend.set(name, key, value)
        await assert_holds(backend, held)
        for name in HOSTILE_KEYS[::2]:
            await (backend.clear(name) if name < "a" else backend.delete_namespace(name))
            del held[name]
        await assert_holds(backend, held)

    @with_backend
    async def test_namespace_and_key_never_run_together(self, backend: MemoryBackend) -> None:
        held = {
            name: {key: f"{name}|{key}" for key in ("b", "b/c", "c", "a", "b:c", "b\x1fc")}
            for name in ("a", "a/b", "a:b", "a\x1fb", "a/", "a:", "b")
        }
        for name, values in held.items():
            for key, value in values.items():
                await backend.set(name, key, value)
        await assert_holds(backend, held)

    @with_backend
    async def test_a_prefix_is_exact(self, backend: MemoryBackend) -> None:
        for key in HOSTILE_KEYS:
            await backend.set("a", key, 1)
            await backend.set("b", f"{key}x"[:200], 1)
        for prefix in ("", *HOSTILE_KEYS, "a", "aX", "k", "\0", "zzz", "e", "\ud800"):
            wanted = sorted(key for key in HOSTILE_KEYS if key.startswith(prefix))
            assert await backend.list("a", prefix) == wanted
        assert await backend.list("a") == sorted(HOSTILE_KEYS)

    @some
    @given(names=st.sets(keys(), max_size=12), prefix=st.text(max_size=2))
    @with_backend
    async def test_a_listing_is_in_the_order_of_code_points(
        self, backend: MemoryBackend, names: set[str], prefix: str
    ) -> None:
        for name in names:
            await backend.set("a", name, 0)
        assert await backend.list("a") == sorted(names)
        wanted = sorted(name for name in names if name.startswith(prefix))
        assert await backend.list("a", prefix) == wanted

    @with_backend
    async def test_nothing_is_shared_with_the_caller(self, backend: MemoryBackend) -> None:
        given: dict[str, Any] = {"list": [1, 2], "dict": {"a": [3]}}
        wanted: dict[str, Any] = {"list": [1, 2], "dict": {"a": [3]}}
        await backend.set("a", "key", given)
        await backend.set("a", "twin", given)
        given["list"].append(9)
        given["dict"]["a"] = 9
        assert await backend.get("a", "key") == wanted
        got = await backend.get("a", "key")
        got["list"].append(9)
        del got["dict"]
        assert await backend.get("a", "key") == wanted
        assert await backend.get("a", "twin") == wanted

    @with_backend
    async def test_tasks_do_not_disturb_one_another(self, backend: MemoryBackend) -> None:
        await asyncio.gather(*(backend.set(f"ns{n % 3}", f"key{n:02}", [n]) for n in range(60)))
        held = {f"ns{i}": {f"key{n:02}": [n] for n in range(i, 60, 3)} for i in range(3)}
        await assert_holds(backend, held)
        got = await asyncio.gather(*(backend.get(f"ns{n % 3}", f"key{n:02}") for n in range(60)))
        assert got == [[n] for n in range(60)]
        await asyncio.gather(*(backend.set("ns0", "key00", n) for n in range(30)))
        assert await backend.get("ns0", "key00") in range(30)
        found = await asyncio.gather(*(backend.delete("ns0", "key00") for _ in range(10)))
        assert sorted(found) == [False] * 9 + [True]

    @some
    @given(
        calls=st.lists(
            st.tuples(
                st.sampled_from(["set", "set", "set", "delete", "clear", "delete_namespace"]),
                st.sampled_from(["a", "b", "a/b"]),
                st.sampled_from(["x", "y", "x_y", "é"]),
                json_values(),
            ),
            max_size=30,
        )
    )
    @with_backend
    async def test_it_behaves_as_a_dict_of_dicts(
        self, backend: MemoryBackend, calls: list[tuple[str, str, str, object]]
    ) -> None:
        model: dict[str, dict[str, object]] = {"a": {}, "b": {}, "a/b": {}}
        for method, namespace, key, value in calls:
            if method == "set":
                await backend.set(namespace, key, value)
                model[namespace][key] = value
            elif method == "delete":
                found = await backend.delete(namespace, key)
                assert found is (model[namespace].pop(key, MISSING) is not MISSING)
            else:
                clear = backend.clear if method == "clear" else backend.delete_namespace
                await clear(namespace)
                model[namespace].clear()
        await assert_holds(backend, model)

    @with_backend
    async def test_close_may_be_repeated_and_then_all_is_closed(
        self, backend: MemoryBackend
    ) -> None:
        await backend.set("a", "key", 1)
        await backend.close()
        await backend.close()
        calls: list[tuple[Any, ...]] = [
            *((backend.get, "a", "key"), (backend.set, "a", "key", 1)),
            *((backend.delete, "a", "key"), (backend.list, "a"), (backend.clear, "a")),
            *((backend.delete_namespace, "a"), (backend.stats,)),
        ]
        for method, *arguments in calls:
            await assert_raises(Closed, method(*arguments))

    # What a persistent backend promises besides

    @with_backend
    async def test_values_outlive_the_backend(self, backend: MemoryBackend) -> None:
        self.needs_persistence()
        held: dict[str, Any] = {key: {"key": key} for key in HOSTILE_KEYS}
        for key, value in held.items():
            await backend.set("a", key, value)
            await backend.set("b", key, value)
        await backend.delete("a", "é")
        del held["é"]
        await backend.clear("b")
        await backend.close()
        again = await self.open(self.folder)
        try:
            await assert_holds(again, {"a": held})
        finally:
            await again.close()

    @with_backend
    async def test_nothing_is_lost_without_close(self, backend: MemoryBackend) -> None:
        self.needs_persistence()
        await backend.set("a", "kept", [1])
        await backend.set("a", "gone", 2)
        await backend.delete("a", "gone")
        again = await self.open(self.folder)
        try:
            await assert_holds(again, {"a": {"kept": [1]}})
        finally:
            await again.close()

    def needs_persistence(self) -> None:
        if not self.persistent:
            raise SkipTest("values end with this backend")
