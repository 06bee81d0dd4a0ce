"""The rules that records keep to: each rule of each preset, decay, duplicates, contradictions, and
what a review may do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from records_kit import fill, subjects, tools

import holdfast
from holdfast.core.preference_table import TABLE
from holdfast.engine import reviews
from holdfast.errors import Conflict, InvalidInput, Refused
from holdfast.model.review import Suggestion
from holdfast.model.write import Actor, Caller
from holdfast.strategies import STRATEGIES
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.entry import Entry

AGENT = Caller(actor=Actor(kind="agent", name="helper"))
REVIEWER = Actor(kind="reviewer", name="rules")


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


def confirmed(space: Space, body: str, **said: Any) -> Entry:
    """A record that every session sees, whatever the preset."""
    free = space.preferring({"write.start": "confirmed", "write.near": "ignore"})
    return free.records().add(body, **said).entry


def clock_time(clock: ManualClock) -> datetime:
    return datetime.fromtimestamp(clock.us / 1_000_000, UTC)


def preset(space: Space, name: str) -> Space:
    space.prefer({}, preset=name)
    return space


# What the presets say of writing and promoting


@pytest.mark.row("G12")
@pytest.mark.parametrize(
    ("name", "state"),
    [("strict", "draft"), ("balanced", "draft"), ("aggressive", "confirmed"), ("disabled", "")],
)
def test_where_a_new_record_starts(space: Space, name: str, state: str) -> None:
    preset(space, name)
    if state:
        assert space.records().add("The port is 1").entry.state == state
    else:
        with raises(Refused, "records_refused"):
            space.records().add("The port is 1")
        with raises(Refused, "records_refused"):
            tools(space)["memory_add"]("The port is 1")
    assert len(space.records().list()) == (name == "aggressive")


@pytest.mark.row("G12", "G16")
@pytest.mark.parametrize(
    ("name", "outcome"), [("strict", "refused"), ("balanced", "shown"), ("aggressive", "shown")]
)
def test_what_is_nearly_the_same_is_shown_or_refused(space: Space, name: str, outcome: str) -> None:
    there = confirmed(space, "The nightly backup runs at three in the morning", subject="a")
    other = confirmed(space, "Deploys go out on Tuesdays", subject="b")
    preset(space, name)
    near = "The nightly backup runs at three in the early morning"
    if outcome == "refused":
        with raises(Conflict, "record_near"):
            space.records().add(near, subject="c")
    else:
        added = space.records().add(near, subject="c")
        assert [row.id for row in added.near] == [there.handle]
    for different in (
        "The nightly backup runs at four in the morning",
        "The nightly backup does not run at three in the morning",
    ):
        assert space.records().add(different, subject="d").near == ()
    space.prefer({"write.near": "ignore"})
    assert space.records().add(f"{near} today", subject="e").near == ()
    assert other.state == "confirmed"


@pytest.mark.row("G12", "G04")
@pytest.mark.parametrize(("name", "need"), [("strict", 2), ("balanced", 1), ("disabled", 1)])
def test_how_much_support_a_promotion_asks_for(space: Space, name: str, need: int) -> None:
    preset(space, name)
    space.prefer({"write.start": "draft"})
    records = space.records()
    draft = records.add("version 0").entry
    for number in range(need):
        with pytest.raises(Refused, match=rf"{number} of the {need} .*preset {name}") as caught:
            records.promote(draft.id)
        assert caught.value.code == "support_missing"
        if number % 2 == 0:
            records.update(draft.id, f"version {number + 1}")
        else:
            assert records.add(f"version {number}", subject="version 0").outcome == "again"
    assert records.promote(draft.id).outcome == "promoted"


@pytest.mark.row("G12", "G04")
def test_aggressive_promotes_at_once(space: Space) -> None:
    draft = space.records().add("a draft").entry
    preset(space, "aggressive")
    assert space.records().promote(draft.id).outcome == "promoted"


@pytest.mark.row("G12", "G04")
@pytest.mark.parametrize(
    ("name", "origins"),
    [
        ("strict", {"user", "agent"}),
        ("balanced", {"user", "agent", "tool", "import"}),
        ("aggressive", {"user", "agent", "tool", "web", "import"}),
    ],
)
def test_what_came_from_where_only_a_person_promotes(
    space: Space, name: str, origins: set[str]
) -> None:
    preset(space, name)
    space.prefer({"promotion.support": 0, "write.start": "draft"})
    for origin in ("user", "agent", "tool", "web", "import"):
        draft = space.records().add(f"from {origin}", subject=origin, origin=origin).entry
        promote = tools(space)["memory_promote"]
        if origin in origins:
            assert promote(draft.id).outcome == "promoted"
            continue
        for call in (promote, space.seen_by(AGENT).records().promote):
            with raises(Refused, "origin_refused"):
                call(draft.id)
        assert space.records().promote(draft.id).outcome == "promoted"


# Contradictions


@pytest.mark.row("G12", "G16")
@pytest.mark.parametrize(
    ("name", "origin", "gives_way"),
    [
        ("strict", "user", False),
        ("strict", "agent", False),
        ("balanced", "user", True),
        ("balanced", "agent", False),
        ("aggressive", "agent", True),
        ("aggressive", "web", True),
    ],
)
def test_a_contradiction_supersedes_where_the_preset_lets_it(
    space: Space, clock: ManualClock, name: str, origin: str, gives_way: bool
) -> None:
    old = confirmed(space, "It is Postgres", subject="Database", kind="decision")
    clock.advance(days=2)
    preset(space, name)
    space.prefer({"promotion.support": 0, "write.start": "draft"})
    records = space.records()
    new = records.add("It is SQLite", subject="database", kind="decision", origin=origin).entry
    if not gives_way:
        with raises(Refused, "record_contradicts"):
            records.promote(new.id)
        assert records.read(new.id).entry.state == "draft"
    done = records.promote(new.id, supersedes=[] if gives_way else [old.id])
    assert [row.id for row in done.supersedes] == [old.handle]
    found = records.read(old.id)
    assert (found.says, found.entry.hidden) == (f"it gave way to {new.id}", True)
    assert found.entry.until == done.entry.updated
    assert subjects(records.search("sqlite OR postgres")) == ["database"]
    assert subjects(records.search("postgres", hidden=True)) == ["Database"]
    assert subjects(records.list("closed")) == ["Database"]


@pytest.mark.row("G16")
def test_what_is_pinned_gives_way_only_to_what_names_it(space: Space) -> None:
    old = confirmed(space, "It is Postgres", subject="Database", pinned=True)
    preset(space, "aggressive")
    with raises(Refused, "record_contradicts"):
        space.records().add("It is SQLite", subject="Database")
    added = space.records().add("It is SQLite", subject="Database", supersedes=[old.id])
    assert [row.id for row in added.supersedes] == [old.handle]


@pytest.mark.row("G16")
def test_what_else_is_of_a_subject_stays(space: Space) -> None:
    """Several cures of one failure are all true, and other kinds and scopes say other things."""
    preset(space, "aggressive")
    records = space.records()
    for kind in ("fix", "failure"):
        for number in (1, 2):
            assert records.add(f"{kind} {number}", subject="Build", kind=kind).supersedes == ()
    records.add("The build is green", subject="Build", kind="task_state")
    records.add("The build is ours", subject="Build", kind="decision", scope="user")
    records.add("The build is theirs", subject="Build", kind="decision")
    assert len(records.list()) == 7
    newer = records.add("The build is red", subject="BUILD", kind="task_state")
    assert [row.kind for row in newer.supersedes] == ["task_state"]


@pytest.mark.row("G16", "G21")
def test_a_truth_that_came_back_is_a_new_record(space: Space, clock: ManualClock) -> None:
    preset(space, "aggressive")
    records, ids = space.records(), list[str]()
    for text in ("It is Postgres", "It is SQLite", "It is Postgres"):
        added = records.add(text, subject="Database", kind="decision")
        assert added.outcome == "added"
        ids.append(added.entry.id)
        clock.advance(days=1)
    assert [row.id for row in records.list()] == [ids[2][-8:]]
    first = records.read(ids[0])
    assert first.entry.until == records.read(ids[1]).entry.created


@pytest.mark.row("G16")
def test_an_update_may_contradict_and_two_do_not_become_one(space: Space) -> None:
    preset(space, "aggressive")
    records = space.records()
    one = records.add("It is Postgres", subject="Database").entry
    two = records.add("It is SQLite", subject="Store").entry
    with raises(Conflict, "record_exists"):
        records.update(two.id, "it is postgres", subject="Database")
    done = records.update(two.id, subject="Database")
    assert [row.id for row in done.supersedes] == [one.handle]


@pytest.mark.row("G16")
def test_what_gave_way_and_is_updated_is_so_again(space: Space, clock: ManualClock) -> None:
    preset(space, "aggressive")
    records = space.records()
    old = records.add("It is Postgres", subject="Database").entry
    new = records.add("It is SQLite", subject="Database").entry
    clock.advance(days=1)
    done = records.update(old.id, "It is Postgres 18")
    assert [row.id for row in done.supersedes] == [new.handle]
    found = records.read(old.id)
    assert (found.says, found.entry.until, found.entry.hidden) == ("", None, False)
    assert records.read(new.id).says == f"it gave way to {old.id}"
    assert f"[{old.handle}]" in space.context().text


@pytest.mark.row("G15")
def test_what_was_said_to_end_ends_and_may_happen_again(space: Space, clock: ManualClock) -> None:
    until = clock_time(clock) + timedelta(days=3)
    state = confirmed(space, "The rollout runs", kind="task_state", until=until)
    fact = confirmed(space, "The office is closed", until=until)
    clock.advance(days=4)
    records = space.records()
    confirmed(space, "another")
    assert records.read(state.id).says == "it was closed: its time is over"
    assert (records.read(fact.id).says, "The office" in space.context().text) == ("", False)
    again = records.add("The rollout runs", kind="task_state")
    assert (again.outcome, again.entry.until) == ("reopened", None)
    assert "The rollout runs" in space.context().text


# Decay


@pytest.mark.row("G12", "G15")
@pytest.mark.parametrize(
    ("name", "close", "expire"), [("strict", 14, 90), ("balanced", 30, 180), ("aggressive", 90, 0)]
)
def test_episodes_close_and_expire_by_days(
    space: Space, clock: ManualClock, name: str, close: int, expire: int
) -> None:
    preset(space, name)
    records = space.records()
    durable = [
        confirmed(space, f"a {kind}", kind=kind)
        for kind in ("project_fact", "constraint", "decision", "preference", "fix")
    ]
    episode = confirmed(space, "The build fails", kind="failure")
    pinned = confirmed(space, "The rollout is half done", kind="task_state", pinned=True)
    clock.advance(days=close - 1)
    records.add("something")
    assert not records.read(pinned.id).says
    assert "The build fails" in space.context().text
    clock.advance(days=1)
    assert "The build fails" not in space.context().text
    assert subjects(records.search("build fails")) == []
    confirmed(space, "another", subject="another")
    found = records.read(episode.id)
    assert found.says == "it was closed: an episode that nobody used"
    assert subjects(records.list("closed")) == ["The build fails"]
    clock.advance(days=(expire or 5_000) + 1)
    confirmed(space, "one more", subject="one more")
    found = records.read(episode.id)
    assert found.says.startswith("it expired" if expire else "it was closed")
    for entry in (*durable, pinned):
        found = records.read(entry.id)
        assert (found.says, found.entry.hidden) == ("", False)
    assert records.add("The build fails", kind="failure").outcome == (
        "added" if expire else "reopened"
    )


@pytest.mark.row("G15")
def test_use_refreshes_an_episode(vault: Vault, space: Space, clock: ManualClock) -> None:
    used = confirmed(space, "The build fails", kind="failure")
    idle = confirmed(space, "The lint fails", kind="failure")
    clock.advance(days=29)
    tools(space)["memory_read"](id=used.id)
    clock.advance(days=1)
    confirmed(space, "another")
    records = space.records()
    assert [records.read(each.id).entry.hidden for each in (used, idle)] == [False, True]
    assert "The build fails" in space.context().text
    clock.advance(days=28)
    confirmed(space, "yet another")
    assert not records.read(used.id).entry.hidden
    assert list(vault.verify()) == []


@pytest.mark.row("G15")
def test_an_episode_that_happens_again_opens_again(space: Space, clock: ManualClock) -> None:
    first = confirmed(space, "The build fails", kind="failure")
    clock.advance(days=31)
    confirmed(space, "another")
    assert space.records().read(first.id).entry.hidden
    again = space.records().add("The build fails", kind="failure")
    assert (again.outcome, again.entry.id, again.entry.hidden) == ("reopened", first.id, False)
    assert "The build fails" in space.context().text


# The block


@pytest.mark.row("G10")
def test_the_newest_stands_first_then_the_important(space: Space, clock: ManualClock) -> None:
    for number, importance in enumerate((50, 90, 10, 70, 50, 20)):
        confirmed(space, f"record {number}", importance=importance)
        clock.advance(seconds=1)
    lines = space.context().blocks[0].text.splitlines()
    assert [line.split(" [")[0] for line in lines[1:7]] == [
        f"- project_fact: record {number}" for number in (5, 1, 3, 4, 0, 2)
    ]
    space.prefer({"disclosure.subjects": 2})
    text = space.context().text
    assert "And 4 more: memory_search(query, store='records') to see" in text
    assert ["record 5" in text, "record 1" in text, "record 3" in text] == [True, True, False]
    space.prefer({"recall.block": False})
    assert "record" not in space.context().text


@pytest.mark.row("G10", "G11")
def test_a_budget_drops_the_least_and_counts_what_it_drops(space: Space) -> None:
    for number in range(30):
        confirmed(space, f"record {number}")
    whole = space.context()
    for budget in (60, 70, 100, 200, 300):
        context = space.context(budget)
        shown = [line for line in context.text.splitlines() if line.startswith("- ")]
        assert context.tokens <= budget
        assert "record 29" in shown[0]
        assert shown == whole.text.splitlines()[1 : len(shown) + 1]
        assert f"And {30 - len(shown)} more: " in context.text
    space.prefer({"disclosure.soft_tokens": 50, "disclosure.hard_tokens": 100})
    context = space.context()
    assert context.tokens <= 100
    shown = [line for line in context.text.splitlines() if line.startswith("- ")]
    assert 1 <= len(shown) < 30
    assert f"And {30 - len(shown)} more: " in context.text


@pytest.mark.row("G11", "G12")
@pytest.mark.parametrize(
    ("depth", "low", "high"),
    [
        ("index", [], []),
        ("summary", ["First sentence"], ["First sentence"]),
        ("selective", [], ["First sentence. Second sentence.", "- an item"]),
        ("full", *[["First sentence. Second sentence.", "- an item"]] * 2),
    ],
)
def test_depths_show_as_much_as_they_say(
    space: Space, depth: str, low: list[str], high: list[str]
) -> None:
    for name, importance in (("low", 79), ("high", 80)):
        body = f"First sentence. Second sentence.\n\n- an item\n{name} end"
        confirmed(space, body, subject=name, importance=importance, id=name)
    space.prefer({"disclosure.depth": depth})
    ends = {
        name: [f"{name} end"] * (len(more) > 1) for name, more in (("low", low), ("high", high))
    }
    assert space.context().text.splitlines()[1:] == [
        "- project_fact: high [high]",
        *(f"      {line}" for line in (*high, *ends["high"])),
        "- project_fact: low [low]",
        *(f"      {line}" for line in (*low, *ends["low"])),
    ]


@pytest.mark.row("G11")
def test_from_the_soft_budget_on_only_subjects_are_shown(space: Space) -> None:
    for number in range(20):
        confirmed(space, "body text " * 40 + str(number), subject=f"Subject {number}")
    space.prefer({"disclosure.depth": "full", "disclosure.soft_tokens": 300})
    context = space.context()
    lines = context.text.splitlines()
    bodies = sum(line.startswith("      body text") for line in lines)
    assert 1 <= bodies < 5
    assert sum(line.startswith("- ") for line in lines) == 20
    space.prefer({"disclosure.hard_tokens": 350})
    assert space.context().tokens <= 350


@pytest.mark.row("G12")
def test_the_presets_differ_in_what_a_session_sees(space: Space) -> None:
    for number in range(150):
        confirmed(space, f"It is so that {number} holds. And more", subject=f"S{number}")
    seen: dict[str, tuple[int, bool, bool]] = {}
    for name in ("strict", "balanced", "aggressive", "disabled"):
        context = preset(space, name).context()
        lines = [line for line in context.text.splitlines() if line.startswith("- ")]
        limit = {"strict": 600, "balanced": 1_200, "aggressive": 2_400, "disabled": 0}[name]
        assert context.tokens <= limit
        seen[name] = len(lines), "It is so" in context.text, "more:" in context.text
    assert seen == {
        "strict": (25, False, True),
        "balanced": (50, False, True),
        "aggressive": (100, True, True),
        "disabled": (0, False, False),
    }


@pytest.mark.row("G10")
@pytest.mark.parametrize(
    "counts", [(100, 3_000), pytest.param((100, 100_000), marks=pytest.mark.slow)]
)
def test_a_context_stays_as_small_however_many_records_there_are(counts: tuple[int, int]) -> None:
    tokens: list[int] = []
    for count in counts:
        with holdfast.open("memory:", clock=ManualClock()) as vault:
            fill(vault.space(), count)
            context = vault.space().context()
            shown = [line for line in context.text.splitlines() if line.startswith("- ")]
            assert len(shown) == 50
            more = f"And {count - 50} more" if count < 1_050 else "And at least 1,000 more"
            assert more in context.text
            tokens.append(context.tokens)
    assert abs(tokens[1] - tokens[0]) <= 10
    assert max(tokens) <= 1_200


# Reviews


def suggested(vault: Vault, **fields: Any) -> Entry:
    """What accepting a suggestion makes of it, as a review does."""
    known: dict[str, Any] = {
        "op": "add",
        "strategy": "records",
        "kind": "decision",
        "text": "We decided to use SQLite",
        "subject": "",
        "evidence": ("m1",),
        "origin": "user",
        "trust": "high",
        "confidence": 0.9,
    }
    actor = fields.pop("actor", REVIEWER)
    suggestion = Suggestion(**{**known, **fields})
    desk = vault.space().seen_by(Caller(actor=actor)).desk("records")
    from holdfast.model.write import Write

    return desk.mutate(
        "review",
        {},
        lambda work, store: STRATEGIES["records"].accept(work, store, suggestion),
        Write(),
    )


@pytest.mark.row("G20")
@pytest.mark.parametrize(
    ("name", "origin", "evidence", "state"),
    [
        ("balanced", "user", 1, "confirmed"),
        ("balanced", "agent", 1, "draft"),
        ("balanced", "agent", 2, "confirmed"),
        ("strict", "user", 1, "draft"),
        ("strict", "user", 2, "confirmed"),
        ("strict", "tool", 3, "draft"),
        ("balanced", "web", 3, "draft"),
        ("aggressive", "agent", 1, "confirmed"),
    ],
)
def test_what_a_review_found_is_as_sure_as_what_it_rests_on(
    vault: Vault, name: str, origin: str, evidence: int, state: str
) -> None:
    preset(vault.space(), name)
    messages = tuple(f"m{number}" for number in range(evidence))
    trust = {"user": "high", "agent": "medium"}.get(origin, "low")
    entry = suggested(vault, origin=origin, evidence=messages, trust=trust)
    assert (entry.state, entry.kind, entry.subject) == (state, "decision", entry.text)
    assert entry.facts["confidence"] == 0.9


@pytest.mark.row("G20", "G12")
def test_a_person_who_approves_confirms_and_disabled_takes_nothing(vault: Vault) -> None:
    preset(vault.space(), "strict")
    human = Actor(kind="human", name="local")
    assert suggested(vault, origin="agent", actor=human).state == "confirmed"
    preset(vault.space(), "disabled")
    with raises(Refused, "records_refused"):
        suggested(vault, text="another")


@pytest.mark.row("G20")
def test_a_review_updates_and_retires_and_leaves_the_pinned(vault: Vault, space: Space) -> None:
    entry = suggested(vault)
    seen: dict[str, Any] = {"target": entry.id, "revision": entry.revision}
    after = suggested(vault, op="update", text="We decided to use Postgres", **seen)
    assert (after.id, after.subject, after.state) == (
        entry.id,
        "We decided to use Postgres",
        "updated",
    )
    gone = suggested(vault, op="retire", text="", **seen)
    assert (gone.state, gone.hidden) == ("updated", True)
    assert space.records().read(entry.id).says == "it is no longer so"
    assert subjects(space.records().search("postgres")) == []
    pinned = confirmed(space, "We ship on Fridays", pinned=True)
    seen = {"target": pinned.id, "revision": pinned.revision}
    for op in ("update", "retire"):
        with raises(Refused, "entry_pinned"):
            suggested(vault, op=op, **seen)
    with raises(InvalidInput, "kind_unknown"):
        suggested(vault, kind="law", text="x")


@pytest.mark.row("G20", "G06")
def test_what_was_forgotten_is_not_extracted_again(vault: Vault, space: Space) -> None:
    """The same said again, in a session whose review reads it as it did the first time."""

    def hear() -> list[str]:
        with space.session("talk") as here:
            here.say("user", "We decided to use SQLite for the job queue.")
            here.say("assistant", "Noted.")
        core = vault._core  # pyright: ignore[reportPrivateUsage]
        reviews.ask_for_all(core)
        done = list(reviews.run_due(core))
        outcomes = [each for job in done if job.answer is not None for each in job.answer.outcomes]
        return [f"{each.strategy} {each.outcome} {each.why}".strip() for each in outcomes]

    assert hear() == ["records applied"]
    (row,) = space.records().list().rows
    assert (row.kind, row.state) == ("decision", "confirmed")
    found = space.records().read(row.id)
    assert list(found.entry.metadata) == ["evidence", "said_in"]
    assert hear() == []
    space.records().forget(row.id)
    assert hear() == ["records dropped was_forgotten"]
    assert subjects(space.records().list()) == []
    assert space.records().search("sqlite").rows == ()
    with raises(Refused, "record_forgotten"):
        suggested(vault, text=found.body)


# Preferences


@pytest.mark.row("G12")
def test_every_rule_of_the_presets_is_in_the_page() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reference" / "records.md").read_text()
    words = ("write", "promotion", "disclosure", "decay")
    rules = [one.name for one in TABLE if one.name.partition(".")[0] in words]
    assert [name for name in rules if name not in page] == []


def test_preferences_are_read_again_when_the_file_changes(vault: Vault, space: Space) -> None:
    file = Path(vault.status().where).parent / "preferences" / "memory.json"
    space.prefer({"recall.limit": 3})
    assert file.exists()
    for number in range(6):
        confirmed(space, f"body {number}")
    assert len(space.records().search("body")) == 3
    file.write_text(json.dumps({"recall": {"limit": 5}}))
    assert len(space.records().search("body")) == 5
    file.write_text(json.dumps({"recall": {"limit": 500}}))
    with pytest.raises(InvalidInput, match=r"recall\.limit: 500 is not a whole number"):
        space.records().search("body")
