"""The one module that names implementations: from where a vault lives to the vault."""

from __future__ import annotations

import os
import time
from pathlib import Path

from holdfast.engine.preferences import FILE_NAME as PREFERENCES_FILE
from holdfast.engine.preferences import VARIABLE, Preferences
from holdfast.engine.uses import Uses
from holdfast.engine.vault import Vault
from holdfast.engine.work import Core
from holdfast.engine.workers import Background
from holdfast.errors import InvalidInput
from holdfast.model.names import shown
from holdfast.model.write import Caller
from holdfast.storage.sqlite.keys import key_from_file, key_from_text
from holdfast.storage.sqlite.storage import SqliteStorage
from holdfast.wiring.counters import counters_of
from holdfast.wiring.reviewers import reviewers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ports import Clock, Random
    from holdfast.ports.review import Reviewers
    from holdfast.storage.sqlite.keys import Key

VAULT_FILE = "vault.db"
IN_RAM = "memory:"
LOCAL = Caller()


def clock_us() -> int:
    return time.time_ns() // 1000


def open_vault(
    where: str | os.PathLike[str],
    *,
    key: str | Path | None = None,
    create: bool = True,
    caller: Caller = LOCAL,
    clock: Clock = clock_us,
    random: Random = os.urandom,
    reviewers: Reviewers = reviewers_of,
    background: Background | None = None,
) -> Vault:
    """Open the vault in a folder, in a file `sqlite:///…`, or in RAM (`memory:`).

    `key` is a passphrase, `raw:` and 64 hex digits, `keyring:SERVICE/NAME`, or the path of a file
    that holds one of these; with one, the whole file is encrypted. Without `create`, a vault that
    does not exist is an error. `background` does what waits, a thread of this process unless
    something else is given.
    """
    storage = SqliteStorage(
        _in_no_file(where, vault_file(where)),
        key=_key(key),
        create=create,
        clock=clock,
    )
    core = Core(
        storage=storage,
        clock=clock,
        random=random,
        preferences=Preferences(preferences_file(where), os.environ.get(VARIABLE)),
        uses=Uses(),
        background=background or Background(),
        reviewers=reviewers,
        counters=counters_of,
        address=address_of(where),
        runs=beside(where, "runs"),
    )
    return Vault(core, caller)


def _in_no_file(where: str | os.PathLike[str], file: Path | None) -> Path | None:
    """The file, unless the folder that it would be in is a file itself, which may be a vault."""
    if file is None or file.name != VAULT_FILE:
        return file
    if os.path.isfile(file.parent):  # noqa: PTH113 - False where a name cannot be looked up
        raise InvalidInput(
            "where_invalid",
            f"{shown(os.fspath(where))} is a file, and a vault is named by its folder",
            hint=f"for the vault in this file, say {_url(file.parent)}",
        )
    return file


def preferences_file(where: str | os.PathLike[str]) -> Path | None:
    """Where a vault's preferences stand: in a folder of its own beside the rows."""
    folder = beside(where, "preferences")
    return None if folder is None else folder / PREFERENCES_FILE


def beside(where: str | os.PathLike[str], name: str) -> Path | None:
    """A folder of the vault beside its rows; none for a vault in RAM."""
    file = vault_file(where)
    if file is None:
        return None
    return file.with_name(name if file.name == VAULT_FILE else f"{file.name}-{name}")


def address_of(where: str | os.PathLike[str]) -> str:
    """What another process, in another folder, opens the same vault by."""
    file = vault_file(where)
    if file is None:
        return ""
    if file.name == VAULT_FILE:
        return str(file.parent.absolute())
    return _url(file)


def _url(file: Path) -> str:
    from urllib.parse import quote

    return f"sqlite:///{quote(str(file.absolute()))}"


def _key(given: str | Path | None) -> Key | None:
    if given is None:
        return None
    return key_from_file(given) if isinstance(given, Path) else key_from_text(given)


def vault_file(where: str | os.PathLike[str]) -> Path | None:
    """The file that a vault's rows live in, None for one in RAM."""
    text = os.fspath(where)
    if text == IN_RAM:
        return None
    if text.startswith("sqlite:"):
        from urllib.parse import unquote, urlsplit

        parts = urlsplit(text)
        if parts.netloc or not parts.path.strip("/") or parts.query or parts.fragment:
            raise InvalidInput(
                "where_invalid",
                f"{shown(text)} names no file",
                hint="write sqlite:///relative/file.db or sqlite:////absolute/file.db",
            )
        return Path(unquote(parts.path[1:]))
    if "://" in text or not text or "\0" in text:
        raise InvalidInput(
            "where_invalid",
            f"{shown(text)} is no place that a vault can live in",
            hint="use a folder, sqlite:///file.db or memory:",
        )
    return Path(text) / VAULT_FILE
