"""What was acknowledged and is gone is missed: a log harmed, lost, swapped or left behind."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.errors import Damaged, HoldfastError, InvalidInput, StorageFailed, Unsupported
from holdfast.storage.sqlite import connections
from holdfast.storage.sqlite.connections import CHECKPOINT_PAGES, LOOK_AGAIN_NS
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.keys import key_from_text
from holdfast.storage.sqlite.schema import APPLICATION
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.storage.sqlite.keys import Key

KEY = key_from_text("raw:" + "7e" * 32)
BOTH = pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
FRAME = 24 + 4096


def prepare(conn: apsw.Connection) -> None:
    conn.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, body)")


def opened(file: Path, key: Key | None = None) -> Database:
    return Database.open(file, key=key, prepare=prepare)


def put(body: object) -> Callable[[apsw.Connection], None]:
    def unit(conn: apsw.Connection) -> None:
        conn.execute("INSERT INTO note (body) VALUES (?)", (body,))

    return unit


def bodies(conn: apsw.Connection) -> list[object]:
    return [row[0] for row in conn.execute("SELECT body FROM note ORDER BY id").fetchall()]


def truncate(conn: apsw.Connection) -> None:
    conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def kept(file: Path, key: Key | None = None) -> list[object]:
    db = opened(file, key)
    try:
        return db.read(bodies)
    finally:
        db.close()


def filled(file: Path, key: Key | None = None, *, count: int = 5) -> list[object]:
    db = opened(file, key)
    for number in range(count):
        db.write(put(number))
    db.close()
    return list(range(count))


def log(file: Path) -> Path:
    return file.with_name(file.name + "-wal")


def turn(file: Path) -> Path:
    return file.with_name(file.name + "-turn")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "v.db"


def commits(file: Path) -> int:
    """How many frames the log holds, by its own salts."""
    data = log(file).read_bytes()
    frames = range(32, len(data) - FRAME + 1, FRAME)
    return sum(data[at + 8 : at + 16] == data[16:24] for at in frames)


@pytest.mark.row("I04", "I11")
@BOTH
def test_every_way_to_harm_a_log_is_named(file: Path, key: Key | None) -> None:
    filled(file, key)
    whole = log(file).read_bytes()
    end = 32 + commits(file) * FRAME
    assert end > 32 + 5 * FRAME
    flips = [0, 9, 17, 25, *(at for start in range(32, end, FRAME) for at in (0, 9, 17, 700))]
    for at in flips:
        harmed = bytearray(whole)
        harmed[at if at < 32 else at + 32] ^= 16
        log(file).write_bytes(harmed)
        if bytes(harmed[:end]) != whole[:end] and at < end - FRAME:
            with raises(Damaged, "log_lost"):
                kept(file, key)
    for size in (0, 31, 32, 32 + FRAME, end - FRAME, end - 1):
        log(file).write_bytes(whole[:size])
        with raises(Damaged, "log_lost"):
            kept(file, key)
    log(file).write_bytes(whole)
    assert kept(file, key) == [0, 1, 2, 3, 4]


@BOTH
def test_a_log_is_missed_after_any_number_of_checkpoints(file: Path, key: Key | None) -> None:
    db = opened(file, key)
    before: list[object] = []
    for _ in range(3):
        body = "x" * (4096 * (CHECKPOINT_PAGES // 3))
        for _ in range(4):
            db.write(put(body))
        before = db.read(lambda conn: [len(str(body)) for body in bodies(conn)])
        db.write(put("after"))
        work = file.parent / f"copy-{len(before)}"
        shutil.copytree(file.parent, work, ignore=shutil.ignore_patterns("copy-*"))
        log(work / file.name).unlink()
        with raises(Damaged, "log_lost"):
            kept(work / file.name, key)
    db.close()
    assert kept(file, key)[-1] == "after"


@BOTH
def test_what_was_written_after_a_checkpoint_by_hand_is_missed(file: Path, key: Key | None) -> None:
    db = opened(file, key)
    db.write(put(1))
    db.exclusive(truncate)
    db.write(put(2))
    db.close()
    log(file).write_bytes(b"")
    with raises(Damaged, "log_lost"):
        kept(file, key)


@BOTH
def test_a_log_that_went_into_the_file_is_not_missed(file: Path, key: Key | None) -> None:
    filled(file, key)
    db = opened(file, key)
    db.exclusive(truncate)
    db.close()
    log(file).unlink()
    assert kept(file, key) == [0, 1, 2, 3, 4]


def test_what_another_program_wrote_and_moved_into_the_file_is_kept(file: Path) -> None:
    filled(file)
    for number in range(3):
        foreign = apsw.Connection(str(file))
        foreign.execute("INSERT INTO note (body) VALUES (?)", (f"theirs {number}",))
        foreign.close()
        assert not log(file).exists()
        assert kept(file)[-1] == f"theirs {number}"
    db = opened(file)
    db.write(put("ours"))
    db.close()
    log(file).unlink()
    with raises(Damaged, "log_lost"):
        kept(file)


def test_the_log_of_another_vault_is_not_taken(tmp_path: Path) -> None:
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    filled(one)
    filled(two, count=50)
    shutil.copy(log(two), log(one))
    with raises(Damaged, "log_lost"):
        kept(one)


@BOTH
def test_a_file_alone_is_refused_until_somebody_takes_it_as_it_is(
    tmp_path: Path, key: Key | None
) -> None:
    filled(tmp_path / "v.db", key)
    alone = tmp_path / "alone" / "v.db"
    alone.parent.mkdir()
    shutil.copy(tmp_path / "v.db", alone)
    with pytest.raises(Damaged) as caught:
        kept(alone, key)
    assert caught.value.code == "log_missing"
    assert f"touch {log(alone)}" in caught.value.hint
    log(alone).touch()
    assert kept(alone, key) == []  # the schema at least: it went into the file at once


def test_a_note_older_than_the_log_is_no_harm(file: Path) -> None:
    """As after a power cut: the log was synced and the note was not."""
    filled(file, count=2)
    older = turn(file).read_bytes()
    filled(file, count=3)
    turn(file).write_bytes(older)
    assert kept(file) == [0, 1, 0, 1, 2]


def test_a_harmed_frame_is_named_where_the_note_is_older(file: Path) -> None:
    filled(file, count=1)
    older = turn(file).read_bytes()
    begin = 32 + commits(file) * FRAME
    filled(file, count=6)
    turn(file).write_bytes(older)
    data = bytearray(log(file).read_bytes())
    data[begin + 900] ^= 1
    log(file).write_bytes(data)
    with raises(Damaged, "log_lost"):
        kept(file)


def test_a_commit_that_was_cut_off_is_no_harm(file: Path) -> None:
    filled(file, count=3)
    noted = turn(file).read_bytes()
    end = 32 + commits(file) * FRAME
    filled(file, count=1)
    data = bytearray(log(file).read_bytes())
    data[end + 900] ^= 1
    log(file).write_bytes(data)
    turn(file).write_bytes(noted)
    assert kept(file) == [0, 1, 2]


def test_a_vault_whose_file_was_emptied_is_not_made_anew(file: Path) -> None:
    filled(file)
    os.truncate(file, 0)
    with raises(Damaged, "log_lost"):
        kept(file)


@BOTH
def test_another_key_leaves_nothing_to_miss(file: Path, key: Key | None) -> None:
    filled(file, key)
    other = KEY if key is None else None
    db = opened(file, key)
    db.change_key(other)
    db.write(put("after"))
    db.close()
    assert kept(file, other) == [0, 1, 2, 3, 4, "after"]
    log(file).unlink()
    with raises(Damaged, "log_lost"):
        kept(file, other)


def test_verify_names_a_log_that_was_harmed_while_it_is_open(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        for number in range(9):
            vault.space().notes().save(f"fact {number}")
        assert list(vault.verify()) == []
        with (tmp_path / "vault.db-wal").open("r+b") as data:
            data.seek(32 + FRAME + 24 + 1)
            (byte,) = data.read(1)
            data.seek(32 + FRAME + 24 + 1)
            data.write(bytes([byte ^ 1]))
        assert ("log_lost", "the log") in [(each.code, each.what) for each in vault.verify()]


# Files of others, and files of ours


def test_a_vault_says_whose_it_is_and_is_for_its_owner_only(tmp_path: Path) -> None:
    holdfast.open(tmp_path).close()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes["vault.db"] == modes["vault.db-wal"] == 0o600
    assert int.from_bytes((tmp_path / "vault.db").read_bytes()[68:72], "big") == APPLICATION


def test_another_programs_file_keeps_every_byte(tmp_path: Path) -> None:
    file = tmp_path / "vault.db"
    conn = apsw.Connection(str(file))
    conn.execute("PRAGMA application_id = 7")
    conn.close()
    before = file.read_bytes()
    with raises(Unsupported, "not_a_vault"):
        holdfast.open(tmp_path)
    assert file.read_bytes() == before


def test_a_write_goes_on_when_others_write_and_ends_when_they_change_the_schema(
    tmp_path: Path,
) -> None:
    with holdfast.open(tmp_path) as vault, holdfast.open(tmp_path) as other:
        for number in range(3):
            other.space().notes().save(f"theirs {number}")
            vault.space().notes().save(f"ours {number}")
        foreign = apsw.Connection(str(tmp_path / "vault.db"))
        foreign.pragma("user_version", 99)
        for each in (vault, other):
            with raises(Unsupported, "schema_newer"):
                each.space().notes().save("too late")
        foreign.close()


@pytest.mark.parametrize("name", ["x" * 250, "y/" * 300, "nul\0", "\udcff"])
def test_a_path_that_sqlite_cannot_name_is_refused(tmp_path: Path, name: str) -> None:
    with raises(InvalidInput, "where_invalid"):
        opened(tmp_path / name / "v.db")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "vault.db").mkdir()
    with raises(StorageFailed, "storage_cannot_open"):
        holdfast.open(tmp_path)


def test_a_failure_in_the_midst_of_verify_is_ours(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        vault.space().notes().save("one")
        (tmp_path / "vault.db").rename(tmp_path / "elsewhere")
        with pytest.raises(HoldfastError):
            list(vault.verify())
        (tmp_path / "elsewhere").rename(tmp_path / "vault.db")
        assert list(vault.verify()) == []


@pytest.mark.row("C06")
@pytest.mark.parametrize("part", ["", "-wal", "-shm"])
def test_a_part_that_goes_while_it_is_written_to_stops_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    now = [10**9]
    monkeypatch.setattr(connections, "monotonic_ns", lambda: now[0])
    with holdfast.open(tmp_path) as vault:
        values = vault.space().kv()
        values.set("key", 1)
        here = tmp_path / f"vault.db{part}"
        away = here.rename(tmp_path / "away")
        for _ in range(2):  # of three parts, one is looked at each time
            now[0] += LOOK_AGAIN_NS
            with suppress(StorageFailed):
                values.set("key", 2)
        for wait in (LOOK_AGAIN_NS, 0, 0, LOOK_AGAIN_NS, 0):
            now[0] += wait
            with raises(StorageFailed, "vault_gone"):
                values.set("key", 3)
        shutil.copyfile(away, here)
        with raises(StorageFailed, "vault_gone"):
            values.set("key", 4)
        away.replace(here)
        values.set("key", 5)
    with holdfast.open(tmp_path) as vault:
        assert vault.space().kv().get("key") == 5
        assert list(vault.verify()) == []
