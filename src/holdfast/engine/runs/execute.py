"""One run, from its row to its end.

The row comes first, then the directories, then the agent; when it has ended, how it ended is
written into the run's folder before anything is kept. So whoever finds a run whose worker is gone
knows what to do with it: without directories there is nothing to keep, without an outcome what lies
there becomes recovery versions, and with one the end is done again from where it stood.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from holdfast.core.canonical import keyed
from holdfast.core.endpoint import client_configuration, mcp_endpoint
from holdfast.core.masking import SECRET_CHARS_MIN, forms_of, masked_text
from holdfast.engine import mounts as stores
from holdfast.engine import sessions, spaces
from holdfast.engine.context import assemble
from holdfast.engine.directories.desk import Desk
from holdfast.engine.directories.scan import silent
from holdfast.engine.naming import session_named
from holdfast.engine.runs import plan
from holdfast.engine.runs.folder import (
    ASIDE,
    CONTEXT,
    CONVERSATION,
    ENDPOINT,
    FILES,
    NONCE_BYTES,
    PROMPT,
    Outcome,
    RunFolder,
)
from holdfast.engine.runs.keep import Keeping, keep
from holdfast.engine.runs.output import Keeper
from holdfast.engine.runs.process import MARK, Ended, Job, run_process
from holdfast.engine.space import view_of
from holdfast.engine.work import Core, Work, mutate
from holdfast.engine.workers import end_worker, new_worker
from holdfast.errors import HoldfastError
from holdfast.model.ids import RANDOM_BYTES, SessionId, make_id
from holdfast.model.run import OPEN_STATES, Agent, Run
from holdfast.model.value import Value
from holdfast.model.write import Actor, Write
from holdfast.strategies import transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from holdfast.engine.directories.scan import Progress
    from holdfast.engine.runs.output import Sink
    from holdfast.engine.runs.plan import Inputs, Values, Wanted
    from holdfast.engine.space import Space
    from holdfast.model.directory import Version
    from holdfast.model.message import Message
    from holdfast.model.run import Laid, RunStart, RunState
    from holdfast.model.session import Session
    from holdfast.model.write import Caller
    from holdfast.ports import Snapshot

    Callee = Callable[["Task"], object]

KEY_VARIABLE = "HOLDFAST_KEY"
TITLE_CHARS_MAX = 80
WORDS_BYTES = 65_536
_OF_AN_OUTER_RUN = ("HOLDFAST_MEMORY", "HOLDFAST_ARTIFACT", "HOLDFAST_VOLUME")


class Task(Value):
    """What a Python callable is given to do. Directories are paths, by their names; `space` writes
    in the run's session."""

    prompt: str
    memory: Path | None
    artifacts: Mapping[str, Path]
    volumes: Mapping[str, Path]
    context: str
    conversation: tuple[Message, ...]
    variables: Mapping[str, str]
    secrets: Mapping[str, str]
    run: str
    space: Space


class Asked(Value):
    """What somebody wants run: an agent's command, or `call`. `previous` is the run from which
    this one goes on."""

    agent: Agent
    call: Callee | None = None
    prompt: str
    wanted: Wanted
    inputs: Inputs
    timeout_s: float = 0
    started_as: RunStart = "new"
    previous: Run | None = None
    sink: Sink
    progress: Progress = silent


class Begun(Value):
    """A run that has its row, and all that belongs to it."""

    run: Run
    mounts: Sequence[tuple[Laid, Version]]
    values: Values
    secrets: Mapping[str, str]
    forms: tuple[bytes, ...]
    talk: tuple[Message, ...]


