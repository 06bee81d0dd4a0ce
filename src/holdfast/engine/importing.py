"""Importing conversations that other programs kept: once each, in bounded units, as they were said.

A conversation is known by what its program calls it and a message by its id there, so an import
that was cut off, or of a file that has grown, goes on where it stopped, and one that is repeated
changes nothing. What users said has the origin `import`; what tools and web pages said keeps
theirs, and a summary is trusted no further than the least trusted of what it sums up. Nothing is
learned by importing: reviews read imported sessions when somebody asks for it.
"""

from __future__ import annotations

import os
from hashlib import sha256

from holdfast.core.archive import TITLE_CHARS_MAX, in_short
from holdfast.core.talks import format_of, heard
from holdfast.errors import Conflict, HoldfastError, InvalidInput, NotFound
from holdfast.model.ids import SessionId
from holdfast.model.importing import TALK_FORMATS, Heard, Imported, Skipped, SkippedLine, Titled
from holdfast.model.names import check_given_id, check_label, shown
from holdfast.model.session import Session
from holdfast.model.times import from_us, to_us
from holdfast.model.value import Value
from holdfast.model.write import Caller, Write
from holdfast.strategies import transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from holdfast.engine.space import StoreDesk
    from holdfast.engine.work import Work
    from holdfast.model.importing import TalkFormat
    from holdfast.model.message import NewMessage
    from holdfast.model.space import Store
    from holdfast.ports import View

BATCH_MESSAGES = 200
BATCH_CHARS = 2_000_000
EXAMPLES_MAX = 20
SOURCES_MAX = 20


class _Item(Value):
    """A message that is ready to be kept."""

    heard: Heard
    new: NewMessage


