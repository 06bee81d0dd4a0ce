"""Public test kit: contract suites that prove an implementation, and a clock that tests set.

Needs pytest. Bind a suite by deriving from it and saying how to open what is to be proved.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator


# So that whoever binds a contract sees why an assertion of it failed.
pytest.register_assert_rewrite(
    *(f"{__name__}.{name}" for name in ("abilities", "backends", "kit")),
    *(f"{__name__}.{name}" for name in ("binding", "vault_notes", "vault_profile")),
    *(f"{__name__}.{name}" for name in ("vault_spaces", "vaults")),
)


class ManualClock:
    """A clock that stands still until a test moves it. It starts at noon of 2026-01-15, UTC."""

    def __init__(self, us: int = 1_768_478_400_000_000) -> None:
        self.us = us

    def __call__(self) -> int:
        return self.us

    def advance(self, *, days: float = 0, seconds: float = 0, us: int = 0) -> None:
        self.us += int(days * 86_400_000_000) + int(seconds * 1_000_000) + us


@contextmanager
def raises(kind: type[HoldfastError], code: str) -> Generator[None]:
    """The block must raise this class with this code, and a hint."""
    try:
        yield
    except HoldfastError as error:
        assert isinstance(error, kind), f"{type(error).__name__} is not {kind.__name__}: {error}"
        assert error.code == code, f"code {error.code}, not {code}: {error}"
        assert error.hint, f"{code} has no hint"
        return
    raise AssertionError(f"nothing was raised; expected {kind.__name__} {code}")
