"""The vault itself, and the two things that it keeps on behalf of callers."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.model.ids import SessionId, VaultId


class VaultInfo(Value):
    """`secret` keys the fingerprints of texts, so that they tell nothing outside the vault."""

    id: VaultId
    created: datetime
    secret: bytes
    text_version: int


class StoredAnswer(Value):
    """The first answer to a call with an idempotency key, for as long as it is given again."""

    actor: str
    key: str
    arguments: bytes
    at_us: int
    first_seq: int
    last_seq: int
    body: str


class Frozen(Value):
    """A context that a session was given, to be given again until it ends."""

    session: SessionId
    budget: int
    at_seq: int
    body: str
