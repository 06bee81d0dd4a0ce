"""What an agent says: masked, shown as it comes, and kept in the vault, a stretch at a time.

Of a very long log the beginning and the end are kept. What is kept of the last words on standard
output becomes the agent's message in its session.
"""

from __future__ import annotations

from time import monotonic

from holdfast.core.masking import Masker
from holdfast.model.run import Output
from holdfast.model.times import from_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from holdfast.engine.work import Core
    from holdfast.model.run import Run, Stream
    from holdfast.ports import Transaction

    Sink = Callable[[Stream, bytes], None]

HEAD_BYTES_MAX = 8 * 1_048_576
TAIL_BYTES_MAX = 1_048_576
MESSAGE_BYTES_MAX = 262_144
WAITING_BYTES_MAX = 262_144
WAITING_S_MAX = 0.25


def nobody(_stream: Stream, _data: bytes) -> None:
    """A sink for what nobody watches."""


class Keeper:
    """Hears one agent: `process.Hearing`."""

    def __init__(self, core: Core, run: Run, forms: Iterable[bytes], sink: Sink) -> None:
        self._core, self._run, self._sink = core, run, sink
        forms = tuple(forms)
        self._maskers: dict[Stream, Masker] = {"stdout": Masker(forms), "stderr": Masker(forms)}
        self._waiting: list[tuple[Stream, int, bytes]] = []
        self._waiting_bytes = 0
        self._since = 0.0
        self._place = self._kept = 0
        self._tail: list[tuple[Stream, int, bytes]] = []
        self._tail_bytes = 0
        self._words: list[bytes] = []
        self._words_bytes = 0
        self.bytes = self.lost_bytes = self._words_lost = 0

    def heard(self, stream: Stream, data: bytes) -> None:
        self._take(stream, self._maskers[stream].feed(data))

    def tick(self) -> None:
        if self._waiting and monotonic() - self._since >= WAITING_S_MAX:
            self._flush()

    def end(self) -> None:
        """All was said: keep the rest."""
        for stream, masker in self._maskers.items():
            self._take(stream, masker.end())
        for stream, at_us, data in self._tail:
            self._wait(stream, at_us, data)
        self._tail = []
        self._flush()

    def words(self) -> str:
        """What was said on standard output, of a very long one the end."""
        said = b"".join(self._words).decode(errors="replace")
        if not self._words_lost:
            return said
        return f"[{self._words_lost:,} bytes before this are in the run's log]\n{said}"

    def _take(self, stream: Stream, data: bytes) -> None:
        if not data:
            return
        self._sink(stream, data)
        self.bytes += len(data)
        if stream == "stdout":
            self._remember(data)
        room = HEAD_BYTES_MAX - self._kept
        if room > 0:
            self._kept += len(data[:room])
            self._wait(stream, self._core.clock(), data[:room])
        if data[max(room, 0) :]:
            self._keep_tail(stream, data[max(room, 0) :])

    def _remember(self, data: bytes) -> None:
        self._words.append(data)
        self._words_bytes += len(data)
        while self._words_bytes - len(self._words[0]) >= MESSAGE_BYTES_MAX:
            gone = len(self._words.pop(0))
            self._words_bytes -= gone
            self._words_lost += gone

    def _keep_tail(self, stream: Stream, data: bytes) -> None:
        self._tail.append((stream, self._core.clock(), data))
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0][2]) >= TAIL_BYTES_MAX:
            gone = len(self._tail.pop(0)[2])
            self._tail_bytes -= gone
            self.lost_bytes += gone

    def _wait(self, stream: Stream, at_us: int, data: bytes) -> None:
        if not self._waiting:
            self._since = monotonic()
        if self._waiting and self._waiting[-1][0] == stream:
            _, first_us, before = self._waiting[-1]
            self._waiting[-1] = (stream, first_us, before + data)
        else:
            self._waiting.append((stream, at_us, data))
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= WAITING_BYTES_MAX:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        pieces = [
            Output(place=place, stream=stream, at=from_us(at_us), data=data)
            for place, (stream, at_us, data) in enumerate(self._waiting, self._place + 1)
        ]

        def unit(tx: Transaction) -> Any:
            for piece in pieces:
                tx.put_output(self._run, piece)

        self._core.storage.write(unit)
        self._place += len(pieces)
        self._waiting, self._waiting_bytes = [], 0
