"""`keyvalue`: JSON values by key, in namespaces that do not see one another.

A process has a namespace of its own, and all share one more (`kernel/names.py`); `kv(name)` is any
other. Nothing of it stands in front of a session. A value may say how long it lives; in a
short-term store one that does not say lives for the store's `ttl_s`. `namespace_bytes_max` bounds
what each namespace holds: keys and values, as UTF-8 and JSON. Values keep no history, so that a
counter does not grow the log for ever.
"""

from __future__ import annotations

from holdfast.core.forms import Whole, checked_options
from holdfast.core.jsonvalue import check_key, check_namespace, check_prefix, decode, encode
from holdfast.core.keyvalue import TTL_S_MAX, data_of, expiry_us
from holdfast.core.suggesting import of_no_entries
from holdfast.model.keyvalue import MISSING, Delete, Increment, Set
from holdfast.model.times import from_us
from holdfast.model.value import Value
from holdfast.model.write import Write, check_unexpected, check_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Unpack

    from holdfast.core.forms import Form
    from holdfast.model.context import Draft
    from holdfast.model.entry import Entry, Json
    from holdfast.model.keyvalue import Missing, Operation, Outcome, Stored
    from holdfast.model.review import Suggestion
    from holdfast.model.space import Store, StoreSpec, StoreType
    from holdfast.model.write import WriteOptions
    from holdfast.ports import Tool, View, Work
    from holdfast.ports.desk import Desk
    from holdfast.ports.values import ValueWrites

NAME = "keyvalue"
HOLDS = "values"
NAMESPACE = "default"
TTL_S = 30 * 86_400


class NamespaceStats(Value):
    """What a namespace holds now; `bytes` counts keys and values as a quota does."""

    namespace: str
    entries: int
    bytes: int


# Declaration

_BYTES_MAX = Whole(about="how many bytes of keys and values a namespace holds", low=1, high=2**53)
OPTIONS: Mapping[StoreType, Mapping[str, Form]] = {
    "short_term": {
        "namespace_bytes_max": _BYTES_MAX,
        "ttl_s": Whole(
            about="how many seconds a value lives that does not say",
            low=1,
            high=TTL_S_MAX,
            default=TTL_S,
        ),
    },
    "long_term": {"namespace_bytes_max": _BYTES_MAX},
}


def check(spec: StoreSpec) -> StoreSpec:
    """The options of a declared store, checked and completed."""
    return checked_options(spec, OPTIONS)


# Policy


def apply(
    values: ValueWrites,
    store: Store,
    namespace: str,
    operations: Sequence[Operation],
    data: Mapping[str, bytes | None],
    at_us: int,
    *,
    bytes_max: int | None = None,
) -> tuple[Outcome, ...] | None:
    """Carry out all operations or none, within what the store allows; None where it is not what it
    was."""
    ends_at = None
    if store.options:
        ttl_s, own_max = store.options.get("ttl_s"), store.options.get("namespace_bytes_max")
        if isinstance(own_max, int):
            bytes_max = own_max if bytes_max is None else min(bytes_max, own_max)
        if isinstance(ttl_s, int):
            ends_at = from_us(expiry_us(at_us, ttl_s))
    return values.apply_values(
        store, namespace, operations, data, at_us, bytes_max=bytes_max, ends_at=ends_at
    )


def put(
    values: ValueWrites, store: Store, namespace: str, key: str, data: bytes, at_us: int
) -> str | None:
    """Set one value, whatever was there; its revision, or None where the store is not what it was.

    In a store without options there is nothing to plan.
    """
    if not store.options:
        revision = values.put_value(store, namespace, key, data)
        if revision is not None:
            return str(revision)
    done = apply(values, store, namespace, [Set(key=key, value=None)], {key: data}, at_us)
    return None if done is None else done[0].revision


# Block


def block(view: View, store: Store) -> Draft | None:  # noqa: ARG001
    """Values are read when they are needed; a session starts without them."""
    return None


def accept(work: Work, store: Store, suggestion: Suggestion) -> Entry:  # noqa: ARG001
    raise of_no_entries(store)


# Face


