"""`ports.Storage` on one SQLite file, or in RAM.

What is kept in order here, beside the rows: the schema's steps at open, and in quiet moments the
merging of the full-text index's segments, the sealing of the log, and the sweeping of values that
have expired.
"""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from holdfast.errors import Damaged
from holdfast.model.erasure import Scrubbed
from holdfast.model.problem import Problem
from holdfast.storage import migrate
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.failures import failure
from holdfast.storage.sqlite.index import ENTRY_TERMS
from holdfast.storage.sqlite.messages import MESSAGE_TERMS
from holdfast.storage.sqlite.queries import QUERIES, fetch
from holdfast.storage.sqlite.schema import bring_up_to_date, refuse_strangers
from holdfast.storage.sqlite.textindex import TextIndex
from holdfast.storage.sqlite.transaction import SqliteSnapshot, SqliteTransaction, seal_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import TypeVar

    from holdfast.model.entry import Json
    from holdfast.ports import Clock, NotNow, Snapshot, Transaction
    from holdfast.storage.sqlite.keys import Key

    T = TypeVar("T")

MERGE_PAGES = 16
SEAL_CHANGES = 256


def clock_us() -> int:
    return time.time_ns() // 1000


class SqliteStorage:
    def __init__(
        self,
        file: Path | None,
        *,
        key: Key | None = None,
        create: bool = True,
        clock: Clock = clock_us,
    ) -> None:
        self._clock = clock
        self.where = "memory:" if file is None else str(file)
        self._encrypted = key is not None
        self._db = Database.open(
            file,
            key=key,
            create=create,
            prepare=lambda conn: bring_up_to_date(conn, file),
            idle=self._tidy,
            accept=lambda conn: refuse_strangers(conn, file),
        )

    def read(self, unit: Callable[[Snapshot], T]) -> T:
        return self._db.read(lambda conn: unit(SqliteSnapshot(conn)))

    def write(self, unit: Callable[[Transaction], T]) -> T:
        return self._db.write(lambda conn: unit(SqliteTransaction(conn)))

    def write_at_once(self, unit: Callable[[Transaction], T]) -> T | NotNow:
        return self._db.write_at_once(lambda conn: unit(SqliteTransaction(conn)))

    def packed(self, content: bytes) -> tuple[str, bytes]:
        from holdfast.storage.objects import pack

        return pack(content)

    def scrub(self, words: Collection[bytes]) -> Scrubbed | None:
        from holdfast.storage.sqlite.erasures import standing

        def look(conn: apsw.Connection) -> dict[str, int]:
            return standing(conn, words, raw=self._db.file is not None)

        found = self._db.scrub(look)
        return None if found is None else Scrubbed(standing=found, copies=self.copies())

    def copies(self) -> tuple[str, ...]:
        file = self._db.file
        if file is None:
            return ()
        return tuple(sorted(each.name for each in file.parent.glob(f"{file.name}.*.backup")))

    def tidy(self) -> None:
        while self._db.write(self._tidy):
            pass

    def submit(
        self,
        unit: Callable[[Transaction], T],
        done: Callable[[T | None, BaseException | None], None],
    ) -> None:
        self._db.submit(lambda conn: unit(SqliteTransaction(conn)), done)

    def inspect(self) -> Iterator[Problem]:
        from holdfast.storage.sqlite import verify
        from holdfast.storage.sqlite.look import Look

        own = self._db.own_reader()
        if own is None:
            found = self._db.read(lambda conn: list(verify.problems(Look(conn, None))))
            return iter(found)
        look = Look(own, self._another_reader)
        try:
            return iter([*self._problems_of_the_log(), *verify.problems(look)])
        except apsw.Error as exc:
            raise failure(exc, self._db.file) or exc from exc
        finally:
            look.close()

    def _problems_of_the_log(self) -> Iterator[Problem]:
        try:
            self._db.check_log()
        except Damaged as exc:
            yield Problem(
                code=exc.code, what="the log", message=exc.message, cure="restore a backup"
            )

    def _another_reader(self) -> apsw.Connection:
        conn = self._db.own_reader()
        assert conn is not None
        return conn

    def repair(self) -> Iterator[str]:
        from holdfast.storage.sqlite import verify
        from holdfast.storage.sqlite.ledger import repairs
        from holdfast.storage.sqlite.verify_messages import recounts

        return iter(
            self._db.write(lambda conn: [*repairs(conn), *verify.recounts(conn), *recounts(conn)])
        )

    def facts(self) -> Mapping[str, Json]:
        return {
            "encrypted": self._encrypted,
            "schema": len(migrate.steps_in(Path(__file__).parent)),
            "bytes": _size(self._db.file),
            "sqlite": apsw.sqlite_lib_version(),
        }

    def close(self) -> None:
        self._db.close()

    def _tidy(self, conn: apsw.Connection) -> bool:
        """One bounded step of what can wait for a quiet moment; True when more remains."""
        return (
            _merge(TextIndex(conn, ENTRY_TERMS))
            or _merge(TextIndex(conn, MESSAGE_TERMS))
            or seal(conn, at_least=SEAL_CHANGES)
            or SqliteTransaction(conn).sweep_values(self._clock()) > 0
        )


def _merge(index: TextIndex) -> bool:
    """One bounded step towards few segments: each that a search must look into costs it time."""
    return index.merge(MERGE_PAGES) or index.unite(MERGE_PAGES)


def seal(conn: apsw.Connection, *, at_least: int) -> bool:
    """Add a link to the chain over the changes since the last one; False when they are too few."""
    newest = next(fetch(conn, QUERIES["newest_seal"]), None)
    number, last_seq, before = (0, 0, b"") if newest is None else (newest[0], newest[2], newest[4])
    headers = list(fetch(conn, QUERIES["headers"], (last_seq, SEAL_CHANGES)))
    if len(headers) < at_least:
        return False
    first, last = headers[0][0], headers[-1][0]
    at_us = clock_us()
    digest = seal_digest(before, first, last, at_us, [row[2] for row in headers])
    conn.execute(QUERIES["put_seal"], (number + 1, first, last, at_us, digest))
    return True


def _size(file: Path | None) -> int:
    """The bytes of the database and its log on disk."""
    if file is None:
        return 0
    parts = (file, file.with_name(file.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
