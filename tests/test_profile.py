"""The two files beyond the contract of a vault: reviews, tools, and what a block costs."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.engine.proposals import propose
from holdfast.engine.work import mutate
from holdfast.errors import InvalidInput, NotFound, OptionInvalid, Refused, StorageFailed
from holdfast.model.entry import Entry
from holdfast.model.review import Suggestion
from holdfast.model.space import StoreSpec
from holdfast.model.write import Actor, Caller, Write
from holdfast.strategies import STRATEGIES, profile
from holdfast.testing import ManualClock, raises
from holdfast.testing.vault_profile import in_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.engine.work import Work

REVIEWER = Actor(kind="reviewer", name="rules")


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock) as vault:
        yield vault


def wanted(op: Any, text: str = "", kind: str = "", target: Entry | None = None) -> Suggestion:
    return Suggestion(
        op=op,
        strategy="profile",
        kind=kind,
        text=text,
        evidence=(),
        origin="agent",
        trust="medium",
        confidence=0.9,
        target=None if target is None else target.id,
        revision=None if target is None else target.revision,
    )


def reviewing(vault: Vault, unit: Any, user: str = "local") -> Any:
    """Run a unit as a reviewer does."""
    core = vault._core  # pyright: ignore[reportPrivateUsage]
    return mutate(core, Caller(actor=REVIEWER, user=user), Write(), "review", {}, unit)


def accepted(vault: Vault, suggestion: Suggestion, user: str = "local") -> Entry:
    store = vault.space().profile().store

    def unit(work: Work) -> Entry:
        return STRATEGIES["profile"].accept(work, store, suggestion)

    return reviewing(vault, unit, user)


@pytest.mark.row("D12")
def test_a_review_may_add_correct_and_retire_but_not_what_is_pinned(
    vault: Vault, space: Space
) -> None:
    notes = space.profile()
    tea = notes.add("Prefers tea", "USER").entry
    pinned = notes.add("Never deploys on Fridays", pinned=True).entry
    cats = accepted(vault, wanted("add", "Has two cats", "USER"))
    assert (cats.kind, cats.scope, cats.origin, cats.trust) == (
        "USER",
        "user:local",
        "agent",
        "medium",
    )
    assert accepted(vault, wanted("add", "HAS two cats", "USER")) == cats
    assert accepted(vault, wanted("update", "Prefers coffee", "USER", tea)).id == tea.id
    for op in ("update", "retire"):
        with raises(Refused, "entry_pinned"):
            accepted(vault, wanted(op, "Deploys on Fridays", "MEMORY", pinned))
    assert accepted(vault, wanted("retire", target=cats)).state == "forgotten"
    assert in_file(notes, "USER") == ["Prefers coffee"]
    assert in_file(notes, "MEMORY") == ["Never deploys on Fridays"]
    assert accepted(vault, wanted("add", "Builds take an hour")).kind == "MEMORY"


@pytest.mark.row("D21")
def test_a_review_of_one_user_changes_nothing_of_another(vault: Vault, space: Space) -> None:
    tea = space.profile().add("Prefers tea", "USER").entry
    for op in ("update", "retire"):
        with raises(NotFound, "entry_not_found"):
            accepted(vault, wanted(op, "x", "USER", tea), user="other")
    assert accepted(vault, wanted("add", "Prefers tea", "USER"), user="other").id != tea.id


@pytest.mark.row("D14")
def test_a_person_approves_what_waits_for_the_files(vault: Vault, space: Space) -> None:
    pinned = space.profile().add("Never deploys on Fridays", pinned=True).entry
    for suggestion in (wanted("add", "Has two cats", "USER"), wanted("retire", target=pinned)):
        reviewing(vault, lambda work, it=suggestion: propose(work, "default", it, "review"))
    for proposal in space.inbox().read():
        space.inbox().approve(proposal.id)
    assert (in_file(space.profile(), "USER"), in_file(space.profile(), "MEMORY")) == (
        ["Has two cats"],
        [],
    )


def tool_of(space: Space) -> Any:
    return {tool.__name__: tool for tool in space.tools()}["memory_profile"]


@pytest.mark.row("D05", "D06", "D08")
def test_an_agent_has_one_tool_for_both_files(space: Space) -> None:
    use = tool_of(space)
    tea = use("add", "USER", "Prefers tea")
    assert (tea.outcome, tea.entry.origin, tea.entry.trust) == ("added", "agent", "medium")
    assert use("replace", entry="tea", text="Prefers coffee").entry.text == "Prefers coffee"
    done = use(
        "batch",
        batch=[{"op": "remove", "entry": "coffee"}, {"op": "add", "text": "Two cores"}],
    )
    assert [step.outcome for step in done.steps] == ["removed", "added"]
    assert [file.text for file in use("read")] == ["# USER.md\n", "# MEMORY.md\n\n- Two cores\n"]
    space.profile().reset("MEMORY")
    assert [entry.text for entry in use("archive", text="cores")] == ["Two cores"]
    assert use("restore", entry="cores").outcome == "restored"
    with space.session() as here:
        tool_of(here)("remove", entry="cores")
        assert [each.kind for each in tool_of(here)("changes")] == ["removed"]
    with raises(InvalidInput, "arguments_invalid"):
        use("replace", text="x")
    with raises(InvalidInput, "arguments_invalid"):
        use("explode")


@pytest.mark.row("D03")
def test_a_block_costs_one_statement_however_much_there_is(space: Space) -> None:
    class Counting:
        def __init__(self, view: Any) -> None:
            self.asked: list[str] = []
            self._view = view

        def __getattr__(self, name: str) -> Any:
            self.asked.append(name)
            return getattr(self._view, name)

    notes = space.profile()
    for number in range(100):
        notes.add(f"fact {number}", "USER" if number % 2 else "MEMORY")
    desk = space.desk("profile")

    def asked(view: Any, store: Any) -> tuple[list[str], list[str]]:
        counting = Counting(view)
        drafts = profile.block(counting, store)  # pyright: ignore[reportArgumentType]
        return counting.asked, [draft.label for draft in drafts]

    assert desk.read(asked) == (
        ["shown"],
        ["default/profile/USER.md", "default/profile/MEMORY.md"],
    )


# Files in a folder


def exported(space: Space, folder: Path) -> Path:
    space.profile().export(folder)
    return folder / "MEMORY.md"


@pytest.mark.row("D01")
def test_an_export_is_clean_markdown(space: Space, tmp_path: Path) -> None:
    files = space.profile()
    files.add("Prefers tea", "USER", pinned=True, importance=90)
    files.add("Run with:\n\n    make test")
    done = files.export(tmp_path / "out")
    assert [(each.file, each.path, each.written) for each in done] == [
        (name, str(tmp_path / "out" / f"{name}.md"), True) for name in ("USER", "MEMORY")
    ]
    assert (tmp_path / "out" / "USER.md").read_text() == "# USER.md\n\n- Prefers tea\n"
    assert (tmp_path / "out" / "MEMORY.md").read_text() == (
        "# MEMORY.md\n\n- Run with:\n\n      make test\n"
    )
    assert [each.written for each in files.export(tmp_path / "out")] == [False, False]
    left = sorted(each.name for each in (tmp_path / "out").rglob("*") if each.is_file())
    assert left == ["MEMORY.md", "USER.md", "profile.json"]


@pytest.mark.row("D17")
def test_a_file_edited_by_hand_is_joined_with_what_was_written_meanwhile(
    vault: Vault, space: Space, tmp_path: Path
) -> None:
    files = space.profile()
    for text in (
        "one stays",
        "two is edited here",
        "three is removed here",
        "four is removed there",
    ):
        files.add(text, pinned=True)
    ids = {entry.text: entry.id for entry in files.read("MEMORY")[0].entries}
    file = exported(space, tmp_path / "out")
    text = file.read_text().replace("two is edited here", "two was edited here")
    file.write_text(text.replace("- three is removed here\n", "") + "- five is new here\n")
    files.add("six is new there")
    files.replace("one stays", "one was edited there")
    files.remove("four")
    with raises(Refused, "profile_file_edited"):
        files.export(tmp_path / "out")
    user, memory = files.sync(tmp_path / "out")
    assert (user.added, user.removed, user.written) == ((), (), False)
    assert [e.text for e in memory.added] == ["five is new here"]
    assert [(e.text, e.id, e.pinned) for e in memory.replaced] == [
        ("two was edited here", ids["two is edited here"], True)
    ]
    assert [e.text for e in memory.removed] == ["three is removed here"]
    assert (memory.clashes, memory.evicted, memory.written) == ((), (), True)
    assert in_file(files, "MEMORY") == [
        "one was edited there",
        "two was edited here",
        "six is new there",
        "five is new here",
    ]
    assert file.read_text() == files.read("MEMORY")[0].text
    before = vault.status().seq
    assert [each.written for each in files.sync(tmp_path / "out")] == [False, False]
    assert vault.status().seq == before


@pytest.mark.row("D17")
def test_what_both_changed_is_kept_twice_and_told(space: Space, tmp_path: Path) -> None:
    files = space.profile()
    one = files.add("Deploys run on Mondays").entry
    file = exported(space, tmp_path)
    file.write_text("- Deploys run on Fridays\n")
    files.replace("Mondays", "Deploys run on Tuesdays")
    (clash,) = files.sync(tmp_path)[1].clashes
    assert (clash.entry, clash.kept, clash.added) == (
        one.handle,
        "Deploys run on Tuesdays",
        "Deploys run on Fridays",
    )
    assert in_file(files, "MEMORY") == ["Deploys run on Tuesdays", "Deploys run on Fridays"]


@pytest.mark.row("D17")
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"# MEMORY.md\r\n", b"\n\n---\n"])
def test_a_file_that_says_nothing_empties_nothing_unless_told(
    vault: Vault, space: Space, tmp_path: Path, content: bytes
) -> None:
    files = space.profile()
    files.add("a fact")
    file = exported(space, tmp_path)
    file.write_bytes(content)
    before = vault.status().seq
    with raises(Refused, "profile_file_empty"):
        files.sync(tmp_path)
    assert (vault.status().seq, in_file(files, "MEMORY")) == (before, ["a fact"])
    assert [e.text for e in files.sync(tmp_path, empties=True)[1].removed] == ["a fact"]
    assert in_file(files, "MEMORY") == []


@pytest.mark.row("D17")
def test_a_file_that_is_gone_or_cannot_be_read_empties_nothing(
    space: Space, tmp_path: Path
) -> None:
    files = space.profile()
    files.add("a fact")
    file = exported(space, tmp_path)
    file.unlink()
    assert files.sync(tmp_path)[1].written
    assert file.read_text() == "# MEMORY.md\n\n- a fact\n"
    file.unlink()
    file.mkdir()
    with raises(StorageFailed, "profile_file_failed"):
        files.sync(tmp_path)
    file.rmdir()
    (tmp_path / ".holdfast" / "profile.json").write_text('{"files": {"MEMORY": {"digest": 1}}}')
    file.write_text("- another fact\n")
    files.sync(tmp_path)
    assert in_file(files, "MEMORY") == ["a fact", "another fact"]


@pytest.mark.row("D17")
def test_an_edit_that_is_too_large_changes_nothing(
    vault: Vault, space: Space, tmp_path: Path
) -> None:
    files = space.profile()
    files.add("a fact")
    file = exported(space, tmp_path)
    before = vault.status().seq
    for content, kind, code in (
        (
            "".join(f"- {number} {'x' * 98}\n" for number in range(30)),
            Refused,
            "profile_file_too_full",
        ),
        (f"- {'x' * 2200}\n", Refused, "profile_file_too_full"),
        ("x" * 5_000_000, InvalidInput, "profile_file_too_large"),
    ):
        file.write_text(content)
        with raises(kind, code):
            files.sync(tmp_path)
        assert (vault.status().seq, file.read_text()) == (before, content)
    # Within its size, it makes room as any other write does.
    file.write_text("- a fact\n" + "".join(f"- {number} {'x' * 98}\n" for number in range(20)))
    for number in range(5):
        files.add(f"meanwhile {number} {'y' * 60}")
    synced = files.sync(tmp_path)[1]
    assert [e.text[:11] for e in synced.evicted] == [
        "a fact",
        *(f"meanwhile {number}" for number in range(4)),
    ]
    assert synced.gauge.chars <= 2200


@pytest.mark.row("D17")
@pytest.mark.parametrize(
    "content",
    [
        "\ufeff# Mine\r\n\r\nA paragraph\r\nthat goes on.\r\n\r\n* one\r\n* two\r\n".encode(),
        "# Mine\n\nA paragraph\nthat goes on.\n§\none\n§\ntwo".encode(),
        "A paragraph that goes on.\n\n1. one\n2. two".encode("utf-16"),
    ],
)
def test_a_plain_file_becomes_entries_and_not_one(
    space: Space, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "MEMORY.md").write_bytes(content)
    space.profile().sync(tmp_path)
    assert in_file(space.profile(), "MEMORY") == ["A paragraph that goes on.", "one", "two"]


@pytest.mark.row("D17")
def test_bad_bytes_are_read_and_told(space: Space, tmp_path: Path) -> None:
    files = space.profile()
    files.add("first")
    file = exported(space, tmp_path)
    file.write_bytes(file.read_bytes() + b"- caf\xe9\n")
    synced = files.sync(tmp_path)[1]
    assert [each.code for each in synced.advice] == ["profile_file_encoding"]
    assert in_file(files, "MEMORY") == ["first", "café"]


@pytest.mark.row("D17", "D21")
def test_the_file_of_another_user_is_not_read_or_written(vault: Vault, tmp_path: Path) -> None:
    ann, ben = (vault.space().seen_by(Caller(user=name)).profile() for name in ("ann", "ben"))
    ann.add("Is ann", "USER")
    ann.export(tmp_path)
    with raises(Refused, "profile_file_of_another"):
        ben.export(tmp_path)
    (tmp_path / "USER.md").write_text("- Is ann indeed\n")
    with raises(Refused, "profile_file_of_another"):
        ben.sync(tmp_path)
    assert (in_file(ann, "USER"), in_file(ben, "USER")) == (["Is ann"], [])


@pytest.mark.row("D17")
def test_a_folder_of_another_vault_takes_nothing_away(space: Space, tmp_path: Path) -> None:
    space.profile().add("a fact")
    exported(space, tmp_path / "out")
    with holdfast.open("memory:") as other:
        other.space().profile().add("mine")
        other.space().profile().sync(tmp_path / "out")
        assert in_file(other.space().profile(), "MEMORY") == ["mine", "a fact"]


@pytest.mark.row("D17")
def test_a_write_that_failed_after_the_merge_is_made_good(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = space.profile()
    files.add("two is edited here")
    files.add("three is removed here")
    file = exported(space, tmp_path)
    edited = "- two was edited here\n- five is new here\n"
    file.write_text(edited)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", failing)
        with raises(StorageFailed, "profile_file_failed"):
            files.sync(tmp_path)
    assert file.read_text() == edited
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        ".holdfast",
        "MEMORY.md",
        "USER.md",
        "vault",
    ]
    synced = files.sync(tmp_path)[1]
    assert (synced.added, synced.replaced, synced.removed) == ((), (), ())
    assert in_file(files, "MEMORY") == ["two was edited here", "five is new here"]


def failing(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.row("D01")
def test_the_workspace_has_the_files_where_it_asks_for_them(vault: Vault, tmp_path: Path) -> None:
    text = "name: app\nmemory:\n  own:\n    - {name: me, strategy: profile, mirror: notes}\n"
    (tmp_path / "workspace.yml").write_text(text)
    files = vault.workspace(tmp_path / "workspace.yml").profile()
    files.add("a fact")
    mirrored = tmp_path / "notes" / "MEMORY.md"
    assert mirrored.read_text() == "# MEMORY.md\n\n- a fact\n"
    mirrored.write_text("- a fact\n- by hand\n")
    files.add("Prefers tea", "USER")
    assert in_file(files, "MEMORY") == ["a fact", "by hand"]
    mirrored.write_text("")
    behind = files.add("another")
    assert (behind.outcome, [each.code for each in behind.advice]) == ("added", ["mirror_behind"])
    assert in_file(files, "MEMORY") == ["a fact", "by hand", "another"]


@pytest.mark.row("D01")
@pytest.mark.parametrize("folder", ["/etc", "../up", "a/../../b", "~/x", "..\\up"])
def test_a_mirror_stays_in_the_workspace(folder: str) -> None:
    with raises(OptionInvalid, "option_invalid"):
        profile.check(StoreSpec(name="me", strategy="profile", options={"mirror": folder}))


@pytest.mark.row("D17")
def test_an_editor_holds_a_file_for_long(space: Space) -> None:
    files = space.profile()
    files.add("one")
    files.add("two")
    (opened,) = files.read("MEMORY")
    files.add("three")
    done = files.merge("MEMORY", opened.text.replace("- one\n", "") + "- four\n", opened)
    assert [e.text for e in (*done.removed, *done.added)] == ["one", "four"]
    assert in_file(files, "MEMORY") == ["two", "three", "four"]
    with raises(Refused, "profile_file_empty"):
        files.merge("MEMORY", "", opened)
