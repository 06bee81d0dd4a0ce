"""Recall: one question to all stores, within one budget, with why and how old each answer is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in, ok

import holdfast
from holdfast.core.budget import estimate_tokens
from holdfast.core.rank.fuse import fused
from holdfast.errors import InvalidInput
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.testing import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.space import Space

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def space() -> Iterator[Space]:
    with holdfast.open("memory:", clock=ManualClock()) as vault:
        stores = tuple(StoreSpec(name=name, strategy="narrative") for name in ("facts", "people"))
        vault.declare(SpaceSpec(name="app", path=None, text="", stores=stores))
        yield vault.space("app")


@pytest.mark.row("I02")
def test_every_store_is_asked_and_every_line_says_where_it_is_from(space: Space) -> None:
    space.notes("facts").save("Deploys go out on Tuesdays", id="deploys")
    space.notes("people").save(
        "Maria signs the deploys off", id="maria", said_at=NOW - timedelta(days=400), origin="web"
    )
    space.notes("people").save("Jonas plays the cello")
    found = space.recall("Who signs off when we deploy?")
    assert found.text == (
        "- 2024-12-11 (1 year ago, web, low trust) Maria signs the deploys off [app/people maria]\n"
        "- 2026-01-15 (today) Deploys go out on Tuesdays [app/facts deploys]"
    )
    assert [(hit.label, hit.id, hit.age_days, hit.trust) for hit in found.hits] == [
        ("app/people", "maria", 400, "low"),
        ("app/facts", "deploys", 0, "high"),
    ]
    for hit in found.hits:
        assert hit.score == pytest.approx(sum(hit.why.values()), abs=1e-5)
    assert found.tokens == sum(hit.tokens for hit in found.hits) == estimate_tokens(found.text)
    assert (found.left_out, found.looked) == (0, None)


@pytest.mark.row("I02")
@pytest.mark.parametrize("budget", [1, 20, 60, 130, 400, 5_000])
def test_a_budget_is_kept_and_what_is_left_out_is_counted(space: Space, budget: int) -> None:
    for number in range(40):
        space.notes("facts").save(f"Fact {number} about tea" + " and its leaves" * (number % 9))
    found = space.recall("tea", budget)
    assert estimate_tokens(found.text) <= budget or not found.hits
    assert found.tokens <= budget == found.budget
    assert len(found.hits) + found.left_out == 40
    if budget == 5_000:
        assert found.left_out == 0


def test_what_says_the_same_is_shown_once(space: Space) -> None:
    space.notes("facts").save("Tea is at four")
    space.notes("people").save("tea is  at FOUR")
    found = space.recall("tea")
    assert len(found.hits) == 1
    assert found.left_out == 1


def test_of_a_long_memory_the_part_is_shown_that_answers(space: Space) -> None:
    filler = "The meeting went on about other things for a while. " * 60
    space.notes("facts").save(f"{filler}The cello teacher is called Anselm. {filler}")
    (hit,) = space.recall("What is the name of the cello teacher?").hits
    assert "cello teacher is called Anselm" in hit.text
    assert hit.text.startswith("… ")
    assert hit.text.endswith(" …")
    assert not hit.whole
    assert hit.tokens <= 240


def test_operators_are_taken_by_the_query_language(space: Space) -> None:
    space.notes("facts").save("deploy to staging")
    space.notes("facts").save("deploy to production")
    assert [hit.text for hit in space.recall("deploy NOT staging").hits] == ["deploy to production"]
    assert len(space.recall("deploy not staging").hits) == 2


@pytest.mark.row("I02")
def test_the_past_is_recalled_as_it_was(space: Space) -> None:
    space.notes("facts").save("The code is 4711", id="code")
    with_code = space.log(holdfast.LogQuery(limit=1))[0].seq
    space.notes("facts").save("The code is 4712 now", id="new")
    assert {hit.id for hit in space.recall("code").hits} == {"new", "code"}
    then = space.as_of(with_code)
    assert [hit.text for hit in then.recall("code").hits] == ["The code is 4711"]
    space.notes("facts").remove("code")
    assert then.recall("code").hits == ()


def test_the_same_question_has_the_same_answer(space: Space) -> None:
    for number in range(30):
        space.notes("facts").save(f"note {number % 7} on tea and cake")
    assert space.recall("tea cake") == space.recall("tea cake")


@pytest.mark.row("I02")
def test_agents_have_a_tool_for_it(space: Space) -> None:
    space.notes("facts").save("Tea is at four")
    (tool,) = (tool for tool in space.tools() if tool.__name__ == "memory_recall")
    assert tool(query="when is tea?") == space.recall("when is tea?")
    assert tool("tea", budget=5).hits == ()


@pytest.mark.parametrize("budget", [0, -1, True, 2**40, 1.5])
def test_a_budget_that_is_none_is_refused(space: Space, budget: object) -> None:
    with pytest.raises(InvalidInput) as raised:
        space.recall("tea", budget)
    assert raised.value.code == "budget_invalid"


def test_places_are_fused_and_ties_stay_in_order() -> None:
    found = fused({"one": ["a", "b", "c"], "two": ["c", "d"]})
    assert [member for member, _ in found] == ["c", "a", "b", "d"]
    assert dict(found)["c"] == {"one": 3, "two": 1}


# The command


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


@pytest.mark.row("I02")
def test_the_command_prints_what_was_recalled(cli: Cli) -> None:
    cli.says("note", "save", "Deploys go out on Tuesdays", "--id", "deploys")
    cli.says("note", "save", "Tea is at four", "--id", "tea")
    line = "- 2026-01-15 (today) Deploys go out on Tuesdays [default/narrative deploys]\n"
    said = "1 shown; 19 of 1,500 tokens\n"
    assert cli("recall", "When do we deploy?") == ok(line, said)
    assert cli("recall", "-", stdin="When do we deploy?") == ok(line, said)
    found = cli.json("recall", "deploy OR tea")
    assert {hit["id"] for hit in found["hits"]} == {"deploys", "tea"}
    first, why, looked = cli.says("recall", "deploy", "--explain").splitlines()
    assert f"{first}\n" == line
    assert why.startswith("    place 1, 0.")
    assert " words +0." in why
    assert looked.startswith("1 weighed, 0 filtered out; ")
    assert cli("recall", "nothing like it") == ok("", "Nothing was found\n")
    assert cli.says("recall", "nothing like it", "--explain").startswith(
        "0 weighed, 0 filtered out; "
    )
    assert cli("recall", "deploy", "--budget", "3") == ok("", "Nothing fits into the budget\n")
    assert cli.refuses("recall", "x", "--budget", "0", exit=2) == "value_invalid"
    cli.says("preferences", "preset", "aggressive")
    cli.says("record", "add", "The ledger is on port 5433", "--id", "ledger")
    assert cli.says("recall", "ledger") == (
        "- 2026-01-15 (today) The ledger is on port 5433 [default/records ledger]\n"
    )
    assert cli.says("recall", "deploy", "--as-of", "3") == line
    cli.says("note", "remove", "deploys")
    assert cli.says("recall", "deploy") == ""
    assert cli.says("recall", "deploy", "--as-of", "3") == ""