class Executor:
    """Runs agents in one space."""

    def __init__(self, core: Core, space: Space) -> None:
        self._core, self._space, self._caller = core, space, space.caller

    def execute(self, asked: Asked, write: Write) -> Run:
        run_id = make_id(self._core.clock(), self._core.random(RANDOM_BYTES))
        worker = new_worker(run_id)
        try:
            begun = self._begun(asked, run_id, worker, write)
            if begun.run.id != run_id:  # asked for before, with the same key
                return self._now(begun.run)
            return self._conducted(asked, begun)
        finally:
            end_worker(worker)

    def _now(self, run: Run) -> Run:
        return self._core.storage.read(lambda snapshot: snapshot.run(run.id)) or run

    # Its beginning

    def _begun(self, asked: Asked, run_id: str, worker: str, write: Write) -> Begun:
        agent = asked.agent
        values = plan.values_for(agent, asked.inputs)
        secrets = dict(values.secrets)
        key = asked.inputs.environment.get(KEY_VARIABLE)
        if key is not None and len(key) >= SECRET_CHARS_MIN:
            secrets[KEY_VARIABLE] = key
        forms = forms_of(secrets.values())
        wanted = asked.wanted.replace(
            artifacts=plan.in_versions(asked.wanted.artifacts, values),
            volumes=plan.in_versions(asked.wanted.volumes, values),
        )
        name, writer = self._space.name, self._writer(agent)
        mounts = plan.resolve(self._core, name, writer, wanted, run_id)
        mine = Path(tempfile.gettempdir(), f"holdfast-runs-{os.getuid()}")
        folder = (self._core.runs or mine) / run_id
        new = {
            "id": run_id,
            "agent": agent.name,
            "prompt": masked_text(asked.prompt, forms),
            "mounts": tuple([laid for laid, _ in mounts]),
            "secrets": tuple(sorted(secrets)),
            "worker": worker,
            "folder": str(folder.absolute()),
        }
        run, talk = self._created(asked, new, write)
        return Begun(run=run, mounts=mounts, values=values, secrets=secrets, forms=forms, talk=talk)

    def _created(
        self, asked: Asked, new: Mapping[str, Any], write: Write
    ) -> tuple[Run, tuple[Message, ...]]:
        said = transcript.new_message("user", str(new["prompt"]))
        previous = asked.previous

        def unit(work: Work) -> Run:
            work.expect(0, "the new run")
            work.met()
            space = spaces.written_space(work, self._space.name)
            session = self._session(work, asked, str(new["prompt"]))
            work.caller = work.caller.replace(session=session.id)
            before = work.messages.use(session)[0]
            transcript.hear(work, self._store(work), session, said)
            run = Run(
                **new,
                number=work.seq + 1,
                space_number=space.number,
                space_name=space.name,
                state="created",
                session=session.id,
                started_as=asked.started_as,
                previous=None if previous is None else previous.id,
                places=(before, before + 1),
                seq=work.seq if previous is None else previous.revision,
                created=work.at,
                revision=work.seq + 1,
            )
            return work.put_run(run, None, "create")

        goes_on = previous is not None
        caller = self._caller.replace(session=None) if goes_on else self._caller
        meant: dict[str, Any] = {"space": self._space.name, "agent": asked.agent.name}
        meant |= {"prompt": new["prompt"], "previous": None if previous is None else previous.id}
        run = mutate(self._core, caller, write, "run", meant, unit)
        return run, self._talk(run)

    def _session(self, work: Work, asked: Asked, prompt: str) -> Session:
        """The session of the run: a new one, the one that it is called in, or the one that goes
        on. A run that is resumed begins another with what was said up to the checkpoint."""
        space = spaces.written_space(work, self._space.name)
        if asked.previous is not None and asked.started_as == "continued":
            return sessions.reopen(work, session_named(work.tx, asked.previous.session), space)
        if asked.previous is None and work.session is not None:
            work.of_space(self._space.name)
            return work.session
        session = sessions.start(
            *(work, space),
            title=_title(prompt) or f"run of {asked.agent.name}",
            agent=asked.agent.name,
            user=work.caller.user,
            source="run",
        )
        if asked.previous is not None:
            self._retell(work, asked.previous, session)
        return session

    def _retell(self, work: Work, previous: Run, session: Session) -> None:
        store, before = self._store(work), session_named(work.tx, previous.session)
        for message in work.messages.messages(before, 1, previous.places[1]):
            if message.rewound or not (message.text or message.calls):
                continue
            again = transcript.new_message(
                *(message.role, message.text),
                calls=message.calls,
                call=message.call,
                tool=message.tool,
                origin=message.origin,
            )
            transcript.say(work, store, session, again.replace(said_at=message.when))

    def _store(self, work: Work) -> stores.Store:
        found = stores.store_named(work.tx, self._space.name, None, transcript.NAME)
        return spaces.written_store(work, found)

    def _talk(self, run: Run) -> tuple[Message, ...]:
        """What was said in the session before the prompt."""

        def unit(snapshot: Snapshot) -> tuple[Message, ...]:
            session, upto = session_named(snapshot, run.session), run.places[0]
            if not upto:
                return ()
            found = snapshot.messages(session, 1, upto)
            return tuple([each for each in found if each.text and not each.rewound])

        return self._core.storage.read(unit)

    # Its agent

    def _conducted(self, asked: Asked, begun: Begun) -> Run:
        run, folder = begun.run, RunFolder(Path(begun.run.folder))
        try:
            try:
                run, start = self._prepared(asked, begun, folder)
                keeper = Keeper(self._core, run, begun.forms, asked.sink)
                ended = start(keeper)
            except BaseException as exc:
                self._given_up(run, folder, begun.forms, exc)
                raise
            keeper.end()
            outcome = Outcome(
                exit=ended.exit,
                why=ended.why,
                words=keeper.words(),
                output_bytes=keeper.bytes,
                lost_bytes=keeper.lost_bytes,
                gone=folder.gone(),
            )
            folder.keep_outcome(outcome)
        finally:
            folder.let_go()
        caller = self._caller.replace(session=None)
        return finish(self._core, caller, run, folder, outcome, begun.forms, asked.progress)

    def _prepared(
        self, asked: Asked, begun: Begun, folder: RunFolder
    ) -> tuple[Run, Callable[[Keeper], Ended]]:
        """Lay everything out; what starts the agent."""
        run, agent, core = begun.run, asked.agent, self._core
        folder.make()
        if begun.secrets:
            key = core.storage.read(lambda snapshot: secrets_key(snapshot, run))
            folder.seal_secrets(begun.secrets.values(), key, core.random(NONCE_BYTES))
        bases = [
            plan.base_of(self._desk(laid, agent), laid.name, version)
            for laid, version in begun.mounts
        ]
        folder.lay_out(begun.mounts, bases, core.storage, asked.progress)
        places = plan.places_of(folder, run.mounts)
        told = self._context(asked, begun, folder, places)
        places |= {
            "prompt": asked.prompt,
            "prompt_file": str(folder.write(PROMPT, asked.prompt)),
            "context": str(folder.write(CONTEXT, told)),
            "conversation": str(folder.write(CONVERSATION, plan.conversation_text(begun.talk))),
            "run": run.id,
        }
        if core.address:
            places["mcp"] = str(folder.write(ENDPOINT, self._endpoint(run)))
        if asked.call is not None:
            task = self._task(asked, begun, folder, told)
            call = asked.call
            run = self._started(run)
            return run, lambda keeper: _called(call, task, keeper)
        job = Job(
            run=run.id,
            command=plan.command_of(agent, places, begun.values),
            folder=plan.folder_of(agent, places, begun.values),
            environment=self._environment(asked, begun, folder, places),
            timeout_s=asked.timeout_s,
        )
        return self._started(run), lambda keeper: run_process(job, keeper)

    def _desk(self, laid: Laid, agent: Agent) -> Desk:
        writer = self._writer(agent)
        return Desk(core=self._core, space=self._space.name, type=laid.type, caller=writer)

    def _writer(self, agent: Agent) -> Caller:
        return self._caller.replace(actor=Actor(kind="agent", name=agent.name), session=None)

    def _context(
        self, asked: Asked, begun: Begun, folder: RunFolder, places: Mapping[str, str]
    ) -> str:
        caller = self._caller.replace(session=begun.run.session)
        seq = begun.run.seq if asked.started_as == "resumed" else None

        def unit(snapshot: Snapshot) -> str:
            view = view_of(self._core, snapshot, caller, seq)
            context = assemble(view, snapshot, self._space.name, seq, None)
            instructions = plan.instructions_of(asked.agent, places, begun.values)
            return plan.context_text(
                *(asked.agent, instructions, context, folder, begun.run.mounts, begun.talk)
            )

        return self._core.storage.read(unit)

    def _environment(
        self, asked: Asked, begun: Begun, folder: RunFolder, places: Mapping[str, str]
    ) -> dict[str, str]:
        run, outer = begun.run, asked.inputs.environment
        base = {
            name: value for name, value in outer.items() if not name.startswith(_OF_AN_OUTER_RUN)
        }
        ours = {
            "HOLDFAST_VAULT": self._core.address or "memory:",
            "HOLDFAST_SPACE": self._space.name,
            "HOLDFAST_SESSION": run.session,
            "HOLDFAST_AGENT": asked.agent.name,
            "HOLDFAST_USER": self._caller.user,
            "HOLDFAST_RUN": run.id,
            MARK: f"{outer.get(MARK, '')} {run.id}".strip(),
            "HOLDFAST_CONTEXT": places["context"],
            "HOLDFAST_CONVERSATION": places["conversation"],
            "HOLDFAST_PROMPT_FILE": places["prompt_file"],
            **({"HOLDFAST_MCP": places["mcp"]} if "mcp" in places else {}),
            **plan.variables_of(folder, run.mounts),
        }
        base.setdefault("PYTHONUNBUFFERED", "1")
        return plan.environment_of(asked.agent, places, begun.values, base, ours)

    def _endpoint(self, run: Run) -> str:
        """How an agent's program reaches the memory with its tools."""
        endpoint = mcp_endpoint(
            (sys.executable, "-m", "holdfast"),
            vault=self._core.address,
            space=self._space.name,
            session=run.session,
            agent=run.agent,
            user=self._caller.user,
        )
        return json.dumps(client_configuration(endpoint))

    def _task(self, asked: Asked, begun: Begun, folder: RunFolder, told: str) -> Task:
        paths: dict[str, dict[str, Path]] = {"memory": {}, "artifact": {}, "volume": {}}
        for laid in begun.run.mounts:
            paths[laid.type][laid.name] = folder.path(laid)
        return Task(
            prompt=asked.prompt,
            memory=next(iter(paths["memory"].values()), None),
            artifacts=paths["artifact"],
            volumes=paths["volume"],
            context=told,
            conversation=begun.talk,
            variables=begun.values.vars,
            secrets=begun.values.secrets,
            run=begun.run.id,
            space=self._space.seen_by(
                self._writer(asked.agent).replace(session=SessionId(begun.run.session))
            ),
        )

    def _started(self, run: Run) -> Run:
        def unit(work: Work) -> Run:
            return work.put_run(run.replace(state="running", started=work.at), run, "start")

        return mutate(
            self._core, self._caller.replace(session=None), Write(), "run start", {}, unit
        )

    def _given_up(
        self, run: Run, folder: RunFolder, forms: tuple[bytes, ...], error: BaseException
    ) -> None:
        """It never started, or it failed in this process, or nobody can listen to it any more.
        What cannot be written now is found and finished by whoever comes next."""
        reason = type(error).__name__
        if isinstance(error, HoldfastError):
            reason = error.code
            error.message = masked_text(error.message, forms)
            error.hint = masked_text(error.hint, forms)
            error.args = (error.message,)
        caller = self._caller.replace(session=None)
        try:
            done = finish(self._core, caller, run, folder, None, forms, reason=reason)
        except HoldfastError:
            return
        error.add_note(f"this was run {done.id}, which {done.state}: holdfast run show {done.id}")


