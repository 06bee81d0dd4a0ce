"""What the contract of backends is tested with: every value, hostile keys, and exact checks."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast
from unittest import SkipTest

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from holdfast.core.canonical import canonical
from holdfast.model.keyvalue import MISSING
from holdfast.ports.values import capabilities_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any, Concatenate, ParamSpec, Protocol

    from hypothesis.strategies import SearchStrategy

    from holdfast.errors import HoldfastError
    from holdfast.ports.values import MemoryBackend

    P = ParamSpec("P")

    class Contract(Protocol):
        folder: Path

        async def run_with_backend(self, test: Callable[[Any], Awaitable[None]]) -> None: ...


# A test class is run for each backend, and each example opens a backend of its own.
some = settings(
    max_examples=30,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


def json_values() -> SearchStrategy[Any]:
    """Every value: all types, the ends of the numbers, hostile text, nested."""
    ends = st.sampled_from(
        [0, -1, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**640 - 1, -0.0, 5e-324]
    )
    finite = st.floats(allow_nan=False, allow_infinity=False)
    scalars = st.none() | st.booleans() | st.integers() | finite | st.text() | ends
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )


def keys() -> SearchStrategy[str]:
    """Every form of key, with many that are alike."""
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
    return text.filter(lambda key: len(key.encode()) <= 1024) | st.sampled_from(HOSTILE_KEYS)


HOSTILE_KEYS = [
    *("a", "A", "a_b", "aXb", "a%b", "a*b", "a?b", "a\\b", "a[b]", "a.b", "a/b", "a:b", "a b"),
    *("_", "%", "*", "\\", "?", ".", "..", "/", "//", " ", "  ", "-", "--help", "~", "$", "#"),
    *("../../etc/passwd", "/etc/passwd", "C:\\x", "con", "nul", "'; DROP TABLE x; --", '"', "`id`"),
    *("\n", "\r\n", "\t", "\x01", "\x1b[31m", "\x7f", "\u200b", "\u202egpj", "\ufeff", "\ufffd"),
    *(
        "é",
        "e\u0301",
        "ß",
        "ẞ",
        "İ",
        "日本語",
        "🙂",
        "👩\u200d🚀",
        "\U0010ffff",
        "null",
        "None",
        "0",
        "00",
    ),
    *("__proto__", "constructor", "key", "key ", " key", "a" * 1024, "é" * 512, "${x}", "{}", "[]"),
]

NOT_KEYS: list[object] = [
    "",
    "a\0b",
    "\0",
    "\ud800",
    "a\udfffb",
    "a" * 1025,
    "é" * 513,
    None,
    1,
    b"a",
]


class _Text(str):
    __slots__ = ()


def not_values() -> list[object]:
    """What is refused, since it would not come back equal, or not at all."""
    ring: list[object] = []
    ring.append(ring)
    deep: object = None
    for _ in range(200):
        deep = [deep]
    return [
        *(float("nan"), float("inf"), float("-inf"), "\ud800", {"\udfff": 1}, 10**640, -(10**640)),
        *((1, 2), {1: "a"}, {None: "a"}, {True: "a"}, {1, 2}, b"a", bytearray(b"a"), 1j, object()),
        *(ring, deep, [{"a": [(1,)]}], _Text("a"), datetime.now(UTC), ..., MISSING, len),
    ]


def with_backend(
    test: Callable[Concatenate[Any, Any, P], Awaitable[None]],
) -> Callable[Concatenate[Any, P], None]:
    """A test that is given an open backend, made for it and closed after it."""

    def run(self: Contract, *args: P.args, **kwargs: P.kwargs) -> None:
        async def with_arguments(backend: Any) -> None:
            await test(self, backend, *args, **kwargs)

        with TemporaryDirectory() as folder:
            self.folder = Path(folder)
            asyncio.run(self.run_with_backend(with_arguments))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def needs(backend: object, capability: str) -> None:
    if capability not in capabilities_of(backend):
        raise SkipTest(f"the backend does not declare {capability}")


def assert_same(found: object, wanted: object, where: str = "the value") -> None:
    """Equal, and of the same types: 1, 1.0 and True are three values."""
    same = canonical(cast("Any", found)) == canonical(cast("Any", wanted))
    assert same, f"{where} is {found!r}, not {wanted!r}"


async def assert_holds(backend: MemoryBackend, wanted: dict[str, dict[str, Any]]) -> None:
    """The backend holds exactly this, by every way of asking."""
    for namespace, values in wanted.items():
        keys = await backend.list(namespace)
        assert keys == sorted(values), f"list({namespace!r}) is {keys!r}, not {sorted(values)!r}"
        for key, value in values.items():
            found = await backend.get(namespace, key)
            assert found is not MISSING, f"get({namespace!r}, {key!r}) finds nothing"
            assert_same(found, value, f"get({namespace!r}, {key!r})")
    stats = await backend.stats()
    expected = {
        "backend": backend.name,
        "namespaces": sum(1 for values in wanted.values() if values),
        "totalEntries": sum(len(values) for values in wanted.values()),
    }
    assert stats == expected, f"stats() is {stats!r}, not {expected!r}"


async def assert_raises(
    kinds: type[HoldfastError] | tuple[type[HoldfastError], ...], call: Coroutine[Any, Any, object]
) -> None:
    """The call raises one of these, with a code, a message and a hint."""
    caught: HoldfastError | None = None
    answer: object = None
    try:
        answer = await call
    except kinds as error:
        caught = error
    assert caught is not None, f"{kinds} was not raised; the answer was {answer!r}"
    assert caught.code
    assert caught.message
    assert caught.hint
