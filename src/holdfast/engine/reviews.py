"""Reviews: what was said is read, every few turns, and what is worth keeping is kept.

A review is a job of the vault: the messages of a session between two places, asked for in the
transaction of the message that made it due, so that counts survive a restart and none is asked for
twice. The reviewer thinks outside of every transaction. What it answers is written down first, then
settled one by one, each suggestion together with the job's row: a crash between two of them loses
none and does none twice. What changed since the reviewer looked is never overwritten.
"""

from __future__ import annotations

from datetime import timedelta

from holdfast.core.reviewing import held_for, notice_of, said_of, sound
from holdfast.engine import mounts, spaces
from holdfast.engine.costs import Meter
from holdfast.engine.view import NowView
from holdfast.engine.work import Work, mutate
from holdfast.engine.workers import end_worker, is_gone, new_worker
from holdfast.errors import Held as WriteHeld
from holdfast.errors import HoldfastError, InvalidInput, NotFound
from holdfast.model.ids import ProposalId
from holdfast.model.job import Job, ReviewAnswer, ReviewOutcome
from holdfast.model.names import shown
from holdfast.model.query import EntryQuery
from holdfast.model.review import Known
from holdfast.model.times import from_us
from holdfast.model.value import Value
from holdfast.model.write import Actor, Caller, Write
from holdfast.strategies import STRATEGIES, instructs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.core.preferences import Settings
    from holdfast.engine.work import Core
    from holdfast.model.entry import Entry
    from holdfast.model.job import Settled
    from holdfast.model.message import Message
    from holdfast.model.review import Said, Suggestion
    from holdfast.model.session import Session
    from holdfast.model.space import Store
    from holdfast.ports import Snapshot, Transaction

HELD_FOR = timedelta(minutes=10)
TRIES_MAX = 100
# After so many tries that broke off, a review is left to the reviewer that works without help: it
# is quick, and a call of a model is not paid for again and again.
HELPED_TRIES_MAX = 2
# So many sessions are looked at for the review to make next, however many wait.
LOOKED_AT = 64
KNOWN_MAX = 500
MESSAGES_MAX = 10_000


# When a review is due


def schedule(work: Work, store: Store, session: Session, message: Message) -> bool:
    """Ask for a review when users said enough since the last one."""
    turns = work.settings(store).whole("review.turns")
    reviewed = work.tx.use(session)[3]
    if not turns or work.tx.turns_since(session, reviewed) < turns:
        return False
    ask(work.tx, session, reviewed, message.place, work.caller.user, work.at_us)
    return True


def is_left(work: Work) -> bool:
    """Whether a review waits that nobody alive is at."""
    return any(not _is_held(job, work.at_us) for job in work.tx.open_jobs(LOOKED_AT))


def ask(tx: Transaction, session: Session, reviewed: int, last: int, user: str, at_us: int) -> Job:
    job = Job(
        number=tx.new_job_number(),
        session=session.id,
        session_number=session.number,
        space_name=session.space_name,
        first=reviewed + 1,
        last=last,
        user=user,
        state="waiting",
        made=from_us(at_us),
    )
    tx.put_job(job)
    tx.put_reviewed(session, last)
    return job


def ask_for_all(core: Core) -> int:
    """Ask for a review of everything that none has read, however little it is; of what was given
    up, once more."""

    def unit(tx: Transaction) -> int:
        failed = tx.failed_jobs()
        for job in failed:
            tx.put_job(job.replace(state="waiting", tries=0, done=None))
        found = tx.unreviewed()
        for session in found:
            messages, _, _, reviewed = tx.use(session)
            ask(tx, session, reviewed, messages, session.user, core.clock())
        return len(failed) + len(found)

    return core.storage.write(unit)


def news(work: Work, session: Session, settings: Settings) -> tuple[str, ...]:
    """What reviews of the session did since it last heard of them."""
    done = work.tx.untold_jobs(session)
    for job in done:
        work.tx.put_job(job.replace(told=True))
    level = settings.word("review.notices")
    if level == "off":
        return ()
    return tuple(
        [
            notice_of(outcome.op, entry.text, f"{name}, {outcome.op}", verbose=level == "verbose")
            for job in done
            for outcome, name, entry in _applied(work, job)
        ]
    )


def _applied(work: Work, job: Job) -> Iterator[tuple[ReviewOutcome, str, Entry]]:
    for outcome in () if job.answer is None else job.answer.outcomes:
        if outcome.outcome == "applied" and outcome.entry is not None:
            try:
                store = mounts.store_named(work.tx, job.space_name, outcome.store, outcome.strategy)
            except NotFound:
                continue
            entry = work.tx.entry(store, outcome.entry)
            if entry is not None and (entry.state != "forgotten" or _retired(work, entry)):
                yield outcome, store.label, work.gate(store).veiled(entry)


def _retired(work: Work, entry: Entry) -> bool:
    """Whether a review forgot it, and nobody else since."""
    change = work.tx.change(entry.revision)
    return change is not None and change.actor.startswith("reviewer:")


# Doing it