class _Count:
    """What was done so far."""

    def __init__(self, *, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.files = self.messages_new = self.messages_known = 0
        self.talks_new: set[str] = set()
        self.talks_grown: set[str] = set()
        self.skipped: dict[str, int] = {}
        self.examples: list[SkippedLine] = []

    def skip(self, file: Path, line: int, why: str) -> None:
        self.skipped[why] = self.skipped.get(why, 0) + 1
        if len(self.examples) < EXAMPLES_MAX:
            self.examples.append(SkippedLine(file=str(file), line=line, why=why))

    def told(self) -> Imported:
        return Imported(
            files=self.files,
            sessions_new=len(self.talks_new),
            sessions_grown=len(self.talks_grown - self.talks_new),
            messages_new=self.messages_new,
            messages_known=self.messages_known,
            skipped=dict(sorted(self.skipped.items())),
            examples=tuple(self.examples),
            dry_run=self.dry_run,
        )


class Importer:
    """One import into a space's archive."""

    def __init__(self, desk: StoreDesk, format: str, *, dry_run: bool) -> None:
        if format not in ("auto", *TALK_FORMATS):
            raise InvalidInput(
                "format_invalid",
                f"{shown(format)} is no format of conversations",
                hint=f"auto, or one of {', '.join(TALK_FORMATS)}",
            )
        self._desk, self._format = desk, format
        self._count = _Count(dry_run=dry_run)
        self._sources: set[str] = set()
        self._seen: set[int] = set()

    def run(self, where: Path) -> Iterator[Imported]:
        """What came of it so far, after each file."""
        for file in files_of(where):
            self._file(file)
            yield self._count.told()

    def _file(self, file: Path) -> None:
        def source() -> BinaryIO:
            return _opened(file)

        self._count.files += 1
        form = _known(self._format) or format_of(source)
        if form is None:
            self._count.skip(file, 0, "format_unknown")
            return
        titles: dict[str, str] = {}
        batch: list[_Item] = []
        chars = 0
        for each in heard(source, form, file.stem):
            match each:
                case Skipped():
                    self._count.skip(file, each.line, each.why)
                case Titled():
                    titles[each.talk] = _title(each.title)
                case Heard():
                    item = self._item(file, each)
                    if item is not None:
                        batch.append(item)
                        chars += len(each.text)
            if len(batch) >= BATCH_MESSAGES or chars >= BATCH_CHARS:
                self._keep(file, form, batch, titles)
                batch, chars = [], 0
        self._keep(file, form, batch, titles)
        if titles and not self._count.dry_run:
            self._name(form, titles)

    def _item(self, file: Path, each: Heard) -> _Item | None:
        each = each.replace(source=self._source(each.source))
        try:
            new = transcript.new_message(
                each.role,
                each.text,
                calls=each.calls,
                call=each.call.strip(),
                tool=each.tool.strip(),
                id=key_of(each.id),
                origin=each.origin or ("import" if each.role == "user" else None),
            )
        except InvalidInput as exc:
            self._count.skip(file, each.line, exc.code)
            return None
        return _Item(heard=each, new=new.replace(said_at=each.said_at, rewound=each.rewound))

    def _source(self, source: str) -> str:
        """Few sources are told apart: a search asks each of them."""
        try:
            check_label(source, "a source")
        except HoldfastError:
            return "import"
        if source not in self._sources and len(self._sources) >= SOURCES_MAX:
            return "import"
        self._sources.add(source)
        return source

    def _keep(
        self, file: Path, format: TalkFormat, batch: list[_Item], titles: dict[str, str]
    ) -> None:
        if not batch:
            return
        if self._count.dry_run:
            self._look(format, batch)
            return

        def unit(work: Work, store: Store) -> _Kept:
            return _Kept(work, store, format, titles).all(batch)

        kept = self._desk.mutate("session import", {}, unit, Write(reason=f"import {format}"))
        count = self._count
        count.messages_new += kept.new
        count.messages_known += kept.known
        count.talks_new |= kept.made
        count.talks_grown |= kept.grown
        for each in kept.differing:
            count.skip(file, each.line, "differs_from_before")

    def _look(self, format: TalkFormat, batch: list[_Item]) -> None:
        def unit(view: View, store: Store) -> list[tuple[bool, bool]]:
            found: list[tuple[bool, bool]] = []
            for item in batch:
                name = session_key(format, item.heard.talk, self._desk.caller.user)
                session = view.messages.session_given(store.space_number, name)
                known = None
                if session is not None:
                    known = view.messages.message_given(session, item.new.given_id or "")
                found.append((session is not None, known is not None))
            return found

        for item, (there, known) in zip(batch, self._desk.read(unit), strict=True):
            name = hash((item.heard.talk, item.new.given_id))
            if known or name in self._seen:
                self._count.messages_known += 1
                continue
            self._seen.add(name)
            self._count.messages_new += 1
            (self._count.talks_grown if there else self._count.talks_new).add(item.heard.talk)

    def _name(self, format: TalkFormat, titles: dict[str, str]) -> None:
        """Titles that came after what they are of."""

        def unit(work: Work, store: Store) -> None:
            for talk, title in titles.items():
                name = session_key(format, talk, self._desk.caller.user)
                session = work.messages.session_given(store.space_number, name)
                if session is not None and title and session.title != title:
                    work.put_session_of(store, session.replace(title=title), session, "title")

        self._desk.mutate("session import", {}, unit, Write(reason=f"import {format}"))


class _Kept:
    """One unit of an import: the messages of a batch, and what became of their sessions."""

    def __init__(
        self, work: Work, store: Store, format: TalkFormat, titles: dict[str, str]
    ) -> None:
        self._work, self._store, self._format, self._titles = work, store, format, titles
        self._sessions: dict[str, Session] = {}
        self._last_us: dict[str, int] = {}
        self.new = self.known = 0
        self.made: set[str] = set()
        self.grown: set[str] = set()
        self.differing: list[Heard] = []

    def all(self, batch: Iterable[_Item]) -> _Kept:
        for item in batch:
            self._one(item)
        for talk, last_us in self._last_us.items():
            session = self._sessions[talk]
            ended = session.ended
            if ended is None or to_us(ended) < last_us:
                after = session.replace(ended=from_us(last_us))
                self._work.put_session_of(self._store, after, session, "end")
        return self

    def _one(self, item: _Item) -> None:
        talk, new = item.heard.talk, item.new
        session = self._sessions.get(talk) or self._session(item)
        if item.heard.summary:
            place = self._work.messages.use(session)[0]
            untrusted = self._work.messages.untrusted(session, place)
            new = new.replace(origin=untrusted or "agent")
        try:
            said = transcript.say(self._work, self._store, session, new)
        except Conflict:
            self.differing.append(item.heard)
            return
        if said.outcome == "unchanged":
            self.known += 1
            return
        self.new += 1
        self.grown.add(talk)
        self._last_us[talk] = max(self._last_us.get(talk, 0), to_us(said.message.when))
        if item.heard.summary:
            before = said.message.place - 1
            self._sessions[talk] = transcript.compact(self._work, self._store, session, before)

    def _session(self, item: _Item) -> Session:
        work, talk = self._work, item.heard.talk
        name = session_key(self._format, talk, work.caller.user)
        session = work.messages.session_given(self._store.space_number, name)
        if session is None:
            session = self._new_session(item, name)
            self.made.add(talk)
        self._sessions[talk] = session
        return session

    def _new_session(self, item: _Item, name: str) -> Session:
        work = self._work
        space = work.tx.space_named(self._store.space_name)
        assert space is not None
        said_at = item.heard.said_at
        started = work.at if said_at is None else min(said_at, work.at)
        session = Session(
            id=SessionId(work.new_id()),
            number=work.seq + 1,
            space=space.id,
            space_name=space.name,
            state="ended",
            title=self._titles.get(item.heard.talk, ""),
            agent=str(self._format),
            user=work.caller.user,
            started=started,
            ended=started,
            lease_until=started,
            source=item.heard.source,
            given_id=name,
            revision=work.seq + 1,
        )
        return work.put_session(session, None, space, "import")


def files_of(where: Path) -> list[Path]:
    """The file, or the JSONL files of a folder, in their order."""
    try:
        if where.is_dir():
            return sorted(file for file in where.rglob("*.jsonl") if file.is_file())
        if where.is_file():
            return [where]
    except OSError as exc:
        raise _unreadable(where, exc) from exc
    raise NotFound(
        "file_not_found", f"there is no file {shown(where)}", hint="name a file or a folder"
    )


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as exc:
        raise _unreadable(file, exc) from exc


def _unreadable(file: Path, exc: OSError) -> InvalidInput:
    return InvalidInput(
        "file_unreadable",
        f"{shown(os.fspath(file))} cannot be read: {exc.strerror or type(exc).__name__}",
        hint="check its permissions",
    )


def _known(format: str) -> TalkFormat | None:
    for each in TALK_FORMATS:
        if format == each:
            return each
    return None


def session_key(format: str, talk: str, user: str) -> str:
    """What a session is known by when it is imported again: each user has it for itself."""
    return key_of(f"{format} {talk}" if user == Caller().user else f"{format} {talk} of {user}")


def key_of(name: str) -> str:
    """What another program calls something, in the form of an id; a digest where it has none."""
    try:
        return check_given_id(name)
    except HoldfastError:
        return f"sha256 {sha256(name.encode('utf-8', 'replace')).hexdigest()}"


def _title(title: str) -> str:
    line = in_short("".join(each if each.isprintable() else " " for each in title), TITLE_CHARS_MAX)
    return line.strip()
