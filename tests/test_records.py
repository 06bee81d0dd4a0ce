"""Records: drafts, promotion, versions, forgetting, and the rules of the presets."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from records_kit import subjects, tools

import holdfast
from holdfast.engine.workspace import parse_workspace
from holdfast.errors import Conflict, HoldfastError, InvalidInput, NotFound, Refused
from holdfast.model.entry import TEXT_BYTES_MAX
from holdfast.model.write import Actor, Caller
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

AGENT = Caller(actor=Actor(kind="agent", name="helper"))
IMPORTER = Caller(actor=Actor(kind="importer", name="files"))


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


def confirmed(space: Space, body: str, **said: Any) -> str:
    """A record that every session sees: its id."""
    records = space.records()
    draft = records.add(body, **said).entry
    records.add(body, **said)
    records.promote(draft.id)
    return draft.id


# What a record is


@pytest.mark.row("G01")
def test_a_record_keeps_all_that_is_said_of_it(space: Space) -> None:
    records = space.records()
    other = records.add("Ports are in ports.md", subject="Ports").entry
    since = datetime(2026, 1, 1, tzinfo=UTC)
    entry = records.add(
        "# Deploys\n\nOn Tuesdays.\n\n## Rollback\n\nPress the button.\n",
        kind="decision",
        tags=["deploy", "ops"],
        refs=[other.id[-8:]],
        confidence=0.8,
        importance=70,
        source="docs/deploy.md",
        origin="import",
        since=since,
        until=since + timedelta(days=365),
        metadata={"team": "core"},
    ).entry
    found = records.read(entry.handle)
    assert found.entry == entry
    assert (entry.kind, entry.subject, found.layer) == ("decision", "Deploys", "semantic")
    assert found.body == "# Deploys\n\nOn Tuesdays.\n\n## Rollback\n\nPress the button.\n"
    assert found.sections == ("Deploys", "Deploys > Rollback")
    assert (entry.tags, entry.refs) == (("deploy", "ops"), (other.id,))
    assert (found.confidence, entry.importance, found.source) == (0.8, 70, "docs/deploy.md")
    assert (entry.origin, entry.trust, dict(entry.metadata)) == (
        "import",
        "medium",
        {"team": "core"},
    )
    assert (found.since, entry.until) == (since, since + timedelta(days=365))
    assert [(link.target, link.subject, link.state) for link in found.links] == [
        (other.handle, "Ports", "draft")
    ]


@pytest.mark.row("G01", "G09")
def test_a_structured_body_has_fields(space: Space) -> None:
    records = space.records()
    body = {"title": "Service", "deploy": {"steps": [{"name": "build"}, {"name": "ship"}]}}
    entry = records.add({**body, "a.b": 1}).entry
    assert entry.subject == "Service"
    assert records.read(entry.id).fields == {**body, "a.b": 1}
    assert records.expand(entry.id, "deploy.steps[1].name").value == "ship"
    assert records.expand(entry.id, ["deploy", "steps", "0"]).value == {"name": "build"}
    assert records.expand(entry.id, "/a.b").value == 1
    for path in ("deploy.stepz", "deploy.steps[2]", "title.x", "/deploy/steps/0/", "steps"):
        with raises(NotFound, "field_not_found"):
            records.expand(entry.id, path)
    assert space.recall("ship").hits == ()
    with space.session() as here:
        here.records().add(body)
        assert subjects(here.records().search("ship")) == ["Service"]
    records.update(entry.id, "Just a line")
    found = records.read(entry.id)
    assert (found.fields, found.body) == (None, "Just a line")


@pytest.mark.row("G02")
def test_kinds_lie_in_layers_and_more_can_be_registered(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "workspace.yml"
    text = """\
name: app
memory:
  own:
    - name: facts
      strategy: records
      kinds: {runbook: procedural, incident: episodic}
