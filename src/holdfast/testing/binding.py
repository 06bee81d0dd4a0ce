"""How a vault's contract is bound to a storage, and what its tests share."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.strategies import STRATEGIES
from holdfast.testing import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Json
    from holdfast.model.space import StoreType
    from holdfast.ports import Clock
    from holdfast.strategies.narrative import Notes

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


def spec(name: str, path: str, *stores: StoreSpec) -> SpaceSpec:
    checked = tuple(STRATEGIES[store.strategy].check(store) for store in stores)
    return SpaceSpec(name=name, path=path, text=repr(checked), stores=checked)


def narrative(name: str, kind: StoreType = "long_term", **options: Json) -> StoreSpec:
    return StoreSpec(name=name, type=kind, strategy="narrative", options=options)


def texts(notes: Notes, **query: object) -> list[str]:
    return [entry.text for entry in notes.read(**query).entries]  # pyright: ignore[reportArgumentType]


class VaultBinding:
    """How to open what is to be proved, and what every test of it starts from."""

    survives = True

    def open(self, folder: Path, clock: Clock) -> Vault:
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def vault(self, tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
        with self.open(tmp_path, clock) as vault:
            yield vault

    @pytest.fixture
    def space(self, vault: Vault) -> Space:
        return vault.space()
