"""Who does the jobs of a vault: a thread of this process while it lives, or whoever comes next.

A job is claimed for a time by a name that tells whether its holder still lives: the machine, the
process with the moment it started, and the run. So what a killed process held is taken up at once
on the same machine, and elsewhere when its time is over. Results are written only by the holder.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock, Thread, current_thread

from holdfast.errors import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_runs: set[str] = set()


def new_worker(run: str) -> str:
    """The name of a run in this process, which counts as alive until `end_worker`."""
    name = f"{os.uname().nodename}/{os.getpid()}/{_started(os.getpid())}/{run}"
    _runs.add(name)
    return name


def end_worker(name: str) -> None:
    _runs.discard(name)


def is_gone(name: str) -> bool:
    """Whether the worker certainly lives no more. Of another machine nobody here can tell."""
    host, _, rest = name.rpartition("/")[0].partition("/")
    pid, _, started = rest.partition("/")
    if host != os.uname().nodename or not pid.isdigit():
        return False
    if int(pid) == os.getpid() and started == _started(os.getpid()):
        return name not in _runs
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return started != _started(int(pid))


def _started(pid: int) -> str:
    """When a process was started, in the system's own count; empty where it does not tell, and
    for one that has ended and whose parent has not looked yet."""
    try:
        said = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return "" if said[0] in (b"Z", b"X") else said[19].decode()
    except (OSError, IndexError):
        return ""


class Background:
    """At most one thread that works while there is something to do. It holds no process back.

    `detaches`: not a thread does the work but another process, which a preference may forbid.
    """

    detaches = False

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: Thread | None = None
        self._again = False
        self._process = os.getpid()
        self.stopped = False

    def start(self, work: Callable[[], object]) -> None:
        """Do it soon; once more where it is being done, since what came last may be new to it."""
        with self._lock:
            if self.stopped or self._process != os.getpid():
                return
            if self._thread is not None and self._thread.is_alive():
                self._again = True
                return
            self._again = False
            self._thread = Thread(
                target=self._run, args=(work,), name="holdfast-worker", daemon=True
            )
            self._thread.start()

    def _run(self, work: Callable[[], object]) -> None:
        while True:
            try:
                work()
            except Closed:
                return
            with self._lock:
                if not self._again or self.stopped:
                    self._thread = None
                    return
                self._again = False

    def stop(self, seconds: float) -> bool:
        """Begin nothing more, and wait so long for what is under way; whether it is over."""
        with self._lock:
            self.stopped, thread = True, self._thread
        if thread is None or thread is current_thread() or self._process != os.getpid():
            return True
        thread.join(seconds)
        return not thread.is_alive()

    def wait(self) -> None:
        """Until there is nothing more to do."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
