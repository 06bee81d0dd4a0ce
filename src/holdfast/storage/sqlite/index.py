"""The full-text index of entries: the terms of their texts, made anew when the analysis changes.

An index row can only be deleted by the terms that were inserted, so the version of the analysis
that made them is part of the vault, and a vault with another one is indexed again at open.
"""

from __future__ import annotations

from holdfast.core.canonical import row_digest
from holdfast.core.text import TEXT_VERSION
from holdfast.errors import Unsupported
from holdfast.model.entry import words_of
from holdfast.storage.sqlite.queries import QUERIES, fetch
from holdfast.storage.sqlite.rows import DIGESTED, entry_from, vault_from, vault_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from holdfast.model.entry import Entry


def indexed_text(entry: Entry | None) -> str | None:
    """What the index holds of an entry: its subject and its text, unless it was forgotten."""
    if entry is None or entry.state == "forgotten":
        return None
    return words_of(entry)


def index_form(text: str) -> str:
    """A text as the index stores it: its terms in order."""
    from holdfast.core.text import tokens

    return " ".join(tokens(text))


def rebuild(conn: apsw.Connection) -> int:
    """Make the index anew from the rows that say what was written; how many entries it holds."""
    conn.execute("INSERT INTO entry_terms (entry_terms) VALUES ('delete-all')")
    count = 0
    columns = ", ".join(DIGESTED["entry"])
    for row in fetch(conn, f"SELECT {columns}, digest FROM entry ORDER BY number"):
        if row_digest("entry", row[:-1]) != row[-1]:
            continue  # `verify` names it; what it says is not to be trusted
        text = indexed_text(entry_from(row[:-1]))
        if text is not None:
            conn.execute(QUERIES["index_terms"], (row[0], index_form(text)))
            count += 1
    return count


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
        conn.execute(QUERIES["put_vault"], vault_row(vault.replace(text_version=TEXT_VERSION)))
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
