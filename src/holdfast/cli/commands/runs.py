"""`run`: executions of agents; `agent`: which agents there are."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import (
    DURATION,
    FOLDER,
    NAME,
    PAIR,
    PATH,
    TEXT,
    choice,
    integer,
    named_value,
)

_RUNS = "holdfast.cli.handlers.runs"
_AGENTS = "holdfast.cli.handlers.agents"
_NAMES = f"{_AGENTS}:names"

_AGENT = Argument(
    name="AGENT", kind=NAME, help="an agent of this space", candidates=_NAMES, into="which"
)
_PROMPT = Argument(name="PROMPT", kind=TEXT, help="what it is to do", stdin=True)
_ID = Argument(
    name="RUN", kind=NAME, help="its id, or the last 8 of it", candidates=f"{_RUNS}:runs"
)
_MEMORY = Option(name="--memory", kind=NAME, help="the memory that it has; else its own")
_NO_MEMORY = Option(name="--no-memory", help="it has none")
_ARTIFACT = Option(
    name="--artifact",
    kind=NAME.replace(metavar="NAME[:VERSION][:/PATH]"),
    many=True,
    help="a directory that it works on, and that is kept",
)
_VOLUME = Option(
    name="--volume",
    kind=NAME.replace(metavar="NAME[:VERSION][:/PATH]"),
    many=True,
    help="a directory that it is given, of which nothing is kept",
)
_TIMEOUT = Option(name="--timeout", kind=DURATION, help="how long it may take")
_VALUES = (
    Option(
        name="--var",
        kind=named_value("NAME[=VALUE]"),
        many=True,
        help="a variable, for ${{ vars.NAME }} and the agent's environment",
    ),
    Option(
        name="--secret",
        kind=named_value("NAME[=VALUE]"),
        many=True,
        secret=True,
        help="the same, masked wherever it would be kept or shown",
    ),
    Option(
        name="--env-file",
        kind=PATH,
        help="where NAME=value lines stand, for variables and secrets that are asked for",
    ),
)
_WITHOUT_VALUE = (
    "Without a value, `--var` and `--secret` take that of the --env-file or of the environment."
)

RUN = (
    Command(
        verb="",
        summary="run an agent, and keep what it remembers",
        handler=f"{_RUNS}:run",
        mutates=True,
        arguments=(_AGENT, _PROMPT),
        options=(_MEMORY, _NO_MEMORY, _ARTIFACT, _VOLUME, *_VALUES, _TIMEOUT),
        details="The agent finds its memory as the last run left it. What it changes becomes a new "
        "version, merged with what others changed meanwhile. When it fails, is ended or is "
        "interrupted, what it wrote is kept as a recovery version. The exit code is 0 when the "
        f"agent succeeded and all was kept.\n\n{_WITHOUT_VALUE}",
        examples=(
            'holdfast agent add notes -- sh -c \'echo "$1" >>"$2/log.md"\' sh {prompt} {memory}',
            'holdfast run notes "review the latest changes" --memory notes-memory',
        ),
    ),
    Command(
        verb="list",
        summary="list runs, the newest first",
        handler=f"{_RUNS}:list_runs",
        options=(
            Option(name="--of", kind=NAME, help="only those of this agent", candidates=_NAMES),
            Option(
                name="--state",
                kind=choice(
                    *("created", "running", "succeeded", "failed", "timed_out", "cancelled"),
                    "killed",
                ),
                help="only those in this state",
            ),
            Option(name="--limit", kind=integer(1, 1000), default="20", help="how many"),
        ),
        examples=("holdfast run list --state failed",),
    ),
    Command(
        verb="show",
        summary="show what a run found and what became of it",
        handler=f"{_RUNS}:show",
        arguments=(_ID,),
    ),
    Command(
        verb="logs",
        summary="print what an agent said",
        handler=f"{_RUNS}:logs",
        arguments=(_ID,),
        options=(Option(name="--follow", short="-f", help="until the run is over"),),
    ),
    Command(
        verb="continue",
        summary="go on with a conversation, with the newest memory",
        handler=f"{_RUNS}:continue_run",
        mutates=True,
        arguments=(_ID, _PROMPT),
        options=(*_VALUES, _TIMEOUT),
        details="The agent is told what was said in the session so far. Its directories are those "
        "of the run, in their newest versions.",
    ),
    Command(
        verb="resume",
        summary="go on from where a run ended",
        handler=f"{_RUNS}:resume",
        mutates=True,
        arguments=(_ID, _PROMPT),
        options=(*_VALUES, _TIMEOUT),
        details="Conversation, memory, artifacts and volumes are as they were then. What has "
        "become of them since is merged afterwards.",
    ),
)

AGENT = (
    Command(
        verb="add",
        summary="declare an agent",
        handler=f"{_AGENTS}:add",
        mutates=True,
        arguments=(
            Argument(name="NAME", kind=NAME, help="what it is called"),
            Argument(name="COMMAND", kind=TEXT, help="the program and its arguments", rest=True),
        ),
        options=(
            Option(
                name="--instructions",
                kind=TEXT,
                stdin=True,
                help="what it is told at the start of its context",
            ),
            _MEMORY.replace(help="the memory that it keeps; else that of its own name"),
            _NO_MEMORY.replace(help="it keeps none"),
            _ARTIFACT,
            _VOLUME,
            Option(
                name="--env",
                kind=PAIR,
                many=True,
                help="a variable that it finds",
                into="variables",
            ),
            _TIMEOUT,
            Option(name="--folder", kind=FOLDER, help="where it starts; else here"),
        ),
        details="The command is started as it stands, without a shell. {prompt}, {memory}, "
        "{context} and {artifact} in it stand for the prompt and for paths. In a space with a "
        "workspace.yml the agent is declared there.",
        examples=("holdfast agent add hello -- echo {prompt}",),
    ),
    Command(
        verb="list",
        summary="list the agents",
        handler=f"{_AGENTS}:list_agents",
    ),
    Command(
        verb="show",
        summary="show how an agent is declared",
        handler=f"{_AGENTS}:show",
        arguments=(_AGENT,),
        examples=(
            "holdfast agent add echo-agent -- echo {prompt}\nholdfast agent show echo-agent",
        ),
    ),
    Command(
        verb="remove",
        summary="take an agent away; its memory and its runs stay",
        handler=f"{_AGENTS}:remove",
        mutates=True,
        arguments=(_AGENT,),
    ),
)