"""
    records = vault.declare(parse_workspace(text, file)).records("facts")
    layers = {
        "semantic": ["project_fact", "constraint", "decision", "preference"],
        "procedural": ["fix", "command_result", "runbook"],
        "episodic": ["task_state", "failure", "incident"],
    }
    for layer, kinds in layers.items():
        for kind in kinds:
            records.add(f"a {kind}", kind=kind)
        with vault.space("app").session() as here:
            mine = here.records("facts")
            for kind in kinds:
                mine.add(f"{kind} here", kind=kind)
            found = mine.layer(layer)
            assert sorted(row.kind for row in found) == sorted(kinds)
            assert {row.layer for row in found} == {layer}
    with raises(InvalidInput, "kind_unknown"):
        records.add("x", kind="law")
    for wrong in ("{decision: episodic}", "{Runbook: procedural}", "{runbook: eternal}"):
        with raises(InvalidInput, "workspace_invalid"):
            parse_workspace(text.replace("{runbook: procedural, incident: episodic}", wrong), file)


# Drafts and promotion


@pytest.mark.row("G03")
def test_a_draft_is_seen_in_its_session_alone(vault: Vault, space: Space) -> None:
    with space.session("one") as one, space.session("two") as two:
        entry = tools(one)["memory_add"]("Deploys go out on Tuesdays", kind="decision").entry
        assert (entry.state, entry.session) == ("draft", one.caller.session)
        assert subjects(one.records().search("deploys")) == [entry.subject]
        assert subjects(one.records().list("draft")) == [entry.subject]
        for other in (two, space, vault.space().seen_by(Caller(user="guest"))):
            assert subjects(other.records().search("deploys")) == []
            assert subjects(other.records().list("draft")) == []
            assert subjects(other.records().list("all")) == []
            assert other.recall("deploys").hits == ()
            assert "Deploys" not in other.context().text
    with space.session("later") as later:
        assert subjects(later.records().search("deploys")) == []
        assert "another session" in later.records().read(entry.id).says


@pytest.mark.row("G04")
def test_balanced_asks_for_an_update_or_a_corroboration(space: Space) -> None:
    with space.session("one") as one:
        records = one.records()
        first = records.add("Deploys go out on Tuesdays", kind="decision").entry
        with pytest.raises(Refused, match="0 of the 1 updates or corroborations") as caught:
            records.promote(first.id)
        assert (caught.value.code, "balanced" in caught.value.message) == ("support_missing", True)
        again = records.add("deploys go out on  tuesdays", kind="decision", subject=first.subject)
        assert (again.outcome, again.entry.id) == ("again", first.id)
        assert tools(one)["memory_promote"](first.id).outcome == "promoted"
        second = records.add("Ports are in ports.md").entry
        records.update(second.id, tags=["net"])
        with raises(Refused, "support_missing"):
            records.promote(second.id)
        assert records.update(second.id, "Ports are in net.md").entry.state == "draft"
        assert records.promote(second.id).entry.state == "confirmed"
        assert records.promote(second.id).outcome == "unchanged"
    with space.session("two") as two:
        assert subjects(two.records().list()) == ["Ports are in ports.md", first.subject]
        assert "- decision: Deploys go out on Tuesdays" in two.context().text


@pytest.mark.row("G04")
def test_what_two_sessions_say_is_corroborated_and_becomes_one(space: Space) -> None:
    ids: list[str] = []
    for title in ("one", "two"):
        with space.session(title) as here:
            ids.append(here.records().add("The cache is Redis").entry.id)
    assert len(set(ids)) == 2
    records = space.records()
    assert records.promote(ids[0]).outcome == "promoted"
    merged = records.promote(ids[1])
    assert (merged.outcome, merged.entry.id) == ("merged", ids[0])
    assert subjects(records.search("redis")) == ["The cache is Redis"]
    assert records.read(ids[1]).says == f"the same fact was confirmed as {ids[0]}"


@pytest.mark.row("G04", "G17")
def test_a_scope_is_kept_and_holds(vault: Vault) -> None:
    mine = vault.space().seen_by(Caller(user="owner"))
    other = vault.space().seen_by(Caller(user="guest"))
    with mine.session("one") as one, mine.session("two") as two:
        made = {
            scope: confirmed(one, f"for one {scope} only", scope=scope, **task)
            for scope, task in (("user", {}), ("session", {}), ("task", {"task": "ship"}))
        }
        assert [row.subject for row in one.records().search("only")] == [
            "for one session only",
            "for one user only",
        ]
        assert subjects(two.records().search("only")) == ["for one user only"]
        assert subjects(two.records().search("only", task="ship")) == [
            "for one task only",
            "for one user only",
        ]
        assert "user only" in two.context().text
        assert "session only" not in two.context().text
    assert subjects(other.records().search("only", task="ship")) == ["for one task only"]
    assert subjects(other.records().list()) == []
    for call in (
        lambda: other.records().read(made["user"]),
        lambda: other.records().update(made["user"], "mine now"),
        lambda: other.records().forget(made["user"]),
        lambda: other.records().history(made["user"]),
        lambda: other.records().expand(made["user"], "x"),
    ):
        with raises(NotFound, "entry_not_found"):
            call()
    entry = mine.records().update(made["user"], "for this one user").entry
    assert (entry.scope, entry.state) == ("user:owner", "updated")


# Versions


@pytest.mark.row("G05")
def test_an_update_to_a_shorter_text_is_what_is_read_next(space: Space, clock: ManualClock) -> None:
    records = space.records()
    entry = confirmed(space, "Deploys go out on Tuesdays, and on Thursdays too")
    seen = records.read(entry).entry.revision
    clock.advance(seconds=60)
    tools(space)["memory_update"](entry, "Deploys: Tuesdays", revision=seen, reason="decided today")
    assert records.read(entry).body == "Deploys: Tuesdays"
    newest, *older = records.history(entry)
    assert (newest.body, newest.reason, newest.op) == (
        "Deploys: Tuesdays",
        "decided today",
        "update",
    )
    assert newest.at - older[0].at == timedelta(seconds=60)
    assert {version.body for version in older} == {
        "Deploys go out on Tuesdays, and on Thursdays too"
    }
    assert newest.actor == "human:local"
    for revision in (seen, 1):
        with raises(Conflict, "revision_moved"):
            records.update(entry, "x", expect=revision)
        with raises(Conflict, "revision_moved"):
            tools(space)["memory_update"](entry, "x", revision=revision)
    with raises(NotFound, "entry_not_found"):
        records.update("nothing-here", "x")
    with raises(NotFound, "entry_not_found"):
        tools(space)["memory_update"]("nothing-here", "x")
    assert records.read(entry).body == "Deploys: Tuesdays"
    assert records.update(entry, "Deploys: Tuesdays").outcome == "unchanged"


@pytest.mark.row("G18")
def test_versions_are_compared_and_restored(space: Space) -> None:
    records = space.records()
    entry = confirmed(space, "one\ntwo\n", subject="Numbers", kind="fix")
    records.update(entry, "one\nthree\n", importance=90, reason="corrected")
    diff = records.compare(entry)
    assert dict(diff.fields) == {"importance": [50, 90], "state": ["confirmed", "updated"]}
    assert diff.body.splitlines()[2:] == ["@@ -1,2 +1,2 @@", " one", "-two", "+three"]
    assert records.revert(entry).entry.text == "one\ntwo\n"
    assert records.read(entry).entry.importance == 50
    newest = records.history(entry)[0]
    assert (newest.op, newest.body) == ("update", "one\ntwo\n")
    at = next(v.revision for v in records.history(entry) if v.reason == "corrected")
    assert records.revert(entry, at).entry.text == "one\nthree\n"
    assert records.compare(entry, at).body == ""
    with raises(NotFound, "version_not_found"):
        records.revert(entry, 1)
    with raises(NotFound, "version_not_found"):
        records.compare(entry, at, 10**9)
    fresh = records.add("new").entry
    with raises(Refused, "version_first"):
        records.revert(fresh.id)


@pytest.mark.row("G21")
def test_what_was_known_at_a_moment(vault: Vault, space: Space, clock: ManualClock) -> None:
    entry = confirmed(space, "The database is Postgres", kind="decision", subject="Database")
    before = vault.status().seq
    clock.advance(days=1)
    newer = confirmed(space, "The database is SQLite", kind="decision", subject="Database")
    then = space.as_of(before).records()
    assert then.read(entry).body == "The database is Postgres"
    assert subjects(then.search("database")) == ["Database"]
    assert [row.id for row in then.list()] == [entry[-8:]]
    assert [row.id for row in space.records().search("database")] == [newer[-8:]]
    assert f"[{entry[-8:]}]" in space.as_of(before).context().text
    with raises(NotFound, "entry_not_yet"):
        then.read(newer)
    with raises(Refused, "past_is_fixed"):
        then.update(entry, "x")
    assert tools(space.as_of(before))["memory_read"](id=entry).body == "The database is Postgres"


# Forgetting


@pytest.mark.row("G06")
@pytest.mark.parametrize("state", ["draft", "confirmed", "updated"])
def test_what_is_forgotten_leaves_every_answer(space: Space, state: str) -> None:
    records = space.records()
    entry = confirmed(space, "The wifi word is tulip") if state != "draft" else ""
    entry = entry or records.add("The wifi word is tulip").entry.id
    if state == "updated":
        records.update(entry, "The wifi word is tulips")
    done = tools(space)["memory_forget"](entry, reason="asked")
    assert (done.outcome, done.rows[0].subject) == ("forgotten", "The wifi word is tulip")
    assert tools(space)["memory_forget"](entry).outcome == "unchanged"
    found = records.read(entry)
    assert (found.entry.state, found.says) == ("forgotten", "it was forgotten")
    assert "tulip" not in repr(found)
    assert "tulip" not in repr(records.list("forgotten"))
    for rows in (records.search("tulip"), records.list(), records.search("tulip", hidden=True)):
        assert subjects(rows) == []
    assert "tulip" not in space.context().text
    assert space.recall("tulip").hits == ()
    with raises(Conflict, "entry_forgotten"):
        records.update(entry, "x")
    with raises(NotFound, "section_not_found"):
        records.expand(entry, "x")


@pytest.mark.row("G06")
def test_what_is_forgotten_comes_back_by_a_person_alone(vault: Vault, space: Space) -> None:
    entry = confirmed(space, "The wifi word is tulip")
    space.records().forget(entry)
    for caller in (AGENT, IMPORTER, Caller(actor=Actor(kind="reviewer", name="rules"))):
        for said in ("The wifi word is tulip", "the WIFI word is  tulip"):
            with raises(Refused, "record_forgotten"):
                space.seen_by(caller).records().add(said)
    with raises(Refused, "record_forgotten"):
        space.records().add("The wifi word is tulip", origin="import")
    with raises(Refused, "record_forgotten"):
        tools(space)["memory_add"]("The wifi word is tulip", subject="another", origin="user")
    assert subjects(space.records().list("all")) == [""]
    back = space.records().add("The wifi word is tulip")
    assert (back.outcome, back.entry.id != entry) == ("added", True)
    assert list(vault.verify()) == []


@pytest.mark.row("G06")
def test_a_query_says_what_it_will_forget_and_forgets_just_that(space: Space) -> None:
    for text in ("staging is at port 1", "staging is reset on Mondays", "production is at port 2"):
        confirmed(space, text)
    forget = tools(space)["memory_forget"]
    asked = forget(query="staging")
    assert (asked.outcome, sorted(subjects(asked.rows))) == (
        "asked",
        ["staging is at port 1", "staging is reset on Mondays"],
    )
    assert len(space.records().list()) == 3
    late = confirmed(space, "staging has no mail")
    with raises(Conflict, "forget_moved"):
        forget(query="staging", confirm=asked.confirm)
    assert len(space.records().list()) == 4
    space.records().forget(late)
    assert forget(query="staging", confirm=asked.confirm).outcome == "forgotten"
    assert subjects(space.records().list()) == ["production is at port 2"]
    assert forget(query="staging").outcome == "unchanged"
    for wrong in ({}, {"id": "x", "query": "y"}, {"query": "  "}):
        with pytest.raises(InvalidInput):
            forget(**wrong)


# Reading


@pytest.mark.row("G08")
def test_every_id_that_exists_is_found(space: Space) -> None:
    with space.session("other") as other:
        draft = other.records().add("a draft of it", id="draft").entry
        bound = confirmed(other, "of that session", scope="session")
    shown = confirmed(space, "is shown")
    closed = confirmed(space, "The port is 1", subject="port")
    newer = confirmed(space, "The port is 2", subject="port")
    gone = confirmed(space, "is gone")
    space.records().forget(gone)
    note = space.notes().save("a note").entry
    read = tools(space)["memory_read"]
    told = {
        "draft": "it is a draft of another session, which promoting shows to all",
        draft.id: "it is a draft of another session, which promoting shows to all",
        bound: "",
        shown: "",
        closed: f"it gave way to {newer}",
        newer: "",
        gone: "it was forgotten",
    }
    for name, says in told.items():
        for called in {name, name[-8:]} if name != "draft" else {name}:
            found = read(id=called)
            assert (found.says, name in (found.entry.id, found.entry.given_id)) == (says, True)
    assert read(id=note.handle).entries == (note,)
    with raises(NotFound, "entry_not_found"):
        read(id="nowhere1")


@pytest.mark.row("G08")
def test_a_query_reads_the_best_in_full_and_names_the_others(space: Space) -> None:
    confirmed(space, "# Deploys\n\nOn Tuesdays.")
    confirmed(space, "Deploys are frozen in August")
    found = tools(space)["memory_read"](query="deploys tuesdays OR frozen")
    assert found.body in ("# Deploys\n\nOn Tuesdays.", "Deploys are frozen in August")
    assert len(found.others) == 1
    with raises(NotFound, "record_not_found"):
        space.records().read(query="nothing like it")
    for wrong in ({}, {"id": "x", "query": "y"}):
        with raises(InvalidInput, "arguments_invalid"):
            space.records().read(**wrong)


@pytest.mark.row("G07")
def test_rows_are_found_by_everything_that_is_known_of_them(
    space: Space, clock: ManualClock
) -> None:
    for number in range(60):
        kind, tag = ("fix", "even") if number % 2 == 0 else ("constraint", "odd")
        confirmed(
            space, f"body {number} of all", subject=f"Subject {number}", kind=kind, tags=[tag]
        )
        clock.advance(days=1)
    search = tools(space)["memory_search"]
    first = search("body")
    assert len(first) == 8
    assert first.rows[0].subject == "Subject 59"
    assert not hasattr(first.rows[0], "text")
    assert subjects(search(subject="subject 7")) == ["Subject 7"]
    assert {row.kind for row in search("all", kinds=["fix"], limit=50)} == {"fix"}
    assert subjects(search("all", tags=["odd"], limit=2)) == ["Subject 59", "Subject 57"]
    assert subjects(search("all", states=["draft"])) == []
    assert subjects(search(since="2026-03-14", limit=50)) == ["Subject 59", "Subject 58"]
    seen: list[str] = []
    cursor = None
    while True:
        page = search("body", limit=25, cursor=cursor)
        seen += subjects(page)
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [f"Subject {number}" for number in range(59, -1, -1)]
    with raises(InvalidInput, "limit_invalid"):
        search("body", limit=51)
    space.prefer({"recall.limit": 3, "recall.rerank": "importance"})
    assert len(search("body")) == 3
    small = search("body", budget=20)
    assert (len(small), small.left_out, small.tokens <= 20) == (2, 1, True)


@pytest.mark.row("G19")
def test_a_search_tells_of_itself_as_much_as_is_preferred(space: Space) -> None:
    for number in range(12):
        confirmed(space, f"body {number}", subject=f"S{number}")
    search = tools(space)["memory_search"]
    assert search("body").looked is None
    space.prefer({"recall.diagnostics": "basic"})
    found = search("body", budget=20)
    looked = found.looked
    assert (looked.matched, looked.filtered, looked.dropped) == (12, 0, 4)
    assert (found.left_out, found.budget, looked.candidates) == (8 - len(found), 20, ())
    assert looked.took_us > 0
    space.prefer({"recall.diagnostics": "detailed"})
    best = search("body").looked.candidates
    assert len(best) == 12
    assert all(each.score == pytest.approx(sum(each.why.values()), abs=1e-5) for each in best)


@pytest.mark.row("G14")
def test_rows_explain_their_scores(space: Space) -> None:
    confirmed(space, "The port is 1", subject="Port", importance=90)
    confirmed(space, "The harbour has a port", subject="Harbour")
    rows = space.records().search("port").rows
    assert [row.subject for row in rows] == ["Port", "Harbour"]
    for row in rows:
        assert row.score == pytest.approx(sum(row.why.values()), abs=1e-5)
    assert space.records().search("port") == space.records().search("port")


# Sections


BODY = """\
Preface
===

