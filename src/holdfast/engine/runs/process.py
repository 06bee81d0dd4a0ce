"""An agent's process: started as a group of its own, heard while it speaks, and ended whole.

Nothing that an agent started outlives it: the processes of its group, and those that left the
group but carry the run's mark in their environment, which is looked for where the system shows it.
Who is to end is asked first (SIGTERM, or the signal that came) and killed after a grace. Signals
that reach this process are passed on; those that mean the end make the run a cancelled one, and
when such a signal comes twice, nobody is asked any more.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from time import monotonic

from holdfast.errors import InvalidInput, NotFound
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType, TracebackType
    from typing import Any, Literal, Protocol, Self

    from holdfast.errors import HoldfastError
    from holdfast.model.run import Stream

    class Hearing(Protocol):
        """Who listens to an agent."""

        def heard(self, stream: Stream, data: bytes) -> None: ...

        def tick(self) -> None:
            """Called now and then, whether something was heard or not."""
            ...


MARK = "HOLDFAST_RUNS"
GRACE_S = 5.0
TICK_S = 0.25
READ_BYTES = 65_536
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PASSED_ON = (*_ENDING, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)


class Job(Value):
    """What is to be started. `run` is the id that marks its processes."""

    run: str
    command: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    timeout_s: float = 0
    grace_s: float = GRACE_S


class Ended(Value):
    """`exit` is the exit code, or minus the number of a signal; `why` says who ended it."""

    exit: int
    why: Literal["", "timed_out", "cancelled"] = ""


def run_process(job: Job, hearing: Hearing) -> Ended:
    """Start it, and come back when it and all that it started are over."""
    with _Signals() as signals:
        process = _started(job)
        conduct = _Conduct(job, process, signals, hearing)
        try:
            return conduct.to_the_end()
        finally:
            conduct.put_an_end()


def _started(job: Job) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(job.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=job.folder or None,
            env=dict(job.environment),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as exc:
        raise _not_started(job, exc) from None
    except ValueError:
        raise InvalidInput(
            "agent_not_started",
            "a word of the agent's command or of its environment holds a NUL character",
            hint="leave it out of the prompt, or hand it over in a file: {prompt_file}",
        ) from None


def _not_started(job: Job, exc: OSError) -> HoldfastError:
    program = shown(job.command[0], 200)
    if job.folder and not Path(job.folder).is_dir():
        return NotFound(
            "agent_folder_not_found",
            f"there is no folder {shown(job.folder, 200)} for the agent to start in",
            hint="declare the agent again in the folder that it belongs to",
        )
    if isinstance(exc, FileNotFoundError):
        return NotFound(
            "program_not_found",
            f"there is no program {program}",
            hint="install it, give its whole path, or check the first line of the script",
        )
    if exc.errno == errno.E2BIG:
        return InvalidInput(
            "command_too_long",
            "the agent's command is longer than the system lets a command be",
            hint="hand the prompt over in a file: {prompt_file} instead of {prompt}",
        )
    if isinstance(exc, PermissionError) or exc.errno == errno.ENOEXEC:
        return InvalidInput(
            "program_not_executable",
            f"{program} cannot be executed: {exc.strerror}",
            hint="make it executable, or name its interpreter first: [sh, agent.sh]",
        )
    return InvalidInput(
        "agent_not_started",
        f"{program} could not be started: {exc.strerror}",
        hint="see that the machine has memory and processes to spare, then do it again",
    )


class _Signals:
    """Signals to this process, as bytes to be read, while an agent runs in the main thread."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _PASSED_ON:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        return self._read

    def _came(self, number: int, _frame: FrameType | None) -> None:
        try:
            os.write(self._write, bytes([number]))
        except BlockingIOError:
            return

    def taken(self) -> bytes:
        try:
            return os.read(self._read, 64)
        except BlockingIOError:
            return b""


