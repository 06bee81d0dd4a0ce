"""diskcache: one `get` from a folder that is filled once."""

from __future__ import annotations

from pathlib import Path

from serve import serve


def start(options):
    from bench import data
    from diskcache import Cache

    size, length = options["size"], options["length"]
    folder = Path(f"{options['kept']}-diskcache")
    filled = folder.exists()
    cache = Cache(str(folder), eviction_policy="none", size_limit=2**40)
    if not filled:
        with cache.transact():
            for number in range(size):
                cache.set(data.place(number), data.member(number, length))
    return lambda number: cache.get(data.place(data.spread(number, size)))


serve(start)
