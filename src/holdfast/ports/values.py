"""The port of process values: eight methods and a name, and the abilities a backend may add.

A backend keeps JSON values under (namespace, key). The comments of `MemoryBackend` are the
contract, and `holdfast.testing.backends.BackendContract` proves it. What a backend can do beyond
the eight it declares in `capabilities`; it is never guessed from a class or from a method that
happens to be there. What it does not declare, Holdfast builds on the eight (`kernel/defaults.py`).
"""

# ruff: noqa: PIE790 (ruff does not see that MemoryBackend is a protocol, and pyright does)
from __future__ import annotations

from holdfast.core.jsonvalue import LIMITS, Limits
from holdfast.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Protocol, TypedDict, TypeVar

    from holdfast.model.keyvalue import Operation, Outcome, Stored, ValueChange
    from holdfast.model.space import Store

    Keys = list[str]
    Names = list[str]

    class MemoryBackendStats(TypedDict):
        """How much a backend holds: namespaces with at least one value, and values in all."""

        backend: str
        namespaces: int
        totalEntries: int

else:
    Protocol = object

    class MemoryBackendStats(dict):
        """How much a backend holds: namespaces with at least one value, and values in all."""


TRANSACTIONS = "transactions"
WATCH = "watch"
STATS_NOW = "stats_now"
NAMESPACES = "namespaces"
EPHEMERAL = "ephemeral"

EIGHT = ("get", "set", "delete", "list", "clear", "delete_namespace", "stats", "close")
METHODS_OF = {
    TRANSACTIONS: ("stored", "snapshot", "apply", "sweep"),
    WATCH: ("subscribe",),
    STATS_NOW: ("stats_now",),
    NAMESPACES: ("namespaces",),
    EPHEMERAL: (),
}


class MemoryBackend(Protocol):
    """Where values live. Each method may be called by many tasks at once.

    A value is what `holdfast.core.jsonvalue` calls one, and comes back equal; anything else is
    refused with InvalidInput and nothing is changed. A backend keeps no reference to a value that
    it was given and gives none that it keeps. Namespaces and keys are 1 to 1,024 bytes of text
    without NUL, in which every character means itself; others are refused with InvalidInput.

    A method that changes something returns when the change is as safe as the backend can make it,
    and raises when it is not made: nothing is half written, and a failed read is never "missing".
    """

    @property
    def name(self) -> str:
        """What `stats` calls the backend."""
        ...

    async def get(self, namespace: str, key: str) -> Any:
        """The value, or MISSING. Reading creates nothing."""
        ...

    async def set(self, namespace: str, key: str, value: object) -> None:
        """Keep the value under the key, in place of what was there."""
        ...

    async def delete(self, namespace: str, key: str) -> bool:
        """Remove the key. True for the one call that found it."""
        ...

    async def list(self, namespace: str, prefix: str = "") -> Keys:
        """The keys that start with the prefix, exactly, in the order of their code points."""
        ...

    async def clear(self, namespace: str) -> None:
        """Remove every key of this namespace, and nothing of another."""
        ...

    async def delete_namespace(self, namespace: str) -> None:
        """Remove every key and whatever else is kept about the namespace."""
        ...

    async def stats(self) -> MemoryBackendStats:
        """What is there now; namespaces without a value do not count."""
        ...

    async def close(self) -> None:
        """Let go of files and connections. May be repeated; nothing is lost without it.

        After it every other method raises Closed.
        """
        ...


