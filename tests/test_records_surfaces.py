"""Records on every surface: the shell, awaited, as tools; their links; and what asking costs."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import apsw
import pytest
from cli_vault import Cli, cli_in, ok
from records_kit import fill

import holdfast
from holdfast import aio
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.write import Caller
from holdfast.storage.sql import load
from holdfast.storage.sqlite import queries
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


@pytest.fixture
def space() -> Iterator[Space]:
    with holdfast.open("memory:", clock=ManualClock()) as vault:
        yield vault.space()


# The shell


@pytest.mark.row("G01", "G03", "G04", "G05", "G08", "G18")
def test_a_record_lives_its_life_in_the_shell(cli: Cli) -> None:
    session = cli.says("session", "start").strip()
    mine = {"HOLDFAST_SESSION": session}
    text = "# Deploys\n\nOn Tuesdays.\n\n## Rollback\n\nPress the button.\n"
    made = cli("record", "add", "-", "--kind", "decision", "--id", "deploys", stdin=text, **mine)
    assert made == ok("deploys\n", "Added to default/records as a draft\n")
    nothing = "No such records in default/records"
    assert cli("record", "search", "deploys") == ok(
        "", f"{nothing}; `holdfast record list --state draft` has drafts\n"
    )
    assert cli("record", "search", "deploys", "--state", "confirmed") == ok("", f"{nothing}\n")
    drafts = "No such records in default/records; drafts are listed with --state draft\n"
    assert cli("record", "list") == ok("", drafts)
    assert (
        cli.says("record", "search", "deploys", **mine) == "deploys  decision  Deploys  (draft)\n"
    )
    assert cli.refuses("record", "promote", "deploys", **mine) == "support_missing"
    again = cli("record", "add", "-", "--kind", "decision", stdin=text, **mine)
    assert again == ok("deploys\n", "Already in default/records; it was corroborated\n")
    cli.clock.advance(seconds=60)
    assert cli("record", "promote", "deploys", "--reason", "agreed", **mine) == ok(
        "", "Promoted default/records deploys\n"
    )
    assert cli.says("record", "search", "deploys") == "deploys  decision  Deploys\n"
    assert (
        cli.says("record", "expand", "deploys", "Rollback") == "## Rollback\n\nPress the button.\n"
    )
    seen = cli.json("record", "read", "deploys")["entry"]["revision"]
    cli.clock.advance(seconds=60)
    done = cli("record", "update", "deploys", "On Mondays.", "--expect", str(seen))
    assert done == ok("", "Updated default/records deploys\n")
    assert cli.refuses("record", "update", "deploys", "x", "--expect", str(seen)) == (
        "revision_moved"
    )
    assert cli.says("record", "history", "deploys").splitlines()[::2] == [
        f"{seen + 1}  2026-01-15 12:02  human:local  update",
        f"{seen}  2026-01-15 12:01  human:local  promote  agreed",
        f"{seen - 1}  2026-01-15 12:00  human:local  adjust",
        f"{seen - 2}  2026-01-15 12:00  human:local  add",
    ]
    assert cli.says("record", "compare", "deploys").startswith(
        "state: confirmed → updated\n--- version "
    )
    assert cli("record", "revert", "deploys").stderr == (
        "default/records deploys says again: # Deploys\\n\\nOn Tuesdays.\\n\\n## Rollback\\n\\n"
        "Press the button.\\n\n"
    )
    assert cli.json("record", "read", "deploys")["body"] == text
    past = cli.says("record", "read", "deploys", "--as-of", str(seen + 1))
    assert past.startswith("Deploys\n\nOn Mondays.\n\nid          deploys · ")


@pytest.mark.row("G05", "G18")
def test_the_shell_says_when_a_subject_says_what_the_text_does_not_any_more(cli: Cli) -> None:
    cli.says("record", "add", "Deploys go out on Tuesdays", "--id", "deploys")
    assert cli("record", "update", "deploys", "They go out on Mondays") == ok(
        "",
        "Updated default/records deploys\n"
        "warning: its subject, which sessions start with, is still 'Deploys go out on Tuesdays' "
        "[subject_kept]\nhint: say another with --subject\n",
    )
    assert cli("record", "update", "deploys", "On Fridays", "--subject", "Deploy days") == ok(
        "", "Updated default/records deploys\n"
    )
    assert cli("record", "update", "deploys", "On Sundays") == ok(
        "", "Updated default/records deploys\n"
    )
    assert cli.says("record", "compare", "deploys").splitlines()[2:] == [
        "@@ -1,1 +1,1 @@",
        "-On Fridays",
        "+On Sundays",
    ]
    assert "[section_not_found]\nhint: the body has no headings" in (
        cli("record", "expand", "deploys", "Rollback").stderr
    )


@pytest.mark.row("G06", "G18")
def test_a_forgotten_record_is_neither_compared_nor_reverted(cli: Cli) -> None:
    cli.says("record", "add", "The door code is 4711", "--id", "door")
    cli.says("record", "update", "door", "The door code is 4712")
    cli.says("record", "forget", "door")
    assert cli("record", "compare", "door") == ok("", "It was forgotten, its versions too\n")
    assert cli.refuses("record", "revert", "door") == "entry_forgotten"
    assert cli("record", "revert", "door").stderr.startswith(
        "error: default/records door was forgotten "
    )


@pytest.mark.row("G01")
def test_what_would_end_before_it_begins_is_refused(cli: Cli) -> None:
    times = ("--since", "2026-03-02", "--until", "2026-02-01")
    assert cli.refuses("record", "add", "The bridge is closed", *times) == "times_reversed"
    cli.says("record", "add", "The fair is on", "--since", "2026-03-02", "--until", "2026-03-02")


@pytest.mark.row("G01", "G08")
def test_a_record_is_shown_in_full(cli: Cli) -> None:
    cli.says("record", "add", "Ports are listed", "--id", "ports", "--kind", "constraint")
    words = ["--tag", "ops", "--tag", "net", "--ref", "ports", "--confidence", "0.8", "--pin"]
    words += ["--importance", "70", "--source", "docs/deploy.md", "--origin", "web"]
    words += ["--since", "2026-01-01", "--until", "2027-01-01", "--meta", "team=core"]
    cli.says("record", "add", "On Tuesdays.", "--subject", "Deploys", "--id", "deploys", *words)
    assert cli.says("record", "read", "ports").startswith("Ports are listed\n\nid  "), "once"
    assert cli.settled(cli.says("record", "read", "deploys")) == (
        "Deploys\n\nOn Tuesdays.\n\n"
        "id          deploys · <entry-4>\n"
        "kind        project_fact, semantic\n"
        "state       draft, revision 4\n"
        "            it is a draft of its session, which promoting shows to all\n"
        "added       2026-01-15 12:00 UTC\n"
        "origin      web, trust low, confidence 0.8\n"
        "importance  70, pinned\n"
        "true        from 2026-01-01 00:00 until 2027-01-01 00:00 UTC\n"
        "source      docs/deploy.md\n"
        "tags        ops, net\n"
        "refers to   ports\n"
        "metadata    team=core\n"
    )
    cli.says("record", "forget", "ports")
    assert "refers to   ports (forgotten)\n" in cli.says("record", "read", "deploys")
    gone = cli.settled(cli.says("record", "read", "ports"))
    assert gone == (
        "id          ports · <entry-5>\n"
        "kind        constraint, semantic\n"
        "state       forgotten, revision 5\n"
        "            it was forgotten\n"
        "added       2026-01-15 12:00 UTC\n"
        "origin      user, trust high\n"
        "importance  50\n"
    )
    cli.says("record", "update", "deploys", "--unpin", "--fields", '{"day": {"name": "Monday"}}')
    found = cli.json("record", "read", "deploys")
    assert (found["fields"], found["entry"]["pinned"]) == ({"day": {"name": "Monday"}}, False)
    assert cli.says("record", "expand", "deploys", "day.name") == "Monday\n"
    assert cli.says("record", "expand", "deploys", "day") == '{\n  "name": "Monday"\n}\n'


@pytest.mark.row("G06")
def test_the_shell_asks_before_it_forgets_what_a_query_finds(cli: Cli) -> None:
    cli.says("preferences", "preset", "aggressive")
    for name in ("a", "b", "c"):
        cli.says("record", "add", f"the {name} of staging", "--id", name)
    unasked = cli("record", "forget", "--query", "staging")
    assert (unasked.exit, "[confirmation_needed]" in unasked.stderr) == (1, True)
    assert len(cli.json("record", "list")["rows"]) == 3
    done = cli("record", "forget", "--query", "the b OR c", "--yes", "--reason", "old")
    assert sorted(done.stderr.splitlines()) == [
        "Forgot default/records b",
        "Forgot default/records c",
        "b  the b of staging",
        "c  the c of staging",
    ]
    assert [row["id"] for row in cli.json("record", "list")["rows"]] == ["a"]
    assert cli("record", "forget", "b") == ok("", "default/records b was forgotten before\n")
    assert cli("record", "forget", "--query", "nothing", "--yes").stderr == (
        "Nothing in default/records meets the query\n"
    )
    gone = [row["subject"] for row in cli.json("record", "list", "--state", "forgotten")["rows"]]
    assert gone == ["", ""]
    refused = cli.refuses("record", "add", "the b of staging", "--agent", "helper")
    assert refused == "record_forgotten"
    assert cli("record", "add", "the b of staging").exit == 0


@pytest.mark.row("G07", "G19")
def test_the_shell_finds_by_all_that_is_known_and_says_why(cli: Cli) -> None:
    cli.says("preferences", "preset", "aggressive")
    for number in range(10):
        kind = "fix" if number % 2 else "decision"
        words = ["--kind", kind, "--tag", f"t{number % 3}", "--subject", f"S{number}"]
        cli.says("record", "add", f"body {number} of all. And more", *words)

    def found(*words: str) -> list[str]:
        return [row["subject"] for row in cli.json("record", "search", *words)["rows"]]

    assert found("body") == [f"S{number}" for number in range(9, 1, -1)]
    assert found("body", "--kind", "fix", "--tag", "t1") == ["S7", "S1"]
    assert found("--subject", "s4") == ["S4"]
    assert found("body", "--state", "draft") == []
    assert found("body", "--since", "2026-02-01") == []
    first = cli("record", "search", "body", "--limit", "6")
    assert first.stderr.startswith("More: add --cursor ")
    assert found("body", "--cursor", first.stderr.split()[-1]) == ["S3", "S2", "S1", "S0"]
    told = cli.says("record", "search", "body", "--explain", "--budget", "14", "--summary")
    lines = told.splitlines()
    assert lines[0].endswith("  fix  S9")
    assert lines[1] == "    body 9 of all"
    assert lines[2].startswith("    0.")
    assert "words +" in lines[2]
    assert lines[-1] == (
        "10 weighed, 0 filtered out, 2 not on this page, 7 beyond the budget; 9 tokens"
    )
    rows = cli.json("record", "expand", "--layer", "procedural")["rows"]
    assert {row["kind"] for row in rows} == {"fix"}
    for wrong in (
        ("record", "expand"),
        ("record", "expand", "x"),
        ("record", "expand", "x", "y", "--layer", "semantic"),
        ("record", "read"),
        ("record", "read", "x", "--query", "y"),
        ("record", "forget"),
        ("record", "add"),
        ("record", "add", "x", "--fields", "{}"),
        ("record", "add", "--fields", "[1]"),
        ("record", "update", "x", "--pin", "--unpin"),
        ("record", "add", "x", "--confidence", "2"),
        ("record", "add", "x", "--as-of", "1"),
    ):
        assert cli(*wrong).exit == 2, wrong


# Awaited


@pytest.mark.row("G01")
def test_records_are_awaited(tmp_path: Path) -> None:
    async def program() -> list[str]:
        async with aio.open(tmp_path / "vault") as vault:
            space = await vault.space()
            records = await space.records()
            made = await records.add("Deploys go out on Tuesdays", kind="decision")
            await records.update(made.entry.id, "Deploys go out on Mondays")
            await records.promote(made.entry.id)
            tool = {each.__name__: each for each in await space.tools()}["memory_search"]
            rows: Any = await tool(query="mondays")
            return [row.subject for row in rows]

    assert asyncio.run(program()) == ["Deploys go out on Tuesdays"]


# Links


def linked(space: Space, name: str, *refs: str) -> str:
    free = space.preferring({"write.start": "confirmed", "write.near": "ignore"})
    return free.records().add(f"the record {name}", id=name, refs=refs).entry.id


@pytest.mark.row("G23")
def test_links_lead_both_ways_and_the_dead_are_named(space: Space) -> None:
    for name, refs in (("a", ()), ("b", ("a",)), ("c", ("a", "b")), ("d", ("c",))):
        linked(space, name, *refs)
    records = space.records()
    found = records.links("b")
    assert [(link.target, link.state) for link in found.refers] == [("a", "confirmed")]
    assert [(link.source, link.subject) for link in found.referred] == [("c", "the record c")]
    records.forget("a")
    found = records.links("c")
    assert [(link.target, link.state, link.is_dead) for link in found.refers] == [
        ("a", "forgotten", True),
        ("b", "confirmed", False),
    ]
    records.update("c", refs=["b"])
    assert [link.target for link in records.links("c").refers] == ["b"]
    assert [link.source for link in records.links("a").referred] == ["b"]
    with raises(NotFound, "ref_not_found"):
        records.update("c", refs=["nothing"])


@pytest.mark.row("G23")
def test_neighbours_are_walked_to_a_depth(space: Space) -> None:
    for name, refs in (
        *(("a", ()), ("b", ("a",)), ("c", ("b",)), ("d", ("c",)), ("x", ("a",)), ("lone", ())),
    ):
        linked(space, name, *refs)
    records = space.records()

    def around(name: str, depth: int, limit: int = 50) -> list[tuple[int, str]]:
        found = records.neighbours(name, depth=depth, limit=limit)
        return [(far, row.id) for far, row in found.rows]

    assert around("b", 1) == [(1, "c"), (1, "a")]
    assert around("b", 2) == [(1, "c"), (1, "a"), (2, "x"), (2, "d")]
    assert around("d", 5) == [(1, "c"), (2, "b"), (3, "a"), (4, "x")]
    assert around("lone", 5) == []
    assert around("b", 2, limit=3) == [(1, "c"), (1, "a"), (2, "x")]
    assert records.neighbours("b", depth=2, limit=3).more
    records.update("a", refs=["d"])  # a ring
    assert around("a", 5) == [(1, "x"), (1, "d"), (1, "b"), (2, "c")]
    before = records.history("a", limit=1)[0].revision
    records.forget("c")
    found = records.neighbours("d", depth=2)
    assert [(link.source, link.target, link.depth) for link in found.dead] == [("d", "c", 1)]
    then = space.as_of(before).records()
    assert [row.id for _, row in then.neighbours("d").rows] == ["a"]
    assert [link.target for link in then.neighbours("d").dead] == ["c"]
    for depth in (0, 6, True):
        with raises(InvalidInput, "depth_invalid"):
            records.neighbours("a", depth=depth)


@pytest.mark.row("G23")
def test_the_shell_shows_links(cli: Cli) -> None:
    cli.says("preferences", "preset", "aggressive")
    cli.says("record", "add", "the first", "--id", "a")
    cli.says("record", "add", "the second", "--id", "b", "--ref", "a")
    assert cli.says("record", "links", "b") == (
        "FROM  TO  STATE      SUBJECT\nb     a   confirmed  the first\n"
    )
    assert cli.says("record", "neighbours", "a") == (
        "LINKS  ID  KIND          STATE      SUBJECT\n"
        "    1  b   project_fact  confirmed  the second\n"
    )
    cli.says("record", "forget", "a")
    assert cli("record", "links", "b").stderr == (
        "warning: b refers to a, which is forgotten [link_dead]\n"
    )
    dead = json.loads(cli("record", "neighbours", "b", "--json").stdout)["dead"]
    assert [link["target"] for link in dead] == ["a"]


# What it costs


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that SQLite is asked for by what is opened within."""
    seen: list[str] = []

    def watch(conn: apsw.Connection) -> None:
        conn.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: seen.append(str(event["sql"])))

    apsw.connection_hooks.append(watch)
    try:
        yield seen
    finally:
        apsw.connection_hooks.remove(watch)


