"""Mounts: what one space sees of another, what it may write there, and what sharing narrows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in, ok

import holdfast
from holdfast.engine.workspace import parse_workspace
from holdfast.errors import Conflict, InvalidInput, NotFound, Refused
from holdfast.model.write import Actor, Caller
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

SOURCE = """\
name: reviews
memory:
  own:
    - {name: decisions, strategy: narrative}
    - {name: flags, strategy: keyvalue}
"""


def declare(vault: Vault, name: str, text: str) -> Space:
    return vault.declare(parse_workspace(text, Path("/spaces") / name / "workspace.yml"))


def mounting(*mounts: str, own: str = "{name: mine, strategy: narrative}") -> str:
    lines = "".join(f"    - {mount}\n" for mount in mounts)
    return f"name: app\nmemory:\n  own:\n    - {own}\n  mounts:\n{lines}"


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


@pytest.fixture
def reviews(vault: Vault) -> Space:
    return declare(vault, "reviews", SOURCE)


def texts(page: Any) -> list[str]:
    return [entry.text for entry in page.entries]


def tools(space: Space) -> dict[str, Any]:
    return {tool.__name__: tool for tool in space.tools()}


@pytest.mark.row("H11")
def test_a_mounted_store_is_read_searched_and_shown_at_session_start(
    vault: Vault, reviews: Space
) -> None:
    entry = reviews.notes("decisions").save("We ship on Tuesdays", id="ship").entry
    app = declare(vault, "app", mounting("{name: team, source: reviews/decisions}"))
    app.notes("mine").save("A note of our own")
    assert texts(app.notes("team").read()) == ["We ship on Tuesdays"]
    assert texts(app.notes("team").read(text="tuesdays")) == ["We ship on Tuesdays"]
    assert app.notes("team").get("ship") == entry
    assert texts(tools(app)["memory_read"]("team")) == ["We ship on Tuesdays"]
    context = app.context()
    assert [block.label for block in context.blocks] == ["app/mine", "reviews/decisions"]
    assert "## Notes reviews/decisions (newest first)\n- 2026-01-15 We ship" in context.text
    assert [store.label for store in app.seen()] == ["app/mine", "reviews/decisions"]
    assert [store.label for store in app.stores()] == ["app/mine"]


@pytest.mark.row("H11")
def test_one_search_finds_in_own_and_mounted_stores(vault: Vault, reviews: Space) -> None:
    for number in range(4):
        reviews.notes("decisions").save(f"ship {number}", metadata={"odd": number % 2})
        vault.space().notes().save(f"ship general {number}")
    lens = "filter: {metadata: {odd: 1}}"
    app = declare(
        vault,
        "app",
        mounting(
            f"{{name: odd, source: reviews/decisions, {lens}}}", "{source: default/narrative}"
        ),
    )
    app.notes("mine").save("ship it")
    page = app.search("ship", limit=3)
    found = [hit.entry.text for hit in page.hits]
    while page.cursor is not None:
        page = app.search("ship", limit=3, cursor=page.cursor)
        found += [hit.entry.text for hit in page.hits]
    assert sorted(found) == sorted(
        ["ship it", "ship 1", "ship 3", *(f"ship general {number}" for number in range(4))]
    )
    assert {hit.store.label for hit in app.search("ship", store="odd").hits} == {
        "reviews/decisions"
    }
    assert len(app.search("ship", store="odd").hits) == 2


@pytest.mark.row("H11")
def test_what_the_reach_of_a_mounted_block_names_can_be_called(
    vault: Vault, reviews: Space
) -> None:
    for number in range(21):
        reviews.notes("decisions").save(f"n{number}")
    app = declare(vault, "app", mounting("{name: team, source: reviews/decisions}"))
    (block,) = [block for block in app.context().blocks if block.more]
    assert block.reach == "More: memory_read(store='team')"
    assert len(texts(tools(app)["memory_read"]("team", limit=50))) == 21


@pytest.mark.row("H11")
def test_what_is_mounted_read_only_refuses_every_write(vault: Vault, reviews: Space) -> None:
    entry = reviews.notes("decisions").save("We ship on Tuesdays").entry
    reviews.kv(store="flags").set("on", 1)
    app = declare(
        vault,
        "app",
        mounting("{name: team, source: reviews/decisions}", "{name: flags, source: reviews/flags}"),
    )
    before = vault.status().seq
    with raises(Refused, "mount_read_only"):
        app.notes("team").save("x")
    with raises(Refused, "mount_read_only"):
        app.notes("team").remove(entry.id)
    with raises(Refused, "mount_read_only"):
        tools(app)["memory_save"]("team", "x")
    with raises(Refused, "mount_read_only"):
        tools(app)["memory_remove"]("team", entry.id)
    with raises(Refused, "mount_read_only"):
        app.kv(store="flags").set("on", 2)
    with raises(Refused, "mount_read_only"):
        app.kv(store="flags").delete("on", key="once")
    with raises(Refused, "mount_read_only"), app.session() as here:
        tools(here)["memory_set"]("on", 3, store="flags")
    assert app.kv(store="flags").get("on") == 1
    assert texts(reviews.notes("decisions").read()) == ["We ship on Tuesdays"]
    assert vault.status().seq == before + 2  # the session alone


@pytest.mark.row("H11")
def test_what_is_mounted_to_be_written_is_the_sources_memory(vault: Vault, reviews: Space) -> None:
    app = declare(vault, "app", mounting("{name: team, source: reviews/decisions, mode: rw}"))
    with app.session("Review") as here:
        saved = here.notes("team").save("We ship on Fridays")
    assert reviews.notes("decisions").get(saved.entry.id) == saved.entry
    app.notes("team").remove(saved.entry.id)
    assert texts(reviews.notes("decisions").read()) == []
    assert list(vault.verify()) == []


@pytest.mark.row("H11")
def test_a_store_of_the_default_space_is_made_by_the_first_write_through_a_mount(
    vault: Vault,
) -> None:
    app = declare(vault, "app", mounting("{name: team, source: default/narrative, mode: rw}"))
    assert texts(app.notes("team").read()) == []
    app.notes("team").save("first")
    app.notes("team").save("second")
    assert texts(vault.space().notes().read()) == ["second", "first"]


@pytest.mark.row("H11")
def test_where_two_mounts_reach_one_store_it_appears_once(vault: Vault, reviews: Space) -> None:
    for importance, text in ((20, "small"), (80, "large")):
        reviews.notes("decisions").save(text, metadata={"size": importance})
    app = declare(
        vault,
        "app",
        mounting(
            "{name: a, source: reviews/decisions, filter: {metadata: {size: 20}}}",
            "{name: b, source: reviews/decisions, filter: {metadata: {size: 80}}}",
        ),
    )
    (block,) = app.context().blocks
    assert (block.label, block.shown) == ("reviews/decisions", 2)
    assert texts(app.notes("a").read()) == ["small"]
    assert texts(app.notes("b").read()) == ["large"]


# Scope and filter


@pytest.mark.row("H12")
def test_a_filter_holds_in_every_way_of_reading_now_and_then(
    vault: Vault, reviews: Space, clock: ManualClock
) -> None:
    notes = reviews.notes("decisions")
    old = notes.save("old and in Go", metadata={"lang": "go"}).entry
    clock.advance(days=40)
    secret = notes.save("a secret of Python", id="secret", metadata={"lang": "python"}).entry
    fresh = notes.save("new and in Go", metadata={"lang": "go"}).entry
    mount = (
        "{name: go, source: reviews/decisions, mode: rw, filter: {age: 30d, metadata: {lang: go}}}"
    )
    app = declare(vault, "app", mounting(mount))
    seq = vault.status().seq
    then = app.as_of(seq)
    clock.advance(days=31)
    assert texts(app.notes("go").read()) == []
    assert texts(then.notes("go").read()) == ["new and in Go"]
    assert texts(then.notes("go").read(text="go")) == ["new and in Go"]
    assert then.notes("go").get(fresh.id) == fresh
    assert [hit.entry.text for hit in then.search("go").hits] == ["new and in Go"]
    for space in (app, then):
        assert space.search("secret").hits == ()
        found = space.search("secret", store="go", diagnostics="detailed")
        looked = found.looked
        assert looked is not None
        assert (found.hits, looked.matched, looked.candidates) == ((), 0, ())
        assert set(looked.holders.values()) == {0}
    for hidden in (old.id, secret.id, "secret", secret.id[-8:]):
        for space in (app, then):
            with raises(NotFound, "entry_not_found"):
                space.notes("go").get(hidden)
        with raises(NotFound, "entry_not_found"):
            app.notes("go").remove(hidden)
        with raises(NotFound, "entry_not_found"):
            tools(app)["memory_read"]("go", id=hidden)
    assert "secret" not in then.context().text
    assert "old and" not in then.context().text
    assert "new and in Go" in then.context().text
    assert app.context().blocks == ()


@pytest.mark.row("H12")
def test_the_newest_that_pass_a_filter_are_injected(vault: Vault, reviews: Space) -> None:
    for number in range(60):
        reviews.notes("decisions").save(f"n{number}", metadata={"odd": number % 2})
    mount = "{name: odd, source: reviews/decisions, filter: {metadata: {odd: 1}}}"
    app = declare(vault, "app", mounting(mount))
    (block,) = app.context().blocks
    lines = [line.split()[2] for line in block.text.splitlines() if line.startswith("- ")]
    assert lines == [f"n{number}" for number in range(59, 19, -2)]
    assert block.more


@pytest.mark.row("H12")
def test_what_a_mount_would_not_show_cannot_be_written_through_it(
    vault: Vault, reviews: Space
) -> None:
    reviews.notes("decisions").save("theirs", id="x")
    mount = "{name: go, source: reviews/decisions, mode: rw, filter: {metadata: {lang: go}}}"
    app = declare(vault, "app", mounting(mount))
    with raises(Refused, "mount_filter"):
        app.notes("go").save("nobody would see it here")
    with raises(Conflict, "id_taken"):
        app.notes("go").save("theirs", id="x", metadata={"lang": "go"})
    app.notes("go").save("seen", metadata={"lang": "go"})
    assert texts(app.notes("go").read()) == ["seen"]


@pytest.mark.row("H12")
def test_the_scope_agent_shows_what_the_same_agent_wrote(vault: Vault, reviews: Space) -> None:
    mount = "{name: lane, source: reviews/decisions, mode: rw, scope: agent}"
    app = declare(vault, "app", mounting(mount))
    planner, writer = (
        app.seen_by(Caller(actor=Actor(kind="agent", name=name))) for name in ("planner", "writer")
    )
    planner.notes("lane").save("the plan")
    entry = writer.notes("lane").save("the text").entry
    assert texts(planner.notes("lane").read()) == ["the plan"]
    assert texts(writer.notes("lane").read()) == ["the text"]
    assert "the text" not in planner.context().text
    assert "the plan" in planner.context().text
    seq = vault.status().seq
    assert texts(planner.as_of(seq).notes("lane").read()) == ["the plan"]
    with raises(NotFound, "entry_not_found"):
        planner.notes("lane").remove(entry.id)
    assert texts(reviews.notes("decisions").read()) == ["the text", "the plan"]


@pytest.mark.row("H12")
def test_the_scope_session_shows_what_the_same_session_wrote(vault: Vault, reviews: Space) -> None:
    reviews.notes("decisions").save("before")
    mount = "{name: lane, source: reviews/decisions, mode: rw, scope: session}"
    app = declare(vault, "app", mounting(mount))
    with app.session() as one, app.session() as two:
        one.notes("lane").save("of one")
        two.notes("lane").save("of two")
        assert texts(one.notes("lane").read()) == ["of one"]
        assert texts(two.notes("lane").read()) == ["of two"]
        assert [block.shown for block in one.context(1_000).blocks] == [1]
    assert texts(app.notes("lane").read()) == []
    with raises(Refused, "mount_filter"):
        app.notes("lane").save("of nobody")


@pytest.mark.row("H12")
def test_what_a_filter_cannot_choose_among_is_mounted_whole_or_not(
    vault: Vault, reviews: Space
) -> None:
    text = mounting("{name: flags, source: reviews/flags, filter: {kind: a}}")
    with pytest.raises(InvalidInput, match=r"workspace.yml:6: memory.mounts\[0\].filter: .*values"):
        declare(vault, "app", text)


# Sharing, and sources that are not there


@pytest.mark.row("H13")
@pytest.mark.parametrize(
    ("share", "mount", "says"),
    [
        ("[]", "{source: reviews/decisions}", "does not share decisions with app"),
        ("[{store: flags}]", "{source: reviews/decisions}", "does not share decisions with app"),
        ("[{store: decisions, with: [other]}]", "{source: reviews/decisions}", "with app"),
        ("[{store: decisions, mode: ro}]", "{source: reviews/decisions, mode: rw}", "read only"),
        ("[{store: decisions, with: app}]", "{source: reviews/decisions, mode: rw}", ""),
        ("[{store: decisions, mode: ro}]", "{source: reviews/decisions}", ""),
    ],
)
def test_a_source_narrows_who_mounts_what(vault: Vault, share: str, mount: str, says: str) -> None:
    declare(vault, "reviews", f"{SOURCE}  share: {share}\n")
    if not says:
        assert declare(vault, "app", mounting(mount)).mounts()[0].problem == ""
        return
    with pytest.raises(InvalidInput, match=says) as caught:
        declare(vault, "app", mounting(mount))
    place = "/spaces/app/workspace.yml:6: memory.mounts[0].source: "
    assert caught.value.message.startswith(place)
    with raises(NotFound, "space_not_found"):  # nothing of it was applied
        vault.space("app")


@pytest.mark.row("H13")
@pytest.mark.parametrize(
    ("mount", "field", "says"),
    [
        ("{source: nowhere/decisions}", "source", "there is no space 'nowhere'"),
        ("{source: reviews/gone}", "source", "reviews declares no store 'gone'"),
        ("{source: app/mine, name: x}", "source", "is in this space itself"),
        ("{source: reviews/decisions, name: mine}", "name", "the name 'mine' stands twice"),
        ("{source: reviews/decisions, mode: rwx}", "mode", "there is no mode 'rwx'"),
        ("{source: decisions}", "source", "'decisions' is not space/store"),
        ("{source: reviews/Bad Name}", "source", "is not a name for a store"),
        ("{source: ../../etc, name: x}", "source", "is not a name"),
        ("{source: reviews/decisions, scope: all}", "scope", "there is no scope 'all'"),
        ("{source: reviews/decisions, filter: {kinds: a}}", "filter.kinds", "did you mean kind"),
        ("{source: reviews/decisions, filter: {age: 1h}}", "filter.age", "whole days"),
        ("{name: x}", "", "source is missing"),
    ],
)
def test_mistakes_in_a_mount_are_named_by_file_and_line(
    vault: Vault, reviews: Space, mount: str, field: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        declare(vault, "app", mounting(mount))
    place = f"/spaces/app/workspace.yml:6: memory.mounts[0]{field and '.'}{field}: "
    assert caught.value.message.startswith(place)
    assert says in caught.value.message + caught.value.hint
    assert caught.value.hint


@pytest.mark.row("H13")
def test_a_mount_of_a_mount_and_a_circle_are_found(vault: Vault, reviews: Space) -> None:
    middle = (
        "name: middle\nmemory:\n  own: []\n  mounts:\n    - {name: x, source: reviews/decisions}\n"
    )
    declare(vault, "middle", middle)
    with pytest.raises(InvalidInput, match="middle/x is a mount itself, of reviews/decisions"):
        declare(vault, "app", mounting("{source: middle/x}"))
    declare(vault, "app", mounting(own="{name: mine, strategy: narrative}"))
    declare(vault, "middle", middle.replace("reviews/decisions", "app/mine"))
    with pytest.raises(InvalidInput, match="circle: app/back → middle/x → app/mine"):
        declare(vault, "app", mounting("{name: back, source: middle/x}"))


@pytest.mark.row("H13")
@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("name: reviews\nmemory: {own: []}\n", "reviews declares no store 'decisions'"),
        (f"{SOURCE}  share: []\n", "reviews does not share decisions with app"),
    ],
)
def test_taking_a_source_away_is_reported_on_both_sides(
    vault: Vault, reviews: Space, after: str, why: str
) -> None:
    reviews.notes("decisions").save("a decision")
    app = declare(vault, "app", mounting("{name: team, source: reviews/decisions}"))
    was = app.as_of(vault.status().seq)
    changed = declare(vault, "reviews", after)
    said = [(advice.code, advice.message) for advice in changed.advice]
    assert said == [("mount_lost", f"app mounts reviews/decisions as team: {why}")]
    assert [(each.mount.name, each.problem) for each in app.mounts()] == [("team", why)]
    assert app.context().text == f"## Mounts of app that lead nowhere\n- team: {why}\n"
    with raises(NotFound, "mount_broken"):
        app.notes("team")
    assert "a decision" in was.context().text
    back = declare(vault, "reviews", SOURCE)
    assert (back.advice, app.mounts()[0].problem) == ((), "")
    assert "a decision" in app.context().text


@pytest.mark.row("H13")
def test_what_is_taken_away_while_somebody_holds_it_is_gone_at_once(
    vault: Vault, reviews: Space
) -> None:
    app = declare(vault, "app", mounting("{name: team, source: reviews/decisions, mode: rw}"))
    notes = app.notes("team")
    notes.save("while shared")
    declare(vault, "reviews", f"{SOURCE}  share: [{{store: decisions, mode: ro}}]\n")
    with raises(NotFound, "mount_broken"):
        notes.save("no longer")
    with raises(NotFound, "mount_broken"):
        notes.read()


def test_the_declaration_of_mounts_is_kept_with_its_history(vault: Vault, reviews: Space) -> None:
    app = declare(vault, "app", mounting("{name: team, source: reviews/decisions}"))
    first = vault.status().seq
    declare(vault, "app", mounting("{name: crew, source: reviews/decisions}"))
    second = vault.status().seq
    assert second == first + 1
    assert [each.mount.name for each in app.as_of(first).mounts()] == ["team"]
    assert [each.mount.name for each in app.mounts()] == ["crew"]
    assert list(vault.verify()) == []


# The command line


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


KEPT = """\
# What we remember.
name: app
memory:
  own:
    - name: "mine"   # ours alone
      strategy: narrative