class Values:
    """The values of one namespace of a store. A key is text; every character means itself."""

    def __init__(self, desk: Desk, namespace: str) -> None:
        check_namespace(namespace)
        self._desk = desk
        self.store = desk.store
        self.namespace = namespace

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default where the key is missing. A stored None comes back as None."""
        check_key(key)
        data = self._desk.value_data(self.namespace, key)
        return default if data is None else decode(data)

    def stored(self, key: str) -> Stored | None:
        """The value with its revision and expiry; None where the key is missing."""
        check_key(key)
        return self._desk.read(
            lambda view, store: view.values.value(store, self.namespace, key, view.at_us)
        )

    def list(self, prefix: str = "") -> Sequence[str]:
        """The keys that start with the prefix, exactly, in the order of their code points."""
        check_prefix(prefix)
        return self._desk.read(
            lambda view, store: view.values.value_keys(
                store, self.namespace, prefix, view.at_us, None
            )
        )

    def items(self, prefix: str = "") -> Mapping[str, Any]:
        """The values under the prefix as of one moment, in the order of `list`."""
        check_prefix(prefix)
        found = self._desk.read(
            lambda view, store: view.values.values(store, self.namespace, prefix, view.at_us)
        )
        return {each.key: each.value for each in found}

    def set(
        self,
        name: str,
        value: object,
        /,
        *,
        ttl_s: float | None = None,
        **write: Unpack[WriteOptions],
    ) -> str:
        """Keep the value; with `ttl_s`, for so many seconds. Its revision.

        With `expect`, only if the key is at that revision (0: if it is not there).
        """
        if ttl_s is None and not write:
            return self._put(name, value)
        return self._set(name, value, ttl_s, None, Write(**write))

    def compare_and_set(
        self,
        name: str,
        value: object,
        expected: str | Missing,
        /,
        *,
        ttl_s: float | None = None,
        **write: Unpack[WriteOptions],
    ) -> str:
        """Keep the value if the key is at this revision (MISSING: if it is not there)."""
        check_unexpected(write.get("expect"), "compare_and_set, which has `expected`,")
        return self._set(name, value, ttl_s, expected, Write(**write))

    def delete(self, name: str, /, **write: Unpack[WriteOptions]) -> bool:
        """Remove the key. Whether it was there."""
        given = Write(**write)
        operation = Delete(key=name, expected=_expected(given))
        return self._apply([operation], given.replace(expect=None))[0].existed

    def increment(self, name: str, by: float = 1, /, **write: Unpack[WriteOptions]) -> Any:
        """Add to a number, which starts at 0 and keeps its expiry. The sum."""
        return self._apply([Increment(key=name, by=by)], Write(**write))[0].number

    def batch(
        self, operations: Sequence[Set | Delete | Increment], **write: Unpack[WriteOptions]
    ) -> tuple[Outcome, ...]:
        """Carry out all operations, on different keys, or none."""
        return self._apply(operations, Write(**write))

    def clear(self, **write: Unpack[WriteOptions]) -> int:
        """Remove every key of this namespace; how many there were."""
        name = self.namespace
        return self._desk.mutate_values(
            "kv clear",
            lambda: {"namespace": name},
            lambda values, store, at_us: values.clear_values(store, name, at_us, forget=True),
            Write(**write),
        )

    def stats(self) -> Sequence[NamespaceStats]:
        """What each namespace of the store holds, all of one moment."""
        found = self._desk.read(lambda view, store: view.values.value_namespaces(store, view.at_us))
        return [NamespaceStats(namespace=n, entries=count, bytes=size) for n, count, size in found]

    def _put(self, key: str, value: object) -> str:
        check_key(key)
        data = encode(value)

        def unit(values: ValueWrites, store: Store, at_us: int) -> str | None:
            return put(values, store, self.namespace, key, data, at_us)

        return self._desk.mutate_values(
            "kv apply", lambda: self._meant([Set(key=key, value=None)], {key: data}, None), unit
        )

    def _set(
        self,
        key: str,
        value: object,
        ttl_s: float | None,
        expected: str | Missing | None,
        write: Write,
    ) -> str:
        if expected is None and write.expect is not None:
            found = _expected(write)  # 0 is that of what is not there; a value's begin with 1
            expected, write = MISSING if found == "0" else found, write.replace(expect=None)
        operation = Set(key=key, value=value, expected=expected)
        (outcome,) = self._apply([operation], write, ttl_s)
        assert outcome.revision is not None
        return outcome.revision

    def _apply(
        self, operations: Sequence[Operation], write: Write, ttl_s: float | None = None
    ) -> tuple[Outcome, ...]:
        data = data_of(operations)
        if ttl_s is not None:
            expiry_us(0, ttl_s)

        def unit(values: ValueWrites, store: Store, at_us: int) -> tuple[Outcome, ...] | None:
            asked = operations
            if ttl_s is not None:
                until = from_us(expiry_us(at_us, ttl_s))
                asked = [each.replace(expires_at=until) for each in operations]
            return apply(values, store, self.namespace, asked, data, at_us)

        return self._desk.mutate_values(
            "kv apply", lambda: self._meant(operations, data, ttl_s), unit, write
        )

    def _meant(
        self,
        operations: Sequence[Operation],
        data: Mapping[str, bytes | None],
        ttl_s: float | None,
    ) -> dict[str, Json]:
        """What a repeated call must ask for again; worked out only for one that may be repeated."""
        asked: list[Json] = [
            repr(each.replace(value=data[each.key]) if isinstance(each, Set) else each)
            for each in operations
        ]
        return {"namespace": self.namespace, "operations": asked, "ttl_s": ttl_s}


def _expected(write: Write) -> str | None:
    return None if write.expect is None else str(check_write(write).expect)


# Tools


def tools(desk: Callable[[str | None], Desk]) -> Iterable[Tool]:
    """What an agent is offered: the namespace `default` of a store, and no other's values."""

    def values(store: str | None) -> Values:
        return Values(desk(store), NAMESPACE)

    def memory_get(key: str, store: str | None = None) -> dict[str, Json]:
        """Read the value under a key."""
        found = values(store).get(key, MISSING)
        return {"found": False} if found is MISSING else {"found": True, "value": found}

    def memory_set(
        key: str, value: Json, ttl_s: float | None = None, store: str | None = None
    ) -> str:
        """Keep a JSON value under a key in place of the one before; for `ttl_s` seconds."""
        return values(store).set(key, value, ttl_s=ttl_s)

    def memory_delete(key: str, store: str | None = None) -> bool:
        """Remove a key; whether it was there."""
        return values(store).delete(key)

    def memory_list(prefix: str = "", store: str | None = None) -> Sequence[str]:
        """List the keys that begin so."""
        return values(store).list(prefix)

    return memory_get, memory_set, memory_delete, memory_list