@pytest.mark.row("G10", "G11", "G07")
def test_what_is_asked_of_the_vault_does_not_grow_with_it(tmp_path: Path) -> None:
    """As many statements for two records as for four hundred, whatever the depth."""
    asked: list[dict[str, int]] = []
    for count in (2, 400):
        where = tmp_path / str(count)
        with holdfast.open(where, clock=ManualClock()) as vault:
            fill(vault.space(), count)
        with counted() as seen, holdfast.open(where, clock=ManualClock()) as vault:
            space = vault.space()
            spent: dict[str, int] = {}
            records = space.records()
            calls: dict[str, Any] = {
                "block": space.context,
                "whole block": space.preferring({"disclosure.depth": "full"}).context,
                "read": partial(records.read, "n000001"),
                "list": partial(records.list, limit=1),
                "links": partial(records.links, "n000001"),
            }
            for name, call in calls.items():
                call()
                seen.clear()
                call()
                spent[name] = len(seen)
        asked.append(spent)
    assert asked[0] == asked[1]
    assert asked[0]["whole block"] == asked[0]["block"] + 1


@pytest.mark.row("G10")
def test_no_statement_of_records_reads_a_whole_store_or_sorts() -> None:
    folder = Path(queries.__file__).parent
    statements = {**load(folder / "queries.sql"), **load(folder / "links.sql")}
    names = {
        **dict.fromkeys(("subjects_important", "subject_count"), "entry_subjects"),
        **dict.fromkeys(("subjects_newest", "shown_newest"), "entry_newest"),
        **dict.fromkeys(("entry", "entries_like", "entries_named"), "entry_id"),
        "entry_given": "entry_given_id",
        "entries_same": "entry_fingerprint",
        "due": "entry_due",
        "called": "entry_called",
        "drafts": "entry_drafts",
        "referring": "PRIMARY KEY",
        "uses": "PRIMARY KEY",
    }
    conn = apsw.Connection(":memory:")
    conn.execute((folder / "schema.sql").read_text())
    for name, index in names.items():
        sql = statements[name]
        bound: Any = defaultdict(int) if ":" in sql else (0,) * sql.count("?")
        plan = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
        assert any(index in step for step in plan), (name, plan)
        assert not [step for step in plan if "TEMP B-TREE" in step], (name, plan)
        assert not [step for step in plan if step.startswith("SCAN entry")], (name, plan)


@pytest.mark.row("G23")
def test_links_tell_nothing_of_what_is_for_another(space: Space) -> None:
    ann, ben = (space.seen_by(Caller(user=name)) for name in ("ann", "ben"))
    private = ann.records().add("Wants to leave", subject="Leaving", scope="user").entry
    with ann.session("other") as other:
        draft = other.records().add("Not yet so", subject="Half an idea").entry
    linked = ann.records().add("Everyone reads this", refs=[private.id, draft.id]).entry
    told = {
        "ann": [(private.handle, "Leaving", "draft"), (draft.handle, "", "draft")],
        "ben": [(private.id, "", "missing"), (draft.id, "", "missing")],
    }
    for name, here in (("ann", ann), ("ben", ben)):
        for found in (here.records().links(linked.id).refers, here.records().read(linked.id).links):
            assert [(link.target, link.subject, link.state) for link in found] == told[name]
        around = here.records().neighbours(linked.id)
        assert ("Leaving" in repr(around)) == (name == "ann")
        assert "idea" not in repr(around)
