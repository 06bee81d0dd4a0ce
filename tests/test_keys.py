"""Keys: where they come from, that they open what they made and nothing else, and are not shown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import apsw
import pytest

from holdfast.errors import (
    Damaged,
    HoldfastError,
    InvalidInput,
    KeyProblem,
    NotFound,
    Refused,
    StorageFailed,
    Unsupported,
)
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import Key, RawKey, key_from_file, key_from_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = "0123456789abcdef" * 4
RAW = key_from_text("raw:" + DIGITS)
OTHER = key_from_text("raw:" + "a5" * 32)
PHRASE = "correct horse battery staple"
MARKER = b"a text that must not be found in any byte"
REKEYING = Path(__file__).parent / "programs" / "rekeying.py"


def prepare(conn: apsw.Connection) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, body BLOB)")


def opened(file: Path, key: Key | None, *, create: bool = True) -> Database:
    return Database.open(file, key=key, create=create, prepare=prepare)


def keep(db: Database, *bodies: bytes) -> None:
    def unit(conn: apsw.Connection) -> None:
        conn.executemany("INSERT INTO note (body) VALUES (?)", [(body,) for body in bodies])

    db.write(unit)


def notes(db: Database) -> list[bytes]:
    return db.read(
        lambda conn: [
            row[0] for row in conn.execute("SELECT body FROM note ORDER BY id").fetchall()
        ]
    )


def made(file: Path, key: Key | None, *bodies: bytes) -> Path:
    db = opened(file, key)
    keep(db, *bodies)
    db.close()
    return file


def found_in(folder: Path, text: bytes) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if text in path.read_bytes()]


def error_of(call: Callable[[], object]) -> HoldfastError:
    with pytest.raises(HoldfastError) as caught:
        call()
    shown = "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )
    ours = shown[shown.index("storage/sqlite") :] if "storage/sqlite" in shown else shown
    for secret in (DIGITS, "a5" * 32, bytes.fromhex(DIGITS).hex(), repr(bytes.fromhex(DIGITS))):
        assert secret not in ours
    return caught.value


# Where keys come from


def test_a_text_is_a_raw_key_or_a_passphrase() -> None:
    assert Key(secret=bytes.fromhex(DIGITS)) == RAW
    assert key_from_text("raw:" + DIGITS.upper()) == RAW
    assert key_from_text(PHRASE) == Key(secret=PHRASE.encode(), passphrase=True)
    assert key_from_text(" spaces count ") == Key(secret=b" spaces count ", passphrase=True)
    assert key_from_text("e\u0301") == key_from_text("\u00e9")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "raw:",
        "raw:12",
        "raw:" + "0" * 63,
        "raw:" + "g" * 64,
        "raw: " + DIGITS,
        "\ud800",
    ],
)
def test_what_cannot_be_a_key_is_refused_and_not_repeated(text: str) -> None:
    error = error_of(lambda: key_from_text(text))
    assert isinstance(error, InvalidInput)
    assert error.code == "key_invalid"
    assert len(text) < 5 or text not in str(error)


@pytest.mark.row("I08")
def test_a_key_is_never_shown() -> None:
    phrase = key_from_text(PHRASE)
    raw = RAW.raw(b"")
    for shown in map(repr, (RAW, phrase, raw, [RAW], {"key": phrase})):
        assert DIGITS not in shown
        assert PHRASE not in shown
        assert "secret" not in shown
    assert repr(RAW) == "Key(raw)"
    assert repr(phrase) == "Key(passphrase)"


def test_a_passphrase_becomes_the_same_key_for_ever() -> None:
    """The numbers of the derivation are part of the file's format; another Argon2id agrees."""
    derived = "853b272a44db1421c02962669a55eb0994f3cab385ed1c4c79253eee19bab49e"
    assert key_from_text(PHRASE).raw(bytes(range(16))) == RawKey(secret=bytes.fromhex(derived))
    assert key_from_text(PHRASE).raw(bytes(16)) != RawKey(secret=bytes.fromhex(derived))


