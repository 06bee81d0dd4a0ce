"""What is forgotten is out of every answer: asked by every surface, and found by none."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import by_faces, by_shell, by_tools
from cli_vault import Cli, cli_in

import holdfast
from holdfast.core.suggesting import of_changes, of_new
from holdfast.engine.proposals import propose
from holdfast.engine.work import mutate
from holdfast.errors import Conflict, NotFound
from holdfast.model.entry import NewEntry
from holdfast.model.write import Caller, Write
from holdfast.strategies.records.face import Records
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.proposal import Proposal

MARK = "zanzibar"
TEXT = f"The word is {MARK}, said the quagga"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


def proposed(vault: Vault, wanted: Any) -> Proposal:
    return mutate(
        vault._core,
        vault.caller,
        Write(),
        "propose",
        {},
        lambda work: propose(work, "default", wanted, "approval"),
    )


class Full:
    """A vault with one thing of each kind that says the marker, and what these are called."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.space = vault.space()
        self.space.prefer({}, preset="aggressive")
        self.session = self.space.start_session("Talk").id
        self.ids: list[str] = []
        self._notes()
        self._profile()
        self._records()
        self._others()
        self._proposals()
        self.before = vault.status().seq

    def _notes(self) -> None:
        notes = self.space.notes()
        self.note = notes.save(TEXT, id="n1", metadata={"m": MARK}, reason=MARK, key="k-save").entry
        self.plain = notes.save(f"Another {MARK} quagga").entry
        self.ids += ["n1", self.note.id, self.plain.id, self.plain.id[-8:]]

    def _profile(self) -> None:
        profile = self.space.profile()
        first = profile.add(f"Likes {MARK} tea", "USER", metadata={"m": MARK}).entry
        self.fact = profile.replace(first.id, TEXT, reason=MARK).entry
        profile.pin(self.fact.id)
        self.kept = profile.add(f"{MARK} quagga holds here", "MEMORY").entry
        profile.reset("MEMORY")
        self.ids += [self.fact.id, self.kept.id]

    def _records(self) -> None:
        records = self.space.records()
        said: Any = {"tags": [MARK], "source": MARK, "metadata": {"m": MARK}}
        body = f"# {MARK}\n\nquagga\n\n## Setup\n\n{MARK}"
        self.record = records.add(body, subject=f"{MARK} quagga", id="r1", **said).entry
        records.update("r1", f"{TEXT}\n\n## Setup\n\nquagga {MARK}", reason=MARK)
        other = records.add("stays", subject="It stays", id="r2", refs=["r1"])
        records.add(f"gives way {MARK}", subject="s", id="r3", refs=["r2"])
        with self.space.session("draft") as here:
            self.draft = here.records().add({"quagga": MARK}, subject=f"A draft {MARK}").entry
        self.ids += ["r1", "r3", self.record.id, self.draft.id, other.entry.id]

    def _others(self) -> None:
        skills = self.space.skills()
        files: Any = {"a.md": f"{MARK} quagga"}
        self.skill = skills.save("quagga", f"Do {MARK}", f"Say {MARK}.", files=files).skill
        skills.patch("quagga", "Say", "Say twice")
        self.artifact = (
            self.space.artifacts()
            .save(f"content {MARK} quagga", title=f"T {MARK}", summary=f"S {MARK}")
            .artifact.id
        )
        self.ids += [self.skill.id, self.artifact]

    def _proposals(self) -> None:
        store = self.space.desk("narrative").store
        self.pending = proposed(
            self.vault, of_changes(store, self.note, {"text": f"more {MARK} quagga"})
        )
        same = NewEntry(text=self.plain.text, origin="agent")
        self.twin = proposed(self.vault, of_new(store, same, "medium"))
        new = NewEntry(text=f"proposed {MARK} quagga", origin="agent")
        self.applied = proposed(self.vault, of_new(store, new, "medium"))
        self.approved = self.space.inbox().approve(self.applied.id, key="k-approve").entry
        assert self.approved is not None
        self.ids += [self.pending.id, self.twin.id, self.applied.id, self.approved.id]

    def told(self) -> dict[str, Any]:
        """What to ask with, by the name of what asks."""
        words, ids = ["quagga"], self.ids
        numbers = range(1, self.vault.status().seq + 1)
        return {
            **{name: [*ids, *words] for name in ("id", "name", "entry", "ENTRY", "NAME", "ID")},
            **dict.fromkeys(("query", "QUERY", "text", "--text", "--query", "match"), words),
            **{name: ["SKILL.md", "a.md", "Setup", "quagga"] for name in ("path", "file", "FILE")},
            "PATH": ["Setup", "quagga"],
            "file": ["USER", "MEMORY", "a.md", "SKILL.md"],
            "session": [self.session],
            "message": ["x"],
            "KEY": ["k"],
            "key": ["k"],
            "keys": [["k"]],
            "prefix": [""],
            "cursor": [None],
            "layer": ["semantic", "procedural", "episodic"],
            "--layer": ["semantic"],
            "which": ["shown", "draft", "closed", "forgotten", "all"],
            "state": [None],
            "subject": ["quagga"],
            "--subject": ["quagga"],
            "archived": [True],
            "everybodys": [True],
            "summary": [True],
            "hidden": [True],
            "RUN": ["x"],
            "AGENT": ["x"],
            "agent": ["x"],
            "run": ["x"],
            "BEFORE": [3],
            "--target": ids,
            "--limit": [100],
            "before": list(numbers)[-3:],
        }

    def forget(self) -> None:
        notes, profile, records = self.space.notes(), self.space.profile(), self.space.records()
        notes.remove("n1", reason="asked")
        notes.remove(self.plain.id)
        assert self.approved is not None
        notes.remove(self.approved.id)
        profile.remove(self.fact.id, key="k-remove")
        profile.remove(self.kept.id)
        records.forget("r1")
        asked = records.forget(query="gives way")
        records.forget(query="gives way", confirm=asked.confirm)
        records.forget(self.draft.id)
        self.space.skills().delete("quagga")
        self.space.artifacts().forget(self.artifact)


