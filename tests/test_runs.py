"""Runs: what an agent finds, what is kept of what it wrote, and what never happens to a memory."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import pytest
from run_sample import STEPS, Bench, bench_in, memory_of, said_in

from holdfast.engine.workspace import parse_workspace
from holdfast.errors import Conflict, HoldfastError, InvalidInput, NotFound, Refused
from holdfast.model.run import Agent, MountSpec, mount_from
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.runs.execute import Task


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = bench_in(tmp_path)
    yield bench
    bench.sound()
    bench.vault.close()


# B01, B02: a run with memory


@pytest.mark.row("B01")
def test_what_one_run_wrote_the_next_one_finds(bench: Bench) -> None:
    first = bench.run("write:a.md:one", "write:deep/b.md:two")
    assert (first.state, first.exit) == ("succeeded", 0)
    laid = memory_of(first)
    assert (laid.name, laid.before, laid.after, laid.kept) == ("notes", 1, 2, "pushed")
    seen: list[dict[str, str]] = []

    def look(task: Task) -> None:
        assert task.memory is not None
        seen.append({f.name: f.read_text() for f in task.memory.rglob("*") if f.is_file()})

    bench.space.run(look, "look", memory="notes")
    assert seen == [{"a.md": "one", "b.md": "two"}]
    assert bench.files() == {"a.md": b"one", "deep/b.md": b"two"}
    assert bench.left() == []
    (version, *_) = bench.space.directories("memory").log("notes")
    assert version.version.author == "agent:steps"
    assert version.version.run == first.id
    assert version.version.session == first.session
    assert version.version.message == "write:a.md:one write:deep/b.md:two"


@pytest.mark.row("B01")
def test_a_run_that_changes_nothing_makes_no_version(bench: Bench) -> None:
    bench.run("write:a.md:one")
    run = bench.run("write:a.md:one", "say:same")
    assert (memory_of(run).kept, memory_of(run).after) == ("unchanged", 0)
    assert bench.head() == 2


@pytest.mark.row("B02")
def test_the_default_memory_has_the_agents_name(bench: Bench) -> None:
    bench.space.agents().add("scribe", {"command": STEPS})
    run = bench.run("write:a.md:mine", agent="scribe")
    assert memory_of(run).name == "scribe"
    assert bench.files(name="scribe") == {"a.md": b"mine"}
    given = bench.run("write:b.md:x", agent="scribe", memory="other-notes")
    assert memory_of(given).name == "other-notes"
    assert bench.head("scribe") == 2


@pytest.mark.row("B02")
def test_without_a_memory_there_is_none(bench: Bench) -> None:
    script = "import os; print(os.environ.get('HOLDFAST_MEMORY', 'none'))"
    bench.space.agents().add("bare", {"command": [sys.executable, "-c", script]})
    run = bench.run("x", agent="bare", memory=False)
    assert (run.mounts, said_in(run, bench.space)) == ((), b"none\n")
    assert [item.name for item in bench.space.directories("memory").list()] == []
    with raises(InvalidInput, "place_empty"):
        bench.run("say:x", memory=False)
    bench.space.agents().add("never", {"command": [sys.executable, "-c", script], "memory": False})
    assert bench.run("x", agent="never").mounts == ()
    assert [run.state for run in bench.space.runs().list(agent="steps")] == ["failed"]


# Artifacts and volumes: B03


@pytest.mark.row("B03")
def test_an_artifact_is_kept_and_a_volume_is_not(bench: Bench, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    volumes = bench.space.directories("volume")
    volumes.init(rules)
    (rules / "rules.txt").write_text("v1")
    volumes.push(rules)
    (rules / "rules.txt").write_text("v2")
    volumes.push(rules)
    seen: dict[str, str] = {}

    def work(task: Task) -> None:
        given = task.volumes["rules"] / "rules.txt"
        seen["rules"] = given.read_text()
        seen["at"] = str(given.parent.parent.name)
        given.write_text("changed by the agent")
        (task.artifacts["site"] / "index.html").write_text("<h1>")

    run = bench.space.run(
        work, "build", memory=False, artifacts=["site:/out/site"], volumes=["rules:v1:/given/rules"]
    )
    assert seen == {"rules": "v1", "at": "given"}
    assert [(m.type, m.name, m.path, m.before, m.after, m.kept) for m in run.mounts] == [
        ("artifact", "site", "out/site", 1, 2, "pushed"),
        ("volume", "rules", "given/rules", 1, 0, ""),
    ]
    assert volumes.version("rules").v == 2
    assert bench.space.directories("artifact").version("site").files == 1


@pytest.mark.row("B03")
@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("site", MountSpec(name="site")),
        ("site:v3", MountSpec(name="site", version="v3")),
        ("site:/a/b", MountSpec(name="site", path="a/b")),
        ("site:latest~2:/a", MountSpec(name="site", version="latest~2", path="a")),
        (
            "site:2026-03-01T12:00:/a",
            MountSpec(name="site", version="2026-03-01T12:00", path="a"),
        ),
    ],
    ids=str,
)
def test_a_mount_is_read_as_it_is_written(text: str, spec: MountSpec) -> None:
    assert mount_from(text) == spec


@pytest.mark.row("B03")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"artifacts": ["site:"]}, "run_mount_invalid"),
        ({"artifacts": ["No Name"]}, "directory_name_invalid"),
        ({"artifacts": ["site:/../out"]}, "path_invalid"),
        ({"artifacts": ["site:/memory"]}, "run_mounts_overlap"),
        ({"artifacts": ["site:/a", "page:/a/b"]}, "run_mounts_overlap"),
        ({"volumes": ["nobody"]}, "directory_not_found"),
        ({"artifacts": ["site:v7"]}, "directory_not_found"),
        ({"memory": "notes:v7"}, "directory_not_found"),
    ],
    ids=str,
)
def test_what_cannot_be_laid_out_is_refused_before_a_run_begins(
    bench: Bench, options: dict[str, list[str]], code: str
) -> None:
    with pytest.raises(HoldfastError) as caught:
        bench.run("say:x", **options)
    assert caught.value.code == code
    assert list(bench.space.runs().list()) == []


@pytest.mark.row("B03", "B04")
def test_an_optional_volume_may_be_missing(bench: Bench) -> None:
    bench.declare("lenient", volumes=[{"name": "nobody", "optional": True}])
    assert [m.type for m in bench.run("say:x", agent="lenient").mounts] == ["memory"]


# B04: which agents there are


@pytest.mark.row("B04")
def test_an_unknown_agent_lists_the_known(bench: Bench) -> None:
    bench.declare("other")
    with pytest.raises(NotFound, match="no agent 'nobody'; known: other, steps") as caught:
        bench.run("say:x", agent="nobody")
    assert caught.value.code == "agent_unknown"
    assert list(bench.space.runs().list()) == []


@pytest.mark.row("B04")
def test_declared_again_the_same_is_nothing_new_and_another_is_refused(bench: Bench) -> None:
    said = {"command": ["echo", "{prompt}"], "timeout": "1h30m"}
    agents = bench.space.agents()
    assert agents.add("echoing", said)
    assert not agents.add("echoing", said)
    assert agents.get("echoing") == Agent(
        name="echoing", command=("echo", "{prompt}"), memory="echoing", timeout_s=5400
    )
    with raises(Conflict, "agent_exists"):
        agents.add("echoing", {"command": ["cat"]})
    agents.remove("echoing")
    assert [agent.name for agent in agents.list()] == ["steps"]
    with raises(NotFound, "agent_unknown"):
        agents.remove("echoing")


DECLARED = """\
name: app
agents:
  steps:
    command: [{python}, {agent}, "{{prompt}}", "{{memory}}"]
    instructions: Do what ${{{{ vars.WHO }}}} says.
    memory: app-notes
    artifacts: [site:/site]
    volumes:
      - rules:${{{{ vars.RULES }}}}
      - {{name: extras, optional: true}}
    environment:
      TOKEN: ${{{{ secrets.TOKEN }}}}
      LEVEL: 3
    timeout: 10m
    folder: work
