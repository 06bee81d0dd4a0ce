"""`holdfast review run | list`, `holdfast worker`, `holdfast cost`."""

from __future__ import annotations

from holdfast.cli.opening import opened_vault
from holdfast.cli.output import Column
from holdfast.core.codec import plain
from holdfast.model.ids import short
from holdfast.model.space import DEFAULT_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.vault import Vault
    from holdfast.model.job import Budget, Job, Spent

POLL_SECONDS = 1.0
WAIT_POLL_SECONDS = 0.05
_OPEN = ("waiting", "running")


def run(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        done = [*vault.review(everything=call["all"])]
        if call["wait"]:
            done += _waited(vault)
        out.emit(plain(done), lambda: "\n".join(map(line_of, done)))
        if not done:
            elsewhere = any(job.state in _OPEN for job in vault.reviews(limit=1_000))
            out.note("Another program is at it" if elsewhere else "No review is due")


def _waited(vault: Vault) -> list[Job]:
    """Do what others let go of, until nobody has anything left."""
    from threading import Event

    done: list[Job] = []
    pause = Event()
    while any(job.state in _OPEN for job in vault.reviews(limit=1_000)):
        pause.wait(WAIT_POLL_SECONDS)
        done += vault.review()
    return done


def list_reviews(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        rows: list[dict[str, Any]] = []
        for job in vault.reviews(limit=call["limit"]):
            fields: Any = plain(job)
            answer = job.answer
            rows.append(
                {
                    **fields,
                    "messages": f"{job.first}–{job.last}",
                    "by": "" if answer is None else answer.reviewer,
                    "came_of_it": _counts(job) if job.state == "done" else "",
                    "note": "" if answer is None else answer.note,
                }
            )
        out.table(rows, _REVIEWS, empty="No review was due yet")


_REVIEWS = (
    Column(title="REVIEW", key="number", right=True),
    Column(title="SESSION", key="session", show=short),
    Column(title="MESSAGES", key="messages"),
    Column(title="STATE", key="state"),
    Column(title="BY", key="by"),
    Column(title="WHAT CAME OF IT", key="came_of_it"),
    Column(title="NOTE", key="note"),
)


def worker(call: Call, out: Output) -> None:
    from threading import Event

    with opened_vault(call, makes=True) as vault:
        if not call["once"]:
            out.note(f"Working on {vault.where}; stop with Ctrl-C")
        pause = Event()
        while True:
            if gone := vault.sweep():
                what = "artifact" if len(gone) == 1 else "artifacts"
                out.note(f"Let go of {len(gone)} {what} that nothing refers to")
            for job in vault.review():
                out.emit(plain(job), line_of(job))
                out.flush()
            for run in vault.finish_runs():
                out.emit(plain(run), f"run {short(run.id)} of {run.agent} {run.state}")
                out.flush()
            if call["once"] or pause.wait(POLL_SECONDS):
                return


def cost(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        found = vault.costs(since=call["since"], until=call["until"])
        budget = vault.budget(call["space"] or DEFAULT_SPACE)
        rows = [{name: plain(getattr(each, name)) for name in each.fields_} for each in found]
        for row, each in zip(rows, found, strict=True):
            row["money"] = _money(each)
        if out.json:
            out.emit({"spent": rows, "budget": plain(budget)}, "")
            return
        out.table(rows, _COLUMNS, empty="No model was called")
        out.note(_budget_line(budget))


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


def _budget_line(budget: Budget) -> str:
    today = f"{budget.tokens_today:,} of {budget.tokens_day:,} tokens"
    if budget.micros_today:
        today += f", {_units(budget.micros_today)} of {_units(budget.micros_day)}"
    match budget.state:
        case "off":
            why = "no model is set up" if not budget.model else "calls of models are off"
            return f"Today: {today}; {why}, the rules review"
        case "spent":
            return f"Today: {today}; the budget is spent, the rules review until tomorrow (UTC)"
        case "open":
            return f"Today: {today}, with {budget.tokens_review:,} for one review"


def _money(spent: Spent) -> str:
    """In whole units with six places; nothing where no price is known."""
    if spent.unpriced == spent.calls:
        return ""
    return f"{_units(spent.micros)}{' and more' if spent.unpriced else ''}"


def _units(micros: int) -> str:
    units, millionths = divmod(micros, 1_000_000)
    return f"{units}.{millionths:06}"


def line_of(job: Job) -> str:
    who = "" if job.answer is None else f" by {job.answer.reviewer}"
    why = f" ({job.answer.note})" if job.answer is not None and job.answer.note else ""
    place = f"session {short(job.session)}, messages {job.first} to {job.last}"
    return f"{place}: {job.state}{who}, {_counts(job)}{why}"


def _counts(job: Job) -> str:
    outcomes = () if job.answer is None else job.answer.outcomes
    return ", ".join(
        f"{sum(each.outcome == word for each in outcomes)} {word}"
        for word in ("applied", "held", "dropped")
    )


def whole(job: Job) -> str:
    """A review with what came of each suggestion."""
    outcomes = () if job.answer is None else job.answer.outcomes
    lines = [line_of(job)]
    for each in outcomes:
        named = each.entry or each.proposal
        target = "" if named is None else f" {short(named)}"
        why = f": {each.why}" if each.why else ""
        lines.append(f"  {each.op} {each.store or each.strategy}{target} {each.outcome}{why}")
    return "\n".join(lines)
