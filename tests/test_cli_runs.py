"""`holdfast run` and `holdfast agent` as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_snapshot import assert_light, command, environment, run_in_terminal
from cli_vault import Cli, cli_in, failed, ok
from run_sample import AGENT

import holdfast

EXAMPLES = Path(__file__).parent.parent / "examples"
STEPS = [sys.executable, str(AGENT), "{prompt}", "{memory}"]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


def declared(cli: Cli, *options: str, name: str = "steps") -> Cli:
    cli.says("agent", "add", name, *options, "--", *STEPS)
    return cli


def last_run(cli: Cli) -> dict[str, object]:
    return cli.json("run", "list")[0]


# The story, as typed

STORY = """
holdfast agent add my-agent -- python examples/agents/notes.py {prompt} {memory}
mkdir my-agent-memory && cd my-agent-memory
holdfast memory init
echo "Prefer concise PR reviews" > preferences.md
holdfast memory push
holdfast run my-agent "review the latest PRs" --memory my-agent-memory
holdfast memory pull
holdfast memory status
holdfast memory list
holdfast memory log
holdfast memory diff
holdfast memory rollback
holdfast memory clone my-agent-memory elsewhere
"""


def on_a_clean_machine(folder: Path) -> dict[str, str]:
    """A shell that finds `holdfast` and `python`, a home with nothing in it, and the examples."""
    (folder / "bin").mkdir()
    for name, words in (("holdfast", "-m holdfast"), ("python", "")):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        program.chmod(0o755)
    (folder / "examples").symlink_to(EXAMPLES)
    env = environment({"HOME": str(folder / "home")})
    return {**env, "PATH": f"{folder / 'bin'}{os.pathsep}{env['PATH']}"}


@pytest.mark.row("B01", "B04", "B05")
def test_the_story_as_it_is_typed(tmp_path: Path) -> None:
    env = on_a_clean_machine(tmp_path)
    done = subprocess.run(
        ["sh", "-eu", "-c", STORY], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "I remember 1 file.\n- preferences.md: Prefer concise PR reviews\n" in done.stdout
    assert "Done: review the latest PRs\n" in done.stdout
    assert "memory my-agent-memory v1 → v2\n" in done.stderr
    folder = tmp_path / "my-agent-memory"
    assert (folder / "journal.md").read_text() == "# What I was asked\n- review the latest PRs\n"
    assert (folder / "elsewhere/preferences.md").read_text() == "Prefer concise PR reviews\n"
    assert not (folder / "elsewhere/journal.md").exists(), "it was rolled back"
    again = 'holdfast run my-agent "once more" --memory my-agent-memory'
    done = subprocess.run(
        ["sh", "-eu", "-c", again], cwd=folder, env=env, capture_output=True, text=True
    )
    assert (done.returncode, "v3 → v4" in done.stderr) == (0, True)


@pytest.mark.row("B01", "B05")
@pytest.mark.parametrize("example", ["notes.py", "notes.sh"])
def test_the_examples_remember_what_they_were_asked(tmp_path: Path, example: str) -> None:
    env = on_a_clean_machine(tmp_path)
    program = "python" if example.endswith("py") else "sh"
    story = (
        f"holdfast agent add scribe -- {program} examples/agents/{example} {{prompt}} {{memory}}\n"
        "holdfast run scribe 'the first thing'\n"
        "holdfast run scribe 'the second thing'\n"
        "holdfast memory clone scribe seen\n"
    )
    done = subprocess.run(
        ["sh", "-eu", "-c", story], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seen/journal.md").read_text() == (
        "# What I was asked\n- the first thing\n- the second thing\n"
    )
    assert "journal.md: # What I was asked" in done.stdout or "- the first thing" in done.stdout


@pytest.mark.row("B13")
def test_two_at_once_on_one_memory_both_persist(tmp_path: Path) -> None:
    env = {**on_a_clean_machine(tmp_path), "HOLDFAST_VAULT": str(tmp_path / "vault")}
    subprocess.run(
        command(["agent", "add", "steps", "--memory", "shared-notes", "--", *STEPS]),
        env=env,
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    begun = command(["run", "steps", "append:log.md:-_start"])
    subprocess.run(begun, env=env, cwd=tmp_path, check=True, capture_output=True)
    gates = [tmp_path / "gate0", tmp_path / "gate1"]
    both = [f"await:{gate}" for gate in gates]
    runners = [
        subprocess.Popen(
            command(
                ["run", "steps", " ".join([f"append:log.md:-_{n}", f"ready:{gates[n]}", *both])]
            ),
            env=env,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(2)
    ]
    for runner in runners:
        _, err = runner.communicate(timeout=60)
        assert runner.returncode == 0, err
    with holdfast.open(tmp_path / "vault") as vault:
        vault.space().directories("memory").clone("shared-notes", tmp_path / "seen")
        assert list(vault.verify()) == []
    first, *others = (tmp_path / "seen/log.md").read_text().splitlines()
    assert (first, sorted(others)) == ("- start", ["- 0", "- 1"])


# What is said, and where


@pytest.mark.row("B01", "B12")
def test_the_agents_words_are_the_output_and_ours_are_beside(cli: Cli) -> None:
    declared(cli)
    result = cli("run", "steps", "write:a.md:one say:hello err:oops")
    name = str(last_run(cli)["id"])
    assert result == ok(
        "hello", f"oopsmemory steps v1 → v2\nRun {name[-8:]} succeeded, exit code 0\n"
    )
    assert cli("run", "steps", "write:a.md:one").stderr.startswith("memory steps unchanged\nRun ")
    assert cli("run", "steps", "say:quiet", "--quiet") == ok("quiet")


@pytest.mark.row("B11")
def test_a_failed_run_shows_the_exit_code_and_how_to_restore(cli: Cli) -> None:
    declared(cli)
    result = cli("run", "steps", "write:a.md:half exit:7")
    name = str(last_run(cli)["id"])
    assert result == failed(
        "memory steps: what it wrote is the recovery version v2: holdfast memory rollback v2 "
        f"--name steps\nRun {name[-8:]} failed, exit code 7\n"
    )
    log = cli.says("memory", "log", "steps")
    assert log.splitlines()[0].endswith(
        "recovery  what a run left that did not succeed: write:a.md:half exit:7"
    )
    assert f"run {name[-8:]}  " in log
    assert cli("run", "steps", "self:SIGKILL").stderr.endswith("failed, ended by signal 9\n")
    gone = cli("run", "steps", "rm")
    assert gone.exit == 1
    assert gone.stderr.splitlines()[0] == (
        "warning: memory steps was not kept: its folder was gone when the agent ended "
        "[run_not_kept]"
    )


@pytest.mark.row("B11")
def test_a_time_out_is_said(cli: Cli) -> None:
    declared(cli)
    result = cli("run", "steps", "say:begun sleep", "--timeout", "1s")
    assert (result.exit, result.stdout) == (1, "begun")
    assert result.stderr.endswith("timed out, ended by signal 15\n")


@pytest.mark.row("B04")
def test_an_unknown_agent_is_refused_with_the_known(cli: Cli) -> None:
    declared(cli)
    assert cli("run", "nobody", "x") == failed(
        "error: default has no agent 'nobody'; known: steps [agent_unknown]\n"
        "hint: holdfast agent add nobody -- COMMAND declares one\n"
    )
    assert cli.refuses("agent", "show", "nobody") == "agent_unknown"
    assert cli.refuses("agent", "remove", "nobody") == "agent_unknown"


@pytest.mark.row("B12")
def test_run_show_says_all_that_is_known(cli: Cli) -> None:
    declared(cli)
    cli.says("run", "steps", "write:a.md:one say:hello", "--artifact", "site:/out")
    found = last_run(cli)
    assert cli.says("run", "show", str(found["id"])[-8:]) == (
        f"run       {found['id']}\n"
        "agent     steps\n"
        "state     succeeded\n"
        "prompt    write:a.md:one say:hello\n"
        f"session   {found['session']}, messages 1 to 2\n"
        "created   2026-01-15 12:00:00\n"
        "started   2026-01-15 12:00:00\n"
        "ended     2026-01-15 12:00:00\n"
        "exit      0\n"
        "memory    steps v1 → v2, pushed\n"
        "artifact  site v1, unchanged\n"
    )
    assert cli.json("run", "show", str(found["id"])) == found
    assert cli.says("run", "logs", str(found["id"])) == "hello"
    assert cli.says("run", "logs", str(found["id"]), "--follow") == "hello"
    log = cli.json("run", "logs", str(found["id"]))
    assert (log["state"], [(p["stream"], p["text"]) for p in log["output"]]) == (
        *("succeeded", [("stdout", "hello")]),
    )
    assert cli.refuses("run", "show", "nobody") == "run_not_found"


@pytest.mark.row("B12")
def test_run_list_is_a_table(cli: Cli) -> None:
    assert cli("run", "list") == ok("", 'No runs: holdfast run AGENT "…" makes one\n')
    declared(cli)
    cli.says("run", "steps", "write:a.md:one")
    cli("run", "steps", "exit:3")
    whole = [str(row["id"]) for row in cli.json("run", "list")]
    two, one = [each[-8:] for each in whole]
    assert cli.says("run", "list").splitlines() == [
        f"RUN{' ' * 7}AGENT  STATE{' ' * 6}CREATED{' ' * 11}ENDED  VERSIONS     PROMPT",
        f"{two}  steps  failed     2026-01-15 12:00  12:00  steps v2     exit:3",
        f"{one}  steps  succeeded  2026-01-15 12:00  12:00  steps v1→v2  write:a.md:one",
    ]
    assert [row["id"] for row in cli.json("run", "list", "--state", "failed")] == whole[:1]
    assert cli.json("run", "list", "--of", "nobody") == []


@pytest.mark.row("B01", "B12")
def test_with_json_there_is_one_object_with_the_output(cli: Cli) -> None:
    declared(cli)
    found = cli.json("run", "steps", "write:a.md:one say:hello")
    assert (found["state"], found["exit"], found["mounts"][0]["after"]) == ("succeeded", 0, 2)
    assert [(piece["stream"], piece["text"]) for piece in found["output"]] == [("stdout", "hello")]
    result = cli("run", "steps", "say:x exit:3", "--json")
    assert (result.exit, json.loads(result.stdout)["exit"], result.stderr) == (1, 3, "")


@pytest.mark.row("B09", "B10")
def test_continue_and_resume(cli: Cli) -> None:
    declared(cli)
    cli.says("run", "steps", "write:a.md:one say:1")
    first = last_run(cli)
    assert cli.says("run", "continue", str(first["id"]), "append:a.md:2 say:2") == "2"
    second = last_run(cli)
    assert (second["session"], second["previous"]) == (first["session"], first["id"])
    assert cli.says("run", "resume", str(first["id"])[-8:], "append:b.md:3 say:3") == "3"
    third = last_run(cli)
    assert (third["started_as"], third["mounts"][0]["before"]) == ("resumed", 2)
    cli.says("memory", "clone", "steps", "seen")
    assert Path("seen/a.md").read_text() == "one2\n"
    assert Path("seen/b.md").read_text() == "3\n"
    assert f"resumed   from {first['id']}\n" in cli.says("run", "show", str(third["id"]))


@pytest.mark.row("B02", "B03")
def test_options_say_which_directories(cli: Cli) -> None:
    script = (
        "import os; print(os.environ.get('HOLDFAST_MEMORY'), os.environ.get('HOLDFAST_VOLUME'))"
    )
    cli.says("agent", "add", "bare", "--", sys.executable, "-c", script)
    assert cli.says("run", "bare", "x", "--no-memory") == "None None\n"
    assert cli.refuses("run", "bare", "x", "--no-memory", "--memory", "m-1", exit=2) == (
        "options_exclude"
    )
    assert cli.refuses("run", "bare", "x", "--volume", "nothing") == "directory_not_found"
    assert cli.refuses("run", "bare", "x", "--artifact", "a-1:/memory") == "run_mounts_overlap"
    Path("rules").mkdir()
    os.chdir("rules")
    cli.says("volume", "init")
    cli.says("volume", "push")
    said = cli.says("run", "bare", "x", "--volume", "rules:v1:/given/rules")
    assert said.split()[1].endswith("/files/given/rules")


# Agents


@pytest.mark.row("B04")
def test_agents_are_added_listed_shown_and_removed(cli: Cli) -> None:
    assert cli("agent", "list") == ok(
        "", "No agents: holdfast agent add NAME -- COMMAND declares one\n"
    )
    added = cli(
        *("agent", "add", "helper", "--memory", "notes-1", "--timeout", "1h", "--env", "A=b c"),
        *("--artifact", "site:/out", "--volume", "rules:v2", "--instructions", "Be kind."),
        *("--", "sh", "agent's.sh", "{prompt}"),
    )
    assert added == ok("helper\n", 'Next: holdfast run helper "…"\n')
    assert cli.says("agent", "list") == (
        "AGENT   MEMORY   COMMAND\nhelper  notes-1  sh 'agent'\"'\"'s.sh' {prompt}\n"
    )
    assert cli.settled(cli.says("agent", "show", "helper")) == (
        "agent         helper\n"
        "command       sh 'agent'\"'\"'s.sh' {prompt}\n"
        "memory        notes-1\n"
        "artifact      site latest at /out\n"
        "volume        rules v2\n"
        "variable      A=b c\n"
        "timeout       3600 s\n"
        "folder        FOLDER\n"
        "instructions  Be kind.\n"
    )
    assert cli.json("agent", "show", "helper")["command"] == ["sh", "agent's.sh", "{prompt}"]
    for name, code in (
        *(("helper", "agent_exists"), ("logs", "name_reserved"), ("No", "agent_name_invalid")),
    ):
        result = cli("agent", "add", name, "--", "other")
        assert (result.exit, result.stdout, f"[{code}]\nhint: " in result.stderr) == (1, "", True)
    assert cli.refuses("agent", "add", "empty", exit=2) == "argument_missing"
    assert cli("agent", "remove", "helper") == ok(
        "", "Removed the agent helper; its memory and its runs stay\n"
    )
    assert cli.json("agent", "list") == []


@pytest.mark.row("B04")
def test_in_a_space_with_a_file_agents_stand_there(cli: Cli) -> None:
    Path("app/tools").mkdir(parents=True)
    os.chdir("app")
    Path("workspace.yml").write_text("# mine\nname: app   # so\n")
    os.chdir("tools")
    declared(cli, "--memory", "app-notes")
    text = Path("../workspace.yml").read_text()
    assert text.startswith("# mine\nname: app   # so\nagents:\n  steps:\n    command:\n")
    assert text.endswith("    memory: app-notes\n    folder: tools\n")
    assert cli("agent", "add", "steps", "--memory", "app-notes", "--", *STEPS).stderr == (
        "Declared so already; nothing was changed\n"
    )
    assert "[agent_exists]" in cli("agent", "add", "steps", "--", "other").stderr
    assert cli.says("run", "steps", "env:PWD write:a.md:x").strip()
    found = last_run(cli)
    assert (found["space_name"], found["mounts"][0]["name"]) == ("app", "app-notes")
    cli("agent", "remove", "steps")
    assert Path("../workspace.yml").read_text() == "# mine\nname: app   # so\n"
    assert cli.refuses("run", "steps", "x") == "agent_unknown"


# Secrets


@pytest.mark.row("B06")
def test_variables_and_secrets_from_everywhere(cli: Cli) -> None:
    script = "import os; print(*(os.environ[name] for name in 'ABCD'))"
    cli.says(
        *("agent", "add", "asking", "--no-memory", "--env", "D=${{ secrets.D }}"),
        *("--", sys.executable, "-c", script),
    )
    Path("vars.env").write_text("# ours\nB=from-file\nD='the file secret'\n")
    words = ("--var", "A=1", "--secret", "B", "--secret", "C", "--env-file", "vars.env")
    assert cli.says("run", "asking", "x", *words, C="from-environment") == "1 *** *** ***\n"
    assert last_run(cli)["secrets"] == ["B", "C", "D"]
    everything = json.dumps(cli.json("log", "--all", "--limit", "1000"))
    assert "from-file" not in everything + cli.says("run", "show", str(last_run(cli)["id"]))
    assert cli.refuses("run", "asking", "x", "--var", "Z") == "variable_missing"
    assert cli.refuses("run", "asking", "x", "--env-file", "nowhere") == "env_file_unreadable"
    result = cli("run", "asking", "x", "--secret", "=hidden", "--json")
    assert (result.exit, "hidden" in result.stderr) == (2, False)


@pytest.mark.row("B06")
def test_a_masked_file_is_said(cli: Cli) -> None:
    script = "import os,pathlib; pathlib.Path(os.environ['HOLDFAST_MEMORY'], 'a.md').write_text"
    cli.says("agent", "add", "leaky", "--", sys.executable, "-c", f"{script}(os.environ['T'])")
    result = cli("run", "leaky", "x", "--secret", "T=tell-nobody")
    assert result.exit == 0
    assert result.stderr.splitlines()[:3] == [
        "memory leaky v1 → v2",
        "warning: leaky: a.md had a secret in it, which was masked [secret_masked]",
        "hint: let the agent write where to find the secret, not the secret",
    ]
    cli.says("memory", "clone", "leaky", "seen")
    assert Path("seen/a.md").read_text() == "***"


# On a terminal, and beside other commands


def test_on_a_terminal_what_an_agent_says_cannot_steer_it(cli: Cli) -> None:
    script = "import os; os.write(1, b'caf\\xc3'); os.write(1, b'\\xa9 \\x1b[2J red\\n')"
    cli.says("agent", "add", "loud", "--no-memory", "--", sys.executable, "-c", script)
    shown = run_in_terminal(["run", "loud", "x"], "", cli.env)
    assert shown.exit == 0
    assert "café \\x1b[2J red" in shown.stdout.replace("\r", "")


def test_who_stops_reading_does_not_stop_the_agent(cli: Cli, tmp_path: Path) -> None:
    declared(cli)
    env = environment(cli.env)
    runner = subprocess.Popen(
        command(["run", "steps", "flood:200 write:a.md:done"]),
        env=env,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert runner.stdout is not None
    runner.stdout.read(100)
    runner.stdout.close()
    runner.wait(timeout=60)
    found = last_run(cli)
    assert (found["state"], found["output_bytes"]) == ("succeeded", 200 * 8_000)
    assert cli.json("memory", "list")[0]["files"] == 1


def test_a_worker_and_the_log_find_what_was_killed(cli: Cli, tmp_path: Path) -> None:
    declared(cli)
    for number, words in enumerate((["worker", "--once"], ["memory", "log", "steps"])):
        ready = tmp_path / f"ready{number}"
        runner = subprocess.Popen(
            command(["run", "steps", f"write:{number}.md:x ready:{ready} sleep"]),
            env=environment(cli.env),
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not ready.exists():
            assert runner.poll() is None
        runner.kill()
        runner.wait()
        cli.says(*words)
        with holdfast.open(cli.vault) as vault:
            found = vault.space().directories("memory").log("steps")
        assert found[0].version.kind == "recovery"


@pytest.mark.parametrize(
    "words", [["memory", "list"], ["kv", "list"], ["note", "read"], ["context"]], ids=" ".join
)
def test_other_commands_do_not_know_of_runs(words: list[str], tmp_path: Path) -> None:
    holdfast.open(tmp_path / "vault").close()
    assert_light(
        words,
        tmp_path,
        (
            *("holdfast.engine.runs", "holdfast.engine.agents", "holdfast.model.run"),
            *("holdfast.engine.workspace.agents", "holdfast.core.masking", "subprocess"),
            *("holdfast.engine.workspace.memory", "selectors"),
        ),
        {"HOLDFAST_VAULT": str(tmp_path / "vault")},
    )
