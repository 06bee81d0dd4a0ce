"""Rows of the SQLite schema to values and back, and the digest that every row carries."""

from __future__ import annotations

import json
from functools import lru_cache, wraps

from holdfast.core.canonical import canonical_text, digest, row_digest
from holdfast.errors import Damaged
from holdfast.model.change import Change
from holdfast.model.entry import Entry
from holdfast.model.session import Session
from holdfast.model.space import SpaceInfo, Store
from holdfast.model.times import from_us, to_us
from holdfast.model.vault import Frozen, StoredAnswer, VaultInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Concatenate, ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")
    Row = tuple[Any, ...]

# The columns that a row's digest covers, in order. `verify` reads tables by this list.
DIGESTED: dict[str, tuple[str, ...]] = {
    "vault": ("number", "id", "created_us", "secret", "text_version"),
    "space": ("number", "id", "name", "path", "declared", "settings", "created_us", "revision"),
    "store": (
        *("number", "id", "space", "name", "type", "strategy", "options", "position", "revision"),
    ),
    "session": (
        *("number", "id", "space", "state", "title", "agent", "user", "started_us", "ended_us"),
        *("source", "given_id", "compacted", "revision"),
    ),
    "entry": (
        *("number", "id", "store", "given_id", "kind", "subject", "text", "state", "hidden"),
        *("importance", "pinned", "session", "bound", "created_us", "updated_us", "said_us"),
        *("when_us", "until_us", "extra", "revision", "fingerprint"),
    ),
    "message": (
        *("number", "id", "session", "place", "role", "rewound", "at_us", "said_us", "when_us"),
        *("given_id", "revision", "extra", "text"),
    ),
    "directory": (
        *("number", "id", "space", "name", "type", "state", "hidden", "head", "created_us"),
        "revision",
    ),
    "version": (
        *("number", "id", "directory", "v", "tree", "files", "size", "parents", "kind", "author"),
        *("run", "session", "message", "at_us"),
    ),
    "artifact": (
        *("number", "id", "store", "content", "mime", "title", "summary", "size", "lines", "state"),
        *("session", "created_us", "hours", "until_us", "revision"),
    ),
    "proposal": (
        *("number", "id", "space", "store", "state", "held", "suggestion", "actor", "user"),
        *("session", "created_us", "decided_us", "decided_by", "fingerprint", "passes"),
        "revision",
    ),
    "run": (
        *("number", "id", "space", "agent", "state", "session", "created_us", "started_us"),
        *("ended_us", "worker", "body", "revision"),
    ),
    "run_output": ("number", "run", "place", "stream", "at_us", "data"),
    "job": (
        *("number", "kind", "session", "first", "last", "user", "state", "made_us", "done_us"),
        *("worker", "lease_us", "tries", "applied", "told", "body"),
    ),
    "model_call": (
        *("number", "at_us", "purpose", "model", "job", "state", "tokens_in", "tokens_out"),
        *("micros", "took_us"),
    ),
    "erasure": (
        *("number", "id", "space", "what", "state", "asked_us", "done_us", "body", "revision"),
    ),
    "seal": ("number", "first_seq", "last_seq", "at_us"),
    "answer": ("actor", "key", "arguments", "at_us", "first_seq", "last_seq", "body"),
    "frozen": ("session", "budget", "at_seq", "body"),
    "namespace": ("number", "store", "name"),
    "value": ("number", "namespace", "key", "data", "revision", "expires_us"),
}


def whole(convert: Callable[Concatenate[Row, P], T]) -> Callable[Concatenate[Row, P], T]:
    """A row that cannot be what was written is an error of ours, which names it."""

    @wraps(convert)
    def checked(row: Row, *args: P.args, **named: P.kwargs) -> T:
        try:
            return convert(row, *args, **named)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as exc:
            raise Damaged(
                "row_damaged",
                f"{convert.__name__.removesuffix('_from')} {row[0]} is not what was written",
                hint="holdfast verify names all that is damaged",
            ) from exc

    return checked


def sealed(table: str, columns: Row) -> Row:
    """The columns of a row with their digest behind them."""
    return (*columns, row_digest(table, columns))


def digest_of(table: str, columns: Row) -> bytes:
    """The digest that a row with these columns must carry."""
    return value_digest(columns[1:]) if table == "value" else row_digest(table, columns)


def value_digest(columns: Row) -> bytes:
    """Of all but the number. Values are long, and bytes already, so they do not become JSON."""
    namespace, key, data, revision, expires_us = columns
    place = f"{namespace}/{revision}/{expires_us}".encode()
    return digest("row/value", place, key.encode(), data)


def vault_row(vault: VaultInfo) -> Row:
    return sealed("vault", (1, vault.id, to_us(vault.created), vault.secret, vault.text_version))


@whole
def vault_from(row: Row) -> VaultInfo:
    _, vault_id, created_us, secret, text_version = row
    return VaultInfo(
        id=vault_id, created=from_us(created_us), secret=secret, text_version=text_version
    )


def space_row(space: SpaceInfo) -> Row:
    return sealed(
        "space",
        (
            space.number,
            space.id,
            space.name,
            space.path,
            space.declared,
            canonical_text(dict(space.settings)),
            to_us(space.created),
            space.revision,
        ),
    )


@whole
def space_from(row: Row) -> SpaceInfo:
    number, space_id, name, path, declared, settings, created_us, revision = row
    return SpaceInfo(
        id=space_id,
        number=number,
        name=name,
        path=path,
        declared=declared,
        settings=json.loads(settings),
        created=from_us(created_us),
        revision=revision,
    )


