"""A run: one execution of an agent, with what was laid out before it and kept after it; and the
agents that a space declares.

A run is `created` with the versions that it will see, `running` while its agent lives, and then
`succeeded`, `failed` (by its agent's exit code, or because something could not be done),
`timed_out`, `cancelled` (somebody interrupted it) or `killed` (whoever ran it is gone).
"""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.names import shown
from holdfast.model.tree import check_directory_name, check_path
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Literal

    from holdfast.model.directory import DirectoryType, Version
    from holdfast.model.ids import SessionId

    RunState = Literal[
        "created", "running", "succeeded", "failed", "timed_out", "cancelled", "killed"
    ]
    RunStart = Literal["new", "continued", "resumed"]
    Kept = Literal["", "pushed", "merged", "unchanged", "recovered", "nothing", "not_kept"]
    Stream = Literal["stdout", "stderr"]

RUN_STATES = ("created", "running", "succeeded", "failed", "timed_out", "cancelled", "killed")
OPEN_STATES = ("created", "running")
VERBS = ("continue", "list", "logs", "resume", "show")
MEMORY_PATH = "memory"
FOLDERS: Mapping[str, str] = {"memory": "memory", "artifact": "artifacts", "volume": "volumes"}


class MountSpec(Value):
    """A directory that an agent is given: which, in which version, and where. A volume that is
    `optional` may be missing. `path` is below the run's own folder."""

    name: str
    version: str = "latest"
    path: str = ""
    optional: bool = False


class Agent(Value):
    """An agent as its space declares it. `memory` is the name of its own memory, empty where it
    has none. `folder` is where its command starts."""

    name: str
    command: tuple[str, ...]
    instructions: str = ""
    memory: str = ""
    artifacts: tuple[MountSpec, ...] = ()
    volumes: tuple[MountSpec, ...] = ()
    environment: Mapping[str, str] = {}
    timeout_s: int = 0
    folder: str = ""


class Laid(Value):
    """A directory in a run: the version that the agent found, and what became of its changes.

    `after` is the version that came of them, 0 where none did: a recovery version after a run that
    did not succeed. `note` says why nothing was kept, `conflicts` which files did not merge.
    """

    type: DirectoryType
    name: str
    directory: str
    path: str
    before: int
    after: int = 0
    kept: Kept = ""
    note: str = ""
    conflicts: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Run(Value):
    """`seq` is the newest change that the agent's context was made from. `places` are the places
    of the session's messages before and after. `secrets` are the names of its secrets; their
    values are kept nowhere. `exit` is the agent's exit code, or minus the number of the signal
    that ended it. `folder` is where its files lie, empty once they are no longer needed."""

    id: str
    number: int
    space_number: int
    space_name: str
    agent: str
    prompt: str
    state: RunState
    session: SessionId
    started_as: RunStart = "new"
    previous: str | None = None
    mounts: tuple[Laid, ...] = ()
    secrets: tuple[str, ...] = ()
    seq: int = 0
    places: tuple[int, int] = (0, 0)
    worker: str = ""
    folder: str = ""
    exit: int | None = None
    reason: str = ""
    output_bytes: int = 0
    lost_bytes: int = 0
    created: datetime
    started: datetime | None = None
    ended: datetime | None = None
    revision: int


class Output(Value):
    """A piece of what an agent said, with secrets masked."""

    place: int
    stream: Stream
    at: datetime
    data: bytes


class RunLog(Value):
    """What an agent said, in the order in which it was heard. Of a very long log the beginning and
    the end are kept; `left_out` bytes between them are not."""

    run: str
    state: RunState
    pieces: tuple[Output, ...]
    left_out: int = 0


def check_agent_name(name: str) -> str:
    """The name of an agent: one that its own memory may bear, and no verb of `holdfast run`."""
    if name in VERBS:
        raise InvalidInput(
            "name_reserved",
            f"{shown(name)} is a verb of `holdfast run` and cannot name an agent",
            hint=f"choose another name, such as {name}-agent",
        )
    try:
        return check_directory_name(name)
    except InvalidInput as exc:
        raise InvalidInput(
            "agent_name_invalid", f"{shown(name)} is not a name for an agent", hint=exc.hint
        ) from None


def mount_from(text: str) -> MountSpec:
    """`NAME`, `NAME:VERSION`, `NAME:/path` or `NAME:VERSION:/path`."""
    name, colon, rest = text.partition(":")
    version, path = rest, ""
    if rest.startswith("/"):
        version, path = "", rest
    elif ":/" in rest:
        version, _, path = rest.partition(":/")
        path = f"/{path}"
    if colon and not rest:
        raise InvalidInput(
            "run_mount_invalid",
            f"{shown(text)} ends where a version or a path belongs",
            hint="write NAME, NAME:VERSION, NAME:/path or NAME:VERSION:/path",
        )
    return check_mount(MountSpec(name=name, version=version or "latest", path=path))


def check_mount(mount: MountSpec) -> MountSpec:
    check_directory_name(mount.name)
    path = mount.path.strip("/")
    return mount.replace(path=check_path(path) if path else "")


def check_apart(paths: Sequence[str]) -> None:
    """No two directories of a run may lie at one place, or one inside the other."""
    for number, one in enumerate(paths):
        for other in paths[number + 1 :]:
            if f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/"):
                raise InvalidInput(
                    "run_mounts_overlap",
                    f"/{one} and /{other} cannot both be given to the agent",
                    hint="give each a path of its own",
                )


def default_path(kind: DirectoryType, name: str) -> str:
    return MEMORY_PATH if kind == "memory" else f"{FOLDERS[kind]}/{name}"


def laid_at(kind: DirectoryType, spec: MountSpec, directory: str, version: Version) -> Laid:
    return Laid(
        type=kind,
        name=spec.name,
        directory=directory,
        path=spec.path or default_path(kind, spec.name),
        before=version.v,
    )
