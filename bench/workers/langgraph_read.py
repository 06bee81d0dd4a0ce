"""LangGraph's stores: one `get`, or a `search` for 200 keys under a prefix (a namespace each)."""

from __future__ import annotations

from pathlib import Path

from serve import serve


def start(options):
    from bench import data

    store, filled = _store(options["kept"])
    size, length = options["size"], options["length"]
    if not filled:
        _fill(store, size, length, data)

    def get(number):
        at = data.spread(number, size)
        return store.get(("bench", data.prefix(at)), data.place(at)).value

    def listed(number):
        found = store.search(("bench", data.prefix(data.spread(number, size))), limit=200)
        return [item.key for item in found]

    return get if options["job"] == "get" else listed


def _store(kept):
    """In memory, or in a file that is filled once."""
    if kept is None:
        from langgraph.store.memory import InMemoryStore

        return InMemoryStore(), False
    import sqlite3

    from langgraph.store.sqlite import SqliteStore

    file = Path(f"{kept}-langgraph.db")
    filled = file.exists()
    conn = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    store = SqliteStore(conn)
    store.setup()
    return store, filled


def _fill(store, size, length, data):
    from langgraph.store.base import PutOp

    for first in range(0, size, 1_000):
        numbers = range(first, min(first + 1_000, size))
        store.batch(
            [
                PutOp(("bench", data.prefix(n)), data.place(n), data.member(n, length))
                for n in numbers
            ]
        )


serve(start)
