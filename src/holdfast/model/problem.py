"""What `verify` finds: one thing that is not as it was written."""

from __future__ import annotations

from holdfast.model.value import Value


class Problem(Value):
    """`what` names the table and the row or object; `cure` says what to do about it."""

    code: str
    what: str
    message: str
    cure: str
