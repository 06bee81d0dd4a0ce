"""An agent for tests: it does what its prompt says, one word a step, in its memory and aloud.

agent.py PROMPT MEMORY

A step is `name` or `name:argument`: see the functions below. `ready` and `await` tell and ask how
far things are; `spawn` and `daemon` leave another process behind, which writes its number down.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

STAY = """
import os, pathlib, sys, time
part = pathlib.Path(sys.argv[1] + ".part")
part.write_text(str(os.getpid()))
part.rename(sys.argv[1])
time.sleep(600)
"""
MEMORY = Path(sys.argv[2])


def write(rest: str) -> None:
    name, _, text = rest.partition(":")
    place = MEMORY / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace("\\n", "\n").replace("_", " "))


def append(rest: str) -> None:
    name, _, text = rest.partition(":")
    with (MEMORY / name).open("a") as file:
        file.write(f"{text.replace('_', ' ')}\n")


def say(rest: str) -> None:
    os.write(1, rest.encode())


def err(rest: str) -> None:
    os.write(2, rest.encode())


def ready(rest: str) -> None:
    """Say so in one go: whoever waits for the file reads it at once."""
    part = Path(f"{rest}.part")
    part.write_text(str(os.getpid()))
    part.rename(rest)


def await_(rest: str) -> None:
    while not Path(rest).exists():
        signal.sigtimedwait([], 0.01)


def sleep(_: str) -> None:
    while True:
        signal.pause()


def nap(rest: str) -> None:
    """Give whoever kills at random something to hit."""
    signal.sigtimedwait([], int(rest) / 1000)


def spawn(rest: str) -> None:
    subprocess.Popen([sys.executable, "-c", STAY, rest])
    await_(rest)


def daemon(rest: str) -> None:
    subprocess.Popen([sys.executable, "-c", STAY, rest], start_new_session=True)
    await_(rest)


def rm(_: str) -> None:
    shutil.rmtree(MEMORY)


def empty(_: str) -> None:
    for each in MEMORY.iterdir():
        each.unlink()


def replace(_: str) -> None:
    shutil.rmtree(MEMORY)
    MEMORY.mkdir()


def link(rest: str) -> None:
    """Put a link to another folder in the place of the memory."""
    shutil.rmtree(MEMORY)
    MEMORY.symlink_to(rest)


def chmod(rest: str) -> None:
    (MEMORY / rest).chmod(0)


def env(rest: str) -> None:
    print(os.environ.get(rest, "unset"), flush=True)


def flood(rest: str) -> None:
    for number in range(int(rest)):
        os.write(1, f"{number:07d}\n".encode() * 1000)


def octets(_: str) -> None:
    os.write(1, bytes(range(256)))


def deaf(_: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def hear(rest: str) -> None:
    """Write down which signal came, and end."""

    def heard(number: int, _frame: object) -> None:
        Path(rest).write_text(signal.Signals(number).name)
        sys.exit(3)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, heard)


def self(rest: str) -> None:
    os.kill(os.getpid(), signal.Signals[rest])


STEPS = {
    **{
        each.__name__.strip("_"): each
        for each in (write, append, say, err, ready, await_, sleep, nap)
    },
    **{each.__name__: each for each in (spawn, daemon, rm, empty, replace, link, chmod, env)},
    **{each.__name__: each for each in (flood, octets, deaf, hear, self)},
    "exit": lambda rest: sys.exit(int(rest)),
}

for word in sys.argv[1].split():
    name, _, argument = word.partition(":")
    STEPS[name](argument)
