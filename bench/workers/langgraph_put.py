"""LangGraph's SqliteStore: one durable `put`. Its connection syncs at each commit by default."""

from __future__ import annotations

from serve import serve


def start(options):
    import sqlite3

    from langgraph.store.sqlite import SqliteStore

    conn = sqlite3.connect(
        f"{options['folder']}/store.db", check_same_thread=False, isolation_level=None
    )
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("PRAGMA synchronous = FULL")
    store = SqliteStore(conn)
    store.setup()
    text = "x" * 180

    def put(number):
        store.put(("bench",), f"key-{number * 7919 % 10_000:05}", {"n": number, "text": text})

    return put


serve(start)
