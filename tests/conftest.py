"""What all tests share: a profile of Hypothesis that is kind to two cores, and a vault with a clock
that stands, sound in the end. A file that needs another has a fixture of its own by that name."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

import holdfast
from holdfast.testing import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

settings.register_profile(
    "default",
    deadline=None,
    max_examples=int(os.environ.get("HOLDFAST_EXAMPLES", "50")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    database=None,
)
settings.load_profile("default")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault
        assert list(vault.verify()) == []


@pytest.fixture
def space(vault: Vault) -> Space:
    return vault.space()
