"""diskcache: one durable `set`. By default it does not sync at a commit; here it is told to."""

from __future__ import annotations

from serve import serve


def start(options):
    from diskcache import Cache

    cache = Cache(options["folder"], sqlite_synchronous=2, eviction_policy="none")
    text = "x" * 180

    def put(number):
        cache.set(f"key-{number * 7919 % 10_000:05}", {"n": number, "text": text})

    return put


serve(start)
