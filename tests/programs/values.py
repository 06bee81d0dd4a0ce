"""Work on the values of a file from a process of its own.

python values.py set FILE PROCESS: set `number` to 1, 2, 3, … for ever, saying each once it is set
python values.py increment FILE COUNT: add 1 to the shared `number` so many times
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from typing import Any

from holdfast import Agent, Kernel, SqliteBackend


async def set_for_ever(path: str, name: str) -> None:
    async def handler(ctx: Any) -> None:
        first = await ctx.memory.get("number", 0) + 1
        for number in itertools.count(first):
            await ctx.memory.set("number", number)
            os.write(1, f"{number}\n".encode())

    async with Kernel(await SqliteBackend.create(path)) as kernel:
        kernel.register(Agent(name, handler))
        process = await kernel.spawn(name)
        await kernel.execute(process.id)


async def increment(path: str, count: str) -> None:
    backend = await SqliteBackend.create(path)
    shared = Kernel(backend).memory.get_shared_accessor()
    for _ in range(int(count)):
        await shared.increment("number")
    await backend.close()


asyncio.run({"set": set_for_ever, "increment": increment}[sys.argv[1]](*sys.argv[2:]))
