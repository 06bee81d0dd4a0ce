"""Do the reviews of a vault: of every message that begins with "fact:" a note, and of every one of
a tool a proposal. A line when it begins.

python review_worker.py VAULT
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import holdfast
from holdfast.model.review import Suggestion

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


if __name__ == "__main__":
    with holdfast.open(sys.argv[1], reviewers=lambda _: (Facts(),)) as vault:
        os.write(1, b"begun\n")
        vault.review()