"""


@pytest.mark.row("B04")
def test_a_workspace_declares_agents_with_all_that_they_have(bench: Bench, tmp_path: Path) -> None:
    from run_sample import AGENT

    home = tmp_path / "app"
    (home / "work").mkdir(parents=True)
    text = DECLARED.format(python=sys.executable, agent=AGENT)
    (home / "workspace.yml").write_text(text)
    space = bench.vault.workspace(home / "workspace.yml")
    (agent,) = space.agents().list()
    assert agent.replace(command=()) == Agent(
        name="steps",
        command=(),
        instructions="Do what ${{ vars.WHO }} says.",
        memory="app-notes",
        artifacts=(MountSpec(name="site", path="site"),),
        volumes=(
            MountSpec(name="rules", version="${{ vars.RULES }}"),
            MountSpec(name="extras", optional=True),
        ),
        environment={"TOKEN": "${{ secrets.TOKEN }}", "LEVEL": "3"},
        timeout_s=600,
        folder=str(home / "work"),
    )
    with raises(Refused, "agents_in_file"):
        space.agents().add("other", {"command": ["x"]})
    rules = tmp_path / "rules"
    space.directories("volume").init(rules)
    (rules / "a.txt").write_text("a")
    space.directories("volume").push(rules)
    run = space.run(
        "steps",
        "env:LEVEL env:TOKEN env:PWD write:a.md:x",
        variables={"WHO": "everybody", "RULES": "v1"},
        secrets={"TOKEN": "tok-12345"},
    )
    assert run.state == "succeeded"
    assert said_in(run, space).splitlines()[:2] == [b"3", b"***"]
    assert [(m.type, m.name, m.before, m.kept) for m in run.mounts] == [
        ("memory", "app-notes", 1, "pushed"),
        ("artifact", "site", 1, "unchanged"),
        ("volume", "rules", 1, ""),
    ]


@pytest.mark.row("B04")
@pytest.mark.parametrize(
    ("lines", "where", "what"),
    [
        ("  x:\n    command: [a]\n", ":3: agents.x:", "not a name for an agent"),
        ("  list:\n    command: [a]\n", ":3: agents.list:", "a verb of"),
        ("  one:\n    memory: m-1\n", "agents.one:", "command is missing"),
        ("  one:\n    command: python x.py\n", ":4: agents.one.command:", "must be a list"),
        ("  one:\n    command: []\n", ":4: agents.one.command:", "names no program"),
        ("  one:\n    command: [a, {prompt}]\n", "agents.one.command[1]:", "must be text"),
        ("  one:\n    command: [a]\n    timeout: soon\n", ":5: agents.one.timeout:", "no length"),
        ("  one:\n    command: [a]\n    memory: No\n", ":5: agents.one.memory:", "not a name"),
        ("  one:\n    command: [a]\n    enviroment: {}\n", ":5: agents.one.enviroment:", "no such"),
        (
            "  one:\n    command: [a]\n    environment: {HOLDFAST_RUN: x}\n",
            ":5: agents.one.environment.HOLDFAST_RUN:",
            "set by Holdfast",
        ),
        (
            "  one:\n    command: [a]\n    artifacts: [site:/../x]\n",
            ":5: agents.one.artifacts[0]:",
            "cannot be in a tree",
        ),
    ],
    ids=range(11),
)
def test_a_mistake_in_a_declaration_is_named_by_line(
    tmp_path: Path, lines: str, where: str, what: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_workspace(f"name: app\nagents:\n{lines}", tmp_path / "workspace.yml")
    assert caught.value.code == "workspace_invalid"
    assert where in caught.value.message
    assert what in caught.value.message
    assert caught.value.hint


# B05: any program, without a shell


@pytest.mark.row("B05")
def test_a_prompt_stays_one_argument_whatever_is_in_it(bench: Bench) -> None:
    script = "import json,sys; print(json.dumps(sys.argv[1:]))"
    words = ["{prompt}", "a {prompt} b", "{other}", "${{ vars.V }}", "{{prompt}}"]
    bench.space.agents().add("words", {"command": [sys.executable, "-c", script, *words]})
    prompt = "a 'b' \"c\" $HOME `id` ; rm -rf * {memory} ${{ vars.V }}\n\t日本 é --x -- "
    run = bench.run(prompt, agent="words", variables={"V": "{prompt}"})
    assert json.loads(said_in(run, bench.space)) == [
        prompt,
        f"a {prompt} b",
        "{other}",
        "{prompt}",
        "{" + prompt + "}",
    ]


@pytest.mark.row("B05")
def test_each_place_is_a_path_that_is_there(bench: Bench) -> None:
    script = (
        "import os,sys,pathlib\n"
        "memory, context, artifact, other, prompt, talk = map(pathlib.Path, sys.argv[1:7])\n"
        "assert memory.is_dir() and artifact.is_dir() and other.is_dir()\n"
        "assert artifact.name == 'site' and other.name == 'page'\n"
        "assert str(memory) == os.environ['HOLDFAST_MEMORY']\n"
        "assert str(other) == os.environ['HOLDFAST_ARTIFACT_PAGE']\n"
        "assert str(context) == os.environ['HOLDFAST_CONTEXT']\n"
        "run = sys.argv[7] == os.environ['HOLDFAST_RUN']\n"
        "print(prompt.read_text(), talk.read_text() == '', run)\n"
        "print(context.read_text())\n"
    )
    places = ["{memory}", "{context}", "{artifact}", "{artifact:page}", "{prompt_file}"]
    command = [sys.executable, "-c", script, *places, "{conversation}", "{run}"]
    bench.space.agents().add(
        "looker", {"command": command, "instructions": "Look well, ${{ vars.WHO }}."}
    )
    bench.space.notes().save("Deploys go out on Tuesdays")
    run = bench.run(
        "look!", agent="looker", artifacts=["site", "page"], variables={"WHO": "friend"}
    )
    said = said_in(run, bench.space).decode()
    assert run.state == "succeeded", said
    assert said.startswith("look! True True\nLook well, friend.\n")
    assert "Deploys go out on Tuesdays" in said
    assert "- memory looker (v1)" in said


@pytest.mark.row("B05")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["no-such-program"], "program_not_found"),
        (["./no-such-program"], "program_not_found"),
        (["{memory}"], "program_not_executable"),
        (["{prompt_file}"], "program_not_executable"),
        (["echo", "{prompt}" * 40], "command_too_long"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_a_program_that_cannot_be_started_is_a_failed_run(
    bench: Bench, command: list[str], code: str
) -> None:
    bench.run("write:a.md:one")
    bench.declare("broken", command=command)
    with pytest.raises(HoldfastError) as caught:
        bench.run("x" * 6000, agent="broken")
    assert caught.value.code == code
    (run,) = bench.space.runs().list(agent="broken")
    assert (run.state, run.reason, run.exit, memory_of(run).kept) == (
        *("failed", code, None, "nothing"),
    )
    assert (bench.head(), bench.left()) == (2, [])


@pytest.mark.row("B05")
def test_a_script_whose_interpreter_is_missing_and_a_folder_that_is_gone(
    bench: Bench, tmp_path: Path
) -> None:
    script = tmp_path / "agent.sh"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    bench.declare("script", command=[str(script)])
    with raises(NotFound, "program_not_found"):
        bench.run("x", agent="script")
    bench.declare("homeless", folder=str(tmp_path / "gone"))
    with raises(NotFound, "agent_folder_not_found"):
        bench.run("x", agent="homeless")


@pytest.mark.row("B05")
def test_a_function_is_an_agent_too(bench: Bench) -> None:
    def note_taker(task: Task) -> str:
        assert task.memory is not None
        (task.memory / "a.md").write_text(task.prompt)
        task.space.notes().save(f"worked as {task.run[:4]}")
        return f"{task.variables['V']} {task.secrets['S']}"

    run = bench.space.run(
        note_taker, "hello", variables={"V": "open"}, secrets={"S": "closed-door"}
    )
    assert (run.agent, run.state, memory_of(run).after) == ("note-taker", "succeeded", 2)
    assert said_in(run, bench.space) == b"open ***"
    (note,) = bench.space.notes().read().entries
    assert note.session == run.session


@pytest.mark.row("B05", "B11")
def test_what_a_function_raises_fails_the_run_and_is_raised_again(bench: Bench) -> None:
    def careless(task: Task) -> None:
        assert task.memory is not None
        (task.memory / "half.md").write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        bench.space.run(careless, "x", memory="notes")
    (run,) = bench.space.runs().list()
    assert caught.value.__notes__ == [
        f"this was run {run.id}, which failed: holdfast run show {run.id}"
    ]
    assert (run.state, run.reason, memory_of(run).kept) == (
        *("failed", "ZeroDivisionError", "recovered"),
    )
    assert bench.files(f"v{memory_of(run).after}") == {"half.md": b"half"}
    assert bench.files() == {}
    with raises(InvalidInput, "timeout_of_callable"):
        bench.space.run(careless, "x", timeout=5)


# B13: parallel runs


@pytest.mark.row("B13")
def test_parallel_runs_on_one_memory_both_persist(bench: Bench, tmp_path: Path) -> None:
    bench.run("write:log.md:start\\n")
    gates = [tmp_path / f"gate{number}" for number in range(4)]
    done: list[str] = []

    def work(number: int) -> None:
        others = [f"await:{gate}" for gate in gates]
        run = bench.run(f"write:own{number}.md:{number}", f"ready:{gates[number]}", *others)
        done.append(run.state)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == ["succeeded"] * 4
    assert bench.files() == {
        "log.md": b"start\n",
        **{f"own{number}.md": str(number).encode() for number in range(4)},
    }
    found = bench.space.runs().list(limit=4)
    assert {memory_of(run).before for run in found} == {2}
    assert sorted(memory_of(run).kept for run in found) == ["merged"] * 3 + ["pushed"]


@pytest.mark.row("B13")
def test_what_does_not_merge_is_kept_side_by_side_and_listed(bench: Bench) -> None:
    bench.run("write:a.md:base")

    def slow(task: Task) -> None:
        assert task.memory is not None
        bench.run("write:a.md:fast")
        (task.memory / "a.md").write_text("slow")

    run = bench.space.run(slow, "x", memory="notes")
    laid = memory_of(run)
    assert (run.state, laid.kept, len(laid.conflicts)) == ("succeeded", "merged", 1)
    assert laid.conflicts[0].startswith("a.md did not merge (lines); the other side's lies in a.")
    assert sorted(bench.files().values()) == [b"fast", b"slow"]