Said before all.

# Setup #

Here.

## Linux
apt
```sh
# no heading
```
## Mac

brew

Setup
-----

Again.

~~~
# still none
~~~
<!--
# nor this
-->

## Linux
dnf
"""


@pytest.mark.row("G09")
@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("Preface", "Preface\n===\n\nSaid before all."),
        ("preface", "Preface\n==="),
        ("Setup[1]", "# Setup #\n\nHere.\n\n## Linux\napt"),
        ("Setup > Mac", "## Mac\n\nbrew"),
        ("Mac", "## Mac\n\nbrew"),
        ("Setup/Mac", "## Mac\n\nbrew"),
        (["Setup", "Mac"], "## Mac\n\nbrew"),
        ("Linux[1]", "## Linux\napt\n```sh\n# no heading\n```"),
        ("Linux[2]", "## Linux\ndnf"),
    ],
    ids=str,
)
def test_a_section_is_found_by_its_path(space: Space, path: Any, begins: str) -> None:
    entry = space.records().add(BODY, subject="Guide").entry
    part = tools(space)["memory_expand_section"](entry.id, path)
    assert part.text.startswith(begins)


@pytest.mark.row("G09")
def test_a_path_that_fits_none_or_several_is_told(space: Space) -> None:
    records = space.records()
    entry = records.add(BODY, subject="Guide").entry
    assert records.read(entry.id).sections == (
        *("Preface", "Setup", "Setup > Linux[1]", "Setup > Mac", "Setup > Setup"),
        "Setup > Linux[2]",
    )
    for path in records.read(entry.id).sections:
        assert records.expand(entry.id, path).text
    with raises(HoldfastError, "section_ambiguous"):
        records.expand(entry.id, "Linux")
    for path in ("Windows", "Setup > Preface", "Linux[3]", "no heading", "still none", "nor this"):
        with raises(NotFound, "section_not_found"):
            records.expand(entry.id, path)
    for path in ("", " ", []):
        with raises(InvalidInput, "section_invalid"):
            records.expand(entry.id, path)
    expand = tools(space)["memory_expand_section"]
    with raises(InvalidInput, "arguments_invalid"):
        expand(entry.id)
    with raises(InvalidInput, "arguments_invalid"):
        expand(entry.id, "Mac", layer="semantic")
    assert expand(layer="episodic").rows == ()


@pytest.mark.row("G09")
def test_ten_thousand_headings_and_headings_that_repeat(space: Space) -> None:
    records = space.records()
    body = "\n".join(
        f"## Part {number}\n\nText {number}.\n\n### Notes\n" for number in range(5_000)
    )
    entry = records.add(body, subject="Long").entry
    found = records.read(entry.id)
    assert (len(found.sections), found.of_sections) == (100, 10_000)
    assert records.expand(entry.id, "Part 4999").text.startswith("## Part 4999\n\nText 4999.")
    assert records.expand(entry.id, "Part 4999 > Notes").text == "### Notes"
    assert records.expand(entry.id, "Notes[5000]").path == "Part 4999 > Notes"
    with raises(HoldfastError, "section_ambiguous"):
        records.expand(entry.id, "Notes")
    same = records.add("# Same\n" * 5_000, subject="Same").entry
    assert records.read(same.id).sections[:2] == ("Same[1]", "Same[2]")


# Bad input


@pytest.mark.row("G01")
@pytest.mark.parametrize(
    ("body", "said", "code"),
    [
        ("x" * (10 * TEXT_BYTES_MAX), {}, "text_too_long"),
        ({"a": "x" * (10 * TEXT_BYTES_MAX)}, {}, "value_too_large"),
        ("", {}, "text_empty"),
        (" \n", {}, "text_empty"),
        ({}, {}, "text_empty"),
        ("\ud800", {}, "text_not_unicode"),
        ({"a": "\ud800"}, {}, "value_not_json"),
        ({"a": float("nan")}, {}, "value_not_json"),
        (None, {}, "text_invalid"),
        ("x", {"subject": "a\0b"}, "subject_invalid"),
        ("x", {"subject": "\udfff"}, "subject_invalid"),
        ("x", {"subject": " "}, "subject_invalid"),
        ("x", {"subject": "x" * 201}, "subject_invalid"),
        ("x", {"kind": "\ud800"}, "kind_unknown"),
        ("x", {"tags": ["a\nb"]}, "label_invalid"),
        ("x", {"tags": "tag"}, "tags_invalid"),
        ("x", {"tags": ["t"] * 101}, "tags_invalid"),
        ("x", {"refs": ["nowhere1"]}, "ref_not_found"),
        ("x", {"refs": ["\ud800"]}, "ref_not_found"),
        ("x", {"refs": ["x"] * 1_001}, "refs_invalid"),
        ("x", {"supersedes": ["nowhere1"]}, "entry_not_found"),
        ("x", {"confidence": 1.1}, "confidence_invalid"),
        ("x", {"confidence": float("nan")}, "confidence_invalid"),
        ("x", {"importance": 101}, "importance_invalid"),
        ("x", {"importance": True}, "importance_invalid"),
        ("x", {"origin": "rumour"}, "origin_invalid"),
        ("x", {"scope": "world"}, "scope_invalid"),
        ("x", {"scope": "task"}, "scope_invalid"),
        ("x", {"source": "\ud800"}, "source_invalid"),
        ("x", {"source": "x" * 1_001}, "source_invalid"),
        ("x", {"until": datetime(2026, 1, 1)}, "time_without_zone"),  # noqa: DTZ001
        ("x", {"metadata": {"a": object()}}, "metadata_invalid"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
def test_what_cannot_be_a_record_is_refused(
    space: Space, body: Any, said: dict[str, Any], code: str
) -> None:
    records = space.records()
    with raises(HoldfastError, code):
        records.add(body, **said)
    assert subjects(records.list("all")) == []
    entry = records.add("before").entry
    if not said.keys() & {"scope"}:
        with pytest.raises(HoldfastError):
            records.update(entry.id, body, **said) if body is not None else records.add(body)
        assert records.read(entry.id).entry == entry


def test_any_text_is_kept_as_it_is_and_any_query_answered(space: Space) -> None:
    records = space.records()
    for text in ("NEAR(a b) AND", "日本語のメモ", "a\tb\r\nc", "-" * 300, "#", "---\na: b\n---"):
        entry = confirmed(space, text)
        found = records.read(entry)
        assert found.body == text
        assert found.entry.subject.isprintable()
    for query in ('"', "a OR", "NOT", "*", "(", "subject:x", "\ud800", "a\0b", "NEAR(a,b)", "😀"):
        records.search(query)
        assert records.search(subject=query) is not None


def test_the_id_of_another_space_is_none_here(vault: Vault, space: Space, tmp_path: Path) -> None:
    other = vault.declare(
        parse_workspace(
            "name: app\nmemory: {own: [{name: records, strategy: records}]}\n",
            tmp_path / "workspace.yml",
        )
    )
    entry = confirmed(other, "of the app")
    records = space.records()
    for call in (
        lambda: records.read(entry),
        lambda: records.promote(entry),
        lambda: records.update(entry, "x"),
        lambda: records.forget(entry),
        lambda: records.links(entry),
        lambda: tools(space)["memory_read"](id=entry),
    ):
        with raises(NotFound, "entry_not_found"):
            call()
    with raises(NotFound, "ref_not_found"):
        records.add("x", refs=[entry])
    assert other.records().read(entry).body == "of the app"


def test_the_same_call_with_the_same_key_answers_the_same(space: Space) -> None:
    records = space.records()
    first = records.add("once", key="k1")
    assert records.add("once", key="k1") == first
    assert records.history(first.entry.id)[0].op == "add"
    with raises(Conflict, "key_reused"):
        records.add("twice", key="k1")
    given = records.add("named", id="mine")
    assert records.add("named", id="mine").outcome == "unchanged"
    assert records.add("named", id="mine").entry == given.entry
    with raises(Conflict, "id_taken"):
        records.add("other", id="mine")


def test_answers_can_be_written_as_json(space: Space) -> None:
    from holdfast.core.codec import plain

    entry = confirmed(space, "# A\n\ntext")
    records = space.records()
    for answer in (records.read(entry), records.search("a"), records.history(entry)):
        assert json.loads(json.dumps(plain(answer)))