class _Conduct:
    """One agent from its start to the end of all that it started."""

    def __init__(
        self, job: Job, process: subprocess.Popen[bytes], signals: _Signals, hearing: Hearing
    ) -> None:
        self._job, self._process, self._hearing = job, process, hearing
        self._signals = signals
        self._deadline = monotonic() + job.timeout_s if job.timeout_s else None
        self._kill_at: float | None = None
        self._why: Literal["", "timed_out", "cancelled"] = ""
        self._selector = DefaultSelector()
        self._pipes = {process.stdout: "stdout", process.stderr: "stderr"}
        for pipe in self._pipes:
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, EVENT_READ)
        self._selector.register(signals, EVENT_READ)
        self._exit_handle = self._watched_exit()

    def _watched_exit(self) -> int | None:
        """Something that can be waited for with the pipes, where the system has it."""
        if not hasattr(os, "pidfd_open"):
            return None
        try:
            handle = os.pidfd_open(self._process.pid)
        except OSError:
            return None
        self._selector.register(handle, EVENT_READ)
        return handle

    def to_the_end(self) -> Ended:
        while self._process.poll() is None:
            self._wait()
        self._let_go_of_exit()
        self._ask(signal.SIGTERM)
        while self._left():
            self._wait()
        while self._hear():
            pass
        return Ended(exit=self._process.returncode, why=self._why)

    def _wait(self) -> None:
        now = monotonic()
        if self._deadline is not None and now >= self._deadline:
            self._deadline, self._why = None, self._why or "timed_out"
            self._ask(signal.SIGTERM)
        if self._kill_at is not None and now >= self._kill_at:
            self._send(signal.SIGKILL)
        due = [at for at in (self._deadline, self._kill_at) if at is not None and at > now]
        brief = 0.02 if self._exit_handle is None else TICK_S
        timeout = max(0.0, min([brief, *(at - now for at in due)]))
        self._hear(timeout)
        self._hearing.tick()

    def _hear(self, timeout: float = 0.0) -> bool:
        """Take what is there; whether something was said."""
        found = False
        for key, _ in self._selector.select(timeout):
            if key.fileobj is self._signals:
                self._pass_on(self._signals.taken())
            elif key.fileobj in self._pipes:
                found = self._read(key.fileobj) or found
            else:
                self._let_go_of_exit()
        return found

    def _read(self, pipe: Any) -> bool:
        try:
            data = os.read(pipe.fileno(), READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(pipe)
            return False
        stream: Any = self._pipes[pipe]
        self._hearing.heard(stream, data)
        return True

    def _pass_on(self, numbers: bytes) -> None:
        for number in numbers:
            if number not in _ENDING:
                self._send(number)
            elif self._why == "cancelled":
                self._kill_at = monotonic()
                self._send(signal.SIGKILL)
            else:
                self._why = self._why or "cancelled"
                self._ask(number)

    def _ask(self, number: int) -> None:
        """Send a signal that means the end; who has not ended after the grace is killed."""
        self._send(number)
        if self._kill_at is None:
            self._kill_at = monotonic() + self._job.grace_s

    def _send(self, number: int) -> None:
        send_to_group(self._process.pid, number)
        if number in (signal.SIGTERM, signal.SIGKILL) or self._process.returncode is not None:
            for process in marked(self._job.run, without=self._process.pid):
                send(process, number)

    def _left(self) -> bool:
        """Whether something of what the agent started still lives."""
        return group_lives(self._process.pid) or bool(marked(self._job.run))

    def _let_go_of_exit(self) -> None:
        if self._exit_handle is not None:
            self._selector.unregister(self._exit_handle)
            os.close(self._exit_handle)
            self._exit_handle = None

    def put_an_end(self) -> None:
        """Whatever happened here, leave no process and no pipe behind."""
        if self._process.returncode is None:
            self._send(signal.SIGKILL)
            self._process.wait()
            end_marked(self._job.run)
        self._let_go_of_exit()
        self._selector.close()
        for pipe in self._pipes:
            assert pipe is not None
            pipe.close()


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return _members(group) > 0
    return _members(group) > 0


def _members(group: int) -> int:
    """How many processes of the group have not ended; 1 where the system does not show them."""
    if not Path("/proc/self/stat").exists():
        return 1
    return sum(1 for _, state, of in _processes() if of == group and state not in "ZX")


def _processes() -> list[tuple[int, str, int]]:
    """Every process: its number, its state, its group."""
    found: list[tuple[int, str, int]] = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                said = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
                found.append((int(entry.name), said[0].decode(), int(said[2])))
            except (OSError, IndexError):
                continue
    return found


def marked(run: str, *, without: int = 0) -> list[int]:
    """The processes that carry the mark of a run, where the system shows it; but for those of a
    group."""
    found: list[int] = []
    if not Path("/proc/self/environ").exists():
        return found
    for number, state, group in _processes():
        if state in "ZX" or number == os.getpid() or group == without:
            continue
        try:
            variables = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for variable in variables:
            name, _, value = variable.partition(b"=")
            if name == MARK.encode() and run.encode() in value.split():
                found.append(number)
    return found


def end_marked(run: str) -> None:
    """Kill what is left of a run, and wait until it is gone."""
    while left := marked(run):
        for process in left:
            send(process, signal.SIGKILL)
        threading.Event().wait(0.01)


def send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        return


def send_to_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
