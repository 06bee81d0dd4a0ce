"""However a run ends, a memory is never less than it was, and nothing of the agent stays behind."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from cli_snapshot import command, environment
from run_sample import STEPS, Bench, bench_in, memory_of, said_in

import holdfast
from holdfast.engine.runs import process
from holdfast.engine.runs.output import HEAD_BYTES_MAX, TAIL_BYTES_MAX
from holdfast.errors import StorageFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.runs.execute import Task

KILLS = int(os.environ.get("HOLDFAST_RUN_KILLS", "60"))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = bench_in(tmp_path)
    bench.run("write:a.md:one")
    yield bench
    bench.sound()
    bench.vault.close()


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not end when asked is killed soon."""
    monkeypatch.setattr(process.Job, "defaults_", {**process.Job.defaults_, "grace_s": 0.3})


def lives(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")


def number_in(place: Path) -> int:
    return int(place.read_text())


class Runner:
    """`holdfast run` in a process of its own."""

    def __init__(self, bench: Bench, *steps: str, options: tuple[str, ...] = ()) -> None:
        words = ["run", "steps", " ".join(steps), *options]
        self.process = subprocess.Popen(
            command(words),
            env=environment({"HOLDFAST_VAULT": str(bench.folder / "vault")}),
            cwd=bench.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def wait(self) -> tuple[int, bytes, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err.decode()

    def until(self, place: Path) -> None:
        while not place.exists():
            assert self.process.poll() is None, self.process.communicate()
            signal.sigtimedwait([], 0.01)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


# A recovery version, and no other head


@pytest.mark.row("B11")
def test_a_failed_run_stays_failed_and_leaves_a_recovery_version(bench: Bench) -> None:
    run = bench.run("write:a.md:half", "write:b.md:new", "exit:7")
    assert (run.state, run.exit, run.reason) == ("failed", 7, "")
    laid = memory_of(run)
    assert (laid.kept, laid.before, laid.after) == ("recovered", 2, 3)
    assert bench.files() == {"a.md": b"one"}
    assert bench.versions() == [
        (3, "recovery", run.id),
        (2, "ordinary", bench.versions()[1][2]),
        (1, "ordinary", bench.versions()[2][2]),
    ]
    assert bench.files("v3") == {"a.md": b"half", "b.md": b"new"}
    bench.space.directories("memory").rollback("notes", "v3")
    assert bench.files() == {"a.md": b"half", "b.md": b"new"}
    assert bench.left() == []


@pytest.mark.row("B11")
def test_an_agent_that_is_killed_has_failed(bench: Bench) -> None:
    run = bench.run("write:b.md:new", "self:SIGKILL")
    assert (run.state, run.exit, memory_of(run).kept) == ("failed", -9, "recovered")
    assert bench.files() == {"a.md": b"one"}
    nothing = bench.run("exit:1")
    assert (nothing.state, memory_of(nothing).kept) == ("failed", "nothing")
    assert len(bench.versions()) == 3


@pytest.mark.row("B11")
@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("deaf", [(), ("deaf",)], ids=["asked", "deaf"])
def test_when_its_time_is_over_all_of_an_agent_is_ended(
    bench: Bench, tmp_path: Path, deaf: tuple[str, ...]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    steps = (*deaf, "write:b.md:new", f"spawn:{one}", f"daemon:{two}", "say:here", "sleep")
    run = bench.run(*steps, timeout=1.0)
    assert (run.state, run.exit) == ("timed_out", -9 if deaf else -15)
    assert not lives(number_in(one))
    assert not lives(number_in(two))
    assert said_in(run, bench.space) == b"here"
    assert bench.files() == {"a.md": b"one"}
    assert bench.files(f"v{memory_of(run).after}") == {"a.md": b"one", "b.md": b"new"}
    assert bench.left() == []


@pytest.mark.row("B11")
@pytest.mark.usefixtures("brief")
def test_what_an_agent_leaves_behind_ends_with_it(bench: Bench, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run = bench.run(f"spawn:{one}", f"daemon:{two}", "write:b.md:new")
    assert (run.state, memory_of(run).kept) == ("succeeded", "pushed")
    assert not lives(number_in(one))
    assert not lives(number_in(two))


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130)]
)
def test_a_signal_is_passed_on_and_cancels(
    bench: Bench, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    ready, heard = tmp_path / "ready", tmp_path / "heard"
    runner = Runner(bench, f"hear:{heard}", "write:b.md:new", f"ready:{ready}", "sleep")
    runner.until(ready)
    runner.process.send_signal(number)
    exit_code, _, err = runner.wait()
    assert exit_code == code
    assert heard.read_text() == number.name
    (run, *_) = bench.space.runs().list()
    assert (run.state, run.exit, memory_of(run).kept) == ("cancelled", 3, "recovered")
    assert "cancelled, exit code 3" in err
    assert bench.files() == {"a.md": b"one"}
    assert bench.left() == []


@pytest.mark.row("B11")
def test_a_signal_that_is_no_end_is_passed_on(bench: Bench, tmp_path: Path) -> None:
    ready, heard = tmp_path / "ready", tmp_path / "heard"
    runner = Runner(bench, f"hear:{heard}", f"ready:{ready}", "sleep")
    runner.until(ready)
    runner.process.send_signal(signal.SIGUSR1)
    assert runner.wait()[0] == 1
    assert heard.read_text() == "SIGUSR1"
    assert bench.space.runs().list()[0].state == "failed"


@pytest.mark.row("B11")
def test_the_second_interrupt_kills(bench: Bench, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    runner = Runner(bench, "deaf", f"ready:{ready}", "sleep")
    runner.until(ready)
    while lives(number_in(ready)):  # two that come at once are one
        runner.process.send_signal(signal.SIGINT)
        signal.sigtimedwait([], 0.2)
    assert runner.wait()[0] == 130
    (run, *_) = bench.space.runs().list()
    assert (run.state, run.exit) == ("cancelled", -9)


# What is missing is not empty


@pytest.mark.row("B11")
@pytest.mark.parametrize("step", ["rm", "replace", "link:/usr"], ids=["rm", "replace", "link"])
def test_a_folder_that_is_gone_is_never_an_empty_head(bench: Bench, step: str) -> None:
    run = bench.run(step)
    laid = memory_of(run)
    assert (run.state, run.exit, run.reason) == ("failed", 0, "mount_gone")
    assert (laid.kept, laid.note) == ("not_kept", "its folder was gone when the agent ended")
    assert (bench.head(), bench.files()) == (2, {"a.md": b"one"})
    assert len(bench.versions()) == 2


@pytest.mark.row("B11")
def test_with_one_folder_gone_the_other_is_a_recovery_version(bench: Bench) -> None:
    def work(task: Task) -> None:
        import shutil

        assert task.memory is not None
        shutil.rmtree(task.memory)
        (task.artifacts["site"] / "x.html").write_text("x")

    run = bench.space.run(work, "x", memory="notes", artifacts=["site"])
    assert (run.state, [m.kept for m in run.mounts]) == ("failed", ["not_kept", "recovered"])
    assert bench.space.directories("artifact").version("site").files == 0


@pytest.mark.row("B01")
def test_an_emptied_memory_is_empty_and_a_replaced_one_is_what_it_is(bench: Bench) -> None:
    run = bench.run("replace", "write:b.md:new")
    assert memory_of(run).kept == "pushed"
    assert bench.files() == {"b.md": b"new"}
    run = bench.run("empty")
    assert (run.state, memory_of(run).kept) == ("succeeded", "pushed")
    assert bench.files() == {}


@pytest.mark.row("B01")
def test_permissions_do_not_keep_a_memory_back(bench: Bench) -> None:
    run = bench.run("write:b.md:new", "write:deep/c.md:c", "chmod:b.md", "chmod:deep")
    assert run.state == "succeeded"
    assert bench.files() == {"a.md": b"one", "b.md": b"new", "deep/c.md": b"c"}
    assert bench.left() == []


@pytest.mark.row("B11")
def test_a_memory_that_was_forgotten_meanwhile_does_not_come_back(bench: Bench) -> None:
    def work(task: Task) -> None:
        assert task.memory is not None
        (task.memory / "b.md").write_text("b")
        bench.space.directories("memory").delete("notes")

    run = bench.space.run(work, "x", memory="notes")
    laid = memory_of(run)
    assert laid.kept == "not_kept"
    assert "forgotten while the agent ran" in laid.note
    assert [item.name for item in bench.space.directories("memory").list()] == []


@pytest.mark.row("B11")
def test_what_cannot_be_a_version_is_named_and_kept_in_its_folder(bench: Bench) -> None:
    def work(task: Task) -> None:
        assert task.memory is not None
        (task.memory / "back\\slash").write_text("x")

    run = bench.space.run(work, "x", memory="notes")
    laid = memory_of(run)
    assert (run.state, run.reason, laid.kept) == ("failed", "path_invalid", "not_kept")
    assert "back\\\\slash" in laid.note or "back\\slash" in laid.note
    assert (Path(run.folder) / "files/memory/back\\slash").read_text() == "x"
    assert (bench.head(), bench.left()) == (2, [run.id])
    assert [each.name for each in Path(run.folder).iterdir()] == ["files"]


# What it says


@pytest.mark.row("B12")
def test_whatever_an_agent_says_is_kept_to_the_byte(bench: Bench) -> None:
    run = bench.run("octets", "say:no-newline")
    assert said_in(run, bench.space) == bytes(range(256)) + b"no-newline"
    assert run.output_bytes == 266
    both = bench.run("say:out", "err:wrong")
    found = {(p.stream, p.data) for p in bench.space.runs().logs(both.id).pieces}
    assert found == {("stdout", b"out"), ("stderr", b"wrong")}
    assert [m.text for m in bench.space.transcript().read(both.session).messages] == [
        "say:out err:wrong",
        "out",
    ]


@pytest.mark.row("B12")
def test_of_a_flood_the_beginning_and_the_end_are_kept(bench: Bench) -> None:
    heard = [0]

    def count(_stream: str, data: bytes) -> None:
        heard[0] += len(data)

    lines = (HEAD_BYTES_MAX + 2 * TAIL_BYTES_MAX) // 8_000
    run = bench.run(f"flood:{lines}", output=count)
    said = said_in(run, bench.space)
    assert heard[0] == run.output_bytes == lines * 8_000
    assert len(said) + run.lost_bytes == run.output_bytes
    assert run.lost_bytes > 0
    assert said.startswith(b"0000000\n0000000\n")
    assert said.endswith(f"{lines - 1:07d}\n".encode())
    assert len(said) >= HEAD_BYTES_MAX + TAIL_BYTES_MAX


# The process that ran it is gone


@pytest.mark.row("B11")
def test_a_run_whose_process_was_killed_is_found_and_its_agent_ended(
    bench: Bench, tmp_path: Path
) -> None:
    ready, child = tmp_path / "ready", tmp_path / "child"
    runner = Runner(bench, "write:b.md:new", f"daemon:{child}", f"ready:{ready}", "sleep")
    runner.until(ready)
    assert bench.space.runs().list()[0].state == "running"
    runner.kill()
    (run, *_) = bench.space.runs().list()
    assert (run.state, run.exit, memory_of(run).kept) == ("killed", None, "recovered")
    assert not lives(number_in(ready))
    assert not lives(number_in(child))
    assert bench.files() == {"a.md": b"one"}
    assert bench.files(f"v{memory_of(run).after}") == {"a.md": b"one", "b.md": b"new"}
    assert bench.left() == []


@pytest.mark.row("B11")
def test_a_run_whose_agent_had_ended_well_is_finished_as_such(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after its agent, before anything was kept."""
    from holdfast.engine.runs import execute

    def die(*_: object, **__: object) -> None:
        raise StorageFailed("disk_full", "there is no room")

    with monkeypatch.context() as broken:
        broken.setattr(execute, "finish", die)
        with pytest.raises(StorageFailed):
            bench.run("write:b.md:new", "say:well")
    (run, *_) = bench.space.runs().list()
    assert (run.state, run.exit, memory_of(run).kept) == ("succeeded", 0, "pushed")
    assert bench.files() == {"a.md": b"one", "b.md": b"new"}
    assert [m.text for m in bench.space.transcript().read(run.session).messages][-1] == "well"


@pytest.mark.row("B11")
def test_a_run_that_died_before_all_was_laid_out_keeps_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.engine.runs import folder

    def half(place: Path, *_: object) -> None:
        (place / "half.md").write_text("half")
        raise StorageFailed("disk_full", "there is no room")

    with monkeypatch.context() as broken:
        broken.setattr(folder, "lay_out_new", half)
        with pytest.raises(StorageFailed) as caught:
            bench.run("say:never")
    (run, *_) = bench.space.runs().list()
    assert (run.state, run.reason, memory_of(run).kept) == ("failed", "disk_full", "")
    assert caught.value.__notes__[0].startswith(f"this was run {run.id}, which failed")
    assert (len(bench.versions()), bench.left()) == (2, [])


@pytest.mark.row("B11")
def test_a_dead_process_that_nobody_has_looked_after_is_gone(bench: Bench, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    runner = Runner(bench, "write:b.md:new", f"ready:{ready}", "sleep")
    runner.until(ready)
    runner.process.kill()
    while lives(runner.process.pid):
        signal.sigtimedwait([], 0.01)
    (run, *_) = bench.space.runs().list()
    assert (run.state, memory_of(run).kept) == ("killed", "recovered")
    runner.process.communicate()


@pytest.mark.row("B11")
def test_an_interrupted_function_is_a_cancelled_run(bench: Bench) -> None:
    def interrupted(task: Task) -> None:
        assert task.memory is not None
        (task.memory / "b.md").write_text("new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.space.run(interrupted, "x", memory="notes")
    (run, *_) = bench.space.runs().list()
    assert (run.state, memory_of(run).kept) == ("cancelled", "recovered")
    assert bench.files() == {"a.md": b"one"}


@pytest.mark.row("B11")
def test_the_folder_of_a_run_that_is_over_is_removed_by_whoever_finds_it(
    bench: Bench, tmp_path: Path
) -> None:
    run = bench.run("say:x")
    left = tmp_path / "vault" / "runs" / run.id
    (left / "files" / "memory").mkdir(parents=True)
    (left / "files" / "memory" / "secret.md").write_text("what nobody needs any more")
    (tmp_path / "vault" / "runs" / "not-a-run").mkdir()
    bench.space.runs().list()
    assert bench.left() == ["not-a-run"]


@pytest.mark.row("B11")
def test_two_that_find_a_dead_run_finish_it_once(bench: Bench, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    runner = Runner(bench, "write:b.md:new", f"ready:{ready}", "sleep")
    runner.until(ready)
    runner.kill()
    env = environment({"HOLDFAST_VAULT": str(tmp_path / "vault")})
    finders = [
        subprocess.Popen(
            command(["run", "list", "--json"]), env=env, cwd=tmp_path, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    for finder in finders:
        finder.communicate(timeout=60)
        assert finder.returncode == 0
    recovered = [kind for _, kind, _ in bench.versions() if kind == "recovery"]
    assert recovered == ["recovery"]
    assert bench.space.runs().list()[0].state == "killed"


def kill_at_random(bench: Bench, chance: random.Random, number: int) -> None:
    """Start a run and kill its process, or its agent, or both, at some moment."""
    ready = bench.folder / f"ready{number}"
    steps = [f"ready:{ready}", f"append:log.md:{number}", f"write:{number}.md:{number}"]
    runner = Runner(bench, *steps, *[f"nap:5 write:{number}-{n}.md:{n}" for n in range(20)])
    target = chance.choice(["runner", "agent", "both"])
    if chance.random() < 0.8:  # else at whatever moment before the agent starts
        runner.until(ready)
    signal.sigtimedwait([], chance.random() * 0.35)
    if target != "runner" and ready.exists() and ready.read_text():
        with suppress(ProcessLookupError):
            os.kill(number_in(ready), signal.SIGKILL)
    if target != "agent":
        runner.process.kill()
    runner.process.communicate(timeout=60)


def check_after_kills(bench: Bench, count: int) -> None:
    """No run is open, what succeeded is in the head, and what did not is not."""
    found = bench.space.runs().list(limit=1000)
    assert {run.state for run in found} <= {"succeeded", "failed", "killed"}
    head = bench.files()
    assert head["a.md"] == b"one"
    for number in range(count):
        mine = [run for run in found if f"write:{number}.md:" in run.prompt]
        whole = {f"{number}.md", *(f"{number}-{n}.md" for n in range(20))}
        assert len(mine) <= 1
        if mine and mine[0].state == "succeeded":
            assert whole <= head.keys()
            assert str(number).encode() in head["log.md"].split()
        else:
            assert not whole & head.keys()
        for laid in (memory_of(run) for run in mine):
            if laid.kept == "recovered":
                bench.files(f"v{laid.after}")
    assert bench.left() == []


@pytest.mark.row("B11", "B13")
def test_a_handful_of_kills_leaves_whole_states(bench: Bench) -> None:
    chance = random.Random(3)
    for number in range(4):
        kill_at_random(bench, chance, number)
    check_after_kills(bench, 4)


@pytest.mark.slow
@pytest.mark.row("B11", "B13")
def test_many_kills_leave_whole_states(bench: Bench) -> None:
    chance = random.Random(11)
    for number in range(KILLS):
        kill_at_random(bench, chance, number)
    check_after_kills(bench, KILLS)


# A full disk

FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import holdfast
from holdfast.errors import HoldfastError

def work(task):
    (task.memory / "big.bin").write_bytes(bytes(3_000_000))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))

with holdfast.open({vault!r}) as vault:
    try:
        run = vault.space().run(work, "x", memory="notes")
        print(run.state, run.reason)
    except HoldfastError as error:
        print("raised", error.code)
"""


@pytest.mark.row("B11")
def test_a_full_disk_at_the_end_loses_nothing(bench: Bench, tmp_path: Path) -> None:
    """Nothing longer than a megabyte can be written any more, the vault's own log included."""
    code = FULL.format(tests=str(Path(__file__).parent), vault=str(tmp_path / "vault"))
    code = code.replace("bytes(3_000_000)", "__import__('random').Random(1).randbytes(3_000_000)")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("failed ", "raised ")), done.stdout
    (run, *_) = bench.space.runs().list()
    laid = memory_of(run)
    assert bench.head() == (laid.after if laid.kept == "pushed" else 2)
    if laid.kept == "not_kept":
        assert (Path(run.folder) / "files/memory/big.bin").stat().st_size == 3_000_000
    else:
        assert bench.files(f"v{laid.after}")["big.bin"][:1]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_the_agent_for_tests_is_an_agent() -> None:
    assert STEPS[2:] == ["{prompt}", "{memory}"]
    assert holdfast.__version__
