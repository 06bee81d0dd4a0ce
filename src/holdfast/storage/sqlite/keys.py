"""The key of an encrypted vault: where it comes from, how the cipher is told, how it is changed.

The cipher is AEGIS-256: of those in SQLite3 Multiple Ciphers that find a flipped bit, the fastest
(a point read that misses the page cache costs 1.1 times a plain one, with ChaCha20 2.1 times, with
SQLCipher's 3.5 times). It is always given 32 raw bytes, so that no connection pays for deriving
them. A passphrase becomes such bytes by Argon2id over the salt that stands in the first 16 bytes of
the database file: three passes over 64 MiB in four lanes, the passphrase as UTF-8 in Unicode's form
NFC. These numbers are part of the file's format and never change.

No error, no repr and no local variable of a frame that an error passes shows a key.
"""

from __future__ import annotations

import os
import stat

import apsw

from holdfast.errors import (
    Damaged,
    InvalidInput,
    KeyProblem,
    Refused,
    StorageFailed,
    Unsupported,
)
from holdfast.model.value import Value
from holdfast.storage.sqlite.place import sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.storage.sqlite.recipe import Recipe

CIPHER = "aegis"
SALT_BYTES = 16
KEY_BYTES = 32
PASSES, MEMORY_KIB, LANES = 3, 64 * 1024, 4

RAW, KEYRING = "raw:", "keyring:"


class Key(Value):
    """Raw bytes, or a passphrase that becomes them with the salt of a file."""

    secret: bytes
    passphrase: bool = False

    def raw(self, salt: bytes) -> RawKey:
        if not self.passphrase:
            return RawKey(secret=self.secret)
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        derive = Argon2id(
            salt=salt, length=KEY_BYTES, iterations=PASSES, lanes=LANES, memory_cost=MEMORY_KIB
        )
        return RawKey(secret=derive.derive(self.secret))

    def __repr__(self) -> str:
        return "Key(passphrase)" if self.passphrase else "Key(raw)"


class RawKey(Value):
    """The 32 bytes that the cipher works with."""

    secret: bytes

    def hand_over(self, conn: apsw.Connection, salt: bytes = b"", *, word: str = "key") -> None:
        """Tell a connection; with the salt where a file is made anew."""
        refused = None
        try:
            conn.execute(f"PRAGMA cipher = '{CIPHER}'")
            conn.execute(f"PRAGMA {word} = '{RAW}{self.secret.hex()}{salt.hex()}'", can_cache=False)
        except apsw.Error as exc:  # its traceback shows the statement, so it must not travel on
            refused = type(exc).__name__
        if refused is not None:
            raise StorageFailed(
                "key_refused",
                f"{conn.filename}: the cipher did not take the key ({refused})",
                hint="see that this user may read and write the file, and has room to",
            )

    def __repr__(self) -> str:
        return "RawKey()"


def key_from_text(text: str) -> Key:
    """`raw:` and 64 hex digits, `keyring:SERVICE/NAME`, or else a passphrase."""
    if text.startswith(KEYRING):
        return key_from_keyring(text.removeprefix(KEYRING))
    key = _key(text)
    del text
    if key is None:
        raise InvalidInput(
            "key_invalid",
            "the key is empty or not text, or `raw:` stands before other than 64 hex digits",
            hint="give `raw:` and 64 hex digits, `keyring:SERVICE/NAME`, or a passphrase",
        )
    return key


def key_from_file(path: Path) -> Key:
    """The key that a file of this user holds, and nobody else can read."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise Refused(
                    "key_file_exposed",
                    f"{path}: other users may read this key file (its mode is {mode:03o})",
                    hint=f"chmod 600 {path}",
                )
            key = _decoded(file.read())
    except OSError as exc:
        raise KeyProblem(
            "key_file_unreadable",
            f"{path}: the key file cannot be read ({exc.strerror})",
            hint="name a file that exists and that this user may read",
        ) from exc
    if key is None:
        raise InvalidInput(
            "key_invalid",
            f"{path}: the key file is empty, is not UTF-8, or has `raw:` before something else"
            " than 64 hex digits",
            hint="write `raw:` and 64 hex digits, `keyring:SERVICE/NAME`, or a passphrase into it",
        )
    return key if isinstance(key, Key) else key_from_keyring(key)


def key_from_keyring(name: str) -> Key:
    """The key that the system's keyring holds under SERVICE/NAME."""
    service, _, user = name.partition("/")
    if not service or not user:
        raise InvalidInput(
            "key_invalid",
            f"`{KEYRING}{name}` does not name an entry of the keyring",
            hint=f"write it as `{KEYRING}SERVICE/NAME`",
        )
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as exc:
        raise Unsupported(
            "keyring_missing",
            "the key is in the system's keyring, and the package that reads it is not installed",
            hint="pip install 'holdfast[keyring]'",
        ) from exc
    try:
        key = _key(keyring.get_password(service, user) or "")
    except KeyringError as exc:
        raise KeyProblem(
            "keyring_failed",
            f"the system's keyring did not answer for `{name}` ({type(exc).__name__})",
            hint="unlock the keyring, or give the key in another way",
        ) from exc
    if key is None:
        raise KeyProblem(
            "key_missing",
            f"the system's keyring has no usable key under `{name}`",
            hint=f"keyring set {service} {user}",
        )
    return key


def _decoded(content: bytes) -> Key | str | None:
    """A key, or the name of a keyring's entry, or None when it is neither."""
    try:
        text = content.decode().strip()
    except UnicodeDecodeError:
        return None
    return text.removeprefix(KEYRING) if text.startswith(KEYRING) else _key(text)


def _key(text: str) -> Key | None:
    if not text.strip():
        return None
    if not text.startswith(RAW):
        from unicodedata import normalize

        try:
            return Key(secret=normalize("NFC", text).encode(), passphrase=True)
        except UnicodeEncodeError:
            return None
    digits = text.removeprefix(RAW)
    if len(digits) != 2 * KEY_BYTES or not all(c in "0123456789abcdefABCDEF" for c in digits):
        return None
    return Key(secret=bytes.fromhex(digits))


def change_key(conn: apsw.Connection, recipe: Recipe, key: Key | None) -> Recipe:
    """Replace the file by a copy under another key; `conn`, the last that has it open, is closed.

    Until the rename the old file is whole, and after it the new one; the log is empty by then. What
    the disk keeps in blocks that the old file had is beyond reach.
    """
    file, salt = recipe.file, os.urandom(SALT_BYTES)
    assert file is not None
    raw = key and key.raw(salt)
    part = file.with_name(file.name + "-rekey")
    part.unlink(missing_ok=True)
    try:
        copy = recipe.replace(file=part, salt=salt, attach=None).connect()
        try:
            with copy.backup("main", conn, "main") as backup:
                backup.step(-1)
            copy.pragma("journal_mode", "delete")
            if raw is not None:
                raw.hand_over(copy, salt, word="rekey")
            elif recipe.key is not None:
                copy.execute("PRAGMA rekey = ''")
        finally:
            copy.close(True)
        _verify(recipe.replace(file=part, key=raw, attach=None))
        busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
        if busy:
            raise apsw.BusyError("a reader holds the log")
        conn.close(True)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    sync_folder(file.parent)
    return recipe.replace(key=raw)


def _verify(recipe: Recipe) -> None:
    conn = recipe.connect()
    try:
        if conn.execute("PRAGMA integrity_check").get != "ok":
            raise Damaged(
                "vault_damaged",
                f"{recipe.file}: the copy under the new key is not sound, the vault is as it was",
                hint="run `holdfast verify`",
            )
    finally:
        conn.close(True)
