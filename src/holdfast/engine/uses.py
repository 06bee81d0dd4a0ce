"""How often entries are used: counted here, and written in batches, without a trace in the log.

A use is worth less than the answer that it came with. So counts wait until there are many or the
vault is closed, and those that cannot be written then are lost.
"""

from __future__ import annotations

from threading import Lock

from holdfast.errors import Closed, StorageFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.ports import Storage
    from holdfast.ports.links import Use

BATCH = 64


class Uses:
    """The uses that are not written yet, by the number of the entry."""

    def __init__(self) -> None:
        self._waiting: dict[int, Use] = {}
        self._lock = Lock()

    def note(self, numbers: Iterable[int], at_us: int) -> bool:
        """Count a use of each; True when it is time to write them."""
        with self._lock:
            for number in numbers:
                count, last_us = self._waiting.get(number, (0, 0))
                self._waiting[number] = (count + 1, max(last_us, at_us))
            return len(self._waiting) >= BATCH

    def beside(self, written: Mapping[int, Use], numbers: Iterable[int]) -> Mapping[int, Use]:
        """What is written of these, with what waits."""
        with self._lock:
            waiting = {each: self._waiting[each] for each in numbers if each in self._waiting}
        found = dict(written)
        for number, (count, last_us) in waiting.items():
            known, last_known = found.get(number, (0, 0))
            found[number] = (known + count, max(last_known, last_us))
        return found

    def flush(self, storage: Storage) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            storage.write(lambda tx: tx.add_uses(waiting))
        except (StorageFailed, Closed):
            return  # see above
