"""No call accepts a revision that it does not heed: on a wrong one each conflicts, or refuses the
option. Every verb that mutates and every method that takes the conditions of a write is asked; one
that is new fails here until somebody says with what to call it.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from cli_vault import Cli, cli_in

import holdfast
from holdfast.cli.commands import TABLE
from holdfast.cli.grammar import commands_of
from holdfast.core.suggesting import of_new
from holdfast.engine.proposals import propose
from holdfast.engine.work import mutate
from holdfast.errors import Conflict, HoldfastError, InvalidInput
from holdfast.model.entry import NewEntry
from holdfast.model.keyvalue import Set
from holdfast.model.write import Caller, Write
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

WRONG = 987_654
WORKSPACE = """\
name: app
memory:
  own:
    - {name: narrative, strategy: narrative}
    - {name: profile, strategy: profile}
    - {name: records, strategy: records}
    - {name: skills, strategy: skills}
    - {name: keyvalue, strategy: keyvalue}
    - {name: artifacts, strategy: artifacts}
    - {name: transcript, strategy: transcript}
agents:
  helper:
    command: ["true"]
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    (tmp_path / "here").mkdir()
    made = cli_in(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path / "here")
    Path("workspace.yml").write_text(WORKSPACE)
    return made


class Filled:
    """A space with one of everything that can be changed."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.space = space = vault.workspace(Path("workspace.yml"))
        space.notes().save("a note", id="n")
        space.profile().add("a fact")
        space.profile().add("put away")
        self.fact = space.profile().read("MEMORY")[0].entries[0].id
        space.profile().add("somebody", "USER")
        space.profile().reset("USER")
        self.kept = space.profile().archive()[0].id
        space.records().add("a record", id="r", kind="decision")
        space.records().update("r", "a record that changed")
        space.skills().save("bake", "Bake bread", "Knead.", files={"a.md": "one"})
        space.kv().set("k", 1)
        self.artifact = space.artifacts().save("content").artifact.id
        self.session = space.start_session().id
        self.here = space.seen_by(Caller(session=self.session))
        for text in ("one", "two"):
            self.here.say("user", text)
        self.run = space.run("helper", "do").id
        Path("notes").mkdir()
        Path("notes/a.md").write_text("a")
        memory = space.directories("memory")
        memory.init(Path("notes"), "notes")
        memory.push(Path("notes"))
        Path("notes/a.md").write_text("b")
        memory.push(Path("notes"))
        Path("notes/a.md").write_text("c")
        vault.space().agents().add("helper", {"command": ["true"]})
        self.proposals = [self._proposed(f"proposed {number}") for number in range(2)]

    def _proposed(self, text: str) -> str:
        store = self.space.desk("narrative").store
        wanted = of_new(store, NewEntry(text=text, origin="agent"), "medium")
        return mutate(
            self.vault._core,
            self.vault.caller,
            Write(),
            "propose",
            {},
            lambda work: propose(work, "app", wanted, "approval"),
        ).id


@pytest.fixture
def filled(cli: Cli) -> Iterator[Filled]:
    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        yield Filled(vault)


def verbs(filled: Filled) -> dict[str, list[str]]:
    """What each mutating verb is called with, so that it would change something."""
    of_directories = {
        f"{noun} {verb}": words
        for noun in ("memory", "artifact", "volume")
        for verb, words in {
            "push": [],
            "pull": [],
            "rollback": ["v1", "--name", "notes"],
            "delete": ["notes", "--yes"],
        }.items()
    }
    said = {
        "note save": ["new"],
        "note remove": ["n"],
        "record add": ["new"],
        "record update": ["r", "other words"],
        "record promote": ["r"],
        "record revert": ["r"],
        "record forget": ["r", "--yes"],
        "skill save": ["bake", "Knead twice."],
        "skill attach": ["bake", "new.md"],
        "skill detach": ["bake", "a.md"],
        "skill patch": ["bake", "--find", "Knead", "--replace", "Roll"],
        "skill pin": ["bake"],
        "skill unpin": ["bake"],
        "skill archive": ["bake"],
        "skill restore": ["bake"],
        "skill curate": [],
        "skill import": ["skills-in"],
        "skill mirror": ["skills-in"],
        "skill delete": ["bake"],
        "profile add": ["new"],
        "profile replace": [filled.fact, "another"],
        "profile remove": [filled.fact],
        "profile batch": ['[{"op": "add", "text": "new"}]'],
        "profile pin": [filled.fact],
        "profile restore": [filled.kept],
        "profile reset": ["--file", "MEMORY"],
        "profile onboard": ["--name", "Somebody"],
        "profile sync": ["files"],
        "profile edit": ["--file", "MEMORY"],
        "remember": ["new"],
        "kv set": ["k", "2"],
        "kv delete": ["k"],
        "kv clear": ["--yes"],
        "artifact save": ["new.md"],
        "review approve": [filled.proposals[0]],
        "review reject": [filled.proposals[1]],
        "run": ["helper", "do"],
        "run continue": [filled.run, "do"],
        "run resume": [filled.run, "do"],
        "agent add": ["other", "--", "true"],
        "agent remove": ["helper"],
        "session start": ["new"],
        "session say": ["user", "new", "--session", filled.session],
        "session end": [filled.session],
        "session rewind": ["1", filled.session],
        "session compact": ["1", filled.session],
        "space init": ["."],
        "space mount": ["other/facts"],
        "space unmount": ["m"],
        "space adopt": [],
    }
    return {**said, **of_directories}


def everything(folder: Path) -> dict[Path, bytes]:
    return {
        each: each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file() and ".holdfast" not in each.parts
    }


@pytest.mark.row("I05")
def test_every_verb_conflicts_on_a_wrong_revision_or_refuses_the_option(
    filled: Filled, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("new.md").write_text("new")
    Path("skills-in/fry").mkdir(parents=True)
    Path("skills-in/fry/SKILL.md").write_text("---\nname: fry\ndescription: Fry an egg\n---\nHeat.")
    with holdfast.open(cli.vault, clock=cli.clock) as vault:
        from holdfast.engine.workspace import parse_workspace

        text = "name: other\nmemory: {own: [{name: facts, strategy: narrative}]}\n"
        vault.declare(parse_workspace(text, cli.folder / "other" / "workspace.yml"))
        Path("files").mkdir()
        vault.workspace(Path("workspace.yml")).profile().export("files")
        Path("files/MEMORY.md").write_text("# MEMORY.md\n\n- edited by hand\n")
    editor = cli.folder / "editor"
    editor.write_text("#!/bin/sh\necho '- more' >> \"$1\"\n")
    editor.chmod(0o755)
    Path("workspace.yml").write_text(
        WORKSPACE.replace("agents:", "  mounts:\n    - {name: m, source: other/facts}\nagents:")
    )
    called = verbs(filled)
    mutating = {
        f"{noun.name} {command.verb}".strip()
        for noun in TABLE.nouns
        for command in commands_of(noun)
        if command.mutates
    }
    assert mutating == set(called)
    cli("status")  # applies the workspace.yml
    before = filled.vault.status().seq, everything(Path.cwd())
    refused: set[str] = set()
    for verb, words in called.items():
        monkeypatch.chdir(cli.folder / "here" / ("notes" if verb.startswith("memory") else "."))
        argv = [*verb.split(), f"--expect={WRONG}", "--json", *words]
        result = cli(*argv, EDITOR=str(editor))
        monkeypatch.chdir(cli.folder / "here")
        code = code_of(result)
        assert (result.exit, code) in {
            (1, "revision_moved"),
            (1, "value_changed"),
            (2, "option_unknown"),
            *((1, each) for each in NOT_THERE.get(verb, ())),
        }, (verb, result)
        refused |= {verb} if result.exit == 2 else set()
        assert (filled.vault.status().seq, everything(Path.cwd())) == before, verb
    assert refused == {"skill curate", "skill mirror", "profile sync", "kv clear"}
    both = cli("record", "forget", "--query", "record", "--expect", "3", "--yes", "--json")
    assert (both.exit, code_of(both)) == (2, "options_exclude")


# There is no artifact and no volume of that name, whatever its revision; they share their code with
# the memories. A skill that is imported is told of in the answer.
NOT_THERE = {
    **{
        f"{noun} {verb}": ("directory_not_found", "folder_not_initialised", "folder_foreign")
        for noun in ("artifact", "volume")
        for verb in ("push", "pull", "rollback", "delete")
    },
}


def code_of(result: Any) -> str:
    for line in result.stderr.splitlines():
        assert line.startswith("{"), result
        said = json.loads(line)
        if found := said.get("error", said.get("warning")):
            return found["code"]
    return ""


def methods(filled: Filled) -> Mapping[str, Callable[..., Any]]:
    """How each method that takes conditions is called; it gets them."""
    space: Space = filled.space
    notes, profile, records = space.notes(), space.profile(), space.records()
    skills, kv, inbox = space.skills(), space.kv(), space.inbox()
    memory, talk = space.directories("memory"), filled.here.transcript()
    before, agents = profile.read("MEMORY")[0], filled.vault.space().agents()
    skill = "---\nname: fry\ndescription: Fry an egg\n---\nHeat."
    return {
        "Notes.save": lambda **w: notes.save("new", **w),
        "Notes.remove": lambda **w: notes.remove("n", **w),
        "Profile.add": lambda **w: profile.add("new", **w),
        "Profile.replace": lambda **w: profile.replace(filled.fact, "another", **w),
        "Profile.remove": lambda **w: profile.remove(filled.fact, **w),
        "Profile.batch": lambda **w: profile.batch([{"op": "add", "text": "new"}], **w),
        "Profile.pin": lambda **w: profile.pin(filled.fact, **w),
        "Profile.restore": lambda **w: profile.restore(filled.kept, **w),
        "Profile.remember": lambda **w: profile.remember("Remember that I bake", **w),
        "Profile.merge": lambda **w: profile.merge("MEMORY", "- edited", before, **w),
        "Profile.sync": lambda **w: profile.sync("files", **w),
        "Profile.reset": lambda **w: profile.reset("MEMORY", **w),
        "Profile.undo_reset": lambda **w: profile.undo_reset("USER", **w),
        "Profile.onboard": lambda **w: profile.onboard({"name": "Somebody"}, **w),
        "Records.add": lambda **w: records.add("new", **w),
        "Records.promote": lambda **w: records.promote("r", **w),
        "Records.update": lambda **w: records.update("r", "other words", **w),
        "Records.forget": lambda **w: records.forget("r", **w),
        "Records.revert": lambda **w: records.revert("r", **w),
        "SkillLibrary.save": lambda **w: skills.save("bake", None, "Knead twice.", **w),
        "SkillLibrary.put": lambda **w: skills.put(skill, **w),
        "SkillLibrary.patch": lambda **w: skills.patch("bake", "Knead", "Roll", **w),
        "SkillLibrary.delete": lambda **w: skills.delete("bake", **w),
        "SkillLibrary.pin": lambda **w: skills.pin("bake", **w),
        "SkillLibrary.archive": lambda **w: skills.archive("bake", **w),
        "SkillLibrary.curate": skills.curate,
        "SkillLibrary.import_from": lambda **w: raising(skills.import_from("skills-in", **w)),
        "SkillLibrary.mirror": lambda **w: skills.mirror("skills-in", **w),
        "Values.set": lambda **w: kv.set("k", 2, **w),
        "Values.compare_and_set": lambda **w: kv.compare_and_set("k", 2, "1", **w),
        "Values.delete": lambda **w: kv.delete("k", **w),
        "Values.increment": lambda **w: kv.increment("n", **w),
        "Values.batch": lambda **w: kv.batch([Set(key="b", value=1)], **w),
        "Values.clear": kv.clear,
        "Artifacts.save": lambda **w: space.artifacts().save("new", **w),
        "Artifacts.forget": lambda **w: space.artifacts().forget(filled.artifact, **w),
        "Transcript.say": lambda **w: talk.say("user", "new", **w),
        "Transcript.rewind": lambda **w: talk.rewind(filled.session, 1, **w),
        "Transcript.compact": lambda **w: talk.compact(filled.session, 1, **w),
        "Inbox.approve": lambda **w: inbox.approve(filled.proposals[0], **w),
        "Inbox.reject": lambda **w: inbox.reject(filled.proposals[1], **w),
        "Directories.push": lambda **w: memory.push(Path("notes"), **w),
        "Directories.pull": lambda **w: memory.pull(Path("notes"), **w),
        "Directories.pull_named": lambda **w: memory.pull_named("notes", Path("notes"), **w),
        "Directories.rollback": lambda **w: memory.rollback("notes", "v1", **w),
        "Directories.delete": lambda **w: memory.delete("notes", **w),
        "Directories.erase": lambda **w: memory.erase("notes", **w),
        "Agents.add": lambda **w: agents.add("other", {"command": ["true"]}, **w),
        "Agents.remove": lambda **w: agents.remove("helper", **w),
        "Space.remember": lambda **w: space.remember("Remember that I bake", **w),
        "Space.say": lambda **w: filled.here.say("user", "new", **w),
        "Space.start_session": lambda **w: space.start_session("new", **w),
        "Space.end_session": lambda **w: space.end_session(filled.session, **w),
        "Vault.declare": lambda **w: declared(filled.vault, **w),
    }


def raising(done: Any) -> None:
    (one,) = done
    if one.became == "refused":
        raise Conflict(one.code, one.problem, hint=one.hint)


def declared(vault: Vault, **write: Any) -> object:
    from holdfast.engine.workspace import parse_workspace

    text = WORKSPACE.replace('["true"]', '["false"]')
    return vault.declare(parse_workspace(text, Path.cwd() / "workspace.yml"), **write)


@pytest.mark.row("I05")
def test_every_method_conflicts_on_a_wrong_revision_or_refuses_it(filled: Filled) -> None:
    Path("skills-in/fry").mkdir(parents=True)
    Path("skills-in/fry/SKILL.md").write_text("---\nname: fry\ndescription: Fry an egg\n---\nHeat.")
    space, called = filled.space, methods(filled)
    faces: list[object] = [filled.vault, space, space.notes(), space.profile(), space.records()]
    faces += [space.skills(), space.kv(), space.artifacts(), space.transcript(), space.inbox()]
    faces += [space.directories("memory"), space.agents(), space.runs()]
    taking = {
        f"{type(face).__name__}.{name}"
        for face in faces
        for name, method in inspect.getmembers(face, inspect.ismethod)
        if not name.startswith("_")
        and {"write", "about"}.intersection(inspect.signature(method).parameters)
    }
    assert taking == set(called)
    before = filled.vault.status().seq, everything(Path.cwd()), dict(space.kv().items())
    refusing: set[str] = set()
    for name, call in called.items():
        for more in ({}, {"key": f"key {name}"}):
            with pytest.raises(HoldfastError) as caught:
                call(expect=WRONG, **more)
            assert (type(caught.value), caught.value.code) in {
                (Conflict, "revision_moved"),
                (Conflict, "value_changed"),
                (InvalidInput, "expect_unheeded"),
            }, (name, caught.value)
            refusing |= {name} if isinstance(caught.value, InvalidInput) else set()
            now = filled.vault.status().seq, everything(Path.cwd()), dict(space.kv().items())
            assert now == before, name
    assert refusing == {
        *("SkillLibrary.curate", "SkillLibrary.mirror", "Profile.sync", "Values.clear"),
        *("Values.batch", "Values.increment", "Values.compare_and_set"),
    }
    for how in ("start", "continue_", "resume"):
        words = ("helper", "do") if how == "start" else (filled.run, "do")
        with raises(Conflict, "revision_moved"):
            getattr(space.runs(), how)(*words, expect=WRONG)
    with raises(InvalidInput, "expect_unheeded"):
        space.records().forget(query="record", expect=WRONG)


@pytest.mark.row("D06", "D19", "I05")
def test_a_file_is_at_the_revision_of_its_newest_change(filled: Filled) -> None:
    profile = filled.space.profile()

    def revisions() -> list[int]:
        return [each.revision for each in profile.read()]

    user, memory = revisions()
    added = profile.add("new", expect=0).entry.revision
    assert revisions() == [user, added]
    assert added > memory
    profile.remove("new")  # what left the file moves it too
    user, memory = revisions()
    assert memory == added + 1
    with raises(Conflict, "revision_moved"):
        profile.reset("MEMORY", expect=added)
    with raises(Conflict, "revision_moved"):
        profile.batch([{"op": "remove", "entry": filled.fact}], expect=user)
    profile.batch([{"op": "remove", "entry": filled.fact}], expect=max(user, memory))
    profile.onboard({"name": "Somebody"}, expect=user)
    with raises(Conflict, "revision_moved"):
        profile.onboard({"name": "Another"}, expect=user)
    assert profile.reset("MEMORY", expect=revisions()[1]).archived
    assert profile.undo_reset("MEMORY", expect=revisions()[1]).restored


@pytest.mark.row("E07", "I05")
def test_a_session_is_taken_back_and_summed_up_at_its_revision(filled: Filled) -> None:
    talk = filled.here.transcript()
    revision = talk.read(filled.session).session.revision
    assert talk.compact(filled.session, 1, expect=revision).compacted == 1
    with raises(Conflict, "revision_moved"):
        talk.compact(filled.session, 2, "a summary", expect=revision)
    revision = talk.read(filled.session).session.revision
    assert talk.rewind(filled.session, 1, expect=revision) == 1