if TYPE_CHECKING:
    T = TypeVar("T")

    # What changes values: given them, the store, and the moment that counts as now. None, and
    # nothing done, where the store's row is not what it was.
    ValueUnit = Callable[["ValueWrites", Store, int], T | None]

    Listener = Callable[[Sequence[ValueChange]], None]

    class SupportsTransactions(Protocol):
        """Declared as `transactions`: expiry, compare-and-set, batches and increments.

        A value whose `expires_at` has come is gone for every method, the eight included.
        """

        async def stored(self, namespace: str, key: str) -> Stored | None:
            """The value with its revision; None when it is missing."""
            ...

        async def snapshot(self, namespace: str, prefix: str = "") -> list[Stored]:
            """All values under the prefix as of one moment, in the order of `list`."""
            ...

        async def apply(
            self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
        ) -> list[Outcome]:
            """Carry out all operations at once, or none, whoever else writes.

            `holdfast.core.keyvalue.plan` decides what each comes to. Refused with `quota` when
            the namespace would grow beyond `bytes_max`, counted over keys and JSON in UTF-8.
            """
            ...

        async def sweep(self) -> int:
            """Remove what has expired from wherever it is kept; how many values that were."""
            ...

    class SupportsWatch(Protocol):
        """Declared as `watch`: tells of every change, whoever made it; not of expiry."""

        def subscribe(self, namespace: str, listener: Listener) -> Callable[[], None]:
            """Call the listener after each change, from any thread, until the answer is called."""
            ...

    class SupportsStatsNow(Protocol):
        """Declared as `stats_now`."""

        def stats_now(self) -> MemoryBackendStats:
            """What `stats` answers, without awaiting."""
            ...

    class SupportsNamespaces(Protocol):
        """Declared as `namespaces`."""

        async def namespaces(self) -> Names:
            """The namespaces with at least one value, in the order of their code points."""
            ...

    class ValueReads(Protocol):
        """Values in a snapshot of a vault. What has expired by `at_us`, now, is not there."""

        def value_data(self, store: Store, namespace: str, key: str, at_us: int) -> bytes | None:
            """A value's JSON; None too where the store's row is no longer at this revision."""
            ...

        def value(self, store: Store, namespace: str, key: str, at_us: int) -> Stored | None: ...

        def values(
            self, store: Store, namespace: str, prefix: str, at_us: int
        ) -> Sequence[Stored]: ...

        def value_keys(
            self, store: Store, namespace: str, prefix: str, at_us: int, limit: int | None
        ) -> Keys:
            """The first so many keys that begin so, in the order of their code points."""
            ...

        def value_namespaces(self, store: Store, at_us: int) -> Sequence[tuple[str, int, int]]:
            """Each namespace with a value: its name, its values, their bytes."""
            ...

        def value_totals(self, store: Store, at_us: int) -> tuple[int, int]:
            """How many namespaces have a value, and how many values there are."""
            ...

    class ValueWrites(ValueReads, Protocol):
        """Values in a transaction of a vault. They leave no change in the log."""

        def put_value(self, store: Store, namespace: str, key: str, data: bytes) -> int | None:
            """Keep a value that does not expire, whatever was there before; its revision.

            None, and nothing done, where that takes more: the store's row is no longer at this
            revision, the namespace is new, or the bytes that it holds are counted.
            """
            ...

        def apply_values(
            self,
            store: Store,
            namespace: str,
            operations: Sequence[Operation],
            data: Mapping[str, bytes | None],
            at_us: int,
            *,
            bytes_max: int | None = None,
            ends_at: datetime | None = None,
        ) -> tuple[Outcome, ...] | None:
            """What `holdfast.core.keyvalue.plan` says of them; `data` is that of `data_of`.

            None, and nothing done, where the store's row is no longer at this revision. No revision
            is given twice to a key, not even after its value or its namespace has gone.
            """
            ...

        def clear_values(
            self, store: Store, namespace: str, at_us: int, *, forget: bool
        ) -> int | None:
            """Remove all values, and with `forget` all that is kept about the namespace; how many
            there were. None, and nothing done, where the store's row is not at this revision."""
            ...

        def sweep_values(self, at_us: int) -> int:
            """Remove some of what has expired, in any store; 0 when nothing more has."""
            ...

    class RichBackend(MemoryBackend, SupportsTransactions, SupportsWatch, Protocol):
        """The eight and what accessors build on."""


def capabilities_of(backend: object) -> frozenset[str]:
    """What the backend declares. `ephemeral` says that values end with the backend's process."""
    return getattr(backend, "capabilities", frozenset())


def limits_of(backend: object) -> Limits:
    """The limits that the backend declares as `limits`, else the usual ones."""
    return getattr(backend, "limits", LIMITS)


def check_backend(backend: object) -> None:
    """Whether it has what it declares. Raises InvalidInput naming what is not there."""
    declared = capabilities_of(backend)
    unknown = ", ".join(sorted(declared - METHODS_OF.keys()))
    if unknown:
        raise InvalidInput(
            "backend_unfit",
            f"the backend {type(backend).__name__} declares unknown capabilities: {unknown}",
            hint=f"known are {', '.join(sorted(METHODS_OF))}",
        )
    wanted = (*EIGHT, *(method for each in sorted(declared) for method in METHODS_OF[each]))
    lacking = ", ".join(method for method in wanted if not _has(backend, method))
    if lacking or not isinstance(getattr(backend, "name", None), str):
        raise InvalidInput(
            "backend_unfit",
            f"the backend {type(backend).__name__} lacks {lacking or 'a name'}",
            hint="docs/reference/processes.md shows a whole backend",
        )


def _has(backend: object, method: str) -> bool:
    """Whether there is such a method, other than the empty one of the protocol."""
    own = getattr(type(backend), method, None)
    return callable(getattr(backend, method, None)) and own is not getattr(
        MemoryBackend, method, ()
    )
