"""The contract of backends: bound to those that need no server and no file of ours, and proved to
find what is wrong with others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kernel_sample import SMALL, BareBackend, SlowBackend

from holdfast.errors import Closed, Conflict, InvalidInput
from holdfast.kernel import MISSING, InMemoryBackend, MemoryBackendStats, Outcome, Set
from holdfast.kernel.clock import now_us
from holdfast.kernel.defaults import rich
from holdfast.ports.values import TRANSACTIONS
from holdfast.testing.backends import BackendContract

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from holdfast.kernel import MemoryBackend

eight = pytest.mark.row("C02", "C03", "C08", "C09", "C10")


@eight
@pytest.mark.row("C05", "C12", "C13", "C14")
class TestInMemoryBackend(BackendContract):
    async def open(self, folder: Path) -> MemoryBackend:
        return InMemoryBackend(limits=SMALL)


@eight
class TestBareBackend(BackendContract):
    async def open(self, folder: Path) -> MemoryBackend:
        return BareBackend()


@eight
@pytest.mark.row("C12", "C13", "C14")
class TestDefaultsOnABareBackend(BackendContract):
    """What Holdfast builds on the eight methods keeps the same contract."""

    async def open(self, folder: Path) -> MemoryBackend:
        return rich(SlowBackend(), now_us)


class Unwatched(InMemoryBackend):
    capabilities = frozenset({TRANSACTIONS})


@eight
@pytest.mark.row("C12", "C13", "C14")
class TestWatchingByDefault(BackendContract):
    async def open(self, folder: Path) -> MemoryBackend:
        return rich(Unwatched(), now_us)


class Loose(BareBackend):
    """A backend as one writes it in a hurry: whatever json takes, whatever the key."""

    async def get(self, namespace: str, key: str) -> Any:
        self._check_closed()
        return json.loads(self.held.get((namespace, key), b"null"))

    async def set(self, namespace: str, key: str, value: object) -> None:
        self._check_closed()
        self.held[namespace, key] = json.dumps(value).encode()

    def _check_closed(self) -> None:
        if self.closed:
            raise Closed("backend_closed", "it is closed", hint="open another")


class Aliasing(BareBackend):
    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], object] = {}

    async def set(self, namespace: str, key: str, value: object) -> None:
        await super().set(namespace, key, value)
        self.kept[namespace, key] = value

    async def get(self, namespace: str, key: str) -> Any:
        found = await super().get(namespace, key)
        return found if found is MISSING else self.kept[namespace, key]


class Joining(BareBackend):
    """Writes namespace and key as one string."""

    async def get(self, namespace: str, key: str) -> Any:
        return await super().get("all", f"{namespace}/{key}"[:1000])

    async def set(self, namespace: str, key: str, value: object) -> None:
        await super().set("all", f"{namespace}/{key}"[:1000], value)


class Patterned(BareBackend):
    """Takes `_` in a prefix for any character, as LIKE does."""

    async def list(self, namespace: str, prefix: str = "") -> list[str]:
        import re

        pattern = re.escape(prefix).replace("_", ".")
        return [k for k in await super().list(namespace) if re.match(pattern, k, re.DOTALL)]


class Unordered(BareBackend):
    async def list(self, namespace: str, prefix: str = "") -> list[str]:
        return sorted(await super().list(namespace, prefix), key=str.casefold)


class CaseBlind(BareBackend):
    async def get(self, namespace: str, key: str) -> Any:
        return await super().get(namespace, key.casefold()[:1000] if type(key) is str else key)

    async def set(self, namespace: str, key: str, value: object) -> None:
        await super().set(namespace, key.casefold()[:1000] if type(key) is str else key, value)


class Miscounting(BareBackend):
    """Counts namespaces that were ever asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    async def get(self, namespace: str, key: str) -> Any:
        self.asked.add(namespace)
        return await super().get(namespace, key)

    async def stats(self) -> MemoryBackendStats:
        stats = await super().stats()
        return MemoryBackendStats(
            backend=self.name, namespaces=len(self.asked), totalEntries=stats["totalEntries"]
        )


