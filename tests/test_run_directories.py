"""Versioned directories as runs use them: what each type keeps, empty ones, pushes that cross a
run, and what becomes of runs when a memory is erased."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
from cli_vault import cli_in
from directory_sample import fill, held, memory
from run_sample import STEPS, Bench, bench_in, memory_of

from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli_vault import Cli

    from holdfast.engine.runs.execute import Task


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = bench_in(tmp_path)
    yield bench
    bench.sound()
    bench.vault.close()


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    cli = cli_in(tmp_path, monkeypatch)
    cli.says("agent", "add", "steps", "--", *STEPS)
    return cli


@pytest.mark.row("A01")
def test_memories_and_artifacts_are_kept_after_each_run_and_volumes_never(bench: Bench) -> None:
    for kind in ("memory", "artifact", "volume"):
        of_kind = bench.space.directories(kind)
        root = fill(bench.folder / kind / "things", {"a": b"before"})
        of_kind.init(root)
        of_kind.push(root)

    def work(task: Task) -> None:
        assert task.memory is not None
        for place in (task.memory, task.artifacts["things"], task.volumes["things"]):
            assert (place / "a").read_bytes().startswith(b"before")
            (place / "a").write_bytes(b"before, and after\n")

    run = bench.space.run(
        work, "x", memory="things", artifacts=["things:/art"], volumes=["things:/vol"]
    )
    assert run.state == "succeeded"
    newest = {kind: bench.space.directories(kind).version("things").v for kind in _TYPES}
    assert newest == {"memory": 2, "artifact": 2, "volume": 1}
    for kind, v in newest.items():
        of_kind = bench.space.directories(kind)
        of_kind.pull(bench.folder / kind / "things")
        expected = b"before" if v == 1 else b"before, and after\n"
        assert held(bench.folder / kind / "things") == {"a": expected}
        if v == 2:
            assert of_kind.version("things").run == run.id
    assert bench.left() == []


_TYPES = ("memory", "artifact", "volume")


@pytest.mark.row("A01", "A09")
def test_a_run_on_an_empty_directory_as_it_is_typed(cli: Cli) -> None:
    root = fill(cli.folder / "my-notes", {})
    os.chdir(root)
    cli.says("memory", "init")
    assert cli.says("memory", "push").startswith("my-notes v1 49483bce 0 files 0 B")
    cli.says("memory", "pull")
    cli.says("memory", "clone", "my-notes", "../empty")
    assert held(cli.folder / "empty") == {}
    assert cli("run", "steps", "say:hello", "--memory", "my-notes").exit == 0
    assert cli.says("memory", "log").count("\n") == 1, "nothing changed, so no version"
    cli.says("run", "steps", "write:a.md:one", "--memory", "my-notes")
    cli.says("memory", "pull")
    assert held(root) == {"a.md": b"one"}
    (root / "a.md").unlink()
    cli.says("memory", "push")
    os.chdir(cli.folder / "empty")
    assert cli.says("memory", "pull").startswith("my-notes v3 49483bce 0 files 0 B")
    assert held(cli.folder / "empty") == {}


@pytest.mark.row("A20")
def test_a_push_that_crosses_a_run_is_merged_with_it(bench: Bench) -> None:
    bench.run("write:a.md:one\\ntwo\\nthree\\n", "write:seen.md:-_start\\n")
    root = bench.folder / "mine"
    memory(bench.vault).clone("notes", root)

    def slow(task: Task) -> None:
        assert task.memory is not None
        fill(root, {"a.md": b"ONE\ntwo\nthree\n", "seen.md": b"- start\n- mine\n", "m": b"m"})
        memory(bench.vault).push(root)
        (task.memory / "a.md").write_text("one\ntwo\nTHREE\n")
        with (task.memory / "seen.md").open("a") as seen:
            seen.write("- of the run\n")

    run = bench.space.run(slow, "x", memory="notes")
    assert (memory_of(run).kept, memory_of(run).conflicts) == ("merged", ())
    assert bench.files() == {
        "a.md": b"ONE\ntwo\nTHREE\n",
        "m": b"m",
        "seen.md": b"- start\n- mine\n- of the run\n",
    }


@pytest.mark.row("A20")
def test_runs_and_pushes_at_once_lose_no_line(bench: Bench) -> None:
    bench.run("write:log.md:-_start\\n")
    roots = [bench.folder / f"mine-{number}" for number in range(2)]
    for root in roots:
        memory(bench.vault).clone("notes", root)
    failed: list[HoldfastError] = []

    def runs(who: str) -> None:
        for turn in range(4):
            bench.run(f"append:log.md:-_run_{who}_{turn}", f"write:{who}-{turn}:x")

    def pushes(who: str, root: Path) -> None:
        try:
            for turn in range(4):
                with (root / "log.md").open("a") as log:
                    log.write(f"- push {who} {turn}\n")
                memory(bench.vault).push(root)
        except HoldfastError as exc:
            failed.append(exc)

    threads = [threading.Thread(target=runs, args=(who,)) for who in "ab"]
    threads += [
        threading.Thread(target=pushes, args=pair) for pair in zip("cd", roots, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    everything = b"".join(bench.files().values()).decode()
    for who in "abcd":
        what = "run" if who in "ab" else "push"
        for turn in range(4):
            assert f"- {what} {who} {turn}\n" in everything


@pytest.mark.row("A20")
def test_what_a_run_cannot_merge_is_listed_and_exits_1(cli: Cli) -> None:
    root = fill(cli.folder / "my-notes", {"a.md": b"base\n"})
    os.chdir(root)
    cli.says("memory", "init")
    cli.says("memory", "push")
    (root / "a.md").write_bytes(b"mine\n")
    push = f"{sys.executable} -m holdfast memory push"
    crossing = f'cd "{root}" && {push} && echo run >"$1"/a.md'
    cli.says("agent", "add", "crossing", "--", "sh", "-c", crossing, "sh", "{memory}")
    crossed = cli.fresh("run", "crossing", "x", "--memory", "my-notes")
    assert crossed.exit == 1
    assert "a.md did not merge (lines); the other side's lies in a.conflict-" in crossed.stderr
    assert cli("memory", "pull").exit == 0
    assert sorted(held(root).values()) == [b"mine\n", b"run\n"]  # type: ignore[type-var]


@pytest.mark.row("A24")
def test_runs_of_an_erased_memory_say_so(bench: Bench) -> None:
    run = bench.run("write:a.md:the_unspeakable_word_of_a_run")
    erasure = memory(bench.vault).erase("notes")
    assert erasure.state == "done"
    bench.sound()
    kept = bench.space.runs().list(limit=1)[0]
    assert kept.id == run.id
    again = bench.run("write:b.md:anew")
    assert again.state == "succeeded"
    assert bench.files() == {"b.md": b"anew"}