def test_a_key_file_holds_a_key_of_any_form(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_text(f"raw:{DIGITS}\n")
    assert key_from_file(file) == RAW
    file.write_text(f"\n {PHRASE} \r\n")
    assert key_from_file(file) == key_from_text(PHRASE)


@pytest.mark.parametrize("content", [b"", b" \n", b"raw:12\n", b"\xff\xfe"])
def test_a_key_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_bytes(content)
    error = error_of(lambda: key_from_file(file))
    assert (error.code, str(file) in error.message) == ("key_invalid", True)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_key_file_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text(f"raw:{DIGITS}\n")
    file.chmod(mode)
    error = error_of(lambda: key_from_file(file))
    assert isinstance(error, Refused)
    assert (error.code, error.hint) == ("key_file_exposed", f"chmod 600 {file}")


def test_a_key_file_that_is_not_there(tmp_path: Path) -> None:
    error = error_of(lambda: key_from_file(tmp_path / "none"))
    assert isinstance(error, KeyProblem)
    assert error.code == "key_file_unreadable"


KEYRING = """
import sys
import keyring
from keyrings.alt.file import PlaintextKeyring
keyring.set_keyring(PlaintextKeyring())
keyring.set_password("holdfast", "team/a", sys.argv[1])
from holdfast.errors import HoldfastError
from holdfast.storage.sqlite.keys import key_from_text
try:
    print(key_from_text("keyring:holdfast/team/a").secret.hex())
    key_from_text(sys.argv[2])
except HoldfastError as exc:
    print(type(exc).__name__, exc.code, exc.hint)
"""


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("keyring:holdfast/other", "KeyProblem key_missing keyring set holdfast other"),
        ("keyring:holdfast", "InvalidInput key_invalid write it as `keyring:SERVICE/NAME`"),
    ],
)
def test_the_systems_keyring_is_asked(tmp_path: Path, name: str, outcome: str) -> None:
    pytest.importorskip("keyrings.alt")
    done = subprocess.run(
        [sys.executable, "-c", KEYRING, "raw:" + DIGITS, name],
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [DIGITS, outcome]


def test_without_the_keyring_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    error = error_of(lambda: key_from_text("keyring:holdfast/a"))
    assert isinstance(error, Unsupported)
    assert (error.code, error.hint) == ("keyring_missing", "pip install 'holdfast[keyring]'")


# What a key opens


@pytest.mark.row("I08")
@pytest.mark.parametrize("text", ["raw:" + DIGITS, PHRASE], ids=["raw", "passphrase"])
def test_no_byte_on_disk_tells_what_is_kept(tmp_path: Path, text: str) -> None:
    file, key = tmp_path / "v.db", key_from_text(text)
    db = opened(file, key)
    keep(db, *[MARKER + str(number).encode() for number in range(200)])
    assert found_in(tmp_path, MARKER) == []  # while it is open, the log included
    db.exclusive(lambda conn: conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
    keep(db, MARKER)
    db.close()
    assert found_in(tmp_path, MARKER) == []
    assert found_in(tmp_path, bytes.fromhex(DIGITS)) == []
    assert found_in(tmp_path, PHRASE.encode()) == []
    again = opened(file, key)
    assert len(notes(again)) == 201
    again.close()
    plain = made(tmp_path / "plain.db", None, MARKER)
    assert plain.name + "-wal" in found_in(tmp_path, MARKER)  # so the search does find


@pytest.mark.row("I08")
def test_wrong_missing_and_needless_keys_are_three_errors(tmp_path: Path) -> None:
    ciphered = made(tmp_path / "ciphered.db", RAW, MARKER)
    phrased = made(tmp_path / "phrased.db", key_from_text(PHRASE), MARKER)
    plain = made(tmp_path / "plain.db", None, MARKER)
    before = {path: path.read_bytes() for path in (ciphered, phrased, plain)}
    for file, key, code in (
        (ciphered, OTHER, "key_wrong"),
        (phrased, key_from_text(PHRASE + "s"), "key_wrong"),
        (phrased, RAW, "key_wrong"),
        (ciphered, None, "key_missing"),
        (phrased, None, "key_missing"),
        (plain, RAW, "key_not_needed"),
        (plain, key_from_text(PHRASE), "key_not_needed"),
    ):
        error = error_of(lambda file=file, key=key: opened(file, key))
        assert isinstance(error, KeyProblem)
        assert (error.code, str(file) in error.message) == (code, True)
        assert error.hint
    assert {path: path.read_bytes() for path in before} == before
    error = error_of(lambda: Database.open(None, key=RAW, prepare=prepare))
    assert error.code == "key_not_needed"


@pytest.mark.row("I11")
@pytest.mark.parametrize("key", [None, RAW], ids=["plain", "encrypted"])
def test_a_file_that_is_no_vault_is_named(tmp_path: Path, key: Key | None) -> None:
    file = tmp_path / "v.db"
    whole = made(tmp_path / "whole.db", key, MARKER).read_bytes()
    contents = [b"x", b"garbage" * 3000, bytes(5000), whole[:16], whole[:99], b"SQLite format 3\0"]
    contents += [whole[:size] for size in range(1, 100, 7)]
    for content in contents:
        file.write_bytes(content)
        error = error_of(lambda: opened(file, key))
        assert isinstance(error, Damaged), content[:20]
        assert error.code == "vault_damaged"
        assert file.read_bytes() == content


@pytest.mark.parametrize("key", [None, RAW], ids=["plain", "encrypted"])
def test_an_empty_file_is_new_only_when_one_may_be_made(tmp_path: Path, key: Key | None) -> None:
    file = tmp_path / "v.db"
    for _ in ("missing", "empty"):
        error = error_of(lambda: opened(file, key, create=False))
        assert isinstance(error, NotFound)
        assert error.code == "vault_not_found"
        file.touch()
    made(file, key, MARKER)
    again = opened(file, key, create=False)
    assert notes(again) == [MARKER]
    again.close()


@pytest.mark.row("I08")
@pytest.mark.parametrize("place", ["file", "log"])
def test_every_flipped_bit_of_an_encrypted_page_is_found(tmp_path: Path, place: str) -> None:
    file = tmp_path / "v.db"
    db = opened(file, RAW)
    keep(db, *[bytes([number]) * 900 for number in range(60)])
    if place == "file":
        db.exclusive(lambda conn: conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
    db.close()
    if place == "log":
        check_flips_in_the_log(file)
        return
    whole = file.read_bytes()
    assert len(whole) > 8 * 4096
    for at in (4096 + 5, 3 * 4096 - 1, 5 * 4096 + 2000, len(whole) - 70, 30, 4000):
        flipped = bytearray(whole)
        flipped[at] ^= 4
        file.write_bytes(flipped)
        log = file.with_name("v.db-wal")
        log.unlink(missing_ok=True)
        error = error_of(lambda: read_all(file))
        assert error.code == ("vault_damaged" if at > 4096 else "key_wrong")


def read_all(file: Path) -> None:
    db = opened(file, RAW)
    try:
        notes(db)
    finally:
        db.close()


def check_flips_in_the_log(file: Path) -> None:
    """SQLite ends the log before the first frame that does not fit; that is not taken for all."""
    log = file.with_name("v.db-wal")
    whole = log.read_bytes()
    flipped = bytearray(whole)
    flipped[32 + 24 + 4120 * 2 + 1000] ^= 1
    log.write_bytes(flipped)
    assert error_of(lambda: opened(file, RAW)).code == "log_lost"


FORKED = """
import os, sys
from pathlib import Path
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import key_from_text

def made(name):
    file = Path(sys.argv[1]) / name
    Database.open(file, key=key_from_text(sys.argv[2]), prepare=lambda conn: None).close()

made("before")
if os.fork() == 0:
    made("child")
else:
    made("parent")
    os.wait()
"""


@pytest.mark.row("I08")
def test_a_forked_child_draws_other_nonces_than_its_parent(tmp_path: Path) -> None:
    """Two pages ciphered with one key and one nonce would give both of them away."""
    program = [sys.executable, "-c", FORKED, str(tmp_path), "raw:" + DIGITS]
    subprocess.run(program, check=True)
    nonces = [(tmp_path / name).read_bytes()[4064:4096] for name in ("before", "child", "parent")]
    assert len(set(nonces)) == 3


# Changing it


@pytest.mark.row("I08")
@pytest.mark.parametrize(
    ("before", "after"),
    [(RAW, OTHER), (None, RAW), (RAW, None), (RAW, key_from_text(PHRASE)), (None, None)],
    ids=["rotate", "encrypt", "decrypt", "to-passphrase", "none"],
)
def test_a_key_is_changed(tmp_path: Path, before: Key | None, after: Key | None) -> None:
    file = tmp_path / "v.db"
    db = opened(file, before)
    keep(db, MARKER, b"two")
    db.change_key(after)
    assert notes(db) == [MARKER, b"two"]
    keep(db, b"three")
    db.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("v.db", "v.db-open", "v.db-queue", "v.db-shm", "v.db-turn", "v.db-wal"),
    ]
    assert bool(found_in(tmp_path, MARKER)) == (after is None)
    if before != after:
        assert error_of(lambda: opened(file, before)).code.startswith("key_")
    again = opened(file, after)
    assert notes(again) == [MARKER, b"two", b"three"]
    assert again.read(lambda conn: conn.execute("PRAGMA integrity_check").get) == "ok"
    again.close()


def test_a_key_is_not_changed_while_another_has_the_vault_open(tmp_path: Path) -> None:
    file = made(tmp_path / "v.db", RAW, MARKER)
    one, other = opened(file, RAW), opened(file, RAW)
    error = error_of(lambda: one.change_key(OTHER))
    assert isinstance(error, StorageFailed)
    assert error.code == "storage_busy"
    keep(one, b"two")
    assert notes(other) == [MARKER, b"two"]
    other.close()
    one.change_key(OTHER)
    assert notes(one) == [MARKER, b"two"]
    one.close()


@pytest.mark.row("I04")
def test_killed_while_the_key_changes_the_old_or_the_new_one_opens_it(tmp_path: Path) -> None:
    file = made(tmp_path / "v.db", RAW, *[bytes([number]) * 3000 for number in range(200)])
    for attempt in range(8):
        program = subprocess.Popen(
            [sys.executable, str(REKEYING), str(file), "raw:" + DIGITS, "raw:" + "a5" * 32],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        for _ in range(1 + attempt % 3):
            assert program.stdout.readline() == "changing\n"
        for _ in range(attempt * 40_000):  # a moment somewhere within a change
            pass
        program.send_signal(signal.SIGKILL)
        program.communicate()
        try:
            db = opened(file, RAW)
        except KeyProblem:
            db = opened(file, OTHER)
        assert len(notes(db)) == 200
        assert db.read(lambda conn: conn.execute("PRAGMA integrity_check").get) == "ok"
        db.close()
