"""From the global options to the vault and the space that a command works on.

A command that only looks at a vault that nobody has made yet sees an empty one, and leaves nothing
behind. What is not there and what cannot be read are two things: only the first one looks empty.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path

from holdfast.cli.detached import Detached
from holdfast.cli.grammar import said
from holdfast.cli.output import Output
from holdfast.engine.workspace import find_workspace
from holdfast.errors import InvalidInput, Refused, StorageFailed, UsageError
from holdfast.model.names import check_label
from holdfast.model.write import Actor, Caller
from holdfast.wiring import IN_RAM, open_vault, vault_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from holdfast.cli.grammar import Call
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.write import WriteOptions

KEY_VARIABLE = "HOLDFAST_KEY"


@contextmanager
def opened_vault(call: Call, *, makes: bool = False, needed: bool = False) -> Generator[Vault]:
    """The vault. Where there is none, the command makes it, needs it, or sees an empty one."""
    _refuse_past(call)
    with _opened(call, makes=makes, needed=needed) as vault:
        yield vault


@contextmanager
def opened_space(call: Call, *, makes: bool = False) -> Generator[Space]:
    """The space that is named, else that of the nearest workspace.yml, else `default`."""
    with opened_vault(call, makes=makes) as vault:
        yield space_of(call, vault)


@contextmanager
def seen_space(call: Call) -> Generator[Space]:
    """The same to be read, as it is or as it was at the moment of `--as-of`."""
    with _opened(call) as vault:
        space = space_of(call, vault)
        yield space if call["as_of"] is None else space.as_of(call["as_of"])


@contextmanager
def _opened(call: Call, *, makes: bool = False, needed: bool = False) -> Generator[Vault]:
    where = vault_place(call)
    if makes and where == IN_RAM:
        raise Refused(
            "vault_in_ram",
            f"{IN_RAM} is gone when this command ends, and so would be what it writes",
            hint="name a folder with --vault",
        )
    if not (makes or needed or exists(where)):
        where = IN_RAM
    file = vault_file(where)
    with open_vault(
        where,
        key=_key(call, where),
        create=makes or where == IN_RAM,
        caller=caller_of(call),
        background=None if file is None else Detached(file, call["key_file"]),
    ) as vault:
        yield vault


def _refuse_past(call: Call) -> None:
    if call["as_of"] is not None:
        name = said(call.noun, call.command)
        raise UsageError(
            "option_misplaced",
            f"`--as-of` looks at the past, and `{name}` cannot",
            hint="leave `--as-of` out",
        )


def space_of(call: Call, vault: Vault) -> Space:
    if call["space"] is not None:
        return vault.space(call["space"])
    file = workspace_file()
    if file is None:
        return vault.space()
    space = vault.workspace(file)
    advise(Output(os.environ, json=call["json"], quiet=call["quiet"]), space)
    return space


def advise(out: Output, space: Space) -> None:
    """Say what declaring the space just now means for others."""
    for advice in space.advice:
        out.warn(advice.message, code=advice.code)


def workspace_file() -> Path | None:
    """The nearest workspace.yml, from the folder that this runs in upwards."""
    try:
        return find_workspace(Path.cwd())
    except OSError as exc:
        raise folder_unreadable(exc) from exc


def folder_unreadable(exc: OSError) -> StorageFailed:
    return StorageFailed(
        "folder_unreadable",
        f"the folder that this runs in cannot be read: {exc.strerror}",
        hint="go to another folder",
    )


def vault_place(call: Call) -> str:
    return call["vault"] or str(data_folder())


def vault_shown(call: Call) -> str:
    """Where the vault is, or will be once something is written."""
    where = vault_place(call)
    file = vault_file(where)
    return where if file is None else str(file.absolute())


def exists(where: str) -> bool:
    """Whether there is something to open. What cannot be looked at is for opening to report."""
    file = vault_file(where)
    if file is None:
        return False
    try:
        file.stat()
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def data_folder() -> Path:
    """Where the platform keeps a user's data."""
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "holdfast"
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else _home() / ".local" / "share") / "holdfast"


def _home() -> Path:
    given = os.environ.get("HOME")
    try:
        home = Path.home() if given is None else Path(given)
    except RuntimeError:  # nobody of that number is known here
        home = Path()
    if not home.is_absolute():
        raise InvalidInput(
            "home_unknown",
            "this user has no home folder to keep a vault in",
            hint="name the vault with --vault or HOLDFAST_VAULT",
        )
    return home


def caller_of(call: Call) -> Caller:
    agent, user = call["agent"], call["user"] or "local"
    actor = Actor(kind="human", name=check_label(user, "a user"))
    if agent is not None:
        actor = Actor(kind="agent", name=check_label(agent, "an agent"))
    return Caller(actor=actor, session=call["session"], user=user)


def write_options(call: Call) -> WriteOptions:
    return {
        "reason": call["reason"] or "",
        "expect": call.values.get("expect"),
        "key": call["idempotency_key"],
    }


def _key(call: Call, where: str) -> str | Path | None:
    if where == IN_RAM:
        return None
    if call["key_file"] is not None:
        return Path(call["key_file"])
    return os.environ.get(KEY_VARIABLE) or None


def stores_of(strategy: str) -> Callable[[Call, str], list[str]]:
    """The names that `--store` may take, for completion."""

    def stores(call: Call, _prefix: str) -> list[str]:
        with seen_space(call) as space:
            return [store.called for store in space.seen() if store.strategy == strategy]

    return stores
