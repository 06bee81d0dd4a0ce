"""`holdfast review run`, `holdfast worker`, `holdfast cost`."""

from __future__ import annotations

from holdfast.cli.opening import opened_vault
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.model.ids import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.job import Job, Spent

POLL_SECONDS = 1.0


def run(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        done = vault.review(everything=call["all"])
        out.emit(plain(done), lambda: "\n".join(map(_line, done)))
        if not done:
            out.note("No review is due")


def worker(call: Call, out: Output) -> None:
    from threading import Event

    with opened_vault(call, makes=True) as vault:
        if not call["once"]:
            out.note(f"Working on {vault.where}; stop with Ctrl-C")
        pause = Event()
        while True:
            for job in vault.review():
                out.emit(plain(job), _line(job))
                out.flush()
            if call["once"] or pause.wait(POLL_SECONDS):
                return


def cost(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        found = vault.costs(since=call["since"], until=call["until"])
        rows = [{name: plain(getattr(each, name)) for name in each.fields_} for each in found]
        for row, each in zip(rows, found, strict=True):
            row["money"] = _money(each)
        out.table(rows, _COLUMNS, empty="No model was called")


_COLUMNS = (
    Column(title="PURPOSE", key="purpose"),
    Column(title="MODEL", key="model"),
    Column(title="CALLS", key="calls", right=True),
    Column(title="FAILED", key="failed", right=True),
    Column(title="TOKENS IN", key="tokens_in", right=True),
    Column(title="TOKENS OUT", key="tokens_out", right=True),
    Column(title="SECONDS", key="took_us", right=True, show=lambda us: f"{us / 1e6:.1f}"),
    Column(title="MONEY", key="money", right=True),
)


def _money(spent: Spent) -> str:
    """In whole units with six places; nothing where no price is known."""
    if spent.unpriced == spent.calls:
        return ""
    units, millionths = divmod(spent.micros, 1_000_000)
    more = " and more" if spent.unpriced else ""
    return f"{units}.{millionths:06}{more}"


def _line(job: Job) -> str:
    outcomes = () if job.answer is None else job.answer.outcomes
    counts = [
        f"{sum(each.outcome == word for each in outcomes)} {word}"
        for word in ("applied", "held", "dropped")
    ]
    who = "" if job.answer is None else f" by {job.answer.reviewer}"
    why = f" ({job.answer.note})" if job.answer is not None and job.answer.note else ""
    place = f"session {short(job.session)}, messages {job.first} to {job.last}"
    return f"{place}: {job.state}{who}, {', '.join(counts)}{why}"
