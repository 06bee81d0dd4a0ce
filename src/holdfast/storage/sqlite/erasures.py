"""Erasing in SQLite: `ports.erasing`, and the search for words in all that bytes decode to."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.canonical import canonical_text
from holdfast.model.erasure import Erasure
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.queries import fetch
from holdfast.storage.sqlite.rows import sealed, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.model.entry import Json
    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("erasures.sql"))
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name"
LOOKED_AT_BYTES = 1 << 20
RAW = "the file's bytes"


class ErasureReads:
    """`ports.erasing.ErasureReads` on a connection."""

    _conn: apsw.Connection

    def erasures(self, *, pending: bool = False) -> Sequence[Erasure]:
        wanted = {"state": "pending" if pending else None}
        return [erasure_from(row) for row in fetch(self._conn, STATEMENTS["erasures"], wanted)]

    def bodies_of(self, targets: Collection[str]) -> int:
        return next(fetch(self._conn, STATEMENTS["bodies_of"], (json.dumps(list(targets)),)))[0]


class ErasureWrites(ErasureReads):
    """`ports.erasing.ErasureWrites` on a connection that is in a transaction."""

    def put_erasure(self, erasure: Erasure) -> None:
        self._conn.execute(STATEMENTS["put_erasure"], _erasure_row(erasure))

    def erase_bodies(self, targets: Collection[str]) -> int:
        return self._count("erase_bodies", (json.dumps(list(targets)),))

    def erase_answers(self, targets: Collection[str]) -> int:
        return self._count("erase_answers", {"targets": json.dumps(list(targets))})

    def erase_contexts(self, words: str) -> int:
        return self._count("erase_contexts", (words,))

    def _count(self, name: str, bindings: Any) -> int:
        return sum(1 for _ in fetch(self._conn, STATEMENTS[name], bindings))


def _erasure_row(erasure: Erasure) -> Row:
    body: dict[str, Json] = {
        "targets": list(erasure.targets),
        "gone": dict(erasure.gone),
        "searched": erasure.searched,
        "elsewhere": dict(erasure.elsewhere),
        "copies": list(erasure.copies),
    }
    columns = (
        *(erasure.number, erasure.id, erasure.space, erasure.what, erasure.state),
        *(to_us(erasure.asked), None if erasure.done is None else to_us(erasure.done)),
        *(canonical_text(body), erasure.revision),
    )
    return sealed("erasure", columns)


@whole
def erasure_from(row: Row) -> Erasure:
    number, erasure_id, space, what, state, asked_us, done_us, text, revision = row
    body = json.loads(text)
    return Erasure(
        id=erasure_id,
        number=number,
        space=space,
        what=what,
        state=state,
        targets=tuple(body["targets"]),
        gone=body["gone"],
        searched=body["searched"],
        elsewhere=body["elsewhere"],
        copies=tuple(body["copies"]),
        asked=from_us(asked_us),
        done=None if done_us is None else from_us(done_us),
        revision=revision,
    )


# Looking for words


def standing(conn: apsw.Connection, words: Collection[bytes], *, raw: bool) -> dict[str, int]:
    """How many of the words stand in the rows of which table, packs and indexes undone; with `raw`
    also how many that no row has stand in the bytes of the file and its log."""
    sought = {word: {word, _escaped(word)} for word in words}
    found: dict[str, set[bytes]] = {}
    for (table,) in list(conn.execute(TABLES)):
        here = _among(_table(conn, table), sought)
        if here:
            found[table] = here
    if raw:
        known = set().union(*found.values())
        rest = {word: forms for word, forms in sought.items() if word not in known}
        if here := _among(_bytes(conn), rest):
            found[RAW] = here
    return {place: len(here) for place, here in found.items()}


def _escaped(word: bytes) -> bytes:
    """As it stands in JSON."""
    return json.dumps(word.decode("utf-8", "replace"), ensure_ascii=False)[1:-1].encode()


def _among(pieces: Iterable[bytes], sought: dict[bytes, set[bytes]]) -> set[bytes]:
    """Those of the words that stand in the pieces, of which many are looked at together."""
    found: set[bytes] = set()
    held: list[bytes] = []
    size = 0
    for piece in _ended(pieces if sought else ()):
        if piece is not None:
            held.append(piece)
            size += len(piece)
        if piece is None or size >= LOOKED_AT_BYTES:
            together = b"\0".join(held)
            found |= {w for w, forms in sought.items() if any(f in together for f in forms)}
            held, size = [], 0
    return found


def _ended(pieces: Iterable[bytes]) -> Iterator[bytes | None]:
    yield from pieces
    yield None


def _table(conn: apsw.Connection, table: str) -> Iterator[bytes]:
    from holdfast.storage.objects import unpack

    name = table.replace('"', '""')
    for row in conn.execute(f'SELECT * FROM "{name}"'):
        for value in row:
            if isinstance(value, str):
                yield value.encode()
            elif isinstance(value, bytes):
                yield value
        if table == "pack":
            content = unpack(*row[1:4])
            if content is not None:
                yield content


def _bytes(conn: apsw.Connection) -> Iterator[bytes]:
    """The file and then its log, in stretches that overlap, so that no word is cut."""
    for part in (0, 1):
        at, over = 0, 4096
        while True:
            whole_stretch, data = conn.read("main", part, at, LOOKED_AT_BYTES)
            yield data
            if not whole_stretch:
                break
            at += LOOKED_AT_BYTES - over
