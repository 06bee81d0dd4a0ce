"""Skills through each surface: kept to the byte, found by what they do, never lost, never twice."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path

import apsw
import pytest
from cli_snapshot import run_inside

import holdfast
from holdfast import aio
from holdfast.engine.workspace import parse_workspace
from holdfast.errors import Conflict, Damaged, InvalidInput, NotFound, Refused
from holdfast.model.review import Suggestion
from holdfast.strategies.skills.face import Given
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from holdfast.engine.skills import Carried, SkillLibrary
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault
    from holdfast.model.review import Known, Said
    from holdfast.ports.review import Meter

HEAD = "---\nname: pdf-forms\ndescription: Fill in PDF forms.\nlicense: MIT\n---\n"
BINARY = bytes(range(256)) * 5
LARGE = os.urandom(2_500_000)


class Learned:
    """A reviewer that suggests what a test says."""

    name = "learned"

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}

    def review(
        self, said: Sequence[Said], known: Sequence[Known], meter: Meter
    ) -> Sequence[Suggestion]:
        del known, meter
        usual: dict[str, Any] = {
            "op": "add",
            "strategy": "skills",
            "subject": "deploy-the-api",
            "text": "Run the migration first. Then restart both workers.",
            "evidence": (said[0].id,),
            "origin": "agent",
            "trust": "medium",
            "confidence": 1.0,
        }
        return [Suggestion(**{**usual, **self.fields})]


@pytest.fixture
def reviewer() -> Learned:
    return Learned()


@pytest.fixture
def vault(tmp_path: Path, clock: ManualClock, reviewer: Learned) -> Iterator[Vault]:
    with holdfast.open(tmp_path / "vault", clock=clock, reviewers=lambda _: (reviewer,)) as vault:
        yield vault
        assert list(vault.verify()) == []


@pytest.fixture
def skills(vault: Vault) -> SkillLibrary:
    return vault.space().skills()


def tools(space: Space) -> dict[str, Any]:
    return {tool.__name__: tool for tool in space.tools()}


def shell(folder: Path, *words: str, exit: int = 0, stdin: str = "") -> Any:
    done = run_inside(
        [*words, "--json"], env={"HOLDFAST_VAULT": str(folder / "vault")}, stdin=stdin
    )
    assert done.exit == exit, done.stderr
    return json.loads(done.stdout or done.stderr)


def fill(
    folder: Path, name: str = "pdf-forms", body: str = "# How\r\nlast line", **files: Any
) -> Path:
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_bytes((HEAD.replace("pdf-forms", name) + body).encode())
    for path, data in files.items():
        (place / path).write_bytes(data)
    return place


def held(place: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        str(file.relative_to(place)): (file.read_bytes(), os.access(file, os.X_OK))
        for file in place.rglob("*")
        if file.is_file()
    }


def became(done: Sequence[Carried]) -> dict[str, str]:
    return {one.name: one.code or one.became for one in done}


# The layout, in and out


@pytest.mark.row("F01")
def test_a_folder_comes_back_to_the_byte(
    tmp_path: Path, skills: SkillLibrary, vault: Vault
) -> None:
    place = fill(tmp_path / "in")
    for path, data in {
        "references/deep/a b.md": b"no end",
        "templates/\u65e5\u672c.txt": "caf\u00e9\r\n".encode(),
        "assets/font.bin": BINARY,
        "assets/large.bin": LARGE,
        "scripts/run.sh": b"#!/bin/sh\n",
        "empty": b"",
    }.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    (place / "scripts/run.sh").chmod(0o755)
    (place / ".git").mkdir()
    (place / ".git" / "HEAD").write_text("not of the skill")
    (one,) = skills.import_from(tmp_path / "in")
    assert (one.name, one.became) == ("pdf-forms", "created")
    skill = skills.get("pdf-forms")
    assert (skill.description, skill.origin) == ("Fill in PDF forms.", "import")
    assert skill.text.encode() == (place / "SKILL.md").read_bytes()
    assert [(file.path, file.program) for file in skill.files if file.program] == [
        ("scripts/run.sh", True)
    ]
    skills.export_to(tmp_path / "out")
    (place / ".git" / "HEAD").unlink()
    assert held(tmp_path / "out" / "pdf-forms") == held(place)
    assert became(skills.import_from(tmp_path / "out")) == {"pdf-forms": "unchanged"}
    assert vault.gc(spare_seconds=0).objects == 0


@pytest.mark.row("F01")
def test_import_and_export_of_a_workspaces_folder_in_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tmp_path / "app"
    fill(app / "skills", "pdf-forms", **{"notes.md": b"x"})
    fill(app / "skills", "tidy-desk", body="Another thing altogether.")
    fill(app / "skills", "bad").joinpath("SKILL.md").write_text(
        "---\nname: 7\ndescription: x\n---\n"
    )
    (app / "workspace.yml").write_text("name: app\n")
    monkeypatch.chdir(app)
    done = run_inside(["skill", "import"], env={"HOLDFAST_VAULT": str(tmp_path / "vault")})
    assert done.exit == 1
    assert done.stdout.splitlines() == [
        "SKILL      BECAME   FOLDER",
        f"bad        refused  {app}/skills/bad",
        f"pdf-forms  created  {app}/skills/pdf-forms",
        f"tidy-desk  refused  {app}/skills/tidy-desk",
    ]
    assert f"{app}/skills/bad/SKILL.md:2: name: this is a number, not text" in done.stderr
    assert "tidy-desk" in done.stderr  # nearly pdf-forms, by its description
    assert "[skill_near]" in done.stderr
    again = shell(tmp_path, "skill", "import", "skills/tidy-desk", "--anyway")
    assert [(one["name"], one["became"]) for one in again] == [("tidy-desk", "created")]
    assert [one["name"] for one in shell(tmp_path, "skill", "list")] == ["pdf-forms", "tidy-desk"]
    out = shell(tmp_path, "skill", "export", "--to", "out", "pdf-forms")
    assert [(one["name"], one["became"]) for one in out] == [("pdf-forms", "written")]
    assert held(app / "out" / "pdf-forms") == held(app / "skills" / "pdf-forms")
    (app / "out/pdf-forms/notes.md").write_text("mine")
    refused = shell(tmp_path, "skill", "export", "--to", "out", "pdf-forms", exit=1)
    assert refused[0]["code"] == "skill_folder_differs"
    assert (app / "out/pdf-forms/notes.md").read_text() == "mine"
    shell(tmp_path, "skill", "export", "--to", "out", "pdf-forms", "--overwrite")
    assert held(app / "out" / "pdf-forms") == held(app / "skills" / "pdf-forms")


@pytest.mark.row("F01", "F02")
@pytest.mark.parametrize("kind", ["link", "link to a folder", "pipe", "twin", "name", "large"])
def test_what_no_skill_can_have_is_refused_and_nothing_is_kept(
    tmp_path: Path, skills: SkillLibrary, kind: str
) -> None:
    place, secret = fill(tmp_path / "in"), tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("hidden")
    match kind:
        case "link":
            (place / "notes.md").symlink_to(secret / "key")
        case "link to a folder":
            (place / "references").symlink_to(secret)
        case "pipe":
            os.mkfifo(place / "pipe")
        case "twin":
            (place / "Notes.md").write_text("1")
            (place / "notes.md").write_text("2")
        case "name":
            (place / "a\\b").write_text("1")
        case _:
            with (place / "large").open("wb") as file:
                file.truncate(17 * 1024 * 1024)
    (one,) = skills.import_from(place)
    wanted = "skill_too_large" if kind == "large" else "skill_path_invalid"
    assert (one.became, one.code) == ("refused", wanted)
    assert str(place) in one.problem
    assert skills.list(archived=True) == []


@pytest.mark.row("F01")
def test_a_folder_is_never_written_through_a_link(tmp_path: Path, skills: SkillLibrary) -> None:
    skills.save("pdf-forms", "Fill in PDF forms.", "How", files={"references/a.md": "new"})
    outside, target = tmp_path / "outside", tmp_path / "out" / "pdf-forms"
    outside.mkdir()
    target.mkdir(parents=True)
    (outside / "a.md").write_text("theirs")
    (target / "references").symlink_to(outside)
    (one,) = skills.export_to(tmp_path / "out", overwrite=True)
    assert one.became == "refused"
    assert (outside / "a.md").read_text() == "theirs"


@pytest.mark.row("F01")
def test_a_mirror_brings_each_side_what_changed_on_the_other(
    tmp_path: Path, skills: SkillLibrary
) -> None:
    root = tmp_path / "skills"
    skills.save("alpha", "Peel potatoes", "Use a knife.", files={"a.md": "1"})
    skills.save("beta", "Read the tides", "Look at the moon.")
    skills.save("gamma", "Mend bicycles", "Find the hole.")
    assert became(skills.mirror(root)) == dict.fromkeys(("alpha", "beta", "gamma"), "written")
    assert became(skills.mirror(root)) == dict.fromkeys(("alpha", "beta", "gamma"), "unchanged")

    skills.patch("alpha", "knife", "peeler")
    (root / "beta/SKILL.md").write_text((root / "beta/SKILL.md").read_text() + "\nAnd the wind.\n")
    skills.delete("gamma")
    fill(root, "delta", body="Entirely new and unlike the rest")
    assert became(skills.mirror(root)) == {
        "alpha": "written",
        "beta": "updated",
        "gamma": "removed",
        "delta": "created",
    }
    assert "peeler" in (root / "alpha/SKILL.md").read_text()
    assert skills.get("beta").body.endswith("And the wind.\n")
    assert not (root / "gamma").exists()

    for file in (root / "delta").iterdir():
        file.unlink()
    (root / "delta").rmdir()
    (root / "alpha/SKILL.md").write_text((root / "alpha/SKILL.md").read_text() + "\nTheirs.\n")
    skills.save("alpha", body="Ours.")
    skills.archive("beta")
    assert became(skills.mirror(root)) == {
        "alpha": "skill_conflict",
        "beta": "removed",
        "delta": "forgotten",
    }
    assert "Theirs." in (root / "alpha/SKILL.md").read_text()
    assert skills.get("alpha").body == "\nOurs.\n"
    assert [one.name for one in skills.list()] == ["alpha"]
    assert skills.get("beta").archived


@pytest.mark.row("F01")
@pytest.mark.parametrize("said", [b"[]", b"7", b"null", b"{", b"\xff", b'{"skills": []}'])
def test_a_mirror_that_knows_nothing_of_before_begins_anew(
    tmp_path: Path, skills: SkillLibrary, said: bytes
) -> None:
    root = tmp_path / "skills"
    skills.save("alpha", "Peel potatoes", "Use a knife.")
    skills.mirror(root)
    (root / ".holdfast/skills.json").write_bytes(said)
    assert became(skills.mirror(root)) == {"alpha": "unchanged"}
    skills.patch("alpha", "knife", "peeler")
    assert became(skills.mirror(root)) == {"alpha": "written"}


@pytest.mark.row("F01")
def test_a_mirror_forgets_nothing_because_a_folder_is_gone(
    tmp_path: Path, skills: SkillLibrary
) -> None:
    root = tmp_path / "skills"
    skills.save("alpha", "Peel potatoes", "Use a knife.")
    skills.mirror(root)
    (root / "alpha/SKILL.md").unlink()
    (root / "alpha").rmdir()
    with raises(Refused, "mirror_empty"):
        skills.mirror(root)
    fill(root, "broken").joinpath("SKILL.md").write_text("no front matter")
    assert became(skills.mirror(root)) == {
        "alpha": "mirror_unsure",
        "broken": "skill_document_invalid",
    }
    for file in sorted(root.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    root.rmdir()
    assert became(skills.mirror(root)) == {"alpha": "written"}
    assert [one.name for one in skills.list()] == ["alpha"]


# Writing


@pytest.mark.row("F02")
def test_a_skill_is_made_changed_and_deleted_in_every_version_kept(
    tmp_path: Path, vault: Vault, skills: SkillLibrary
) -> None:
    made = skills.save("release", "How to release", "Run the tests.", files={"a.md": b"1"})
    assert (made.outcome, made.skill.text) == (
        "created",
        "---\nname: release\ndescription: How to release\n---\n\nRun the tests.\n",
    )
    assert skills.save("release", "How to release", "Run the tests.").outcome == "unchanged"
    patched = skills.patch("release", "the tests", "all the tests")
    assert patched.skill.body == "\nRun all the tests.\n"
    skills.patch("release", "1", "2", file="a.md")
    assert skills.file("release", "a.md") == b"2"
    edited = skills.save("release", "When to release: always", files={"b": BINARY, "a.md": None})
    assert edited.skill.description == "When to release: always"
    assert [file.path for file in edited.skill.files] == ["b"]
    assert skills.patch("release", "release: always", "release: on Tuesdays").skill.description == (
        "When to release: on Tuesdays"
    )
    first = vault.space().as_of(skills.history("release")[-1].revision).skills()
    assert first.get("release").body == "\nRun the tests.\n"
    assert first.file("release", "a.md") == b"1"
    middle = vault.space().as_of(skills.history("release")[1].revision).skills()
    assert middle.file("release", "b") == BINARY
    removed = skills.delete("release")
    assert removed.outcome == "removed"
    assert skills.delete(removed.skill.id).outcome == "unchanged"
    with raises(NotFound, "skill_not_found"):
        skills.get("release")
    assert vault.gc(spare_seconds=0).objects == 0  # each version is whole still
    history = skills.history(removed.skill.id)
    assert [one.op for one in history] == ["forget", *["update"] * 4, "add"]
    for past in (first, middle):
        with raises(NotFound, "skill_not_found"):
            past.get("release")
        with raises(NotFound, "skill_not_found"):
            past.file(removed.skill.id, "SKILL.md")
    gone = skills.get(removed.skill.id)
    assert (gone.forgotten, gone.name, gone.body, gone.files) == (True, "", "", ())
    again = skills.save("release", "Another thing", "Done otherwise.")
    assert (again.outcome, again.skill.id == removed.skill.id) == ("created", False)


@pytest.mark.row("F02")
def test_a_patch_finds_one_place_or_changes_nothing(skills: SkillLibrary) -> None:
    skills.save("release", "How to release", "one two two", files={"b": BINARY, "t.md": "x x"})
    before = skills.get("release")
    with raises(NotFound, "text_not_found"):
        skills.patch("release", "three", "3")
    with raises(Conflict, "text_ambiguous"):
        skills.patch("release", "two", "2")
    with raises(InvalidInput, "text_empty"):
        skills.patch("release", "", "2")
    with raises(Conflict, "text_ambiguous"):
        skills.patch("release", "x", "y", file="t.md")
    with raises(InvalidInput, "skill_file_binary"):
        skills.patch("release", "x", "y", file="b")
    with raises(NotFound, "skill_file_not_found"):
        skills.patch("release", "x", "y", file="gone.md")
    with raises(InvalidInput, "skill_document_invalid"):
        skills.patch("release", "description:", "describes:")
    with raises(Refused, "skill_renamed"):
        skills.patch("release", "name: release", "name: other")
    with raises(NotFound, "skill_not_found"):
        skills.patch("relaese", "one", "1")
    with raises(NotFound, "skill_file_not_found"):
        skills.save("release", files={"gone.md": None})
    assert skills.get("release") == before


@pytest.mark.row("F02")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": "a" * 65}, "skill_name_invalid"),
        ({"description": "d" * 1025}, "skill_description_invalid"),
        ({"description": ""}, "skill_description_invalid"),
        ({"description": None}, "skill_incomplete"),
        ({"body": None}, "skill_incomplete"),
        ({"body": "x\0"}, "skill_document_invalid"),
        ({"body": "\ud800"}, "skill_document_invalid"),
        ({"body": "x" * 1_048_577}, "skill_document_invalid"),
        ({"files": {"../x": "1"}}, "skill_path_invalid"),
        ({"files": {"a": "1", "A": "2"}}, "skill_path_invalid"),
        ({"files": {"SKILL.md": "1"}}, "skill_path_invalid"),
        ({"files": {"a": "\ud800"}}, "text_not_unicode"),
    ],
    ids=str,
)
def test_what_a_skill_cannot_be_is_refused(
    skills: SkillLibrary, given: dict[str, Any], code: str
) -> None:
    usual: dict[str, Any] = {"name": "a" * 64, "description": "d" * 1024, "body": "b"}
    with raises(InvalidInput, code):
        skills.save(**{**usual, **given})
    assert skills.list(archived=True) == []
    assert skills.save(**usual).skill.name == "a" * 64


@pytest.mark.row("F02")
def test_a_twin_of_a_file_that_is_there_is_refused(skills: SkillLibrary) -> None:
    skills.save("release", "How to release", "x", files={"Notes.md": "1"})
    with raises(InvalidInput, "skill_path_invalid"):
        skills.save("release", files={"notes.md": "2"})
    skills.save("release", files={"Notes.md": None, "notes.md": "2"})
    assert skills.file("release", "notes.md") == b"2"


@pytest.mark.row("F02")
def test_long_bodies_are_kept_with_advice(skills: SkillLibrary) -> None:
    saved = skills.save("long", "A long one", "line\n" * 501)
    assert [advice.code for advice in saved.advice] == ["skill_long"]
    assert skills.save("short", "Another of another kind", "other\n" * 499).advice == ()


def test_a_file_that_is_not_there_is_named_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for given in ("gone.sh", "deep/gone.sh", str(tmp_path / "gone.sh")):
        failed = shell(tmp_path, "skill", "attach", "release", given, exit=1)
        assert failed["error"]["message"] == f"{given!r}: No such file or directory"


@pytest.mark.row("F02")
def test_files_in_the_shell(tmp_path: Path, skills: SkillLibrary) -> None:
    script = tmp_path / "check.sh"
    script.write_bytes(b"#!/bin/sh\n\xff")
    script.chmod(0o755)
    shell(tmp_path, "skill", "save", "release", "Run it.", "--description", "How to release")
    shell(tmp_path, "skill", "attach", "release", str(script), "--as", "scripts/check.sh")
    (file,) = skills.get("release").files
    assert (file.path, file.program, file.size) == ("scripts/check.sh", True, 11)
    done = run_inside(
        ["skill", "show", "release", "SKILL.md"], env={"HOLDFAST_VAULT": str(tmp_path / "vault")}
    )
    assert done.stdout == skills.get("release").text
    binary = shell(tmp_path, "skill", "show", "release", "scripts/check.sh")
    assert (binary["text"], binary["size"], binary["content"]) == (None, 11, file.content)
    shell(tmp_path, "skill", "detach", "release", "scripts/check.sh")
    shell(tmp_path, "skill", "patch", "release", "--find", "Run it", "--replace", "Run all")
    shell(tmp_path, "skill", "save", "release", "-", stdin="From a pipe.\n")
    found = shell(tmp_path, "skill", "show", "release")
    assert (found["body"], found["files"]) == ("\nFrom a pipe.\n", [])
    history = shell(tmp_path, "skill", "history", "release")
    assert [one["op"] for one in history] == [*["update"] * 4, "add"]
    then = shell(tmp_path, "skill", "show", "release", "--as-of", str(history[-1]["revision"]))
    assert then["body"] == "\nRun it.\n"
    shell(tmp_path, "skill", "delete", "release")
    missing = shell(tmp_path, "skill", "show", "release", exit=1)
    assert missing["error"]["code"] == "skill_not_found"


@pytest.mark.row("F02")
def test_repeating_a_call_and_meeting_another_writer(skills: SkillLibrary) -> None:
    first = skills.save("release", "How to release", "a", files={"x": LARGE}, key="k")
    assert skills.save("release", "How to release", "a", files={"x": LARGE}, key="k") == first
    with raises(Conflict, "key_reused"):
        skills.save("release", "How to release", "a", files={"x": b"other"}, key="k")
    with raises(Conflict, "revision_moved"):
        skills.save("release", body="b", expect=first.skill.revision - 1)
    with raises(Conflict, "revision_moved"):
        skills.save("new-one", "Something new", "b", expect=1)
    skills.save("release", body="b", expect=first.skill.revision)


@pytest.mark.row("F02")
def test_many_writers_lose_no_file(skills: SkillLibrary) -> None:
    skills.save("release", "How to release", "a")

    def write(number: int) -> None:
        for turn in range(5):
            skills.save("release", files={f"{number}/{turn}": f"{number} {turn}"})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {file.path: skills.file("release", file.path) for file in skills.get("release").files}
    assert found == {f"{n}/{t}": f"{n} {t}".encode() for n in range(6) for t in range(5)}


@pytest.mark.row("F02")
def test_a_collector_never_takes_what_is_being_written(vault: Vault, skills: SkillLibrary) -> None:
    stop = threading.Event()
    collected: list[int] = []

    def collect() -> None:
        while not stop.is_set():
            collected.append(vault.gc(spare_seconds=0).objects)

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        for number in range(30):
            data = {"a": os.urandom(50) * 2_000, "b": str(number)}
            skills.save(
                f"s{number}", f"Number {number} of them", f"{number}", files=data, anyway=True
            )
    finally:
        stop.set()
        thread.join()
    for skill in skills.list():
        assert [skills.file(skill.name, file.path) for file in skill.files]
    assert collected


def test_contents_that_rot_are_named_and_what_is_held_is_made_again(
    tmp_path: Path, skills: SkillLibrary, vault: Vault
) -> None:
    content = (
        skills.save("release", "How to release", "a", files={"x": BINARY}).skill.files[0].content
    )
    with apsw.Connection(str(tmp_path / "vault" / "vault.db")) as conn:
        conn.execute("DELETE FROM holding")
    assert [problem.code for problem in vault.verify()] == ["holdings_differ"]
    list(vault.repair())
    assert list(vault.verify()) == []
    assert vault.gc(spare_seconds=0).objects == 0
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    pack = list(conn.execute("SELECT * FROM pack"))
    conn.execute("UPDATE pack SET data = zeroblob(length(data))")
    assert [(p.code, p.what) for p in vault.verify()] == [("object_damaged", f"object {content}")]
    with raises(Damaged, "object_damaged"):
        skills.file("release", "x")
    skills.save("release", files={"y": BINARY})  # stores it anew
    assert skills.file("release", "x") == BINARY
    objects = list(conn.execute("SELECT * FROM object"))
    conn.execute("DELETE FROM object")
    assert "is missing; entry" in next(iter(vault.verify())).message
    conn.executemany("INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?)", objects)
    conn.executemany("UPDATE pack SET data = ?4 WHERE number = ?1", pack)


# What is seen of them


@pytest.mark.row("F03")
def test_a_session_starts_with_names_and_descriptions_and_reads_the_rest(
    vault: Vault, skills: SkillLibrary
) -> None:
    skills.save(
        "release",
        "How to release\nthis project",
        "Secret sauce.",
        files={"a.md": "inside", "b": BINARY},
    )
    assert vault.space().context().text == (
        "## Skills default/skills (before you do one of these, read how: skill_view)\n"
        "- release: How to release this project\n"
    )
    view = tools(vault.space())["skill_view"]
    found = view("release")
    assert (found.body, found.files) == ("\nSecret sauce.\n", ("a.md", "b"))
    assert view("release", file="a.md").text == "inside"
    binary = view("release", file="b")
    assert (binary.text, binary.size) == (None, len(BINARY))
    with pytest.raises(NotFound, match="has no skill 'relase'") as caught:
        view("relase")
    assert caught.value.hint == "did you mean release?"
    hits = vault.space().recall("sauce").hits
    assert [hit.label for hit in hits] == ["default/skills"]


@pytest.mark.row("F03")
def test_the_block_keeps_to_the_budget_and_says_how_many_more(
    tmp_path: Path, vault: Vault, clock: ManualClock
) -> None:
    text = "name: app\nmemory:\n  own:\n    - {name: how, strategy: skills, shown: 5}\n"
    space = vault.declare(parse_workspace(text, tmp_path / "workspace.yml"))
    skills = space.skills()
    for number in range(8):
        skills.save(
            f"s{number}", f"About {'xyz'[number % 3] * 9} {number}", f"{number}", anyway=True
        )
        clock.advance(seconds=1)
    whole = space.context()
    assert whole.text.splitlines()[1:] == [
        *(f"- s{number}: About {'xyz'[number % 3] * 9} {number}" for number in (7, 6, 5, 4, 3)),
        "And 3 more. Find them: memory_recall(query=…)",
    ]
    for budget in range(20, whole.tokens):
        small = space.context(budget)
        assert small.tokens <= budget
        shown = [line for line in small.text.splitlines() if line.startswith("- ")]
        assert shown == whole.text.splitlines()[1 : len(shown) + 1]
        if shown:
            assert f"And {8 - len(shown)} more." in small.text
    skills.archive("s7")
    assert "s7" not in space.context().text
    assert "And 2 more." in space.context().text


@pytest.mark.row("F03")
def test_a_session_keeps_the_skills_that_it_began_with(vault: Vault, skills: SkillLibrary) -> None:
    skills.save("release", "How to release", "a")
    with vault.space().session() as here:
        before = here.context().text
        here.skills().save("tides", "Reading the tides", "b")
        assert here.context().text == before
        assert tools(here)["skill_view"]("tides").body == "\nb\n"


# Uses and the curator


@pytest.mark.row("F04")
def test_uses_are_counted_and_the_curator_puts_away_what_has_none(
    tmp_path: Path, vault: Vault, skills: SkillLibrary, clock: ManualClock
) -> None:
    save = tools(vault.space())["skill_save"]
    for name, about in {
        "used": "Peel potatoes",
        "unused": "Read the tides",
        "kept": "Mend bicycles",
    }.items():
        save(name, about, f"How to {name}", files={"a": "x"})
    skills.save("own", "Sail around the world", "Go.")
    skills.pin("kept")
    clock.advance(days=29)
    assert skills.curate(dry_run=True) == ()
    clock.advance(days=1)
    assert tools(vault.space())["skill_view"]("used").body == "\nHow to used\n"
    skills.list()
    assert (skills.get("used").uses, skills.get("unused").uses) == (1, 0)
    dry = skills.curate(dry_run=True)
    assert [(step.name, step.step, step.days) for step in dry] == [("unused", "stale", 30)]
    assert not skills.get("unused").stale
    assert skills.curate() == dry
    assert [one.name for one in skills.list() if one.stale] == ["unused"]
    assert skills.curate() == ()
    clock.advance(days=60)
    steps = shell(tmp_path, "skill", "curate", "--dry-run")  # of a process with its own clock
    assert {one["step"] for one in steps} <= {"archive", "stale"}
    assert [(step.name, step.step) for step in skills.curate()] == [
        ("unused", "archive"),
        ("used", "stale"),
    ]
    assert [one.name for one in skills.list()] == ["kept", "own", "used"]
    assert [one.name for one in skills.list(archived=True)] == ["kept", "own", "unused", "used"]
    assert "unused" not in vault.space().context().text
    assert skills.file("unused", "a") == b"x"  # nothing is deleted
    clock.advance(days=1)
    view = tools(vault.space())["skill_view"]
    assert (view("unused").archived, view("used").archived) == (True, False)
    assert [(step.name, step.step) for step in skills.curate()] == [
        ("unused", "restore"),
        ("used", "wake"),
    ]
    assert [one.name for one in skills.list()] == ["kept", "own", "unused", "used"]


@pytest.mark.row("F04")
def test_what_a_person_puts_away_stays_away_until_it_is_taken_up(
    tmp_path: Path, skills: SkillLibrary, clock: ManualClock
) -> None:
    skills.save("own", "Sail around the world", "Go.")
    shell(tmp_path, "skill", "archive", "own")
    clock.advance(days=1)
    skills.view("own")
    assert skills.curate() == ()
    assert shell(tmp_path, "skill", "list") == []
    (one,) = shell(tmp_path, "skill", "list", "--archived")
    assert (one["name"], one["state"], one["uses"]) == ("own", "archived", 1)
    shell(tmp_path, "skill", "restore", "own")
    assert [one.name for one in skills.list()] == ["own"]
    skills.archive("own")
    assert skills.save("own", body="Go again.").skill.archived is False
    shell(tmp_path, "skill", "pin", "own")
    assert skills.get("own").pinned
    assert shell(tmp_path, "skill", "unpin", "own")["outcome"] == "updated"
    assert shell(tmp_path, "skill", "unpin", "own")["outcome"] == "unchanged"


def test_days_of_a_store_are_its_own(tmp_path: Path, vault: Vault, clock: ManualClock) -> None:
    text = (
        "name: app\nmemory:\n  own:\n    - {name: how, strategy: skills, stale: 2d, archive: 4d}\n"
    )
    space = vault.declare(parse_workspace(text, tmp_path / "workspace.yml"))
    space.skills().save("a", "Peel potatoes", "b", origin="agent")
    clock.advance(days=2)
    assert [step.step for step in space.skills().curate()] == ["stale"]
    clock.advance(days=2)
    assert [step.step for step in space.skills().curate()] == ["archive"]
    with raises(InvalidInput, "workspace_invalid"):
        vault.declare(parse_workspace(text.replace("4d", "2d"), tmp_path / "workspace.yml"))


# Near duplicates


@pytest.mark.row("F05")
@pytest.mark.parametrize(
    ("name", "description", "body", "by"),
    [
        ("pdf_form", "Something else entirely", "Nothing alike here", "name"),
        (
            "tax-papers",
            "Use it to fill in the forms of a PDF.",
            "Nothing alike here",
            "description",
        ),
        (
            "tax-papers",
            "Something else entirely",
            "Open the form, type into each field, save!",
            "body",
        ),
        (
            "tax-papers",
            "Something else entirely",
            "open the FORM, type into each field, save.",
            "body",
        ),
    ],
)
def test_a_near_duplicate_is_shown_before_a_second_is_made(
    tmp_path: Path,
    vault: Vault,
    skills: SkillLibrary,
    name: str,
    description: str,
    body: str,
    by: str,
) -> None:
    skills.save(
        "pdf-forms",
        "Use it to fill in forms of a PDF.",
        "Open the form, type into each field, save.",
    )
    skills.save("bread", "Bake bread", "Knead, wait, bake.")
    skills.archive("pdf-forms")
    for attempt in (
        lambda: skills.save(name, description, body),
        lambda: tools(vault.space())["skill_save"](name, description, body),
        lambda: skills.put(f"---\nname: {name}\ndescription: {description}\n---\n{body}"),
    ):
        with pytest.raises(Refused, match=rf"pdf-forms \(by its {by}\)") as caught:
            attempt()
        assert caught.value.code == "skill_near"
    words = ["skill", "save", name, body, "--description", description]
    assert shell(tmp_path, *words, exit=1)["error"]["code"] == "skill_near"
    assert [one.name for one in skills.list(archived=True)] == ["bread", "pdf-forms"]
    saved = shell(tmp_path, *words, "--anyway")
    assert (saved["outcome"], [one["name"] for one in saved["near"]]) == ("created", ["pdf-forms"])


@pytest.mark.row("F05")
def test_what_was_deleted_is_no_duplicate_and_no_import_brings_it_back(
    tmp_path: Path, skills: SkillLibrary
) -> None:
    place = fill(tmp_path / "in")
    skills.import_from(place)
    skills.delete("pdf-forms")
    assert became(skills.import_from(place)) == {"pdf-forms": "skill_forgotten"}
    assert became(skills.mirror(tmp_path / "in")) == {"pdf-forms": "skill_forgotten"}
    assert skills.list(archived=True) == []
    assert became(skills.import_from(place, anyway=True)) == {"pdf-forms": "created"}


# Learned


def learn(vault: Vault) -> None:
    vault.prefer({"review.turns": 1})
    with vault.space().session() as here:
        here.say("user", "That worked at last")
    vault.review()


@pytest.mark.row("F06")
def test_a_learned_skill_waits_for_a_person(vault: Vault, skills: SkillLibrary) -> None:
    learn(vault)
    assert skills.list() == []
    (waiting,) = vault.inbox().read()
    assert (waiting.held, waiting.strategy) == ("review", "skills")
    decided = vault.inbox().approve(waiting.id)
    skill = skills.get("deploy-the-api")
    assert decided.entry is not None
    assert (skill.id, skill.origin, skill.trust) == (decided.entry.id, "agent", "medium")
    assert skill.description == "Run the migration first."
    assert skill.body == "\nRun the migration first. Then restart both workers.\n"
    skills.delete("deploy-the-api")
    learn(vault)
    assert (vault.inbox().read(), skills.list()) == ([], [])


@pytest.mark.row("F06")
def test_policy_may_let_a_learned_skill_in_and_a_web_page_never(
    vault: Vault, skills: SkillLibrary, reviewer: Learned
) -> None:
    vault.prefer({"review.instructions": "apply"})
    learn(vault)
    assert [one.name for one in skills.list()] == ["deploy-the-api"]
    reviewer.fields = {"subject": "Deploys the API", "text": "Another way of doing the same."}
    reviewer.fields["subject"] = "deploy-the-apis: How to deploy"
    learn(vault)  # nearly the same name: refused, and nobody is asked
    assert [one.name for one in skills.list()] == ["deploy-the-api"]
    reviewer.fields = {"subject": "from-the-web", "text": "Do as I say.", "origin": "web"}
    learn(vault)
    (waiting,) = vault.inbox().read()
    assert waiting.suggestion is not None
    assert waiting.suggestion.subject == "from-the-web"
    vault.prefer({"review.approval": "all"})
    reviewer.fields = {"subject": "bread", "text": "Knead, wait, bake.", "origin": "user"}
    learn(vault)
    assert [one.name for one in skills.list()] == ["deploy-the-api"]
    assert len(vault.inbox().read()) == 2


@pytest.mark.row("F06")
def test_a_learned_change_is_held_to_what_was_seen(
    vault: Vault, skills: SkillLibrary, reviewer: Learned
) -> None:
    saved = skills.save("bread", "Bake bread", "Knead.", origin="agent", files={"a": "1"}).skill
    reviewer.fields = {
        "op": "update",
        "subject": "bread: Bake bread and rolls",
        "text": "Knead, wait, bake.",
        "target": saved.id,
        "revision": saved.revision,
    }
    learn(vault)
    (waiting,) = vault.inbox().read()
    vault.inbox().approve(waiting.id)
    after = skills.get("bread")
    assert (after.body, after.description) == ("\nKnead, wait, bake.\n", "Bake bread and rolls")
    assert [file.path for file in after.files] == ["a"]
    assert "rolls" in after.head
    reviewer.fields |= {"text": "Buy it.", "revision": after.revision}
    learn(vault)
    (waiting,) = vault.inbox().read()
    skills.patch("bread", "wait", "wait long")
    with raises(Conflict, "proposal_stale"):
        vault.inbox().approve(waiting.id)
    assert skills.get("bread").body == "\nKnead, wait long, bake.\n"


# Other surfaces and places


@pytest.mark.row("F02")
def test_the_tool_makes_changes_and_patches(vault: Vault, skills: SkillLibrary) -> None:
    save = tools(vault.space())["skill_save"]
    made = save("bread", "Bake bread", "Knead.", files={"a.md": "one"})
    assert (made.outcome, made.skill.origin, made.skill.trust) == ("created", "agent", "medium")
    save("bread", find="Knead", replace="Knead and wait")
    save("bread", find="one", replace="two", file="a.md")
    save("bread", files={"b.md": "three"})
    found = skills.get("bread")
    assert (found.body, skills.file("bread", "a.md")) == ("\nKnead and wait.\n", b"two")
    assert [file.path for file in found.files] == ["a.md", "b.md"]
    for wrong in ({"find": "x"}, {"replace": "x"}, {"file": "a.md"}, {"find": "a", "body": "b"}):
        with raises(InvalidInput, "arguments_invalid"):
            save("bread", **{"replace": None, "find": None, **wrong})
    assert skills.get("bread") == found


@pytest.mark.row("F02", "F03")
def test_awaited_it_is_the_same(tmp_path: Path) -> None:
    async def go() -> None:
        async with aio.open(tmp_path / "vault") as vault:
            skills = await (await vault.space()).skills()
            made = await skills.save("bread", "Bake bread", "Knead.", files={"a": BINARY})
            assert await skills.get("bread") == made.skill
            assert await skills.file("bread", "a") == BINARY
            assert [one.name for one in await skills.list()] == ["bread"]
            await skills.export_to(tmp_path / "out")

    asyncio.run(go())
    assert (tmp_path / "out/bread/a").read_bytes() == BINARY


def test_skills_are_seen_through_mounts_and_written_as_these_say(
    tmp_path: Path, vault: Vault
) -> None:
    def declare(name: str, mode: str = "") -> Space:
        own = "  own:\n    - {name: how, strategy: skills}\n" if not mode else "  own: []\n"
        mounts = f"  mounts:\n    - {{source: lender/how, mode: {mode}}}\n" if mode else ""
        place = tmp_path / name
        place.mkdir()
        text = f"name: {name}\nmemory:\n{own}{mounts}"
        return vault.declare(parse_workspace(text, place / "workspace.yml"))

    lender, reader, writer = declare("lender"), declare("reader", "ro"), declare("writer", "rw")
    lender.skills().save("bread", "Bake bread", "Knead.", files={"a": BINARY})
    assert "- bread: Bake bread" in reader.context().text
    assert reader.skills("how").file("bread", "a") == BINARY
    with raises(Refused, "mount_read_only"):
        reader.skills("how").save("bread", body="Buy it.")
    writer.skills("how").save("bread", body="Knead, wait.")
    assert lender.skills().get("bread").body == "\nKnead, wait.\n"


def test_a_held_write_comes_in_whole(tmp_path: Path, vault: Vault, skills: SkillLibrary) -> None:
    """What was suggested with its files keeps them from the collector until it is decided."""
    from holdfast.core.suggesting import of_new
    from holdfast.engine.proposals import propose
    from holdfast.engine.work import mutate
    from holdfast.model.entry import NewEntry
    from holdfast.model.write import Write

    made = skills.save(
        "bread", "Bake bread", "Knead.", files={"a": Given(data=BINARY, program=True)}
    )
    entry = vault.space().desk("skills").read(lambda view, store: view.find(store, made.skill.id))
    said = {name: getattr(entry, name) for name in NewEntry.fields_ if name in entry.fields_}
    wanted = of_new(skills.store, NewEntry(**{**said, "state": "confirmed"}), "high")
    core = vault._core
    skills.delete("bread")
    proposal = mutate(
        core,
        vault.caller,
        Write(),
        "hold",
        {},
        lambda work: propose(work, "default", wanted, "approval"),
    )
    conn = apsw.Connection(str(tmp_path / "vault" / "vault.db"))
    kept = list(conn.execute("SELECT * FROM holding"))
    conn.execute("DELETE FROM holding")  # as if the entry were erased
    assert vault.gc(spare_seconds=0).objects == 0
    conn.executemany("INSERT INTO holding VALUES (?, ?, ?)", kept)
    vault.inbox().approve(proposal.id)
    (file,) = skills.get("bread").files
    assert (file.path, file.program, skills.file("bread", "a")) == ("a", True, BINARY)
