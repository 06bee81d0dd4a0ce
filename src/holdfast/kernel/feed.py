"""Something that happens, as an async iterator: kernel events and changed values.

A feed holds what its reader has not taken yet, at most `items_max`. Whoever makes the items never
waits for a slow reader: when the feed is full the oldest item is dropped, and `lost` counts it, so
a reader that sees `lost` grow knows to read the whole state again.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

T = TypeVar("T")

ITEMS_MAX = 1000


class Feed(Generic[T]):
    """Iterate it with `async for`; `close` it, or leave its `async with`, to stop listening.

    Made in an event loop; items may come from any thread.
    """

    def __init__(
        self, stop: Callable[[], None] | None = None, *, items_max: int = ITEMS_MAX
    ) -> None:
        self.lost = 0
        self.stop = stop
        self._items: deque[T] = deque()
        self._items_max = items_max
        self._closed = False
        self._ready = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def push(self, item: T) -> None:
        if threading.get_ident() == self._thread:
            self._push(item)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._push, item)

    def _push(self, item: T) -> None:
        if self._closed:
            return
        if len(self._items) >= self._items_max:
            self._items.popleft()
            self.lost += 1
        self._items.append(item)
        self._ready.set()

    def close(self) -> None:
        """Hear no more. What is here already can still be read; then the iteration ends."""
        if not self._closed:
            self._closed = True
            self._ready.set()
            if self.stop is not None:
                self.stop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        return self._items.popleft()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
