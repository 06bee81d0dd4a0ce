"""`Space`: where an agent works. What it offers reads like the words of the design."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path

from holdfast.core.budget import check_budget
from holdfast.engine import context as contexts
from holdfast.engine import mounts, sessions, spaces
from holdfast.engine.history import in_log, moment_of
from holdfast.engine.view import NowView, PastView
from holdfast.engine.work import Core, Work, mutate
from holdfast.errors import Refused
from holdfast.model.names import check_label
from holdfast.model.session import SOURCE
from holdfast.model.write import PLAIN, Actor, Write, check_unexpected, check_write
from holdfast.strategies import (
    STRATEGIES,
    artifacts,
    keyvalue,
    narrative,
    profile,
    records,
    skills,
    transcript,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import TypeVar, Unpack

    from holdfast.core.preferences import Settings
    from holdfast.engine.agents import Agents
    from holdfast.engine.directories.face import Directories
    from holdfast.engine.history import LogQuery
    from holdfast.engine.proposals import Inbox
    from holdfast.engine.runs.execute import Callee
    from holdfast.engine.runs.face import RunOptions, Runs
    from holdfast.engine.skills import SkillLibrary
    from holdfast.model.change import Change
    from holdfast.model.context import Context
    from holdfast.model.directory import DirectoryType
    from holdfast.model.entry import Advice, Entry, Json, Origin
    from holdfast.model.importing import Imported as ImportedSessions
    from holdfast.model.message import SaidNow
    from holdfast.model.profile import Remembered
    from holdfast.model.recall import Recall
    from holdfast.model.review import Role
    from holdfast.model.run import Run
    from holdfast.model.search import Diagnostics, Found, SearchOptions
    from holdfast.model.session import Session
    from holdfast.model.space import SpaceInfo, Store
    from holdfast.model.write import Caller, WriteOptions
    from holdfast.ports import NotNow, Snapshot, ToldTime, Tool, Transaction, View
    from holdfast.ports.values import ValueUnit
    from holdfast.strategies.profile.face import Profile
    from holdfast.strategies.records.face import Records

    T = TypeVar("T")
    Timed = TypeVar("Timed", bound=ToldTime)


class StoreDesk:
    """One store of a space, as a strategy's face works on it: `ports.Desk`.

    `store` is the store as it was when the desk was opened. Units get it as it is declared at their
    moment: the row that the desk knows, where its revision is the same still, else looked up.
    """

    def __init__(
        self, core: Core, caller: Caller, store: Store, as_of: int | datetime | None = None
    ) -> None:
        self.core = core
        self.caller = caller
        self.store = store
        self.as_of = as_of
        self._known = store

    def folder(self) -> str | None:
        def unit(snapshot: Snapshot) -> str | None:
            space = spaces.space_named(snapshot, self.store.space_name)
            return None if space is None else space.path

        return self.core.storage.read(unit)

    def read(self, unit: Callable[[View, Store], T]) -> T:
        return self.core.storage.read(
            lambda snapshot: unit(
                view_of(self.core, snapshot, self.caller, self.as_of), self._now(snapshot)
            )
        )

    def timed(self, unit: Callable[[View, Store], Timed]) -> Timed:
        from holdfast.engine.search import told_time

        return told_time(lambda: self.read(unit))

    def used(self, *entries: Entry) -> None:
        if self.as_of is not None:
            return
        if self.core.uses.note((entry.number for entry in entries), self.core.clock()):
            self.unsaved_uses()

    def mutate(
        self,
        op: str,
        arguments: Mapping[str, Json],
        unit: Callable[[Work, Store], T],
        write: Write,
        contents: Sequence[bytes] = (),
    ) -> T:
        self._to_write()
        meant = {"store": self.store.label, **arguments}

        def run(work: Work) -> T:
            work.of_space(self.store.seen_in)
            store = mounts.check_writable(self._now(work.tx))
            return unit(work, spaces.written_store(work, store))

        if not contents:
            return mutate(self.core, self.caller, write, op, meant, run)
        from holdfast.engine.contents import with_contents

        return with_contents(
            self.core,
            contents,
            lambda put: mutate(
                self.core, self.caller, write, op, meant, lambda work: (put(work), run(work))[1]
            ),
        )

    def unsaved_uses(self) -> None:
        self.core.uses.flush(self.core.storage)

    def value_data(self, namespace: str, key: str) -> bytes | None:
        store, at_us = self._known, self.core.clock()

        def unit(snapshot: Snapshot) -> bytes | None:
            data = snapshot.value_data(store, namespace, key, at_us)
            if data is None and (now := self._now(snapshot)) is not store:
                data = snapshot.value_data(now, namespace, key, at_us)
            return data

        check_present(self.as_of, self.store.label)
        return self.core.storage.read(unit)

    def write_at_once(self, unit: ValueUnit[T]) -> T | NotNow:
        self._to_write()
        return self.core.storage.write_at_once(self._values_alone(unit))

    def submit(
        self,
        unit: ValueUnit[T],
        done: Callable[[T | None, BaseException | None], None],
    ) -> None:
        self._to_write()
        self.core.storage.submit(self._values_alone(unit), done)

    def mutate_values(
        self,
        op: str,
        arguments: Callable[[], Mapping[str, Json]],
        unit: ValueUnit[T],
        write: Write = PLAIN,
    ) -> T:
        if write.expect is not None:
            check_unexpected(write.expect, op)
        if write.key is None and self.caller.session is None:
            check_write(write)
            self._to_write()
            return self.core.storage.write(self._values_alone(unit))

        def run(work: Work, store: Store) -> T:
            return _done(unit(work.values, store, work.at_us))

        return self.mutate(op, arguments(), run, write)

    def _values_alone(self, unit: ValueUnit[T]) -> Callable[[Transaction], T]:
        """The unit on the store's row as it is known, which it looks at itself; where that is not
        the row any more, on the store as it is declared now."""
        known, clock = self._known, self.core.clock

        def run(tx: Transaction) -> T:
            if known.number and known.mount is None:
                done = unit(tx, known, clock())
                if done is not None:
                    return done
            store = mounts.check_writable(self._now(tx))
            if not store.number:
                store = spaces.written_store(Work(self.core, tx, self.caller, Write()), store)
            return _done(unit(tx, store, clock()))

        return run

    def _to_write(self) -> None:
        """Know the store's row before a write. Only what is committed is remembered: a unit may
        see a row of a group that is then rolled back, and another row may take its number.
        """
        check_present(self.as_of, self.store.label)
        if not self._known.number:
            self._known = self.core.storage.read(self._now)

    def _now(self, snapshot: Snapshot) -> Store:
        """The store as it is declared at the moment of the unit, which may differ from before."""
        store = self._known
        if self.as_of is not None:
            return store
        own = store.mount is None and store.number
        if own and snapshot.store_revision(store) == store.revision:
            return store
        return mounts.store_named(snapshot, store.seen_in, store.called, store.strategy)


def _done(what: T | None) -> T:
    """What a unit did with the store as it is at this moment."""
    assert what is not None
    return what


def check_present(as_of: int | datetime | None, what: str) -> None:
    if as_of is not None:
        raise Refused(
            "past_is_fixed",
            f"{what} is seen as of an earlier moment, which cannot be changed",
            hint="write to the space as it is now",
        )


def seq_of(snapshot: Snapshot, as_of: int | datetime | None) -> int | None:
    return None if as_of is None else moment_of(snapshot, as_of)[0]


def view_of(core: Core, snapshot: Snapshot, caller: Caller, as_of: int | datetime | None) -> View:
    if as_of is None:
        return NowView(snapshot, core.clock(), caller, core.preferences)
    seq, at_us = moment_of(snapshot, as_of)
    return PastView(snapshot, seq, at_us, caller, core.preferences)


class Space:
    """A workspace in a vault, seen by one caller, now or as of an earlier moment."""

    def __init__(
        self,
        core: Core,
        name: str,
        caller: Caller,
        as_of: int | datetime | None = None,
        advice: tuple[Advice, ...] = (),
    ) -> None:
        """`advice`: what declaring it just now means for others."""
        self._core = core
        self.name = name
        self.advice = advice
        self.caller = caller
        self._as_of = as_of

    def seen_by(self, caller: Caller) -> Space:
        """The same space for another caller."""
        return Space(self._core, self.name, caller, self._as_of)

    def as_of(self, moment: int | datetime) -> Space:
        """The same space as it was after a change (its seq) or at a time. It can only be read."""
        return Space(self._core, self.name, self.caller, moment)

    def info(self) -> SpaceInfo | None:
        """The space as it is kept; None for `default` before the first write."""
        return self._core.storage.read(lambda snapshot: spaces.space_named(snapshot, self.name))

    def settings(self) -> Settings:
        """The preferences that hold here, each with where it comes from."""
        return self._core.preferences.settings(self.name, dict(self.caller.preferences))

    def preferring(self, preferences: Mapping[str, Json]) -> Space:
        """The same space with preferences for the calls that are made on it."""
        merged = {**dict(self.caller.preferences), **preferences}
        self._core.preferences.settings(self.name, merged)
        return self.seen_by(self.caller.replace(preferences=tuple(sorted(merged.items()))))

    def prefer(self, preferences: Mapping[str, Json | None], *, preset: str | None = None) -> None:
        """Set preferences for this space; None takes one back. For all spaces: `vault.prefer`."""
        check_present(self._as_of, f"what is preferred in {self.name}")
        self._core.preferences.change(preferences, preset=preset, space=self.name)

    def stores(self) -> Sequence[Store]:
        """The declared stores in their order."""
        return self._looked_at(spaces.declared_stores)

    def mounts(self) -> Sequence[mounts.Mounted]:
        """The stores of other spaces that this one mounts, and the mounts that lead nowhere."""
        return self._looked_at(mounts.mounted)

    def seen(self) -> Sequence[Store]:
        """Its own stores, then those that it mounts."""
        return self._looked_at(mounts.seen_stores)

    def _looked_at(self, look: Callable[[Snapshot, str, int | None], T]) -> T:
        return self._core.storage.read(
            lambda snapshot: look(snapshot, self.name, seq_of(snapshot, self._as_of))
        )

    def notes(self, store: str | None = None) -> narrative.Notes:
        """A narrative store; without a name, the one called `narrative`, or the only one."""
        return narrative.Notes(self.desk(narrative.NAME, store))

    def records(self, store: str | None = None) -> Records:
        """A store of records; without a name, the one called `records`, or the only one."""
        from holdfast.strategies.records.face import Records

        return Records(self.desk(records.NAME, store))

    def kv(
        self, namespace: str = keyvalue.NAMESPACE, *, store: str | None = None
    ) -> keyvalue.Values:
        """The values of one namespace; of the store `keyvalue`, or the only one, unless named."""
        return keyvalue.Values(self.desk(keyvalue.NAME, store), namespace)

    def profile(self, store: str | None = None) -> Profile:
        """USER.md and MEMORY.md of this space; of the store `profile`, or the only one."""
        from holdfast.strategies.profile.face import Profile

        return Profile(self.desk(profile.NAME, store))

    def skills(self, store: str | None = None) -> SkillLibrary:
        """A skills store; without a name, the one called `skills`, or the only one."""
        from pathlib import Path

        from holdfast.engine.skills import SkillLibrary

        info = self.info()
        folder = None if info is None or info.path is None else Path(info.path)
        return SkillLibrary(self.desk(skills.NAME, store), folder)

    def artifacts(self, store: str | None = None) -> artifacts.Artifacts:
        """What is too large for a note; of the store `artifacts`, or the only one, unless named."""
        return artifacts.Artifacts(self.desk(artifacts.NAME, store))

    def remember(
        self, text: str, *, origin: Origin = "user", **write: Unpack[WriteOptions]
    ) -> Remembered:
        """Keep a fact, or forget one: "Remember that I prefer tea", "Forget that I prefer tea".

        It comes into USER.md when it is about the person, else into MEMORY.md, as a fact and not
        as the sentence. Where it is not clear what is to be forgotten, nothing is.
        """
        return self.profile().remember(text, origin=origin, **write)

    def inbox(self) -> Inbox:
        """What waits for somebody to decide: proposals, and writes that were held."""
        from holdfast.engine.proposals import Inbox

        check_present(self._as_of, f"the inbox of {self.name}")
        return Inbox(self._core, self.caller, self.name)

    def search(
        self, text: str = "", *, store: str | None = None, **asked: Unpack[SearchOptions]
    ) -> Found:
        """The best entries for what is asked, of every store of the space or of one of them."""
        from holdfast.engine.search import stores_named, told_time
        from holdfast.model.search import search_query

        query = search_query(text, **asked)

        def unit(snapshot: Snapshot) -> Found:
            view = view_of(self._core, snapshot, self.caller, self._as_of)
            seq = seq_of(snapshot, self._as_of)
            if store is None:
                return view.search(mounts.searched_stores(snapshot, self.name, seq), query)
            named = stores_named(mounts.seen_stores(snapshot, self.name, seq), store, self.name)
            return view.search(mounts.distinct(named), query)

        return told_time(lambda: self._core.storage.read(unit))

    def recall(
        self, query: str, budget: int | None = None, *, diagnostics: Diagnostics = "off"
    ) -> Recall:
        """What the memory holds on a question, from every store, within a budget of tokens."""
        from holdfast.engine.recall import recall
        from holdfast.engine.search import told_time

        def unit(snapshot: Snapshot) -> Recall:
            view = view_of(self._core, snapshot, self.caller, self._as_of)
            seen = mounts.seen_stores(snapshot, self.name, seq_of(snapshot, self._as_of))
            return recall(view, mounts.distinct(seen), query, budget, diagnostics)

        return told_time(lambda: self._core.storage.read(unit))

    def transcript(self, store: str | None = None) -> transcript.Transcript:
        """What was said in this space's sessions."""
        return transcript.Transcript(self.desk(transcript.NAME, store))

    def say(
        self,
        role: Role,
        text: str,
        *,
        said_at: datetime | None = None,
        **write: Unpack[WriteOptions],
    ) -> SaidNow:
        """Write down one message of this session; `transcript().say` takes more."""
        return self.transcript().say(role, text, said_at=said_at, **write)

    def tools(self) -> Sequence[Tool]:
        """What this space offers to an agent loop: plain typed functions."""
        from holdfast.engine import tools

        offers = [
            tools.Offer(strategy=name, tool=tool)
            for name in sorted({store.strategy for store in self.seen()})
            for tool in STRATEGIES[name].tools(partial(self.desk, name))
        ]
        return tools.joined(tools.of_space(self), offers, self._strategy_of, self._holder_of)

    def directories(self, type: DirectoryType = "memory") -> Directories:
        """The versioned directories of a type, as they are now."""
        from holdfast.engine.directories.desk import Desk
        from holdfast.engine.directories.face import Directories

        desk = Desk(core=self._core, space=self.name, type=type, caller=self.caller)
        return Directories(desk)

    def agents(self) -> Agents:
        """The programs that may be run here."""
        from holdfast.engine.agents import Agents

        check_present(self._as_of, f"the agents of {self.name}")
        return Agents(self._core, self.name, self.caller)

    def runs(self) -> Runs:
        """What was run here, and what became of it."""
        from holdfast.engine.runs.face import Runs

        check_present(self._as_of, f"the runs of {self.name}")
        return Runs(self._core, self)

    def run(self, agent: str | Callee, prompt: str, **options: Unpack[RunOptions]) -> Run:
        """Run an agent to its end, or a function, with its directories laid out."""
        return self.runs().start(agent, prompt, **options)

    def context(self, budget: int | None = None) -> Context:
        """What a session starts with. A session is given the same one until it ends."""
        settings = self.settings()
        if budget is None:
            budget = settings.whole("context.budget") or None
        if self._as_of is None:
            return contexts.current(self._core, self.name, self.caller, budget, settings)
        check_budget(budget)
        counter = contexts.counter_of(self._core, settings)

        def then(snapshot: Snapshot) -> Context:
            view = view_of(self._core, snapshot, self.caller, self._as_of)
            seq = seq_of(snapshot, self._as_of)
            return contexts.assemble(view, snapshot, self.name, seq, budget, counter)

        return self._core.storage.read(then)

    def _strategy_of(self, store: str) -> str:
        """The strategy of a store by its name, whatever it holds."""
        stores = self.seen()
        for each in stores:
            if each.called == store:
                return each.strategy
        raise mounts.not_declared(self.name, "store", store, stores)

    def _holder_of(self, id: str) -> str | None:
        """The name of the first store that has an entry of this id, in whatever state it is."""

        def unit(snapshot: Snapshot) -> str | None:
            view = view_of(self._core, snapshot, self.caller, self._as_of)
            for store in mounts.seen_stores(snapshot, self.name, seq_of(snapshot, self._as_of)):
                if STRATEGIES[store.strategy].HOLDS == "entries" and view.has(store, id):
                    return store.called
            return None

        return self._core.storage.read(unit)

    @contextmanager
    def session(
        self, title: str = "", *, agent: str = "local", source: str = SOURCE
    ) -> Generator[Space]:
        """Work as one session: `with space.session("Review") as here: here.notes().save(…)`."""
        begun = self.start_session(title, agent=agent, source=source)
        here = self.seen_by(self.caller.replace(session=begun.id))
        try:
            yield here
        finally:
            self.end_session(begun.id)

    def start_session(
        self,
        title: str = "",
        *,
        agent: str = "local",
        source: str = SOURCE,
        **write: Unpack[WriteOptions],
    ) -> Session:
        """Begin a session. `source` is the way in: `cli`, `mcp`, `cron`."""
        check_present(self._as_of, f"the space {self.name}")
        if title != "":
            check_label(title, "a session")
        check_label(agent, "an agent")
        check_label(source, "a source")
        user = check_label(self.caller.user, "a user")

        def unit(work: Work) -> Session:
            space = spaces.written_space(work, self.name)
            return sessions.start(work, space, title=title, agent=agent, user=user, source=source)

        meant: dict[str, Json] = {
            "space": self.name,
            "title": title,
            "agent": agent,
            "user": user,
            "source": source,
        }
        return mutate(self._core, self._outside(), Write(**write), "session start", meant, unit)

    def end_session(self, session: str, **write: Unpack[WriteOptions]) -> Session:
        return mutate(
            self._core,
            self._outside(),
            Write(**write),
            "session end",
            {"session": session},
            lambda work: sessions.end(work, session, self.name),
        )

    def sessions(self, *, state: str | None = None, limit: int = 20) -> Sequence[Session]:
        """The sessions of the caller's user here, the newest first."""
        at_us, user = self._core.clock(), self.caller.user
        return self._core.storage.read(
            lambda snap: sessions.listed(snap, self.name, user, state, limit, at_us)
        )

    def import_sessions(
        self, where: str | os.PathLike[str], *, format: str = "auto", dry_run: bool = False
    ) -> ImportedSessions:
        """Keep the conversations of a file, or of a folder's JSONL files, in the archive.

        `format` is `jsonl`, `claude-code` or `codex`, else each file tells. Importing again changes
        nothing; `dry_run` says what would be done.
        """
        from holdfast.model.importing import Imported

        told = [*self.importing(where, format=format, dry_run=dry_run)]
        return told[-1] if told else Imported(dry_run=dry_run)

    def importing(
        self, where: str | os.PathLike[str], *, format: str = "auto", dry_run: bool = False
    ) -> Iterator[ImportedSessions]:
        """The same, told after each file."""
        from holdfast.engine.importing import Importer

        check_present(self._as_of, f"the space {self.name}")
        importer = self._outside().replace(
            actor=Actor(kind="importer", name=self.caller.actor.name)
        )
        desk = self.seen_by(importer).desk(transcript.NAME)
        return Importer(desk, format, dry_run=dry_run).run(Path(where))

    def log(self, query: LogQuery) -> Sequence[Change]:
        """The changes of this space, the newest first; none of what is about another user."""
        return in_log(self._core, query.replace(space=self.name), self.caller)

    def desk(self, strategy: str, store: str | None = None) -> StoreDesk:
        """A store as a strategy's face works on it; without a name as `notes` and `kv` find it."""
        found = self._core.storage.read(
            lambda snapshot: mounts.store_named(
                snapshot, self.name, store, strategy, seq_of(snapshot, self._as_of)
            )
        )
        return StoreDesk(core=self._core, caller=self.caller, store=found, as_of=self._as_of)

    def _outside(self) -> Caller:
        """The caller as itself: a session neither starts nor ends another."""
        return self.caller.replace(session=None)
