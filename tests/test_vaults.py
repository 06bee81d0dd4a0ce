"""The contract of a vault, bound to SQLite in RAM, on disk, in a named file, and encrypted."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.engine.vault import Vault
from holdfast.errors import InvalidInput
from holdfast.testing.vaults import VaultContract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ports import Clock

RAW_KEY = "raw:" + "5a" * 32


class TestInRam(VaultContract):
    survives = False

    def open(self, folder: Path, clock: Clock) -> Vault:
        return holdfast.open("memory:", clock=clock)


class TestOnDisk(VaultContract):
    def open(self, folder: Path, clock: Clock) -> Vault:
        return holdfast.open(folder / "vault", clock=clock)


@pytest.mark.row("I08")
class TestEncrypted(VaultContract):
    def open(self, folder: Path, clock: Clock) -> Vault:
        return holdfast.open(folder / "vault", key=RAW_KEY, clock=clock)


def test_a_file_is_not_taken_for_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "my agents.db"
    holdfast.open(f"sqlite:///{file}").close()
    for create in (True, False):
        with pytest.raises(InvalidInput, match="is a file") as caught:
            holdfast.open(file, create=create)
        assert caught.value.code == "where_invalid"
    holdfast.open(caught.value.hint.split()[-1], create=False).close()


def test_a_url_names_a_file(tmp_path: Path) -> None:
    file = tmp_path / "one file.db"
    with holdfast.open(f"sqlite:///{file}") as vault:
        vault.space().notes().save("a fact")
    assert file.exists()
    with holdfast.open(f"sqlite:///{str(file).replace(' ', '%20')}") as vault:
        assert [entry.text for entry in vault.space().notes().read().entries] == ["a fact"]
