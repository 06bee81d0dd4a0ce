"""Do the reviews of a vault: of every message that begins with "fact:" a note, and of every one of
a tool a proposal. Killed (SIGKILL, by itself) when it asks for the time or for chance the so many
times: in the middle of whatever it is doing then.

python review_worker.py VAULT [CALLS]
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from typing import TYPE_CHECKING

import holdfast
from holdfast.model.review import Suggestion
from holdfast.wiring import clock_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.review import Known, Said
    from holdfast.ports.review import Meter


class Facts:
    name = "facts"

    def review(
        self, said: Sequence[Said], known: Sequence[Known], meter: Meter
    ) -> Sequence[Suggestion]:
        del known, meter
        return [
            Suggestion(
                op="add",
                strategy="narrative",
                text=each.text.removeprefix("fact:").strip(),
                evidence=(each.id,),
                origin=each.origin,
                trust=each.trust,
                confidence=1.0,
                reason="it was said",
            )
            for each in said
            if each.text.startswith("fact:")
        ]


def main() -> None:
    last = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    calls = itertools.count(1)

    def count() -> None:
        if next(calls) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def clock() -> int:
        count()
        return clock_us()

    def random(size: int) -> bytes:
        count()
        return os.urandom(size)

    with holdfast.open(
        sys.argv[1], reviewers=lambda _: (Facts(),), clock=clock, random=random
    ) as vault:
        vault.review()


if __name__ == "__main__":
    main()
