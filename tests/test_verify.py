"""`verify` names the row in which a bit was flipped; `doctor --repair` makes again what it can."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.engine.vault import Vault
from holdfast.errors import Damaged
from holdfast.model.entry import Entry
from holdfast.storage.sqlite.storage import SqliteStorage

RAW_KEY = "raw:" + "5a" * 32


def filled(folder: Path, key: str | None = None) -> list[Entry]:
    with holdfast.open(folder, key=key) as vault:
        notes = vault.space().notes()
        entries = [notes.save(f"the {n}th remarkable fact").entry for n in range(60)]
        notes.remove(entries[7].id)
    return entries


def checkpoint(folder: Path) -> Path:
    """Bring everything from the write-ahead log into the file, so that a flip in it is seen."""
    file = folder / "vault.db"
    conn = apsw.Connection(str(file))
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    conn.close()
    return file


def flip(file: Path, offset: int, bit: int = 0) -> None:
    with file.open("r+b") as data:
        data.seek(offset)
        byte = data.read(1)[0]
        data.seek(offset)
        data.write(bytes([byte ^ (1 << bit)]))


def found(vault: Vault) -> list[tuple[str, str]]:
    return [(problem.code, problem.what) for problem in vault.verify()]


def places(file: Path, text: bytes) -> list[int]:
    data = file.read_bytes()
    offsets, at = [], data.find(text)
    while at >= 0:
        offsets.append(at)
        at = data.find(text, at + 1)
    return offsets


@pytest.mark.row("I04")
@pytest.mark.parametrize("bit", [0, 7], ids=["another letter", "no letter at all"])
def test_a_flipped_bit_in_a_plain_vault_is_named_by_its_row(tmp_path: Path, bit: int) -> None:
    entries = filled(tmp_path)
    file = checkpoint(tmp_path)
    text = b"the 33th remarkable fact"
    named: list[str] = []
    for offset in places(file, text):
        flip(file, offset + 10, bit)
        with holdfast.open(tmp_path) as vault:
            problems = found(vault)
        named += [what for _, what in problems]
        assert problems, f"a flip at {offset} went unseen"
        flip(file, offset + 10, bit)
    wanted = entries[33]
    assert f"entry {wanted.id} (number {wanted.number})" in named
    assert f"change {wanted.revision}" in named
    assert not [what for what in named if entries[32].id in what]
    with holdfast.open(tmp_path) as vault:
        assert found(vault) == []


@pytest.mark.row("I04", "I08")
def test_a_flipped_bit_in_an_encrypted_vault_is_named_by_its_rows(tmp_path: Path) -> None:
    entries = filled(tmp_path, RAW_KEY)
    with holdfast.open(tmp_path, key=RAW_KEY) as vault:
        assert found(vault) == []
    file = tmp_path / "vault.db"
    with holdfast.open(tmp_path, key=RAW_KEY) as vault:
        storage = vault._core.storage
        assert isinstance(storage, SqliteStorage)
        storage._db.exclusive(lambda conn: conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").get)
    pages = file.stat().st_size // 4096
    named: set[str] = set()
    for page in range(1, pages):
        flip(file, page * 4096 + 2000)
        try:
            with holdfast.open(tmp_path, key=RAW_KEY) as vault:
                problems = found(vault)
            assert problems, f"a flip in page {page} went unseen"
            named.update(what for _, what in problems)
        except Damaged as error:  # the schema itself: the vault cannot be opened
            assert error.code == "vault_damaged"
        flip(file, page * 4096 + 2000)
    for entry in entries:
        assert f"entry {entry.id} (number {entry.number})" in named
        assert f"change {entry.revision}" in named


def damage(folder: Path, statement: str) -> None:
    conn = apsw.Connection(str(folder / "vault.db"))
    conn.execute(statement)
    conn.close()


@pytest.mark.parametrize(
    ("statement", "code", "what"),
    [
        ("UPDATE entry SET when_us = when_us + 1 WHERE number = 5", "row_damaged", "entry "),
        ("UPDATE change SET actor = 'human:eve' WHERE seq = 9", "row_damaged", "change 9"),
        (
            "UPDATE change SET body = replace(body, 'fact', 'lie') WHERE seq = 9",
            "row_damaged",
            "change 9",
        ),
        ("DELETE FROM change WHERE seq = 9", "log_gap", "change 9"),
        ("UPDATE store SET name = 'other'", "row_damaged", "store "),
        ("UPDATE space SET path = '/x'", "row_damaged", "space "),
        ("UPDATE vault SET secret = x'00'", "row_damaged", "vault 1"),
        (
            "INSERT INTO entry_terms (rowid, terms) VALUES (9999, 'stray')",
            "index_differs",
            "number 9999",
        ),
        (
            "DELETE FROM entry_terms",
            "index_differs",
            "number 3",
        ),
    ],
)
def test_damage_is_named(tmp_path: Path, statement: str, code: str, what: str) -> None:
    filled(tmp_path)
    damage(tmp_path, statement)
    with holdfast.open(tmp_path) as vault:
        assert [(c, w) for c, w in found(vault) if c == code and what in w]


def test_an_altered_log_breaks_its_seal(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        notes = vault.space().notes()
        for number in range(300):
            notes.save(f"n{number}")
        vault.tidy()
    # Alter a change the way a careful forger would: with new digests for the row.
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    assert conn.execute("SELECT count(*) FROM seal").get == 1
    from holdfast.core.canonical import row_digest
    from holdfast.storage.sqlite.verify import HEADER

    row = conn.execute(f"SELECT {', '.join(HEADER)} FROM change WHERE seq = 50").fetchone()
    forged = (*row[:3], "human:eve", *row[4:])
    conn.execute(
        "UPDATE change SET actor = 'human:eve', header = ? WHERE seq = 50",
        (row_digest("change", forged),),
    )
    conn.close()
    with holdfast.open(tmp_path) as vault:
        assert found(vault) == [("seal_broken", "seal 1 over the changes 1 to 256")]


def test_repair_writes_entries_from_the_log_and_makes_the_index_anew(tmp_path: Path) -> None:
    entries = filled(tmp_path)
    damage(tmp_path, f"UPDATE entry SET text = 'a lie' WHERE number = {entries[5].number}")
    damage(tmp_path, f"UPDATE entry SET store = 99 WHERE number = {entries[6].number}")
    damage(tmp_path, "DELETE FROM entry_terms")
    with holdfast.open(tmp_path) as vault:
        said = list(vault.repair())
        assert f"entry {entries[5].id} was written again from the log" in said
        assert found(vault) == []
        notes = vault.space().notes()
        assert notes.get(entries[5].id) == entries[5]
        assert notes.get(entries[6].id) == entries[6]
        assert [e.text for e in notes.read(text="33th").entries] == ["the 33th remarkable fact"]
        assert notes.read(text="7th").entries == ()
