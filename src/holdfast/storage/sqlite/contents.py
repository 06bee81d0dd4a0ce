"""Artifacts in SQLite, and the index of the entries and messages that mention them.

The index is derived from these rows and kept in the transactions that write them; an artifact knows
by it whether anything refers to it, and lapses some hours after nothing does. `verify` holds both
against the rows, `doctor --repair` makes them anew.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core import mentions
from holdfast.model.artifact import ArtifactRow
from holdfast.model.times import from_us, to_us
from holdfast.storage.sql import load
from holdfast.storage.sqlite.look import REPAIR, UNREADABLE, entries, messages, problem
from holdfast.storage.sqlite.messages import message_from
from holdfast.storage.sqlite.queries import QUERIES, fetch
from holdfast.storage.sqlite.rows import DIGESTED, entry_from, sealed, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import apsw

    from holdfast.model.problem import Problem
    from holdfast.model.space import Store
    from holdfast.storage.sqlite.look import Look
    from holdfast.storage.sqlite.rows import Row

STATEMENTS = load(Path(__file__).with_name("contents.sql"))
# their places among the sealed columns
STATE, HOURS, UNTIL = map(DIGESTED["artifact"].index, ("state", "hours", "until_us"))
HOUR_US = 3_600_000_000


class ContentReads:
    """`ports.contents.ContentReads` on a connection."""

    _conn: apsw.Connection

    def _kept(self, name: str, bindings: Any) -> Iterator[ArtifactRow]:
        return map(artifact_from, fetch(self._conn, STATEMENTS[name], bindings))

    def artifact(self, store: Store, id: str) -> ArtifactRow | None:
        return next(self._kept("artifact", (id, store.number)), None)

    def artifact_same(self, store: Store, content: str) -> ArtifactRow | None:
        return next(self._kept("artifact_same", (store.number, content)), None)

    def newest_artifacts(self, store: Store, lapsed_us: int, limit: int) -> Sequence[ArtifactRow]:
        return list(self._kept("newest_artifacts", (store.number, lapsed_us, limit)))

    def lapsed_artifacts(self, at_us: int, limit: int) -> Sequence[tuple[int, ArtifactRow]]:
        found = fetch(self._conn, STATEMENTS["lapsed_artifacts"], (at_us, limit))
        return [(row[-1], artifact_from(row[:-1])) for row in found]

    def all_artifacts(self, store: Store) -> Iterator[ArtifactRow]:
        return self._kept("all_artifacts", (store.number,))

    def references(self, id: str) -> int:
        return next(fetch(self._conn, STATEMENTS["references"], (id,)))[0]

    def kept_contents(self, after: int) -> Iterator[str]:
        return (row[0] for row in fetch(self._conn, STATEMENTS["kept_contents"], (after,)))


class ContentWrites(ContentReads):
    """`ports.contents.ContentWrites` on a connection that writes."""

    def put_artifact(self, store: Store, artifact: ArtifactRow) -> None:
        self._conn.execute(STATEMENTS["put_artifact"], _artifact_row(artifact, store.number))

    def put_mentions(
        self, kind: str, source: int, was: frozenset[str], now: frozenset[str]
    ) -> None:
        """What an entry or a message mentions, before and now. The change that says so is the
        newest one of the log."""
        for target in sorted(now - was):
            self._conn.execute(STATEMENTS["mention"], (target, kind, source))
            _refer(self._conn, target, None)
        for target in sorted(was - now):
            self._conn.execute(STATEMENTS["unmention"], (target, kind, source))
            if not self.references(target):
                _refer(self._conn, target, _moment(self._conn))


def _moment(conn: apsw.Connection) -> int:
    """When the change that is being made was made."""
    return next(fetch(conn, QUERIES["head"]))[1]


def _refer(conn: apsw.Connection, target: str, last_us: int | None) -> None:
    """Let an artifact last, or lapse so long after the moment when the last reference went."""
    for row in list(fetch(conn, STATEMENTS["artifact_columns"], (target,))):
        until_us = None if last_us is None else last_us + row[HOURS] * HOUR_US
        if row[UNTIL] != until_us and row[STATE] == "kept":
            columns = (*row[:UNTIL], until_us, *row[UNTIL + 1 :])
            conn.execute(STATEMENTS["put_artifact"], sealed("artifact", columns))


def _artifact_row(artifact: ArtifactRow, store: int) -> Row:
    columns = (
        *(artifact.number, artifact.id, store, artifact.content, artifact.mime, artifact.title),
        *(artifact.summary, artifact.size, artifact.lines, artifact.state, artifact.session),
        *(to_us(artifact.created), artifact.hours),
        *(None if artifact.until is None else to_us(artifact.until), artifact.revision),
    )
    return sealed("artifact", columns)


@whole
def artifact_from(row: Row) -> ArtifactRow:
    artifact_id, number, content, mime, title, summary, size, lines, state, session = row[:10]
    created_us, hours, until_us, revision = row[10:]
    return ArtifactRow(
        id=artifact_id,
        number=number,
        content=content,
        mime=mime,
        title=title,
        summary=summary,
        size=size,
        lines=lines,
        state=state,
        session=session,
        created=from_us(created_us),
        hours=hours,
        until=None if until_us is None else from_us(until_us),
        revision=revision,
    )


# What `verify` looks at


def _expected(look: Look) -> Iterator[tuple[str, str, int]]:
    """The index as the rows that are sound make it."""
    for row in entries(look):
        entry = entry_from(row)
        for target in mentions.of_entry(entry):
            yield target, "entry", entry.number
    for row in messages(look):
        message = message_from(row)
        for target in mentions.of_message(message):
            yield target, "message", message.number


def mention_problems(look: Look) -> Iterator[Problem]:
    """References that the index has or lacks, and artifacts that know otherwise of theirs."""
    expected = set(_expected(look))
    try:
        found = set(look.rows(STATEMENTS["mentions"]))
        wrong = look.rows(STATEMENTS["wrongly_lasting"])
    except UNREADABLE as exc:
        yield problem("references_unreadable", "references to artifacts", str(exc), REPAIR)
        return
    for target, kind, source in sorted(expected ^ found):
        name = f"the reference of {kind} number {source} to {target}"
        what = "it is missing" if (target, kind, source) in expected else "there is none"
        yield problem("references_differ", name, what, REPAIR)
    for number, name in wrong:
        what = "it does not know whether anything refers to it"
        yield problem("references_differ", f"artifact {name} (number {number})", what, REPAIR)


def make_mentions_anew(conn: apsw.Connection, look: Look) -> int:
    """Write the index again from the rows, and what artifacts know by it; how many references."""
    found = list(_expected(look))
    conn.execute(STATEMENTS["unmention_all"])
    for each in found:
        conn.execute(STATEMENTS["mention"], each)
    for _, name in list(conn.execute(STATEMENTS["wrongly_lasting"])):
        (row,) = fetch(conn, STATEMENTS["artifact_columns"], (name,))
        _refer(conn, name, _moment(conn) if row[UNTIL] is None else None)
    return len(found)
