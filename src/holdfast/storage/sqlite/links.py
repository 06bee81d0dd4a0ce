"""Links between entries and counts of their use in SQLite: tables that can be made again.

A link stands in the row of the entry that has it; the table turns the question around. It is kept
in the transaction that writes the entry, and `verify` holds the two against each other.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.storage.sql import load
from holdfast.storage.sqlite import rows
from holdfast.storage.sqlite.queries import fetch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from holdfast.model.entry import Entry
    from holdfast.model.space import Store
    from holdfast.ports.links import Use

LINKS = load(Path(__file__).with_name("links.sql"))


class LinkReads:
    """`ports.links.LinkReads` on a connection."""

    _conn: apsw.Connection

    def referring(self, store: Store, target: str) -> Sequence[Entry]:
        found = fetch(self._conn, LINKS["referring"], (target, store.number))
        return [rows.entry_from(row) for row in found]

    def uses(self, numbers: Sequence[int]) -> Mapping[int, Use]:
        found: dict[int, Use] = {}
        for number in numbers:
            for uses, last_us in self._conn.execute(LINKS["uses"], (number,)):
                found[number] = (uses, last_us)
        return found


class LinkWrites(LinkReads):
    """`ports.links.LinkWrites` on a connection that writes."""

    def put_links(self, entry: Entry, before: Entry | None) -> None:
        was, now = linked(before), linked(entry)
        for target in was - now:
            self._conn.execute(LINKS["unlink"], (target, entry.number))
        for target in now - was:
            self._conn.execute(LINKS["link"], (target, entry.number))

    def add_uses(self, uses: Mapping[int, Use]) -> None:
        for number, (count, last_us) in sorted(uses.items()):
            self._conn.execute(LINKS["use"], (number, count, last_us))


def linked(entry: Entry | None) -> frozenset[str]:
    """What the table holds of an entry: none of what was forgotten."""
    if entry is None or entry.state == "forgotten":
        return frozenset()
    return frozenset(entry.refs)


def unlike(conn_rows: Iterable[tuple[str, int]], known: Iterable[Entry]) -> Iterator[int]:
    """The numbers of the entries whose links are not those of their rows."""
    expected = {(target, entry.number) for entry in known for target in linked(entry)}
    yield from sorted({number for _, number in expected ^ set(conn_rows)})


def relink(conn: apsw.Connection, known: Iterable[Entry]) -> int:
    """Make the table anew from the rows; how many links they have."""
    links = [(target, entry.number) for entry in known for target in linked(entry)]
    conn.execute(LINKS["unlink_all"])
    for link in links:
        conn.execute(LINKS["link"], link)
    return len(links)