def store_row(store: Store) -> Row:
    return sealed(
        "store",
        (
            store.number,
            store.id,
            store.space_number,
            store.name,
            store.type,
            store.strategy,
            canonical_text(dict(store.options)),
            store.position,
            store.revision,
        ),
    )


@whole
def store_from(row: Row, space_id: Any, space_name: str) -> Store:
    number, store_id, space, name, kind, strategy, options, position, revision = row
    return Store(
        id=store_id,
        number=number,
        space=space_id,
        space_number=space,
        space_name=space_name,
        name=name,
        type=kind,
        strategy=strategy,
        options=json.loads(options),
        position=position,
        revision=revision,
    )


def session_row(session: Session, space: SpaceInfo) -> Row:
    columns = (
        session.number,
        session.id,
        space.number,
        session.state,
        session.title,
        session.agent,
        session.user,
        to_us(session.started),
        None if session.ended is None else to_us(session.ended),
        session.source,
        session.given_id,
        session.compacted,
        session.revision,
    )
    return (*sealed("session", columns), to_us(session.lease_until))


@whole
def session_from(row: Row) -> Session:
    number, session_id, state, title, agent, user, started, ended, revision, lease = row[:10]
    return Session(
        id=session_id,
        number=number,
        space=row[10],
        space_name=row[11],
        source=row[12],
        given_id=row[13],
        compacted=row[14],
        state=state,
        title=title,
        agent=agent,
        user=user,
        started=from_us(started),
        ended=None if ended is None else from_us(ended),
        lease_until=from_us(lease),
        revision=revision,
    )


def entry_row(entry: Entry, store: int, fingerprint: bytes) -> Row:
    extra: dict[str, Any] = {
        "facts": entry.facts,
        "metadata": entry.metadata,
        "origin": entry.origin,
        "refs": list(entry.refs),
        "scope": entry.scope,
        "tags": list(entry.tags),
        "trust": entry.trust,
    }
    if entry.holds:
        extra["holds"] = list(entry.holds)
    return sealed(
        "entry",
        (
            entry.number,
            entry.id,
            store,
            entry.given_id,
            entry.kind,
            entry.subject,
            entry.text,
            entry.state,
            int(entry.hidden),
            entry.importance,
            int(entry.pinned),
            entry.session,
            int(entry.bound),
            to_us(entry.created),
            to_us(entry.updated),
            None if entry.said_at is None else to_us(entry.said_at),
            to_us(entry.when),
            None if entry.until is None else to_us(entry.until),
            canonical_text(extra),
            entry.revision,
            fingerprint,
        ),
    )


@whole
def entry_from(row: Row) -> Entry:
    number, entry_id, _, given_id, kind, subject, text, state, hidden = row[:9]
    importance, pinned, session, bound, created_us, updated_us, said_us, when_us = row[9:17]
    until_us, extra_text, revision = row[17:20]
    extra = _said_alike(extra_text) if len(extra_text) <= _ALIKE_CHARS_MAX else _extra(extra_text)
    tags, refs, scope, facts, holds, metadata, origin, trust = extra
    created = from_us(created_us)
    return Entry.filled_(
        {
            "id": entry_id,
            "given_id": given_id,
            "kind": kind,
            "subject": subject,
            "text": text,
            "state": state,
            "hidden": bool(hidden),
            "importance": importance,
            "pinned": bool(pinned),
            "tags": tags,
            "refs": refs,
            "scope": scope,
            # what was read for another entry too is that entry's as well
            "facts": _own(facts) if facts else {},
            "holds": holds,
            "metadata": _own(metadata) if metadata else {},
            "origin": origin,
            "trust": trust,
            "session": session,
            "bound": bool(bound),
            "created": created,
            "updated": created if updated_us == created_us else from_us(updated_us),
            "said_at": None if said_us is None else from_us(said_us),
            "when": created if when_us == created_us else from_us(when_us),
            "until": None if until_us is None else from_us(until_us),
            "number": number,
            "revision": revision,
        }
    )


def _extra(text: str) -> tuple[Any, ...]:
    extra = json.loads(text)
    return (
        *(tuple(extra["tags"]), tuple(extra["refs"]), extra["scope"], extra["facts"]),
        *(tuple(extra.get("holds", ())), extra["metadata"], extra["origin"], extra["trust"]),
    )


_ALIKE_CHARS_MAX = 400
_said_alike = lru_cache(1_024)(_extra)


def _own(value: Any) -> Any:
    """A copy of what JSON gave."""
    if type(value) is dict:
        return {name: _own(each) for name, each in value.items()}
    return [_own(each) for each in value] if type(value) is list else value


@whole
def change_from(row: Row) -> Change:
    seq, at_us, said_us, actor, session, space, store, kind, target, op, prior, digest, body = row
    parts: dict[str, Any] = {"reason": "", "after": None} if body is None else json.loads(body)
    return Change(
        seq=seq,
        at=from_us(at_us),
        said_at=None if said_us is None else from_us(said_us),
        actor=actor,
        session=session,
        space=space,
        store=store,
        kind=kind,
        target=target,
        op=op,
        prior=prior,
        reason=parts["reason"],
        after=parts["after"],
        digest=digest.hex(),
    )


def answer_row(answer: StoredAnswer) -> Row:
    return sealed(
        "answer",
        (
            answer.actor,
            answer.key,
            answer.arguments,
            answer.at_us,
            answer.first_seq,
            answer.last_seq,
            answer.body,
        ),
    )


def frozen_row(frozen: Frozen) -> Row:
    return sealed("frozen", (frozen.session, frozen.budget, frozen.at_seq, frozen.body))
