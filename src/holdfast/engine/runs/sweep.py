"""Runs whose worker is gone: found, taken over by one process, and brought to their end."""

from __future__ import annotations

from pathlib import Path

from holdfast.core.masking import forms_of
from holdfast.engine.runs.execute import finish, secrets_key
from holdfast.engine.runs.folder import RunFolder
from holdfast.engine.runs.process import end_marked
from holdfast.engine.work import Core, Work, mutate
from holdfast.engine.workers import end_worker, is_gone, new_worker
from holdfast.errors import HoldfastError
from holdfast.model.run import OPEN_STATES
from holdfast.model.write import Write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.model.run import Run
    from holdfast.model.write import Caller


def sweep(core: Core, caller: Caller) -> list[Run]:
    """Finish every run that nobody conducts any more; those that were finished. What cannot be
    finished now, because the disk is full, say, stays for the next time."""
    done: list[Run] = []
    for run in core.storage.read(lambda snapshot: snapshot.open_runs()):
        if is_gone(run.worker):
            worker = new_worker(run.id)
            try:
                taken = _taken(core, caller, run, worker)
                if taken is not None:
                    done.append(_finished(core, caller, taken))
            except HoldfastError:
                continue
            finally:
                end_worker(worker)
    _tidy(core)
    return done


def _tidy(core: Core) -> None:
    """Remove the folders of runs that are over and need them no more: whoever ended them was
    stopped before it could."""
    places = sorted(core.runs.iterdir()) if core.runs is not None and core.runs.is_dir() else []
    for place in places:
        run = core.storage.read(lambda snapshot, name=place.name: snapshot.run(name))
        if run is not None and not run.folder and is_gone(run.worker):
            RunFolder(place).discard()


def _taken(core: Core, caller: Caller, run: Run, worker: str) -> Run | None:
    """The run as ours, or None where another process was faster."""

    def unit(work: Work) -> Run | None:
        now = work.tx.run(run.id)
        if now is None or now.state not in OPEN_STATES or now.worker != run.worker:
            return None
        return work.put_run(now.replace(worker=worker), now, "take")

    caller = caller.replace(session=None)
    return mutate(core, caller, Write(), "run take", {"run": run.id}, unit)


def _finished(core: Core, caller: Caller, run: Run) -> Run:
    end_marked(run.id)
    folder = RunFolder(Path(run.folder))
    forms: tuple[bytes, ...] | None = ()
    if run.secrets:
        key = core.storage.read(lambda snapshot: secrets_key(snapshot, run))
        secrets = folder.secrets(key)
        forms = None if secrets is None else forms_of(secrets)
    return finish(core, caller, run, folder, folder.outcome(), forms)
