"""What the verbs of versioned directories share: finding a directory, and making versions of it.

A head moves only in a unit of work that sees the head it was planned for, and only while every
object that the plan rests on is there. A plan that came too late is made again.
"""

from __future__ import annotations

from holdfast.engine import spaces
from holdfast.engine.work import Core, mutate
from holdfast.errors import Conflict, HoldfastError, NotFound
from holdfast.model.directory import Directory, Version
from holdfast.model.names import shown
from holdfast.model.tree import (
    AtTime,
    Latest,
    Node,
    VersionPoint,
    check_directory_name,
    parse_version,
    resolve_version,
)
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from holdfast.engine.directories.folder import Working
    from holdfast.engine.work import Work
    from holdfast.model.directory import Pack, VersionKind
    from holdfast.model.write import Caller, Write
    from holdfast.ports import Snapshot

    T = TypeVar("T")

TRIES = 100


class Overtaken(Exception):
    """Somebody else moved the head, or objects were collected: the plan is void."""


class Draft(Value):
    """A version to be made. A negative parent -1 is the version that this plan made before it."""

    root: Node
    parents: tuple[int, ...]
    kind: VersionKind = "ordinary"


class Seen(Value):
    """A directory at the moment of a plan; `versions` are all of them, the newest first."""

    directory: Directory | None
    versions: tuple[Version, ...]
    collections: int

    @property
    def head(self) -> Version | None:
        return None if self.directory is None else self.find(self.directory.head)

    def find(self, v: int) -> Version | None:
        return next((version for version in self.versions if version.v == v), None)


class Desk(Value):
    core: Core
    space: str
    type: str
    caller: Caller

    def see(self, name: str) -> Seen:
        def unit(snapshot: Snapshot) -> Seen:
            found = snapshot.directory_named(self.space, self.type, name)
            versions = () if found is None else tuple(snapshot.versions(found))
            return Seen(directory=found, versions=versions, collections=snapshot.collections())

        return self.core.storage.read(unit)

    def find(self, name: str) -> tuple[Directory, Version, Seen]:
        """The directory, its head, and all that is known of it."""
        check_directory_name(name)
        seen = self.see(name)
        if seen.directory is None or seen.head is None:
            raise NotFound(
                "directory_not_found",
                f"there is no {self.type} {shown(name)} in {self.space}",
                hint=f"`holdfast {self.type} push` in its folder makes it, "
                f"`holdfast {self.type} list` shows what is there",
            )
        return seen.directory, seen.head, seen

    def find_of(self, working: Working) -> tuple[Directory, Version, Seen]:
        """The same for that of a working folder."""
        try:
            return self.find(working.config.name)
        except NotFound:
            self.check_history(working)
            raise

    def check_history(self, working: Working) -> None:
        """A folder with a history must not begin anew in a vault that never had it: the right one
        may only be out of reach."""
        state = working.state()
        if state is None:
            return
        if not self.core.storage.read(lambda tx: tx.knows_directory(state.directory)):
            raise Conflict(
                "vault_other",
                f"{working.config.name} was last at v{state.v} in another vault: "
                f"{self.core.storage.where} never had it",
                hint="see that HOLDFAST_VAULT names the right vault and that its disk is mounted; "
                "`push --force` begins anew in this one",
            )

    def make(
        self,
        name: str,
        seen: Seen,
        drafts: Sequence[Draft],
        rest: Sequence[Pack],
        write: Write,
        *,
        op: str,
        message: str = "",
        run: str | None = None,
        moves: bool = True,
    ) -> tuple[Version, ...]:
        """Make versions in one unit of work; the last one becomes the head if `moves`."""

        def unit(work: Work) -> tuple[Version, ...]:
            directory = work.tx.directory_named(self.space, self.type, name)
            if _mark(directory) != _mark(seen.directory):
                raise Overtaken
            if work.tx.collections() != seen.collections:
                raise Overtaken
            work.expect(0 if directory is None else directory.revision, name)
            work.tx.put_packs(rest, work.at_us)
            directory = directory or self._new(work, name)
            made: list[Version] = []
            newest = work.tx.newest_version(directory)
            for v, draft in enumerate(drafts, newest + 1):
                version = _version(work, directory, v, draft, message, run)
                made.append(work.put_version(version, directory))
            if moves:
                after = directory.replace(head=made[-1].v, hidden=False)
                work.put_directory(after, directory, op)
            return tuple(made)

        trees: list[str] = [draft.root.digest for draft in drafts]
        meant = {"space": self.space, "type": self.type, "name": name, "message": message}
        meant |= {"trees": " ".join(trees)}
        return mutate(self.core, self.caller, write, f"directory {op}", meant, unit)

    def repeat(self, attempt: Callable[[], T]) -> T:
        """Plan and try until the plan was not overtaken."""
        return repeated(attempt, f"the {self.type}")

    def _new(self, work: Work, name: str) -> Directory:
        space = spaces.written_space(work, self.space)
        directory = Directory(
            id=work.new_id(),
            number=work.seq + 1,
            space_number=space.number,
            space_name=space.name,
            name=name,
            type=self.type,  # pyright: ignore[reportArgumentType]
            state="kept",
            hidden=False,
            head=0,
            created=work.at,
            revision=work.seq + 1,
        )
        return work.put_directory(directory, None, "create")


def repeated(attempt: Callable[[], T], what: str) -> T:
    """What an attempt gives that was not overtaken."""
    for _ in range(TRIES):
        try:
            return attempt()
        except Overtaken:
            continue
    raise Conflict(
        "head_moving",
        f"others changed {what} {TRIES} times while this was tried",
        hint="do it again when it is quieter",
    )


def _mark(directory: Directory | None) -> tuple[str, int] | None:
    return None if directory is None else (directory.id, directory.head)


def _version(
    work: Work, directory: Directory, v: int, draft: Draft, message: str, run: str | None
) -> Version:
    return Version(
        id=work.new_id(),
        number=work.seq + 1,
        directory=directory.number,
        v=v,
        tree=draft.root.digest,
        files=draft.root.files,
        size=draft.root.size,
        parents=tuple(v - 1 if parent < 0 else parent for parent in draft.parents),
        kind=draft.kind,
        author=str(work.caller.actor),
        run=run,
        session=work.caller.session,
        message=message,
        at=work.at,
    )


def resolved(text: str, seen: Seen) -> Version:
    """The version that a text names. `latest` and times pass over recovery versions."""
    lasting = isinstance(parse_version(text), Latest | AtTime)
    versions = [v for v in seen.versions if not lasting or v.kind == "ordinary"]
    points = [VersionPoint(number=v.v, tree=v.tree, at=v.at) for v in versions]
    found = seen.find(resolve_version(text, points).number)
    if found is None:
        raise HoldfastError("internal", f"version {shown(text)} went away")
    return found