def _called(call: Callee, task: Task, keeper: Keeper) -> Ended:
    said = call(task)
    text = "" if said is None else said if isinstance(said, str) else str(said)
    data = text.encode(errors="replace")
    for at in range(0, len(data), WORDS_BYTES):
        keeper.heard("stdout", data[at : at + WORDS_BYTES])
    return Ended(exit=0)


def _title(prompt: str) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in prompt)
    return " ".join(text.split())[:TITLE_CHARS_MAX].strip()


def secrets_key(snapshot: Snapshot, run: Run) -> bytes:
    vault = snapshot.vault()
    assert vault is not None
    return keyed(vault.secret, f"the secrets of run {run.id}")


# Its end


def finish(
    core: Core,
    caller: Caller,
    run: Run,
    folder: RunFolder,
    outcome: Outcome | None,
    forms: tuple[bytes, ...] | None,
    progress: Progress = silent,
    *,
    reason: str = "",
) -> Run:
    """Keep what is to be kept, and close the row. Done again, it does what was not done yet."""
    state = _state_of(outcome, reason)
    kept, why = run.mounts, ""
    if run.state == "running" and folder.place.is_dir():
        kept, why = keep(
            Keeping(
                core=core,
                caller=_agent_caller(core, caller, run),
                run=run,
                folder=folder,
                succeeded=state == "succeeded",
                forms=forms,
                gone=() if outcome is None else outcome.gone,
                progress=progress,
            )
        )
    if why and state == "succeeded":
        state = "failed"
    left = any(laid.kept == "not_kept" and folder.path(laid).exists() for laid in kept)
    after = run.replace(
        state=state,
        mounts=kept,
        exit=None if outcome is None else outcome.exit,
        reason=reason or why,
        folder=run.folder if left or folder.has_aside() else "",
        output_bytes=0 if outcome is None else outcome.output_bytes,
        lost_bytes=0 if outcome is None else outcome.lost_bytes,
    )
    done = _closed(core, caller, after, "" if outcome is None else outcome.words)
    if done.worker == run.worker:
        folder.discard(but=(FILES, ASIDE) if left else (ASIDE,))
    return done


