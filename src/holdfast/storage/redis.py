"""Values in Redis (or Valkey): for programs on several machines that share one server.

Every change is one Lua script, so it happens at once, for every client. What an operation comes to
is decided here by `core.keyvalue.plan`, as for every backend: where that rests on what is stored,
the script is told which revisions were seen, changes nothing when they have moved, and the call
begins again. The server's clock says what has expired, to the millisecond, and the server itself
frees such values; scripts bring the books up to date when they come by.

Under a prefix, `v:LENGTH:NAMESPACE KEY` is a value (revision, expiry, JSON); `k:NAMESPACE` its
keys, sorted by their bytes, which is the order of code points; `d:NAMESPACE` when they expire;
`s:NAMESPACE` their sizes; `b` the bytes of each namespace; `n` the namespaces; `r` the last
revision. Text is bytes here, and nothing is a pattern.

How safe an acknowledged value is, is the server's affair: `appendfsync always` for one on disk, any
other setting for one that may be lost with the server's power. A cluster is refused.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.core.jsonvalue import LIMITS, check_key, check_namespace, check_prefix, decode
from holdfast.core.keyvalue import check_quota, data_of, plan, size_of
from holdfast.errors import Closed, Damaged, StorageFailed, Unsupported
from holdfast.model.keyvalue import MISSING, Delete, Increment, Outcome, Set, Stored
from holdfast.model.times import from_us, to_us
from holdfast.ports.values import NAMESPACES, TRANSACTIONS, MemoryBackendStats
from holdfast.storage.sql import load

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from typing import Self

    from holdfast.core.jsonvalue import Limits
    from holdfast.core.keyvalue import Planned
    from holdfast.model.keyvalue import Operation
    from holdfast.ports.values import Keys, Names

ANY, NONE = b"*", b""
KEPT, MOVED, OVER = 0, 1, 2


class RedisBackend:
    """Made by `connect`. It belongs to the event loop that made it."""

    name = "redis"
    capabilities = frozenset({TRANSACTIONS, NAMESPACES})

    def __init__(self, client: Any, prefix: bytes, limits: Limits) -> None:
        self.limits = limits
        self._client = client
        self._prefix = prefix
        self._closed = False
        common, *scripts = _scripts().items()
        self._scripts = {
            name: client.register_script(f"{common[1]}\n{text}") for name, text in scripts
        }

    @classmethod
    async def connect(
        cls, url: str, *, prefix: str = "holdfast", limits: Limits = LIMITS, **options: Any
    ) -> Self:
        """Connect to `redis://HOST:PORT/DB`, `rediss://…` or `unix:///PATH`.

        `prefix` begins the name of everything that is kept there. `options` go to redis-py.
        """
        try:
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
        except ImportError as exc:
            raise Unsupported(
                "redis_not_installed",
                "the package redis is not installed",
                hint="pip install 'holdfast[team]'",
            ) from exc
        # A write that is sent again would happen twice.
        options.setdefault("retry", Retry(NoBackoff(), 0))
        client = Redis.from_url(url, **options)
        made = cls(client, prefix.encode(), limits)
        try:
            await made._check_server()
        except BaseException:
            await made.close()
            raise
        return made

    async def get(self, namespace: str, key: str) -> Any:
        raw = await self._raw(namespace, key)
        return MISSING if raw is None else decode(_opened(raw)[2])

    async def set(self, namespace: str, key: str, value: object) -> None:
        await self.apply(namespace, (Set(key=key, value=value),))

    async def delete(self, namespace: str, key: str) -> bool:
        return (await self.apply(namespace, (Delete(key=key),)))[0].existed

    async def list(self, namespace: str, prefix: str = "") -> Keys:
        check_prefix(prefix)
        self._check(namespace)
        found = await self._run("list", namespace, *_range(prefix))
        return [key.decode() for key in found]

    async def clear(self, namespace: str) -> None:
        self._check(namespace)
        await self._run("clear", namespace)

    async def delete_namespace(self, namespace: str) -> None:
        await self.clear(namespace)

    async def stats(self) -> MemoryBackendStats:
        self._check_open()
        found = await self._run("live", "")
        return MemoryBackendStats(
            backend=self.name, namespaces=len(found) // 2, totalEntries=sum(found[1::2])
        )

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._client.aclose()

    async def namespaces(self) -> Names:
        self._check_open()
        found = await self._run("live", "")
        return [name.decode() for name in found[::2]]

    async def stored(self, namespace: str, key: str) -> Stored | None:
        raw = await self._raw(namespace, key)
        return None if raw is None else _stored(key, raw)

    async def snapshot(self, namespace: str, prefix: str = "") -> Sequence[Stored]:
        check_prefix(prefix)
        self._check(namespace)
        found = await self._run("snapshot", namespace, *_range(prefix))
        pairs = zip(found[::2], found[1::2], strict=True)
        return [_stored(key.decode(), raw) for key, raw in pairs]

    async def apply(
        self, namespace: str, operations: Sequence[Operation], bytes_max: int | None = None
    ) -> Sequence[Outcome]:
        self._check(namespace)
        asked = tuple(operations)
        data = data_of(asked, self.limits)
        if not asked:
            return []
        outcomes = None
        while outcomes is None:
            outcomes = await self._try(namespace, asked, data, bytes_max)
        return outcomes

    async def sweep(self) -> int:
        self._check_open()
        return await self._run("sweep", "")

    async def _check_server(self) -> None:
        facts = await self._answer(self._client.info("cluster"))
        if facts.get("cluster_enabled"):
            raise Unsupported(
                "redis_cluster",
                "a Redis cluster keeps parts of one change on several machines",
                hint="use a single server, with replicas if you like",
            )

    async def _try(
        self,
        namespace: str,
        asked: Sequence[Operation],
        data: dict[str, bytes | None],
        bytes_max: int | None,
    ) -> list[Outcome] | None:
        """Carry the operations out on what is there now; None when that has moved meanwhile."""
        seen: dict[str, Stored | None] = {}
        for each in asked:
            if isinstance(each, Increment) or each.expected is not None:
                seen[each.key] = await self.stored(namespace, each.key)
        before = {each.key: seen.get(each.key) for each in asked}
        planned = plan(asked, before, data, self.limits)
        words: list[object] = [math.inf if bytes_max is None else bytes_max]
        for each in planned:
            held = seen.get(each.key)
            saw = ANY if each.key not in seen else NONE if held is None else held.revision
            words += [each.key.encode(), saw, *_written(each)]
        state, *answers = await self._run("apply", namespace, *words)
        if state == MOVED:
            return None
        if state == OVER:
            check_quota(namespace, answers[0], answers[1], bytes_max)
        pairs = zip(planned, answers[::2], answers[1::2], strict=True)
        return [
            Outcome(
                existed=bool(existed),
                revision=None if each.data is None else str(revision),
                number=each.number,
            )
            for each, existed, revision in pairs
        ]

    async def _raw(self, namespace: str, key: str) -> bytes | None:
        self._check(namespace, key)
        name = namespace.encode()
        place = b"%b:v:%d:%b%b" % (self._prefix, len(name), name, key.encode())
        return await self._answer(self._client.get(place))

    async def _run(self, script: str, namespace: str, *words: object) -> Any:
        call = self._scripts[script](keys=[self._prefix], args=[namespace.encode(), *words])
        return await self._answer(call)

    async def _answer(self, call: Awaitable[Any]) -> Any:
        """What the server says; what it or the way to it does wrong, as an error of ours."""
        from redis.exceptions import RedisError

        try:
            return await call
        except (RedisError, OSError) as exc:
            raise _failure(exc) from exc

    def _check(self, namespace: str, key: str = "any") -> None:
        self._check_open()
        check_namespace(namespace)
        check_key(key, self.limits)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("backend_closed", "the redis backend is closed", hint="connect again")


def _scripts() -> dict[str, str]:
    """The scripts by name, what they have in common first."""
    return load(Path(__file__).with_suffix(".lua"))


def _range(prefix: str) -> tuple[bytes, bytes]:
    """The keys that begin so, as a range of bytes: no text has the byte 255."""
    try:
        start = prefix.encode()
    except UnicodeEncodeError:  # no key has half a character
        return b"(", b"["
    return b"[" + start, b"(" + start + b"\xff"


def _written(planned: Planned) -> tuple[object, object, object, object]:
    """A planned value for the script: JSON, expiry exactly and in milliseconds, size."""
    if planned.data is None:
        return b"", b"", b"", b""
    size = size_of(planned.key, planned.data)
    if planned.expires_at is None:
        return planned.data, b"", b"", size
    expires_us = to_us(planned.expires_at)
    return planned.data, expires_us, expires_us // 1000, size


def _opened(raw: bytes) -> tuple[str, int | None, bytes]:
    head, mark, data = raw.partition(b"\n")
    revision, _, expires_us = head.partition(b" ")
    if not mark or not revision.isdigit():
        raise Damaged(
            "value_unreadable",
            f"a stored value of {len(raw):,} bytes was not written by Holdfast",
            hint="use another prefix for other programs, or delete the key",
        )
    return revision.decode(), int(expires_us) if expires_us else None, data


def _stored(key: str, raw: bytes) -> Stored:
    revision, expires_us, data = _opened(raw)
    until = None if expires_us is None else from_us(expires_us)
    return Stored(key=key, value=decode(data), revision=revision, expires_at=until)


_FULL = ("storage_full", "it has no memory left", "give it more, or delete what is not needed")
_DENIED = ("redis_denied", "it refuses this user", "correct user and password in the url")
_FAULTS = {
    "OutOfMemoryError": _FULL,
    "ReadOnlyError": ("storage_readonly", "it is a replica", "connect to the one that is written"),
    "AuthenticationError": _DENIED,
    "AuthenticationWrongNumberOfArgsError": _DENIED,
    "NoPermissionError": _DENIED,
    "ResponseError": ("redis_failed", "it refused a command", "look at the cause and its log"),
}
_AWAY = (
    "redis_unreachable",
    "it cannot be reached or did not answer; a write that was under way may have happened",
    "start it or correct the url, and read before writing again",
)


def _failure(exc: Exception) -> StorageFailed:
    code, what, cure = _FAULTS.get(type(exc).__name__, _AWAY)
    return StorageFailed(code, f"the Redis server: {what}", hint=cure)
