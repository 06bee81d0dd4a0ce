"""`holdfast run`."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.cli.handlers.directories import progress_of
from holdfast.cli.opening import opened_space, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.core.filling import variables_in
from holdfast.engine.runs.plan import env_file_text
from holdfast.errors import InvalidInput, UsageError
from holdfast.model.ids import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.runs.face import RunOptions
    from holdfast.model.entry import Json
    from holdfast.model.run import Laid, Run, RunLog, Stream

INTERRUPTED = 130
PROMPT_CHARS = 60


def run(call: Call, out: Output) -> int:
    if call["memory"] is not None and call["no_memory"]:
        raise UsageError(
            "options_exclude",
            "`--memory` and `--no-memory` exclude each other",
            hint="keep one of them",
        )
    options = _options(call, out)
    options["memory"] = False if call["no_memory"] else call["memory"]
    options["artifacts"] = call["artifact"]
    options["volumes"] = call["volume"]
    with opened_space(call, makes=True) as space:
        done = space.run(call["which"], call["prompt"], **options)
        return _ended(out, done, _log_of(space.runs().logs(done.id)) if out.json else [])


def continue_run(call: Call, out: Output) -> int:
    with opened_space(call, makes=True) as space:
        done = space.runs().continue_(call["run"], call["prompt"], **_options(call, out))
        return _ended(out, done, _log_of(space.runs().logs(done.id)) if out.json else [])


def resume(call: Call, out: Output) -> int:
    with opened_space(call, makes=True) as space:
        done = space.runs().resume(call["run"], call["prompt"], **_options(call, out))
        return _ended(out, done, _log_of(space.runs().logs(done.id)) if out.json else [])


def _options(call: Call, out: Output) -> RunOptions:
    text = "" if call["env_file"] is None else env_file_text(Path(call["env_file"]))
    elsewhere = {**os.environ, **variables_in(text)}
    options: RunOptions = {
        "variables": _values(call["var"], elsewhere),
        "secrets": _values(call["secret"], elsewhere),
        "env_file": text,
        "output": _shown(out),
        "progress": progress_of(out),
        **write_options(call),
    }
    if call["timeout"] is not None:
        options["timeout"] = call["timeout"].total_seconds()
    return options


def _values(
    given: tuple[tuple[str, str | None], ...], elsewhere: Mapping[str, str]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in given:
        if value is None and name not in elsewhere:
            raise InvalidInput(
                "variable_missing",
                f"{name} is in no --env-file and not in the environment",
                hint=f"write {name}=VALUE, or set it",
            )
        found[name] = elsewhere[name] if value is None else value
    return found


class _shown:  # noqa: N801 - it is called as a function
    """What the agent says, as it comes. Who stops reading does not stop the agent."""

    def __init__(self, out: Output) -> None:
        self._out, self._gone = out, out.json

    def __call__(self, stream: Stream, data: bytes) -> None:
        if self._gone:
            return
        try:
            self._out.live(stream, data)
        except BrokenPipeError:
            self._gone = True


def _ended(out: Output, done: Run, log: list[dict[str, Json]]) -> int:
    if out.json:
        row = plain(done)
        assert isinstance(row, dict)
        out.emit({**row, "output": log}, "")
    for laid in done.mounts:
        _say_laid(out, laid)
    code = f", exit code {done.exit}" if done.exit is not None and done.exit >= 0 else ""
    code = f", ended by signal {-done.exit}" if done.exit is not None and done.exit < 0 else code
    why = f" ({done.reason})" if done.reason else ""
    out.note(f"Run {short(done.id)} {_words(done.state)}{code}{why}")
    if done.folder:
        out.note(f"What could not be kept lies in {done.folder}")
    if done.state == "cancelled":
        return INTERRUPTED
    unmerged = any(laid.conflicts for laid in done.mounts)
    return 0 if done.state == "succeeded" and not unmerged else 1


def _say_laid(out: Output, laid: Laid) -> None:
    words = {
        "pushed": f"{laid.type} {laid.name} v{laid.before} → v{laid.after}",
        "merged": f"{laid.type} {laid.name} v{laid.before} → v{laid.after}, merged",
        "unchanged": f"{laid.type} {laid.name} unchanged",
        "recovered": f"{laid.type} {laid.name}: what it wrote is the recovery version "
        f"v{laid.after}: holdfast {laid.type} rollback v{laid.after} --name {laid.name}",
    }
    if laid.kept in words:
        out.note(words[laid.kept])
    if laid.kept == "not_kept":
        out.warn(f"{laid.type} {laid.name} was not kept: {laid.note}", code="run_not_kept")
    for conflict in laid.conflicts:
        out.warn(
            f"{laid.name}: {conflict}",
            code="merge_conflict",
            hint="both are kept: make one of them, then push",
        )
    for path in laid.masked:
        out.warn(
            f"{laid.name}: {path} had a secret in it, which was masked",
            code="secret_masked",
            hint="let the agent write where to find the secret, not the secret",
        )
    for path in laid.left_out:
        out.warn(
            f"{laid.name}: {path} was left out",
            code="run_file_left_out",
            hint="files with secrets that are no text are put aside; sockets and devices cannot "
            "be kept",
        )


def _words(state: str) -> str:
    return state.replace("_", " ")


def list_runs(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = space.runs().list(agent=call["of"], state=call["state"], limit=call["limit"])
    rows: list[dict[str, Json]] = []
    for each in found:
        row = plain(each)
        assert isinstance(row, dict)
        rows.append(
            row if out.json else {**row, "versions": _versions(each), "short": short(each.id)}
        )
    out.table(rows, _COLUMNS, empty='No runs: holdfast run AGENT "…" makes one')


def _versions(run: Run) -> str:
    return " ".join(
        f"{laid.name} v{laid.before}" + f"→v{laid.after}" * bool(laid.after) for laid in run.mounts
    )


_COLUMNS = (
    Column(title="RUN", key="short"),
    Column(title="AGENT", key="agent"),
    Column(title="STATE", key="state", show=_words),
    Column(title="CREATED", key="created", show=lambda at: at[:16].replace("T", " ")),
    Column(title="ENDED", key="ended", show=lambda at: "" if at is None else at[11:16]),
    Column(title="VERSIONS", key="versions"),
    Column(title="PROMPT", key="prompt"),
)


def show(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = space.runs().get(call["run"])
    out.emit(plain(found), lambda: "\n".join(_lines(found)))


def _lines(run: Run) -> list[str]:
    lines = [
        f"run       {run.id}",
        f"agent     {run.agent}",
        f"state     {_words(run.state)}",
        f"prompt    {in_a_line(run.prompt)}",
        f"session   {run.session}, messages {run.places[0] + 1} to {run.places[1]}",
        f"created   {run.created:%Y-%m-%d %H:%M:%S}",
    ]
    lines += [f"started   {run.started:%Y-%m-%d %H:%M:%S}"] if run.started else []
    lines += [f"ended     {run.ended:%Y-%m-%d %H:%M:%S}"] if run.ended else []
    lines += [f"exit      {run.exit}"] if run.exit is not None else []
    lines += [f"reason    {run.reason}"] if run.reason else []
    lines += [f"{run.started_as:<9} from {run.previous}"] if run.previous else []
    lines += [f"secrets   {', '.join(run.secrets)}"] if run.secrets else []
    for laid in run.mounts:
        after = f" → v{laid.after}" if laid.after else ""
        kept = f", {_words(laid.kept)}" if laid.kept else ""
        lines.append(f"{laid.type:<9} {laid.name} v{laid.before}{after}{kept}")
        lines += [f"          {in_a_line(laid.note)}"] if laid.note else []
        lines += [f"          masked: {in_a_line(path)}" for path in laid.masked]
        lines += [f"          left out: {in_a_line(path)}" for path in laid.left_out]
        lines += [f"          did not merge: {in_a_line(each)}" for each in laid.conflicts]
    lines += [f"folder    {run.folder}"] if run.folder else []
    return lines


def logs(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        runs = space.runs()
        if call["follow"] and not out.json:
            for piece in runs.follow(call["run"]):
                out.live("stdout", piece.data)
            return
        if call["follow"]:
            for _ in runs.follow(call["run"]):
                continue
        log = runs.logs(call["run"])
    if out.json:
        head = {"run": log.run, "state": log.state, "left_out": log.left_out}
        out.emit({**head, "output": _log_of(log)}, "")
    else:
        for piece in log.pieces:
            out.live("stdout", piece.data)
        if log.left_out:
            out.warn(
                f"{log.left_out:,} bytes before the last mebibyte are not kept", code="log_cut"
            )


def _log_of(log: RunLog) -> list[dict[str, Json]]:
    return [
        {
            "stream": piece.stream,
            "at": plain(piece.at),
            "text": piece.data.decode(errors="backslashreplace"),
        }
        for piece in log.pieces
    ]


def runs(call: Call, _prefix: str) -> list[tuple[str, str]]:
    """The runs that a completion offers."""
    with opened_space(call) as space:
        found = space.runs().list()
    return [(short(each.id), f"{each.agent}: {each.prompt[:PROMPT_CHARS]}") for each in found]
