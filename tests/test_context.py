"""What a session starts with: whole, within any budget, stable, and explained."""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

import apsw
import pytest
from cli_snapshot import run_inside
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.core.budget import estimate_tokens, fit
from holdfast.engine.workspace import parse_workspace
from holdfast.errors import InvalidInput, Unsupported
from holdfast.model.context import Draft, Line
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.engine.vault import Vault

GOLDEN = Path(__file__).parent / "data" / "context"
DECLARED = """\
name: app
memory:
  own:
    - {name: user, strategy: profile}
    - {name: decisions, strategy: narrative, priority: 80}
    - {name: lessons, strategy: narrative}
    - {name: files, strategy: artifacts}
  mounts:
    - {name: general, source: lib/rules, mode: ro}
    - {name: again, source: lib/rules, mode: ro}
"""
LIBRARY = "name: lib\nmemory:\n  own:\n    - {name: rules, strategy: narrative}\n"


def filled(tmp_path: Path, where: str | Path) -> Vault:
    """The same vault each time: its clock and its chance are given."""
    clock, chance = ManualClock(), random.Random(11)
    vault = holdfast.open(where, clock=clock, random=chance.randbytes)
    lib = vault.declare(parse_workspace(LIBRARY, tmp_path / "lib" / "workspace.yml"))
    app = vault.declare(parse_workspace(DECLARED, tmp_path / "app" / "workspace.yml"))
    lib.notes().save("Every change has a test")
    profile = app.profile()
    profile.add("Prefers short answers", file="USER")
    profile.add("The build needs Python 3.11", file="MEMORY")
    for number in range(25):
        app.notes("decisions").save(f"Decision {number}", id=f"d{number}")
        app.notes("lessons").save(f"Lektion {number}: 北京 и Москва\nwith a second line")
        clock.advance(seconds=60)
    app.artifacts().save("one\ntwo\n", title="Two lines")
    return vault


@pytest.mark.row("I03")
@pytest.mark.parametrize("budget", [None, 700, 150, 12])
def test_the_bytes_are_those_of_the_golden_file(tmp_path: Path, budget: int | None) -> None:
    with filled(tmp_path, "memory:") as vault:
        found = vault.space("app").context(budget)
    golden = GOLDEN / f"app-{budget or 'whole'}.txt"
    assert found.text == golden.read_text("utf-8")
    assert budget is None or estimate_tokens(found.text) <= budget
    assert found.text.count("Every change has a test") <= 1  # two mounts of one store


@pytest.mark.row("I03", "D03")
def test_the_default_holds_the_files_and_the_newest_in_full(tmp_path: Path) -> None:
    with filled(tmp_path, "memory:") as vault:
        found = vault.space("app").context()
    assert not any(block.left_out for block in found.blocks)
    assert "Prefers short answers" in found.text
    assert "The build needs Python 3.11" in found.text
    for number in range(25):
        assert (f"Decision {number} [" in found.text) == (number >= 5)
        assert (f"Lektion {number}:" in found.text) == (number >= 5)


@pytest.mark.row("I03")
def test_a_smaller_one_names_what_it_left_out(tmp_path: Path) -> None:
    with filled(tmp_path, "memory:") as vault:
        found = vault.space("app").context(700)
    out = [block for block in found.blocks if block.left_out]
    assert out
    for block in out:
        assert block.reach
    with filled(tmp_path, "memory:") as vault:
        small = vault.space("app").context(150)
    unseen = [block.label for block in small.blocks if not block.shown]
    assert unseen == ["app/lessons", "app/files", "lib/rules"]
    assert small.text.endswith(f"Left out by the budget: {', '.join(unseen)}\n")


@pytest.mark.row("I03")
def test_two_sessions_start_with_the_same_bytes_and_keep_them(tmp_path: Path) -> None:
    with filled(tmp_path, "memory:") as vault:
        app = vault.space("app")
        with app.session("one") as one, app.session("two") as two:
            first = one.context()
            assert two.context() == first
            assert two.context(300).text == one.context(300).text
            app.notes("decisions").save("Something new")
            assert one.context() == first
            assert two.context() == first
            with app.session("three") as three:
                assert "Something new" in three.context().text


# The budget

LINES = st.lists(st.text(max_size=60), max_size=8)
DRAFTS = st.lists(st.tuples(st.integers(0, 3), LINES, st.booleans()), max_size=6)
COUNTERS: dict[str, Callable[[str], int]] = {
    "estimate": estimate_tokens,
    "characters": lambda text: sum(len(line) + 1 for line in text.split("\n")),
    "ones": lambda text: text.count("\n") + 1,
}


