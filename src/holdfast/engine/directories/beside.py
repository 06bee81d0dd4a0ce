"""Work that another thread does while this one gets the next piece ready.

Hashing and compressing let go of the interpreter, so two cores are of use. What comes out is in the
order of what went in, and only so much is held between the two.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    A = TypeVar("A")
    B = TypeVar("B")

HELD_MAX = 8


def beside(items: Iterable[A], does: Callable[[A], B]) -> Iterator[B]:
    """What `does` makes of each item. A single item is no reason for a thread."""
    left = iter(items)
    first = list(_some(left, 2))
    if len(first) < 2:
        yield from map(does, first)
        return
    from queue import SimpleQueue
    from threading import Thread

    waiting: SimpleQueue[list[A]] = SimpleQueue()
    ready: SimpleQueue[tuple[list[B], BaseException | None]] = SimpleQueue()

    def work() -> None:
        while item := waiting.get():
            try:
                ready.put(([does(item[0])], None))
            except BaseException as exc:  # noqa: BLE001 - raised where it is asked for
                ready.put(([], exc))

    thread = Thread(target=work, name="holdfast-beside", daemon=True)
    thread.start()
    held = 0
    try:
        for more in (first, left):
            for item in more:
                waiting.put([item])
                held += 1
                if held == HELD_MAX:
                    yield _given(*ready.get())
                    held -= 1
        while held:
            yield _given(*ready.get())
            held -= 1
    finally:
        waiting.put([])
        thread.join()


def _some(items: Iterator[A], count: int) -> Iterator[A]:
    for _ in range(count):
        yield from _next(items)


def _next(items: Iterator[A]) -> Iterator[A]:
    for item in items:
        yield item
        return


def _given(found: list[B], error: BaseException | None) -> B:
    if error is not None:
        raise error
    return found[0]
