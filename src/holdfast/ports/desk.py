"""What a strategy's face works with: one store of a space, as somebody has opened it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeVar

    from holdfast.model.entry import Entry, Json
    from holdfast.model.space import Store
    from holdfast.model.write import Caller, Write
    from holdfast.ports import NotNow, ToldTime, View, Work
    from holdfast.ports.values import ValueUnit

    T = TypeVar("T")
    Timed = TypeVar("Timed", bound=ToldTime)

    class Desk(Protocol):
        """One store, as a strategy's face to callers works on it."""

        @property
        def store(self) -> Store: ...

        @property
        def caller(self) -> Caller: ...

        def folder(self) -> str | None:
            """The folder that the store's space belongs to, None where it has none."""
            ...

        def read(self, unit: Callable[[View, Store], T]) -> T: ...

        def timed(self, unit: Callable[[View, Store], Timed]) -> Timed:
            """The same, told the time that it took where it tells of itself."""
            ...

        def used(self, *entries: Entry) -> None:
            """Count a use of each: it was read or acted upon. Of the past nothing is counted."""
            ...

        def mutate(
            self,
            op: str,
            arguments: Mapping[str, Json],
            unit: Callable[[Work, Store], T],
            write: Write,
            contents: Sequence[bytes] = (),
        ) -> T:
            """Run the unit as one durable change, or give the first answer again. `contents` are
            stored with it, for entries that hold them."""
            ...

        def unsaved_uses(self) -> None:
            """Write down what is counted so far, so that `View.uses` knows it."""
            ...

        def mutate_values(
            self,
            op: str,
            arguments: Callable[[], Mapping[str, Json]],
            unit: ValueUnit[T],
            write: Write = ...,
        ) -> T:
            """A unit that changes values only, given the moment that it takes place at. It leaves
            no trace in the log, so without a session and a key it needs nothing of the log."""
            ...

        def value_data(self, namespace: str, key: str) -> bytes | None:
            """The JSON of a value of the store, None where it is missing."""
            ...

        def write_at_once(self, unit: ValueUnit[T]) -> T | NotNow:
            """Such a unit for a caller that must not wait, as in `Storage.write_at_once`."""
            ...

        def submit(
            self,
            unit: ValueUnit[T],
            done: Callable[[T | None, BaseException | None], None],
        ) -> None:
            """Hand over a unit that changes values only, given the moment that it takes place at.

            `done` follows as in `Storage.submit`. The unit leaves no trace in the log.
            """
            ...