def leaks(said: Iterable[tuple[str, str]]) -> list[str]:
    return [asked for asked, answer in said if MARK in answer.casefold()]


@pytest.fixture
def full(cli: Cli) -> Iterator[Full]:
    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        yield Full(vault)


def others(space: Space) -> list[Space]:
    """The same space for whom may see it too: without a session and in one."""
    session = space.start_session("Later").id
    return [space, space.seen_by(Caller(session=session))]


@pytest.mark.row("G06", "I07", "D23")
def test_the_marker_is_found_before_it_is_forgotten(full: Full, cli: Cli) -> None:
    """So that what finds nothing afterwards has looked where it was."""
    told = full.told()
    assert len(leaks(by_tools(full.space, told))) > 10
    assert len(leaks(by_faces(full.vault, full.space, told))) > 40
    shell = leaks(by_shell(cli, told))
    verbs = {tuple(asked.split()[:2]) for asked in shell}
    assert {("note", "read"), ("record", "history"), ("profile", "timeline")} <= verbs
    assert {("skill", "show"), ("artifact", "get"), ("review", "inbox"), ("log", "--all")} <= verbs
    assert any("--target=" in asked for asked in shell), "options are asked by what they are told"


@pytest.mark.row("G06", "I07", "D23")
def test_what_is_forgotten_is_in_no_answer_of_the_library(full: Full) -> None:
    full.forget()
    told = full.told()
    for space in others(full.space):
        assert leaks(by_tools(space, told)) == []
        assert leaks(by_faces(full.vault, space, told)) == []
    past = full.space.as_of(full.before)
    assert leaks(by_tools(past, told)) == []
    for face in (past.notes(), past.records(), past.profile(), past.skills(), past.artifacts()):
        for name in full.ids:
            try:
                found = face.read(name) if isinstance(face, Records) else face.get(name)
            except NotFound:
                continue
            assert MARK not in repr(found)
    assert MARK not in past.context().text
    assert MARK not in repr(past.recall("quagga"))
    assert MARK not in repr(past.search("quagga", hidden=True))
    assert list(full.vault.verify()) == []


@pytest.mark.row("G06", "I07", "D23")
def test_what_is_forgotten_is_in_no_answer_of_the_shell(full: Full, cli: Cli) -> None:
    full.forget()
    assert leaks(by_shell(cli, full.told())) == []
    assert leaks(by_shell(cli, full.told(), "--as-of", str(full.before))) == []
    places = [each for each in Path.cwd().rglob("*") if cli.vault not in each.parents]
    written = [each.read_bytes() for each in places if each.is_file()]
    assert not any(MARK.encode() in each for each in written)


@pytest.mark.row("G06", "I07")
def test_a_call_that_is_repeated_says_no_more_than_was_said_again(full: Full) -> None:
    full.forget()
    again = full.space.notes().save(TEXT, id="n1", metadata={"m": MARK}, reason=MARK, key="k-save")
    assert (again.outcome, again.entry.text) == ("saved", TEXT)  # the caller says it itself
    assert MARK not in repr(full.space.profile().remove(full.fact.id, key="k-remove"))
    assert MARK not in repr(full.space.inbox().approve(full.applied.id, key="k-approve"))


@pytest.mark.row("G06", "D14")
def test_what_waited_and_was_forgotten_since_is_not_approved(full: Full) -> None:
    full.forget()
    inbox = full.space.inbox()
    assert [(each.id, each.suggestion) for each in inbox.read()] == [
        (full.pending.id, None),
        (full.twin.id, None),
    ]
    for each in (full.pending, full.twin):
        with raises(Conflict, "proposal_stale"):
            inbox.approve(each.id)
    assert inbox.read() == []
    assert MARK not in repr(inbox.read(state=None))


@pytest.mark.row("H06", "I07")
def test_what_a_rule_let_go_can_be_forgotten_still(cli: Cli) -> None:
    from holdfast.engine.history import LogQuery
    from holdfast.engine.workspace import parse_workspace

    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        space = vault.declare(
            parse_workspace(
                "name: app\nmemory:\n  own:\n"
                "    - {name: rolls, type: short_term, strategy: narrative, keep: 1}\n",
                Path.cwd() / "workspace.yml",
            )
        )
        notes = space.notes("rolls")
        gone = notes.save(TEXT).entry
        notes.save("newer")
        past = space.as_of(gone.revision)
        assert notes.get(gone.id).text == ""
        assert past.notes("rolls").get(gone.id).text == TEXT
        assert MARK in repr(vault.log(LogQuery(target=gone.id)))
        assert notes.remove(gone.id).outcome == "removed"
        assert notes.remove(gone.id).outcome == "unchanged"
        assert past.notes("rolls").get(gone.id).text == ""
        assert MARK not in repr(vault.log(LogQuery(target=gone.id)))


@pytest.mark.row("E07")
def test_what_was_taken_back_is_in_no_result(full: Full) -> None:
    here = full.space.seen_by(Caller(session=full.session))
    here.say("user", "Good morning, quagga")
    here.say("user", f"My word is {MARK}, quagga")
    here.transcript().rewind(full.session, 1)
    full.forget()
    told = {**full.told(), "session": []}
    assert leaks(by_tools(here, told)) == []
    assert [hit.place for hit in here.transcript().search("quagga")] == [1]