class Held(Value):
    """A job that a worker holds."""

    core: Core
    job: Job
    worker: str

    @property
    def settings(self) -> Settings:
        return self.core.preferences.settings(self.job.space_name)

    def own(self, tx: Transaction) -> Job | None:
        """The job as it is now; None when somebody else holds it."""
        now = tx.job(self.job.number)
        return now if now is not None and now.worker == self.worker else None

    def renew(self, tx: Transaction) -> None:
        """A call of a model begins, which may take as long as it may take."""
        job = self.own(tx)
        if job is not None:
            patience = HELD_FOR + timedelta(seconds=self.settings.whole("model.timeout_s"))
            lease_us = self.core.clock() + patience // timedelta(microseconds=1)
            tx.put_job(job.replace(lease_us=max(job.lease_us, lease_us)))

    def caller(self, reviewer: str) -> Caller:
        return Caller(
            actor=Actor(kind="reviewer", name=reviewer),
            session=self.job.session,
            user=self.job.user,
        )


def run_due(core: Core) -> Iterator[Job]:
    """Do the jobs that wait, one after the other; those that nobody alive holds too."""
    while not core.background.stopped:
        worker = new_worker(core.random(8).hex())
        try:
            job = core.storage.write(lambda tx, name=worker: _claim(core, tx, name))
            if job is None:
                return
            done = _run(Held(core=core, job=job, worker=worker))
        finally:
            end_worker(worker)
        if done is not None:
            yield done


def _claim(core: Core, tx: Transaction, worker: str) -> Job | None:
    """The job to do next: one at a time a session, in their order; of those the one that was tried
    the least, so that none which breaks its worker stands before the others."""
    at_us = core.clock()
    free: list[Job] = []
    for job in tx.open_jobs(LOOKED_AT):
        if _is_held(job, at_us):
            continue
        if job.tries >= TRIES_MAX:
            tx.put_job(job.replace(state="failed", worker=None, done=from_us(at_us)))
        else:
            free.append(job)
    if not free:
        return None
    first = min(free, key=lambda job: (job.tries, job.number))
    lease_us = at_us + HELD_FOR // timedelta(microseconds=1)
    mine = first.replace(state="running", worker=worker, lease_us=lease_us, tries=first.tries + 1)
    tx.put_job(mine)
    return mine


def _is_held(job: Job, at_us: int) -> bool:
    return job.worker is not None and job.lease_us > at_us and not is_gone(job.worker)


def _run(held: Held) -> Job | None:
    """The job when it is done; None when it was taken away meanwhile."""
    answer = held.job.answer
    if answer is None:
        answer = _think(held)
        if not _keep(held, answer):
            return None
    for place in range(len(answer.outcomes), len(answer.suggestions)):
        if not _settle(held, answer, place):
            return None

    def finish(tx: Transaction) -> Job | None:
        job = held.own(tx)
        if job is None or job.answer is None:
            return None
        after = job.replace(
            state="done",
            done=from_us(held.core.clock()),
            worker=None,
            answer=job.answer.replace(suggestions=()),
        )
        tx.put_job(after)
        return after

    return held.core.storage.write(finish)


def _think(held: Held) -> ReviewAnswer:
    """Ask the reviewers in turn, outside of every transaction. The last one works without help."""
    said, known = held.core.storage.read(lambda snapshot: _look(held, snapshot))
    settings, notes = held.settings, list[str]()
    meter = Meter(held.core, settings, "review", held.job.number, held.renew)
    reviewers = held.core.reviewers(settings) if said else ()
    if held.job.tries > HELPED_TRIES_MAX and len(reviewers) > 1:
        notes += [f"{each.name}: interrupted" for each in reviewers[:-1]]
        reviewers = reviewers[-1:]
    for reviewer in reviewers:
        try:
            found = reviewer.review(said, known, meter)
        except HoldfastError as exc:
            notes.append(f"{reviewer.name}: {exc.code}")
            continue
        return ReviewAnswer(
            reviewer=reviewer.name, note="; ".join(notes), suggestions=_checked(found, said)
        )
    return ReviewAnswer(reviewer="none", note="; ".join(notes))


def _look(held: Held, snapshot: Snapshot) -> tuple[Sequence[Said], Sequence[Known]]:
    job = held.job
    session = snapshot.session(job.session)
    assert session is not None
    messages = snapshot.messages(session, job.first, min(job.last - job.first + 1, MESSAGES_MAX))
    said = [said_of(each, session) for each in messages if each.text and not each.rewound]
    view = NowView(snapshot, held.core.clock(), held.caller("look"), held.core.preferences)
    known = [
        Known(
            strategy=store.strategy,
            store=store.name,
            entry=entry.id,
            revision=entry.revision,
            text=entry.text,
            kind=entry.kind,
            subject=entry.subject,
            origin=entry.origin,
            pinned=entry.pinned,
        )
        for store in mounts.seen_stores(snapshot, job.space_name)
        if STRATEGIES[store.strategy].HOLDS == "entries"
        for _, entry in zip(range(KNOWN_MAX), view.shown(store, EntryQuery()), strict=False)
    ]
    return said, known


