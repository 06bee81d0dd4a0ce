"""`holdfast demo`: an agent that remembers across three sessions, one of which is killed.

Everything shown is run for real: other processes, the command line, a vault in a folder that is
removed at the end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from holdfast.errors import StorageFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output

# An agent in a few lines: it reads what it knows, and saves what it learns.
AGENT = """\
import os, signal, sys
import holdfast
from holdfast import Actor, Caller

caller = Caller(actor=Actor(kind="agent", name="helper"))
with holdfast.open(os.environ["HOLDFAST_VAULT"], caller=caller) as vault:
    with vault.space().session(sys.argv[1], agent="helper") as here:
        print(here.context().text.strip() or "(nothing yet)")
        for fact in sys.argv[2:]:
            here.notes().save(fact)
        print("saved", len(sys.argv) - 2, flush=True)
        if sys.argv[1] == "Tuesday":
            os.kill(os.getpid(), signal.SIGKILL)
"""

MONDAY = ("Deploys go out on Tuesdays and Thursdays", "The staging database is called heron")
TUESDAY = ("Reviews should be short, with the risk first", "Project Heron freezes (2026-12-18)")


def run(_call: Call, out: Output) -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        stage = _Stage(Path(folder), out)
        stage.say("Monday. An agent starts with an empty memory, and learns two things.")
        stage.agent("Monday", MONDAY)
        stage.say(
            "Tuesday. Another process, another session: it starts with what Monday learned, learns "
            "two more, and is killed (kill -9) the moment its last save has returned."
        )
        stage.agent("Tuesday", TUESDAY, killed=True)
        stage.say(
            "Wednesday. A third session starts knowing all four: what was acknowledged is on disk."
        )
        stage.agent("Wednesday", ())
        stage.say("You look at the same memory from the shell.")
        stage.shell("note", "read", "--text", "heron")
        stage.shell("log", "--limit", "3")
        stage.shell("verify")
        stage.say('No key, no server, no network, no model. Yours: holdfast note save "…"')
        stage.end()


class _Stage:
    def __init__(self, folder: Path, out: Output) -> None:
        self._out = out
        self._folder = folder
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")
        }
        vault = {"HOLDFAST_VAULT": str(folder / "memory"), "HOLDFAST_SPACE": "default"}
        self._env = {**kept, **vault}
        self._shown: list[str] = []

    def say(self, words: str) -> None:
        self._show(f"\n{self._out.bold(textwrap.fill(words, 78))}\n\n")

    def end(self) -> None:
        if self._out.json:
            self._out.emit({"text": "".join(self._shown)}, "")

    def _show(self, text: str) -> None:
        """At once, for whoever watches; with `--json` as one document at the end."""
        if self._out.json:
            self._shown.append(text)
        else:
            self._out.page(text)
            self._out.flush()

    def agent(self, title: str, facts: tuple[str, ...], *, killed: bool = False) -> None:
        done = self._run([sys.executable, "-c", AGENT, title, *facts])
        expected = -signal.SIGKILL if killed else 0
        if done.returncode != expected:
            raise StorageFailed(
                "demo_failed",
                f"the agent ended with {done.returncode}: {done.stderr}",
                hint="report it",
            )
        self._show(textwrap.indent(done.stdout, "    "))

    def shell(self, *words: str) -> None:
        done = self._run([sys.executable, "-m", "holdfast", *words])
        said = textwrap.indent(done.stdout + done.stderr, "    ")
        self._show(f"$ holdfast {' '.join(words)}\n{said}")

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self._folder, env=self._env, capture_output=True, text=True, check=False
        )
