"""The strategies, one module each, by name: what a store keeps, shows and offers.

A new one is a module with what `ports.Strategy` asks for and a `NAME`, and a line here; or it comes
from another package (see `plugins.py`), and is looked for when something names it. To go through
`STRATEGIES` is to go through those that are built in.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    from collections.abc import Iterator

    from holdfast.ports import Strategy

_BUILT_IN: dict[str, Strategy] = {
    artifacts.NAME: artifacts,
    directory.NAME: directory,
    keyvalue.NAME: keyvalue,
    narrative.NAME: narrative,
    profile.NAME: profile,
    records.NAME: records,
    skills.NAME: skills,
    transcript.NAME: transcript,
}


class Strategies(Mapping[str, "Strategy"]):
    """The built-in strategies, and behind them those of other packages. A name that nothing has
    raises `NotFound`, and what a package offers and cannot give `Unsupported`."""

    def __init__(self, built_in: Mapping[str, Strategy]) -> None:
        self._known = dict(built_in)
        self._built_in = tuple(built_in)

    def __getitem__(self, name: str) -> Strategy:
        known = self._known.get(name)
        if known is None:
            from holdfast.strategies.plugins import load

            known = self._known[name] = load(name, self._built_in)
        return known

    def __contains__(self, name: object) -> bool:
        """Whether it is built in or a package offers it, even if that cannot be loaded."""
        if name in self._known:
            return True
        from holdfast.strategies.plugins import names

        return name in names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._built_in)

    def __len__(self) -> int:
        return len(self._built_in)


STRATEGIES = Strategies(_BUILT_IN)


def instructs(strategy: str) -> bool:
    """Whether what a strategy keeps tells agents how to work, as its `INSTRUCTS` says: a reviewer's
    suggestion for it waits for a person unless policy says otherwise."""
    return getattr(STRATEGIES[strategy], "INSTRUCTS", False)