def _checked(found: Sequence[Suggestion], said: Sequence[Said]) -> tuple[Suggestion, ...]:
    good: list[Suggestion] = []
    for each in found:
        try:
            good.append(sound(each, said))
        except HoldfastError:
            continue
    return tuple(good)


def _keep(held: Held, answer: ReviewAnswer) -> bool:
    def unit(tx: Transaction) -> bool:
        job = held.own(tx)
        if job is not None:
            tx.put_job(job.replace(answer=answer))
        return job is not None

    return held.core.storage.write(unit)


def _settle(held: Held, answer: ReviewAnswer, place: int) -> bool:
    """Settle one suggestion, once. One that the store refuses is dropped, with the reason."""
    try:
        return _settle_once(held, answer, place, "")
    except WriteHeld as exc:
        return _settle_once(held, answer, place, "screening", ProposalId(exc.proposal))
    except HoldfastError as exc:
        return _settle_once(held, answer, place, exc.code)


def _settle_once(
    held: Held, answer: ReviewAnswer, place: int, refused: str, waits: ProposalId | None = None
) -> bool:
    suggestion = answer.suggestions[place]

    def unit(work: Work) -> bool:
        job = held.own(work.tx)
        if job is None or job.answer is None or len(job.answer.outcomes) != place:
            return False
        outcome = _outcome(suggestion, "held" if waits else "dropped", refused)
        outcome = outcome.replace(proposal=waits)
        if not refused:
            outcome = _apply(work, job.space_name, suggestion, held.settings)
        outcomes = (*job.answer.outcomes, outcome)
        work.tx.put_job(job.replace(answer=job.answer.replace(outcomes=outcomes)))
        return True

    caller, write = held.caller(answer.reviewer), Write(reason=suggestion.reason)
    return mutate(held.core, caller, write, "review", {}, unit)


def _apply(work: Work, space: str, suggestion: Suggestion, settings: Settings) -> ReviewOutcome:
    from holdfast.engine.proposals import propose, was_rejected

    store = spaces.written_store(work, _home(work, space, suggestion))
    wanted, target, why = _rebased(work, store, suggestion)
    if not why and was_rejected(work, store, wanted):
        why = "was_rejected"
    if why:
        return _outcome(suggestion, "dropped", why)
    why = held_for(wanted, target, settings, instructs=instructs(store.strategy))
    if why:
        proposal = propose(work, space, wanted.replace(store=store.called), "review")
        return _outcome(suggestion, "held", why).replace(proposal=proposal.id)
    entry = STRATEGIES[store.strategy].accept(work, store, _with_sources(work, wanted, target))
    return _outcome(suggestion, "applied", "").replace(entry=entry.id, store=store.name)


def _home(work: Work, space: str, suggestion: Suggestion) -> Store:
    """The store that it is for; where the space has several of its own that would do, the first."""
    if suggestion.strategy not in STRATEGIES:
        raise InvalidInput(
            "suggestion_unsound",
            f"a suggestion was dropped: there is no strategy {shown(suggestion.strategy)}",
            hint="the reviewer is wrong; nothing was changed",
        )
    if suggestion.store is None:
        for store in spaces.declared_stores(work.tx, space):
            if store.strategy == suggestion.strategy:
                return store
    store = mounts.store_named(work.tx, space, suggestion.store, suggestion.strategy)
    return mounts.check_writable(store)


def _rebased(
    work: Work, store: Store, suggestion: Suggestion
) -> tuple[Suggestion, Entry | None, str]:
    """The suggestion on what is there now, with its target; or why it is dropped.

    A target that moved but says what the reviewer saw is taken as it is now.
    """
    if suggestion.target is None:
        same = [entry for entry in work.same(store, suggestion.text) if work.sees(entry)]
        if any(entry.state == "forgotten" for entry in same):
            return suggestion, None, "was_forgotten"
        return suggestion, None, "is_known" if same else ""
    target = work.tx.entry(store, suggestion.target)
    if target is None or target.state == "forgotten":
        return suggestion, None, "was_forgotten"
    if target.pinned:
        return suggestion, target, "is_pinned"
    if target.revision == suggestion.revision:
        return suggestion, target, ""
    seen = next(
        (change for change in work.history(target) if change.seq == suggestion.revision), None
    )
    if seen is None or seen.after is None or seen.after["text"] != target.text:
        return suggestion, target, "has_changed"
    return suggestion.replace(revision=target.revision), target, ""


def _with_sources(work: Work, suggestion: Suggestion, target: Entry | None) -> Suggestion:
    """The suggestion with the messages that it rests on, which the entry keeps."""
    metadata = dict({} if target is None else target.metadata)
    given = suggestion.details.get("metadata")
    metadata |= given if isinstance(given, dict) else {}
    metadata["said_in"] = str(work.session_id)
    metadata["evidence"] = [*suggestion.evidence]
    return suggestion.replace(details={**suggestion.details, "metadata": metadata})


def _outcome(suggestion: Suggestion, outcome: Settled, why: str) -> ReviewOutcome:
    return ReviewOutcome(
        op=suggestion.op,
        strategy=suggestion.strategy,
        store=suggestion.store,
        outcome=outcome,
        why=why,
    )