def _state_of(outcome: Outcome | None, reason: str) -> RunState:
    if outcome is None:
        return "cancelled" if reason == "KeyboardInterrupt" else "failed" if reason else "killed"
    if outcome.why:
        return outcome.why  # pyright: ignore[reportReturnType]
    return "succeeded" if outcome.exit == 0 else "failed"


def _agent_caller(core: Core, caller: Caller, run: Run) -> Caller:
    """The agent, in its session where that is still open."""

    found = core.storage.read(lambda snapshot: session_named(snapshot, run.session))
    is_open = sessions.as_of_lease(found, core.clock()).state == "open"
    agent = Actor(kind="agent", name=run.agent)
    return caller.replace(actor=agent, session=found.id if is_open else None, user=found.user)


def _closed(core: Core, caller: Caller, run: Run, words: str) -> Run:
    """The row's last change; the first one to make it wins."""
    text = words.strip()
    said = transcript.new_message("assistant", text) if text else None

    def unit(work: Work) -> Run:
        now = work.tx.run(run.id)
        assert now is not None
        if now.state not in OPEN_STATES or now.worker != run.worker:
            return now
        places = run.places
        if said is not None:
            session = session_named(work.tx, run.session)
            store = stores.store_named(work.tx, run.space_name, None, transcript.NAME)
            transcript.hear(work, spaces.written_store(work, store), session, said)
            places = (places[0], work.messages.use(session)[0])
        return work.put_run(run.replace(ended=work.at, places=places), now, "end")

    return mutate(core, caller.replace(session=None), Write(), "run end", {"run": run.id}, unit)
