"""What is about one user is not there for another: asked by every surface, and found by none.

The marker stands in everything that ann said, drafted or was remembered for; ben asks, and so does
whoever names no user. Errors say the same of what is ann's as of what never was.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import by_faces, by_shell, by_tools
from cli_vault import Cli, cli_in

import holdfast
from holdfast.engine.vault import Vault
from holdfast.errors import HoldfastError, NotFound
from holdfast.model.ids import SessionId
from holdfast.model.write import Actor, Caller
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from holdfast.engine.space import Space

MARK = "zanzibar"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


class Ann:
    """What ann did in a vault of several users, and what it is called."""

    def __init__(self, vault: Vault) -> None:
        self.vault = Vault(vault._core, Caller(user="ann"))
        self.space = self.vault.space()
        self.session = self.space.start_session(f"Talk of {MARK}").id
        self.here = self.space.seen_by(self.space.caller.replace(session=self.session))
        said = self.here.say("user", f"My word is {MARK}, quagga", reason=MARK)
        self.message = said.message.id
        self.here.say("user", f"Remember that my quagga is called {MARK}")
        records = self.here.records()
        self.draft = records.add(f"A draft of {MARK} quagga", id="a-draft", tags=[MARK]).entry
        self.bound = records.add(f"Bound {MARK} quagga", id="a-bound", scope="session").entry
        self.mine = records.add(f"Mine {MARK} quagga", id="a-mine", scope="user").entry
        self.fact = self.space.profile().add(f"Likes {MARK} quagga", "USER").entry
        self.run = self.space.run(lambda task: f"{MARK} quagga {task.prompt}", f"Do {MARK}").id
        self.ids = [
            *(self.draft.id, "a-draft", self.bound.id, "a-bound", self.mine.id, "a-mine"),
            *(self.fact.id, self.fact.id[-8:], self.draft.id[-8:]),
        ]
        self.sessions = [self.session, self.session[-8:]]

    def told(self) -> dict[str, Any]:
        """What to ask with, by the name of what asks."""
        ids, words, sessions = self.ids, ["quagga"], self.sessions
        return {
            **{name: [*ids, *words] for name in ("id", "name", "entry", "ENTRY", "NAME")},
            "ID": [*ids, *sessions],
            **dict.fromkeys(("query", "QUERY", "text", "--text", "--query", "match"), words),
            **dict.fromkeys(("path", "file", "FILE", "PATH", "--subject", "subject"), words),
            "file": ["USER"],
            "session": sessions,
            "message": [self.message],
            **dict.fromkeys(("KEY", "key", "AGENT", "agent"), ("k",)),
            **dict.fromkeys(("run", "RUN"), (self.run, self.run[-8:])),
            "keys": [["k"]],
            "prefix": [""],
            "cursor": [None],
            "layer": ["episodic"],
            "which": ["shown", "draft", "closed", "forgotten", "all"],
            "state": [None],
            "everybodys": [True],
            "hidden": [True],
            "BEFORE": [3],
            "--target": [*ids, *sessions],
            "--limit": [100],
        }


@pytest.fixture
def vault(cli: Cli) -> Iterator[Vault]:
    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        vault.space().prefer({}, preset="balanced")
        vault.space().notes().save("for all")
        yield vault


@pytest.fixture
def ann(vault: Vault) -> Ann:
    return Ann(vault)


def leaks(said: Iterable[tuple[str, str]]) -> list[str]:
    return [asked for asked, answer in said if MARK in answer.casefold()]


def others(vault: Vault) -> Iterator[Vault]:
    """Another user, an agent of another user, and whoever names none."""
    yield Vault(vault._core, Caller(user="ben"))
    yield Vault(vault._core, Caller(actor=Actor(kind="agent", name="helper"), user="ben"))
    yield vault


@pytest.mark.row("D21", "G17")
def test_ann_finds_what_is_hers(ann: Ann, cli: Cli) -> None:
    """So that what finds nothing for others has looked where it is."""
    told = ann.told()
    assert len(leaks(by_tools(ann.here, told))) > 10
    assert len(leaks(by_faces(ann.vault, ann.space, told))) > 20
    verbs = {tuple(asked.split()[:2]) for asked in leaks(by_shell(cli, told, "--user", "ann"))}
    assert {("session", "list"), ("session", "show"), ("run", "show"), ("log", "--all")} <= verbs
    assert {("record", "read"), ("record", "history"), ("profile", "timeline")} <= verbs


@pytest.mark.row("D21", "G17")
def test_nothing_of_one_user_is_in_an_answer_to_another(vault: Vault, ann: Ann) -> None:
    told = ann.told()
    for other in others(vault):
        space = other.space()
        with space.session() as here:
            assert leaks(by_tools(here, told)) == []
            assert leaks(by_faces(other, here, told)) == []
        assert space.sessions(state="open") == []
        assert ann.session not in repr([space.transcript().recent(), other.reviews(limit=100)])


@pytest.mark.row("D21", "G17")
def test_nothing_of_one_user_is_in_the_shell_of_another(ann: Ann, cli: Cli) -> None:
    told = ann.told()
    assert leaks(by_shell(cli, told, "--user", "ben")) == []
    assert leaks(by_shell(cli, told)) == []
    seq = str(ann.vault.status().seq)
    assert leaks(by_shell(cli, told, "--user", "ben", "--as-of", seq)) == []


def refusal(call: Callable[[], object], name: str) -> tuple[str, str, str]:
    """What is said, with the name of what was asked for put aside."""
    with pytest.raises(HoldfastError) as caught:
        call()
    error = caught.value
    return error.code, error.message.replace(name, "…"), error.hint


@pytest.mark.row("D21")
@pytest.mark.parametrize("whole", [True, False])
def test_a_session_of_another_user_is_as_one_that_never_was(
    vault: Vault, ann: Ann, whole: bool
) -> None:
    name = ann.session if whole else ann.session[-8:]
    never = "0" * len(name)
    ben = Vault(vault._core, Caller(user="ben")).space()

    def calls(session: str) -> list[Callable[[], object]]:
        here: Space = ben.seen_by(Caller(user="ben", session=SessionId(session)))
        talk = ben.transcript()
        return [
            here.context,
            lambda: here.say("user", "hello"),
            lambda: here.notes().save("a note"),
            lambda: here.records().list("draft"),
            lambda: here.records().add("a draft"),
            lambda: here.search("quagga"),
            lambda: here.profile().changes(),
            lambda: here.kv().set("a", 1),
            lambda: ben.profile().changes(session),
            lambda: talk.read(session),
            lambda: talk.rewind(session, 0),
            lambda: talk.compact(session, 1),
            lambda: ben.end_session(session),
            lambda: here.run(lambda _: "done", "do"),
        ]

    before = vault.status().seq
    for theirs, nobodys in zip(calls(name), calls(never), strict=True):
        said = refusal(theirs, name)
        assert said == refusal(nobodys, never)
        assert said[0] == "session_not_found"
    assert vault.status().seq == before


@pytest.mark.row("D21", "G17")
def test_an_entry_of_another_user_is_as_one_that_never_was(vault: Vault, ann: Ann) -> None:
    ben = Vault(vault._core, Caller(user="ben")).space()
    with ben.session() as here:
        tools: dict[str, Any] = {tool.__name__: tool for tool in here.tools()}
        records = here.records()
        for entry in (ann.draft, ann.bound, ann.mine):
            for name in (entry.id, entry.id[-8:], entry.given_id or ""):
                for call in (
                    records.read,
                    records.history,
                    records.compare,
                    records.links,
                    records.neighbours,
                    records.promote,
                    records.forget,
                    records.revert,
                    lambda name: records.update(name, "other words"),
                    lambda name: records.expand(name, "x"),
                    lambda name: records.add("refers", refs=[name]),
                    lambda name: tools["memory_read"](id=name),
                    tools["memory_forget"],
                    tools["memory_promote"],
                ):
                    never = "0" * len(name) if len(name) > 8 else "00000000"
                    said = refusal(lambda call=call, name=name: call(name), name)
                    assert said == refusal(lambda call=call, never=never: call(never), never)
    assert ann.here.records().read("a-draft").body == f"A draft of {MARK} quagga"


@pytest.mark.row("G17")
def test_what_is_for_a_session_is_found_in_it_and_by_the_person_alone(ann: Ann) -> None:
    assert ann.here.records().read("a-bound").body == f"Bound {MARK} quagga"
    with ann.space.session() as later:
        for call in (later.records().read, later.records().history, later.records().forget):
            with raises(NotFound, "entry_not_found"):
                call("a-bound")
        assert later.records().read("a-draft").says.startswith("it is a draft of another session")
    agent = ann.space.seen_by(Caller(actor=Actor(kind="agent", name="helper"), user="ann"))
    with raises(NotFound, "entry_not_found"):
        agent.records().read("a-bound")
    ann.space.end_session(ann.session)
    assert ann.space.records().forget("a-bound").outcome == "forgotten"


@pytest.mark.row("D21", "E01")
def test_a_conversation_is_imported_by_each_user_for_itself(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "My quagga", "session": "s1"}\n')
    for other in ("ann", "ben"):
        space = Vault(vault._core, Caller(user=other)).space()
        found = space.import_sessions(file)
        assert (found.sessions_new, found.messages_known) == (1, 0), found
        assert space.import_sessions(file).messages_known == 1
        assert len(space.transcript().search("quagga")) == 1