"""


@pytest.mark.row("H11")
def test_the_shell_mounts_and_unmounts_and_keeps_the_comments(cli: Cli) -> None:
    cli.says("note", "save", "A fact for all")
    Path("workspace.yml").write_text(KEPT)
    said = cli("space", "mount", "default/narrative", "--name", "general")
    assert said == ok("general\n", "app mounts default/narrative as general, ro\n")
    text = Path("workspace.yml").read_text()
    assert text == f"{KEPT}  mounts:\n    - name: general\n      source: default/narrative\n"
    assert cli.notes("--store", "general") == ["A fact for all"]
    assert cli.refuses("note", "save", "x", "--store", "general") == "mount_read_only"
    assert "A fact for all" in cli.says("context")
    shown = cli.json("space", "show")["mounts"]
    assert [(each["name"], each["mode"], each["problem"]) for each in shown] == [
        ("general", "ro", "")
    ]
    cli.says("space", "unmount", "general")
    assert Path("workspace.yml").read_text() == KEPT
    assert cli.refuses("space", "unmount", "general") == "mount_not_found"
    assert cli.refuses("note", "read", "--store", "general") == "store_not_declared"


@pytest.mark.row("H12")
def test_the_shell_says_scope_and_filter(cli: Cli) -> None:
    cli.says("note", "save", "in Go", "--meta", "lang=go")
    cli.says("note", "save", "in Python", "--meta", "lang=python")
    Path("workspace.yml").write_text(KEPT)
    words = ["--age", "30d", "--meta", "lang=go", "--mode", "rw", "--scope", "space"]
    cli.says("space", "mount", "default/narrative", "--name", "go", *words)
    assert cli.notes("--store", "go") == ["in Go"]
    (shown,) = cli.json("space", "show")["mounts"]
    assert (shown["mode"], shown["filter"]) == ("rw", {"age": 30, "metadata": {"lang": "go"}})


@pytest.mark.row("H13")
def test_the_shell_refuses_what_cannot_be_mounted_and_leaves_the_file(cli: Cli) -> None:
    assert cli.refuses("space", "mount", "default/narrative") == "space_without_file"
    Path("workspace.yml").write_text(KEPT)
    assert cli.refuses("space", "mount", "nowhere/decisions") == "workspace_invalid"
    assert cli.refuses("space", "mount", "rubbish") == "workspace_invalid"
    assert Path("workspace.yml").read_text() == KEPT


@pytest.mark.row("H13")
def test_the_shell_warns_of_what_others_lose(cli: Cli, tmp_path: Path) -> None:
    for name in ("source", "user"):
        (tmp_path / name).mkdir()
    source = tmp_path / "source" / "workspace.yml"
    source.write_text("name: source\nmemory: {own: [{name: facts, strategy: narrative}]}\n")
    cli.says("space", "init", "source")
    (tmp_path / "user" / "workspace.yml").write_text(
        "name: user\nmemory: {own: [], mounts: [{source: source/facts}]}\n"
    )
    cli.says("space", "init", "user")
    source.write_text("name: source\nmemory: {own: []}\n")
    said = cli("space", "init", "source", "--json")
    assert json.loads(said.stderr)["warning"]["code"] == "mount_lost"
    shown = cli.json("space", "show", "--space", "user")["mounts"]
    assert shown[0]["problem"] == "source declares no store 'facts'"


def test_an_edit_that_came_meanwhile_is_never_overwritten(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.engine.workspace import edit

    file = Path("workspace.yml")
    file.write_text(KEPT)
    with raises(Conflict, "workspace_changed"), edit.changing(file.absolute()) as change:
        file.write_text(f"{KEPT}# by an editor\n")
        change.put("name: lost\n")
    assert file.read_text() == f"{KEPT}# by an editor\n"
