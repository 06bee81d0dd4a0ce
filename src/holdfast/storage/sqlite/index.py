"""The full-text index of entries: the terms of their texts, made anew when the analysis changes.

Which analysis made the terms is part of the vault; a vault with another one is indexed again at
open.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.core.canonical import row_digest
from holdfast.core.text import TEXT_VERSION
from holdfast.errors import Unsupported
from holdfast.storage.sqlite import messages
from holdfast.storage.sqlite.queries import QUERIES, fetch
from holdfast.storage.sqlite.rows import DIGESTED, entry_from, vault_from, vault_row
from holdfast.storage.sqlite.textindex import TextIndex, scope_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from holdfast.model.entry import Entry, State


ENTRY_TERMS = "entry_terms"


def indexed(entry: Entry | None, store: int) -> tuple[str, str] | None:
    """What the index holds of an entry: its terms, and its names with its scope behind them;
    nothing once it was forgotten."""
    if entry is None or entry.state == "forgotten":
        return None
    from holdfast.core.rank.texts import terms_and_names

    terms, names = terms_and_names(entry)
    names.append(scope_token(store, _kind(entry.state, entry.hidden)))
    return " ".join(terms), " ".join(names)


@lru_cache(256)
def scope_of(stores: Sequence[int], states: Sequence[State], *, hidden: bool) -> str:
    """What a search may find in these stores, as an expression; empty where that is nothing."""
    kinds = dict.fromkeys(
        _kind(state, also) for also in (False, True)[: 1 + hidden] for state in states
    )
    tokens = [scope_token(store, kind) for store in stores if store for kind in kinds]
    return " OR ".join(f'"{token}"' for token in tokens)


def _kind(state: State, hidden: bool) -> str:
    return ("d" if state == "draft" else "") + ("h" if hidden else "")


def reindex(conn: apsw.Connection, before: Entry | None, entry: Entry, store: int) -> None:
    """Bring the index along with an entry's row."""
    was, now = indexed(before, store), indexed(entry, store)
    if was == now:
        return
    index = TextIndex(conn, ENTRY_TERMS)
    if now is None:
        index.drop(entry.number)
    elif was is None:
        index.put(entry.number, *now)
    else:
        index.change(entry.number, *now)


def rebuild(conn: apsw.Connection) -> int:
    """Make the index anew from the rows that say what was written; how many entries it holds."""
    return TextIndex(conn, ENTRY_TERMS).make_anew(_sound(conn))


def _sound(conn: apsw.Connection) -> Iterator[tuple[int, str, str]]:
    columns = ", ".join(DIGESTED["entry"])
    for row in fetch(conn, f"SELECT {columns}, digest FROM entry ORDER BY number"):
        if row_digest("entry", row[:-1]) != row[-1]:
            continue  # `verify` names it; what it says is not to be trusted
        held = indexed(entry_from(row[:-1]), row[2])
        if held is not None:
            yield (row[0], *held)


def bring_index_up_to_date(conn: apsw.Connection, where: str) -> None:
    """Index the vault again when another version of the text analysis made its index."""
    row = next(fetch(conn, QUERIES["vault"]), None)
    if row is None or row[-1] == TEXT_VERSION:
        return
    vault = vault_from(row)
    if vault.text_version > TEXT_VERSION:
        raise Unsupported(
            "index_newer",
            f"{where} was indexed by text analysis {vault.text_version}; this program has "
            f"{TEXT_VERSION}",
            hint="it was written by a newer holdfast: update this one",
        )
    conn.execute("BEGIN IMMEDIATE")
    try:
        rebuild(conn)
        messages.rebuild(conn)
        conn.execute(QUERIES["put_vault"], vault_row(vault.replace(text_version=TEXT_VERSION)))
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
