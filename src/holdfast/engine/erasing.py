"""Erasing, whatever it is that is erased.

First one unit of work takes the rows, what the log says of them and the answers that tell of them:
from then on no question is answered from them, and the erasure is pending. Then what nothing leads
to any more is collected, and the file is written anew, so that neither its free pages nor its log
keep a word. Only when nobody holds old pages, and pieces of what was erased were looked for in all
that the bytes decode to, is it done; that record is the receipt. A process that was killed in
between left it pending, and whoever finishes it later may have no words to look for.
"""

from __future__ import annotations

from holdfast.engine.directories.collect import collect
from holdfast.engine.work import mutate
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from holdfast.engine.work import Core, Work
    from holdfast.model.erasure import Erasure
    from holdfast.model.write import Caller

SPARING_NOTHING_US = -1_000_000


def finish(core: Core, caller: Caller, erasure: Erasure, words: Collection[bytes] = ()) -> Erasure:
    """Bring an erasure to its end; it stays pending where a reader holds old pages."""
    if erasure.state == "done":
        return erasure
    collected = collect(core, SPARING_NOTHING_US)
    scrubbed = core.storage.scrub(words)
    if scrubbed is None:
        return erasure

    def unit(work: Work) -> Erasure:
        now = next(each for each in work.tx.erasures() if each.id == erasure.id)
        if now.state == "done":  # another one was quicker
            return now
        after = now.replace(
            state="done",
            gone={**now.gone, "objects": collected.objects, "bytes": collected.bytes},
            searched=len(words),
            elsewhere=scrubbed.standing,
            copies=scrubbed.copies,
            done=work.at,
        )
        return work.put_erasure(after, now, "receipt")

    meant = {"erasure": erasure.id}
    return mutate(core, caller, Write(), "erasure finish", meant, unit)


def erasures(core: Core, *, pending: bool = False) -> Sequence[Erasure]:
    return core.storage.read(lambda snapshot: snapshot.erasures(pending=pending))


def finish_all(core: Core, caller: Caller) -> Sequence[Erasure]:
    """Bring to their end those that wait; all of them, as they are now."""
    return [finish(core, caller, each) for each in erasures(core, pending=True)]
