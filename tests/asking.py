"""Everything that can be asked of a memory, asked: by the tools, by the faces of the library, and
by every verb of the shell that reads. What a call takes is taken from a table by its name, so that
a new verb, method or tool is asked too, or fails here until the table knows what it takes.
"""

from __future__ import annotations

import inspect
from itertools import product

from holdfast.cli.commands import TABLE
from holdfast.cli.grammar import commands_of
from holdfast.core.codec import plain
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from cli_vault import Cli

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

    Table = Mapping[str, Sequence[Any]]

# What changes something, makes files or runs for ever is not asked.
WRITING_TOOLS = {
    *("memory_save", "memory_remove", "memory_add", "memory_promote", "memory_update"),
    *("memory_forget", "skill_save", "artifact_save", "session_say"),
    *("memory_set", "memory_delete"),
}
NOT_ASKED = {
    *("mcp", "mcp show", "worker", "demo", "completion", "help", "version", "init", "gc", "doctor"),
    *("session import", "preferences set", "preferences preset", "erasure finish", "review run"),
    *("review screen", "memory init", "artifact init", "volume init", "run logs"),
}
NOT_CALLED = {
    *("seen_by", "as_of", "preferring", "prefer", "tools", "desk", "session", "run", "runs"),
    *("agents", "directories", "import_sessions", "importing", "declare", "workspace", "close"),
    *("sweep", "tidy", "gc", "finish_erasures", "repair", "review", "finish_runs", "screen"),
    *("notes", "records", "kv", "profile", "skills", "artifacts", "transcript", "inbox", "space"),
    *("export", "export_to", "watch", "log", "import_from", "mirror", "continue_", "resume"),
    *("start", "cancel", "events", "follow"),
}


def _variants(
    names: Sequence[str], needed: set[str], told: Table, where: str
) -> Iterator[dict[str, Any]]:
    """What is needed in every combination; what is not, one at a time."""
    must = [name for name in names if name in needed]
    missing = [name for name in must if name not in told]
    assert not missing, f"nothing is known to ask {where} with for {', '.join(missing)}"
    for values in product(*(told[name] for name in must)):
        given = dict(zip(must, values, strict=True))
        yield given
        for name in names:
            if name not in needed:
                for value in told.get(name, ()):
                    yield {**given, name: value}


def _called(
    function: Callable[..., Any], told: Table, where: str, like: Callable[..., Any] | None = None
) -> Iterator[tuple[str, str]]:
    """What it answers; it takes what `like` takes, where that is another."""
    signature = inspect.signature(like or function)
    takes = [
        name
        for name, each in signature.parameters.items()
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    needed = {
        name for name in takes if signature.parameters[name].default is inspect.Parameter.empty
    }
    for given in _variants(takes, needed, told, where):
        try:
            answer = function(**given)
            if inspect.isgenerator(answer):
                answer = list(answer)
            said = repr(plain(answer)) + repr(answer)
        except HoldfastError as exc:
            said = f"{exc.code} {exc.message} {exc.hint}"
        yield f"{where}({given})", said


def by_tools(space: Space, told: Table) -> Iterator[tuple[str, str]]:
    """What the tools answer that change nothing, called as functions and by the protocol."""
    from holdfast.mcp.server import Offered

    for tool in space.tools():
        if tool.__name__ == "memory_profile":
            for action in ("read", "changes", "archive"):
                yield from _called(
                    lambda action=action, text=None, tool=tool: tool(action=action, text=text),
                    {"text": told["text"], "action": (), "tool": ()},
                    f"memory_profile {action}",
                )
        elif tool.__name__ not in WRITING_TOOLS:
            yield from _called(tool, told, tool.__name__)
            served = Offered(tool)
            yield from _called(
                lambda served=served, **given: served(given).model_dump_json(),
                told,
                f"tools/call {tool.__name__}",
                like=tool,
            )


def by_faces(vault: Vault, space: Space, told: Table) -> Iterator[tuple[str, str]]:
    """What every method answers that takes no options for writing."""
    from holdfast.engine.history import LogQuery

    faces: list[object] = [vault, space, space.skills(), space.profile(), space.artifacts()]
    faces += [space.transcript(), space.kv(), space.runs(), space.agents()]
    faces += [space.inbox(), vault.inbox()]
    faces += [space.notes(name) for name in told.get("notes", [None])]
    faces += [space.records(name) for name in told.get("records", [None])]
    for face in faces:
        for name, method in inspect.getmembers(face, inspect.ismethod):
            kinds = [each.kind for each in inspect.signature(method).parameters.values()]
            writes = "write" in inspect.signature(method).parameters
            writes |= "about" in inspect.signature(method).parameters
            if name.startswith("_") or writes or name in NOT_CALLED:
                continue
            assert inspect.Parameter.VAR_POSITIONAL not in kinds
            yield from _called(method, told, f"{type(face).__name__}.{name}")
    for target in (None, *told["id"]):
        for log in (vault.log, space.log):
            for change in log(LogQuery(target=target, limit=10_000)):
                yield f"log of {target}", repr(change)


def by_shell(cli: Cli, told: Table, *always: str) -> Iterator[tuple[str, str]]:
    """What every verb says that mutates nothing, in words and in JSON."""
    for noun in TABLE.nouns:
        for command in commands_of(noun):
            said = f"{noun.name} {command.verb}".strip()
            if command.mutates or said in NOT_ASKED:
                continue
            needed = {each.name for each in command.arguments if each.required}
            options: dict[str, Sequence[Any]] = {
                each.name: each.kind.choices or ([""] if not each.kind.metavar else ())
                for each in command.options
            }
            places = [each.name for each in command.arguments]
            table = {
                **options,
                **{f"--{k}": v for k, v in told.items() if f"--{k}" in options},
                **told,
            }
            for given in _variants([*places, *options], needed, table, said):
                words = [str(given[name]) for name in places if name in given]
                words += [
                    f"{name}={value}" if value != "" else name
                    for name, value in given.items()
                    if name in options
                ]
                argv = [*said.split(), *words, *always]
                for more in ((), ("--json",)):
                    result = cli(*argv, *more)
                    assert "internal" not in result.stderr, (argv, result.stderr)
                    yield " ".join([*argv, *more]), result.stdout + result.stderr
