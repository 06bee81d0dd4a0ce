"""The strategies, one module each, by name: what a store keeps, shows and offers.

A new one is a module with what `ports.Strategy` asks for and a `NAME`, and a line here.
"""

from __future__ import annotations

from holdfast.strategies import (
    artifacts,
    directory,
    keyvalue,
    narrative,
    profile,
    records,
    skills,
    transcript,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.ports import Strategy

STRATEGIES: Mapping[str, Strategy] = {
    artifacts.NAME: artifacts,
    directory.NAME: directory,
    keyvalue.NAME: keyvalue,
    narrative.NAME: narrative,
    profile.NAME: profile,
    records.NAME: records,
    skills.NAME: skills,
    transcript.NAME: transcript,
}


def instructs(strategy: str) -> bool:
    """Whether what a strategy keeps tells agents how to work, as its `INSTRUCTS` says: a reviewer's
    suggestion for it waits for a person unless policy says otherwise."""
    return getattr(STRATEGIES[strategy], "INSTRUCTS", False)
