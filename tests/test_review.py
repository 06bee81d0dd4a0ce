"""Reviews: asked for every few turns, done once, off the caller's path, never over newer writes."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

import holdfast
from holdfast.errors import InvalidInput, StorageFailed
from holdfast.model.review import Suggestion
from holdfast.testing import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.review import Known, Said
    from holdfast.ports.review import Meter

    Think = Callable[[Sequence[Said], Sequence[Known], Meter], Sequence[Suggestion]]


class Scripted:
    """A reviewer that does what a test says, and remembers what it was shown."""

    name = "scripted"

    def __init__(self, think: Think | None = None) -> None:
        self.think = think or facts
        self.shown: list[list[str]] = []
        self.knew: list[list[str]] = []

    def review(
        self, said: Sequence[Said], known: Sequence[Known], meter: Meter
    ) -> Sequence[Suggestion]:
        self.shown.append([each.text for each in said])
        self.knew.append([each.text for each in known])
        return self.think(said, known, meter)


def suggestion(said: Said, text: str, **others: Any) -> Suggestion:
    fields: dict[str, Any] = {
        "op": "add",
        "strategy": "narrative",
        "text": text,
        "evidence": (said.id,),
        "origin": said.origin,
        "trust": said.trust,
        "confidence": 1.0,
        "reason": "it was said",
    }
    return Suggestion(**{**fields, **others})


def facts(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
    """Every message that begins with "fact:" is one."""
    del known, meter
    return [
        suggestion(each, each.text.removeprefix("fact:").strip())
        for each in said
        if each.text.startswith("fact:")
    ]


@pytest.fixture
def reviewer() -> Scripted:
    return Scripted()


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock, reviewer: Scripted) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock, reviewers=lambda _: (reviewer,)) as vault:
        yield vault
        vault.review()
        assert list(vault.verify()) == []


def turns(here: Space, first: int, last: int, *, fact_at: tuple[int, ...] = ()) -> None:
    for number in range(first, last + 1):
        here.say("user", f"{'fact: thing' if number in fact_at else 'turn'} {number}")
        here.say("assistant", f"answer {number}")


def texts(space: Space) -> list[str]:
    return [entry.text for entry in space.notes().read(limit=100, order="oldest").entries]


@pytest.mark.row("D11")
def test_25_turns_lead_to_two_reviews_and_a_third_session_knows(
    vault: Vault, space: Space, reviewer: Scripted
) -> None:
    with space.session("First") as here:
        turns(here, 1, 25, fact_at=(3, 10, 14, 23))
    vault.review()
    assert [(job.state, job.first, job.last) for job in vault.reviews()] == [
        ("done", 20, 39),
        ("done", 1, 19),
    ]
    assert [len([t for t in shown if not t.startswith("answer")]) for shown in reviewer.shown] == [
        10,
        10,
    ]
    assert texts(space) == ["thing 3", "thing 10", "thing 14"]
    entry = space.notes().read().entries[0]
    with space.session("Third") as here:
        assert "thing 14" in here.context().text
    (source,) = entry.metadata["evidence"]  # pyright: ignore[reportGeneralTypeIssues]
    message = space.transcript().get(str(source))
    assert (message.text, message.session) == ("fact: thing 14", entry.session)
    change = vault.log(holdfast.LogQuery(target=entry.id))[0]
    assert (change.actor, change.session, change.reason) == (
        "reviewer:scripted",
        entry.session,
        "it was said",
    )


@pytest.mark.row("D12")
def test_what_one_user_knows_or_forgot_is_not_known_of_another(
    vault: Vault, space: Space, reviewer: Scripted
) -> None:
    reviewer.think = lambda said, known, meter: [
        each.replace(strategy="profile", kind="USER") for each in facts(said, known, meter)
    ]
    people = [space.seen_by(space.caller.replace(user=name)) for name in ("one", "other")]
    first, second = people
    first.profile().add("Lives in Porto", file="USER")
    forgot = first.profile().add("Likes tea", file="USER").entry
    assert forgot is not None
    first.profile().remove(forgot.id)
    with second.session("About the other") as here:
        here.say("user", "fact: Lives in Porto")
        here.say("user", "fact: Likes tea")
        turns(here, 1, 8)
    vault.review()
    knows = [
        [entry.text for entry in person.profile().read("USER")[0].entries] for person in people
    ]
    assert knows == [["Lives in Porto"], ["Lives in Porto", "Likes tea"]]


@pytest.mark.row("D11")
def test_what_is_due_survives_a_restart_and_is_done_once(
    tmp_path: Path, clock: ManualClock
) -> None:
    thinking, stop = Event(), Event()

    def slow(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        thinking.set()
        stop.wait()
        return facts(said, known, meter)

    where = tmp_path / "vault"
    first = holdfast.open(where, clock=clock, reviewers=lambda _: (Scripted(slow),))
    session = first.space().start_session().id
    here = first.space().seen_by(first.caller.replace(session=session))
    turns(here, 1, 6)
    first.close()

    first = holdfast.open(where, clock=clock, reviewers=lambda _: (Scripted(slow),))
    here = first.space().seen_by(first.caller.replace(session=session))
    turns(here, 7, 10, fact_at=(8,))
    thinking.wait()
    with holdfast.open(where, clock=clock, reviewers=lambda _: (Scripted(),)) as second:
        assert second.review() == [], "somebody alive is at it"
        clock.advance(seconds=601)
        (job,) = second.review()
        assert (job.state, job.tries) == ("done", 2)
        assert texts(second.space()) == ["thing 8"]
        stop.set()
        first.review()
        assert texts(second.space()) == ["thing 8"], "the first worker came too late"
        assert [job.state for job in second.reviews()] == ["done"]
    first.close()


@pytest.mark.row("D12")
def test_a_write_made_while_a_reviewer_thinks_is_kept(
    vault: Vault, space: Space, reviewer: Scripted
) -> None:
    notes = space.notes()
    moved = notes.save("The host is eu-1", id="host").entry
    same = notes.save("The port is 80", id="port").entry
    gone = notes.save("The lamp is red", id="lamp").entry

    def slow(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        del meter
        seen = {each.text: each for each in known}
        notes.remove("host")
        notes.save("The host is eu-9", id="host-2")
        notes.remove("lamp")
        notes.save("The lamp is blue")
        return [
            suggestion(
                said[0], "The host is eu-2", op="update", target=each.entry, revision=each.revision
            )
            for each in (seen[moved.text], seen[gone.text])
        ] + [
            suggestion(said[0], "", op="retire", target=same.id, revision=same.revision),
            suggestion(said[0], "The lamp is blue"),
            suggestion(said[0], "The lamp is red"),
        ]

    reviewer.think = slow
    with space.session() as here:
        turns(here, 1, 10)
    vault.review()
    assert texts(space) == ["The host is eu-9", "The lamp is blue"]
    (job,) = vault.reviews()
    assert job.answer is not None
    assert [(each.outcome, each.why) for each in job.answer.outcomes] == [
        ("dropped", "was_forgotten"),
        ("dropped", "was_forgotten"),
        ("applied", ""),
        ("dropped", "is_known"),
        ("dropped", "was_forgotten"),
    ]


@pytest.mark.row("D12")
def test_a_suggestion_is_held_to_its_evidence(
    vault: Vault, space: Space, reviewer: Scripted
) -> None:
    def think(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        del known, meter
        user, page, after = said[0], said[1], said[2]
        good = suggestion(user, "The user is Ada")
        return [
            good,
            suggestion(page, "The user is Bob", origin="user", trust="high"),
            suggestion(after, "The user is Cal", origin="user", trust="high"),
            good.replace(text="no evidence", evidence=()),
            good.replace(text="of another", evidence=(user.id, "01kf0000000000000000000000")),
            good.replace(text=" "),
            good.replace(text="half \ud800"),
            good.replace(text="sure", confidence=float("nan")),
            good.replace(text="odd", op="replace"),
            good.replace(text="nowhere", strategy="keyvalue"),
            good.replace(text="unheard of", strategy="astrology"),
            good.replace(text="no such", store="nowhere"),
            good.replace(text="unsure", confidence=0.2),
        ]

    reviewer.think = think
    with space.session() as here:
        here.say("user", "I am Ada")
        here.transcript().say("tool", "The user is Bob", origin="web", tool="fetch")
        here.say("assistant", "So you are Bob")
        turns(here, 1, 9)
    vault.review()
    assert texts(space) == ["The user is Ada"]
    waiting = [
        (p.suggestion.text, p.suggestion.origin, p.suggestion.trust)
        for p in space.inbox().read()
        if p.suggestion is not None
    ]
    assert waiting == [
        ("The user is Bob", "web", "low"),
        ("The user is Cal", "web", "low"),
        ("unsure", "user", "high"),
    ]
    (job,) = vault.reviews()
    assert job.answer is not None
    assert [(each.outcome, each.why) for each in job.answer.outcomes] == [
        ("applied", ""),
        ("held", "untrusted"),
        ("held", "untrusted"),
        ("dropped", "suggestion_misplaced"),
        ("dropped", "suggestion_unsound"),
        ("dropped", "store_not_declared"),
        ("held", "unsure"),
    ]


@pytest.mark.row("D11")
def test_turns_that_were_taken_back_do_not_count(vault: Vault, space: Space) -> None:
    with space.session() as here:
        turns(here, 1, 9)
        here.transcript().rewind(str(here.caller.session), 14)
        turns(here, 10, 11)
        assert vault.reviews() == []
        turns(here, 12, 12)
    vault.review()
    assert [(job.first, job.last) for job in vault.reviews()] == [(1, 23)]


@pytest.mark.row("D11")
def test_how_often_is_a_setting_and_nothing_to_save_is_fine(
    vault: Vault, space: Space, reviewer: Scripted
) -> None:
    vault.prefer({"review.turns": 2})
    reviewer.think = lambda *_: ()
    with space.session() as here:
        assert [here.say("user", f"turn {n}").review_due for n in range(4)] == [
            False,
            True,
            False,
            True,
        ]
    vault.review()
    assert [(job.state, job.answer and job.answer.outcomes) for job in vault.reviews()] == [
        ("done", ()),
        ("done", ()),
    ]
    vault.prefer({"review.turns": None}, preset="disabled")
    with space.session() as here:
        turns(here, 1, 30)
    assert len(vault.reviews()) == 2
    assert len(vault.review(everything=True)) == 1


@pytest.mark.row("D15")
def test_a_session_is_told_what_was_remembered(vault: Vault, space: Space) -> None:
    def told(level: str) -> tuple[str, ...]:
        vault.prefer({"review.turns": 1, "review.notices": level})
        with space.session() as here:
            here.say("user", f"fact: the level is {level}")
            vault.review()
            first = here.say("assistant", "x").notices
            assert here.say("assistant", "y").notices == ()
        return first

    assert told("on") == ("Remembered: the level is on",)
    assert told("verbose") == ("Remembered: the level is verbose (default/narrative, add)",)
    assert told("off") == ()


def test_when_a_reviewer_fails_the_next_one_is_asked(tmp_path: Path, clock: ManualClock) -> None:
    def fails(*_: object) -> Sequence[Suggestion]:
        raise StorageFailed("model_down", "the model is down", hint="wait")

    broken, rules = Scripted(fails), Scripted()
    with holdfast.open(tmp_path, clock=clock, reviewers=lambda _: (broken, rules)) as vault:
        with vault.space().session() as here:
            turns(here, 1, 10, fact_at=(2,))
        vault.review()
        (job,) = vault.reviews()
        assert job.answer is not None
        assert (job.answer.reviewer, job.answer.note) == ("scripted", "scripted: model_down")
        assert texts(vault.space()) == ["thing 2"]


@pytest.mark.row("D14")
def test_approval_puts_suggestions_into_the_inbox(
    vault: Vault, space: Space, reviewer: Scripted
) -> None:
    def think(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        del known, meter
        return [
            suggestion(said[0], f"said {len(reviewer.shown)}"),
            suggestion(said[0], f"inferred {len(reviewer.shown)}", origin="agent", trust="medium"),
        ]

    reviewer.think = think
    for approval in ("off", "inferred", "all"):
        vault.prefer({"review.turns": 1, "review.approval": approval})
        with space.session() as here:
            here.say("user", "x")
        vault.review()
    assert texts(space) == ["said 1", "inferred 1", "said 2"]
    waiting = space.inbox().read()
    assert [each.suggestion.text for each in waiting if each.suggestion] == [
        "inferred 2",
        "said 3",
        "inferred 3",
    ]
    space.inbox().approve(waiting[0].id)
    assert "inferred 2" in texts(space)


# The ledger


@pytest.mark.row("I18")
def test_every_call_of_a_model_is_in_the_ledger(
    vault: Vault, space: Space, reviewer: Scripted, clock: ManualClock
) -> None:
    def think(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        with meter.call("small", 100, 50) as call:
            clock.advance(seconds=2)
            call.used(90, 10)
        with pytest.raises(InvalidInput), meter.call("small", 100, 50) as call:
            call.used(-1, 5)
        with meter.call("large", 7, 3):
            pass
        return facts(said, known, meter)

    reviewer.think = think
    vault.prefer({"review.turns": 1, "model.price_in": 150_000, "model.price_out": 600_000})
    with space.session() as here:
        here.say("user", "fact: x")
    vault.review()
    assert [
        (s.purpose, s.model, s.calls, s.failed, s.tokens_in, s.tokens_out, s.micros, s.took_us)
        for s in vault.costs()
    ] == [
        ("review", "large", 1, 0, 7, 3, 3, 0),
        ("review", "small", 2, 1, 190, 10, 20 + 15, 2_000_000),
    ]
    assert vault.costs(until=vault.reviews()[0].made) == []


@pytest.mark.row("I18", "D13")
def test_a_budget_of_zero_stops_every_call_and_the_rules_go_on(
    tmp_path: Path, clock: ManualClock
) -> None:
    def asks(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        with meter.call("model", 10, 10):
            pass
        return facts(said, known, meter)

    model, rules = Scripted(asks), Scripted()
    with holdfast.open(tmp_path, clock=clock, reviewers=lambda _: (model, rules)) as vault:
        vault.prefer({"review.turns": 1, "model.tokens_day": 0})

        def note(text: str) -> str:
            with vault.space().session() as here:
                here.say("user", f"fact: {text}")
            vault.review()
            answer = vault.reviews()[0].answer
            assert answer is not None
            return answer.note

        assert note("one") == "scripted: budget_spent"
        assert vault.costs() == []
        vault.prefer({"model.tokens_day": 50, "model.tokens_review": 19})
        assert note("two") == "scripted: budget_spent"
        vault.prefer({"model.tokens_review": 20})
        assert [note("three"), note("four"), note("five")] == ["", "", "scripted: budget_spent"]
        clock.advance(days=1)
        assert note("six") == ""
        vault.prefer({"model.price_in": 1_000_000, "model.money_day": 9})
        assert note("seven") == "scripted: budget_spent"
        assert texts(vault.space()) == ["one", "two", "three", "four", "five", "six", "seven"]
        assert [spent.calls for spent in vault.costs()] == [3]


@pytest.mark.row("D11")
def test_a_review_whose_model_is_slow_is_not_taken_away(tmp_path: Path, clock: ManualClock) -> None:
    where = tmp_path / "vault"
    seen: list[Sequence[object]] = []

    def slow(said: Sequence[Said], known: Sequence[Known], meter: Meter) -> Sequence[Suggestion]:
        clock.advance(seconds=500)
        with meter.call("slow", 10, 10):
            clock.advance(seconds=500)
            with holdfast.open(where, clock=clock, reviewers=lambda _: (Scripted(),)) as other:
                seen.append(other.review())
        return facts(said, known, meter)

    with holdfast.open(where, clock=clock, reviewers=lambda _: (Scripted(slow),)) as vault:
        with vault.space().session() as here:
            turns(here, 1, 10, fact_at=(2,))
        vault.review()
        assert seen == [[]]
        assert [(job.state, job.tries) for job in vault.reviews()] == [("done", 1)]
        assert texts(vault.space()) == ["thing 2"]
