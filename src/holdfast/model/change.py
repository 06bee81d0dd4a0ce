"""A change: one row of the log, and what it says of the thing that it changed."""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from holdfast.model.entry import Json

    Kind = Literal[
        "space",
        "store",
        "session",
        "entry",
        "message",
        "directory",
        "version",
        "proposal",
        "run",
        "erasure",
        "artifact",
    ]


class Change(Value):
    """`after` is the whole image of the target after the change, None once it was erased.

    `prior` is the seq of the change before it on the same target, so that a thing's history is
    walked from its row backwards. `digest` is that of the salted body, in hex.
    """

    seq: int
    at: datetime
    said_at: datetime | None
    actor: str
    session: str | None
    space: str | None
    store: str | None
    kind: Kind
    target: str
    op: str
    prior: int | None
    reason: str
    after: Mapping[str, Json] | None
    digest: str
