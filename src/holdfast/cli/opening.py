"""From the global options to the vault and the space that a command works on.

A command that only looks at a vault that nobody has made yet sees an empty one, and leaves nothing
behind.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path

from holdfast.engine.workspace import find_workspace
from holdfast.model.names import check_label
from holdfast.model.write import Actor, Caller
from holdfast.wiring import IN_RAM, open_vault, vault_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from holdfast.cli.grammar import Call
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.write import WriteOptions

KEY_VARIABLE = "HOLDFAST_KEY"


@contextmanager
def opened_vault(call: Call) -> Generator[Vault]:
    where = vault_place(call)
    if not call.command.mutates and not exists(where):
        where = IN_RAM
    with open_vault(where, key=_key(call, where), caller=caller_of(call)) as vault:
        yield vault


@contextmanager
def opened_space(call: Call) -> Generator[Space]:
    """The space that is named, else that of the nearest workspace.yml, else `default`."""
    with opened_vault(call) as vault:
        space = space_of(call, vault)
        yield space if call["as_of"] is None else space.as_of(call["as_of"])


def space_of(call: Call, vault: Vault) -> Space:
    if call["space"] is not None:
        return vault.space(call["space"])
    file = find_workspace(Path.cwd())
    return vault.space() if file is None else vault.workspace(file)


def vault_place(call: Call) -> str:
    return call["vault"] or str(data_folder())


def exists(where: str) -> bool:
    file = vault_file(where)
    return file is not None and file.exists()


def data_folder() -> Path:
    """Where the platform keeps a user's data."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "holdfast"
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "share") / "holdfast"


def caller_of(call: Call) -> Caller:
    agent, user = call["agent"], call["user"] or "local"
    actor = Actor(kind="human", name=check_label(user, "a user"))
    if agent is not None:
        actor = Actor(kind="agent", name=check_label(agent, "an agent"))
    return Caller(actor=actor, session=call["session"], user=user)


def write_options(call: Call) -> WriteOptions:
    return {
        "reason": call["reason"] or "",
        "expect": call["expect"],
        "key": call["idempotency_key"],
    }


def _key(call: Call, where: str) -> str | Path | None:
    if where == IN_RAM:
        return None
    if call["key_file"] is not None:
        return Path(call["key_file"])
    return os.environ.get(KEY_VARIABLE) or None
