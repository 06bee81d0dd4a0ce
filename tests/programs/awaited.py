"""Sets a value so many times through a backend, each awaited before the next."""

from __future__ import annotations

import asyncio
import sys

from holdfast import SqliteBackend


async def main(file: str, count: int) -> None:
    backend = await SqliteBackend.create(file)
    await backend.set("a", "first", 0)
    for number in range(count):
        await backend.set("a", "n", number)
    await backend.close()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