@pytest.mark.row("I03")
@given(DRAFTS, st.integers(1, 400), st.sampled_from(sorted(COUNTERS)))
def test_no_budget_is_exceeded_and_the_newest_outlasts_the_older(
    given: list[tuple[int, list[str], bool]], budget: int, by: str
) -> None:
    count = COUNTERS[by]
    drafts = [
        Draft(
            label=f"block-{place}",
            priority=priority,
            heading=f"## {place}",
            lines=tuple(
                Line(text=f"- {number} {text}", tokens=estimate_tokens(f"- {number} {text}"))
                for number, text in enumerate("".join(t.splitlines()) for t in texts)
            ),
            more=more,
            reach="more: ask",
        )
        for place, (priority, texts, more) in enumerate(given)
    ]
    found = fit(drafts, budget, count, by)
    whole = fit(drafts, None, count, by)
    assert not found.text or count(found.text.removesuffix("\n")) <= budget
    assert found.tokens <= max(budget, 0)
    for block, draft in zip(found.blocks, drafts, strict=True):
        shown = [line.text for line in draft.lines[: block.shown]]
        assert block.shown + block.left_out == len(draft.lines)
        body = block.text.split("\n")[1:]
        assert body[: len(shown)] == shown
        assert (block.reach == "more: ask") == (draft.more or block.left_out > 0)
    if whole.tokens <= budget:
        assert found.text == whole.text
    assert fit(drafts, budget, count, by) == found


# What counts


def test_a_setting_names_the_tokenizer_and_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tokenizers.py").write_text(
        "class Tokenizer:\n"
        "    @classmethod\n"
        "    def from_str(cls, text):\n"
        "        return cls()\n"
        "    def encode(self, text, add_special_tokens=True):\n"
        "        self.ids = text.split()\n"
        "        return self\n"
    )
    (tmp_path / "words.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tokenizers", raising=False)
    with filled(tmp_path, "memory:") as vault:
        app = vault.space("app")
        by = f"tokenizers:{tmp_path / 'words.json'}"
        found = app.preferring({"context.tokenizer": by, "context.budget": 100}).context()
        assert (found.counted_by, found.budget) == (by, 100)
        assert found.tokens == len(found.text.split()) <= 100
        assert app.context().counted_by == "estimate"
        with raises(Unsupported, "tokenizer_missing"):
            app.preferring({"context.tokenizer": "tokenizers:nowhere"}).context()
        with raises(InvalidInput, "tokenizer_invalid"):
            app.preferring({"context.tokenizer": "abacus"}).context()
    monkeypatch.delitem(sys.modules, "tokenizers", raising=False)


# The shell


@pytest.mark.row("I03")
def test_the_shell_explains_and_gives_messages(tmp_path: Path) -> None:
    filled(tmp_path, tmp_path / "vault").close()
    with holdfast.open(tmp_path / "vault") as vault:  # by the clock that the shell has
        found = vault.space("app").context(700)
    env = {"HOLDFAST_VAULT": str(tmp_path / "vault"), "HOLDFAST_SPACE": "app"}
    words = ["context", "--budget", "700"]
    messages = json.loads(run_inside([*words, "--format", "messages"], env=env).stdout)
    assert messages[0]["role"] == "system"
    blocks: Any = json.loads(run_inside([*words, "--format", "json"], env=env).stdout)
    assert [each["label"] for each in blocks["blocks"]] == [each.label for each in found.blocks]
    assert messages[0]["content"] == blocks["text"]
    told = run_inside([*words, "--explain", "--json"], env=env)
    explained = json.loads(told.stdout)
    assert explained["counted_by"] == "estimate"
    assert sum(each["tokens"] for each in explained["blocks"]) >= explained["tokens"] - 100
    assert all("text" not in each for each in explained["blocks"])
    shown = run_inside([*words, "--explain"], env=env)
    assert shown.stdout.splitlines()[0].split() == (
        ["BLOCK", "PRIORITY", "TOKENS", "LINES", "LEFT", "OUT", "MORE"]
    )
    assert "a budget of 700, counted by estimate" in shown.stderr


# What it asks of the database


@pytest.mark.row("I03")
def test_nothing_is_sorted_without_an_index(tmp_path: Path) -> None:
    seen: list[tuple[str, Any]] = []

    def watch(conn: apsw.Connection) -> None:
        conn.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: seen.append((event["sql"], conn)))

    filled(tmp_path, tmp_path / "vault").close()
    apsw.connection_hooks.append(watch)
    try:
        with holdfast.open(tmp_path / "vault") as vault:
            app = vault.space("app")
            app.context()
            seen.clear()
            app.context()
    finally:
        apsw.connection_hooks.remove(watch)
    asked = [sql for sql, _ in seen]
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    for sql in asked:
        if sql.startswith("SELECT") or sql.lstrip().startswith("--"):
            named = dict.fromkeys(re.findall(r":(\w+)", sql))
            given = named or (None,) * sql.count("?")
            plan = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}", given)]
            if " entry" in sql or " artifact" in sql:
                assert not [step for step in plan if "TEMP B-TREE" in step], sql
    conn.close()
    spaces = [sql for sql in asked if "FROM space" in sql]
    assert len(spaces) <= 3, "one look at the space, and one for each of its two mounts, at most"
    assert len(asked) <= 13