class Rounding(BareBackend):
    """Keeps numbers as floats, as some stores do."""

    async def set(self, namespace: str, key: str, value: object) -> None:
        small = type(value) is int and abs(value) < 2**60
        await super().set(namespace, key, float(str(value)) if small else value)


class Wiping(BareBackend):
    async def clear(self, namespace: str) -> None:
        await super().clear(namespace)
        self.held = {k: v for k, v in self.held.items() if not k[0].startswith(namespace)}


class Agreeing(BareBackend):
    async def delete(self, namespace: str, key: str) -> bool:
        await super().delete(namespace, key)
        return True


class Undead(BareBackend):
    async def close(self) -> None: ...


class Blind(InMemoryBackend):
    """Sees no revision."""

    async def apply(
        self, namespace: str, operations: Sequence[Any], bytes_max: int | None = None
    ) -> list[Outcome]:
        unseen = [each.replace(expected=None) if type(each) is Set else each for each in operations]
        return await super().apply(namespace, unseen, bytes_max)


class Unlimited(InMemoryBackend):
    async def apply(
        self, namespace: str, operations: Sequence[Any], bytes_max: int | None = None
    ) -> list[Outcome]:
        return await super().apply(namespace, operations)


class Halving(InMemoryBackend):
    """Carries a batch out one by one."""

    async def apply(
        self, namespace: str, operations: Sequence[Any], bytes_max: int | None = None
    ) -> list[Outcome]:
        return [(await super(Halving, self).apply(namespace, [each]))[0] for each in operations]


class Timeless(InMemoryBackend):
    async def apply(
        self, namespace: str, operations: Sequence[Any], bytes_max: int | None = None
    ) -> list[Outcome]:
        ever = [each.replace(expires_at=None) if type(each) is Set else each for each in operations]
        return await super().apply(namespace, ever, bytes_max)


class Silent(InMemoryBackend):
    def subscribe(self, namespace: str, listener: Any) -> Callable[[], None]:
        return super().subscribe("elsewhere", listener)


@pytest.mark.row("C09")
@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (Loose, "a_missing_key_is_missing_and_reading_creates_nothing"),
        (Loose, "what_is_no_value_is_refused_and_changes_nothing"),
        (Loose, "what_is_no_key_is_refused_everywhere"),
        (Aliasing, "nothing_is_shared_with_the_caller"),
        (Joining, "namespace_and_key_never_run_together"),
        (Patterned, "a_prefix_is_exact"),
        (Unordered, "a_prefix_is_exact"),
        (Unordered, "every_key_means_itself"),
        (CaseBlind, "every_key_means_itself"),
        (Miscounting, "a_missing_key_is_missing_and_reading_creates_nothing"),
        (Rounding, "numbers_and_text_keep_their_last_bit"),
        (Wiping, "every_namespace_means_itself"),
        (Agreeing, "a_missing_key_is_missing_and_reading_creates_nothing"),
        (Agreeing, "tasks_do_not_disturb_one_another"),
        (Undead, "close_may_be_repeated_and_then_all_is_closed"),
        (BareBackend, "values_outlive_the_backend"),
        (BareBackend, "nothing_is_lost_without_close"),
        (Blind, "compare_and_set_lets_one_through"),
        (Blind, "read_compute_and_compare_loses_no_update"),
        (Unlimited, "a_quota_is_exact_among_many_writers"),
        (Halving, "a_batch_happens_at_once_or_not_at_all"),
        (Timeless, "what_has_expired_is_gone_for_every_method"),
        (Silent, "watchers_hear_every_change_of_their_namespace"),
    ],
)
def test_the_contract_finds_what_is_wrong(
    kind: Callable[[], Any], test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bound(BackendContract):
        persistent = True

        async def open(self, folder: Path) -> MemoryBackend:
            return kind()

    monkeypatch.setattr("holdfast.testing.abilities.WAIT_S", 0.01)
    with pytest.raises((AssertionError, Conflict, InvalidInput, TimeoutError, TypeError)):
        getattr(Bound(), f"test_{test}")()
