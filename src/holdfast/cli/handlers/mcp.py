"""`holdfast mcp`."""

from __future__ import annotations

from holdfast.cli.opening import exists, opened_space, seen_space, vault_place
from holdfast.errors import Unsupported
from holdfast.model.write import Actor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.space import Space

AGENT = "mcp"


def serve(call: Call, out: Output) -> None:
    try:
        from holdfast.mcp import stdio
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise Unsupported(
            "extra_missing",
            "the Model Context Protocol needs a library that is not installed",
            hint="pip install 'holdfast[mcp]'",
        ) from None
    with opened_space(call, makes=True) as space:
        out.note(f"Serving {space.name} over standard input and output")
        stdio.serve(_as_agent(call, space), budget=call["budget"])


def _as_agent(call: Call, space: Space) -> Space:
    """Whoever calls tools is an agent, named or not."""
    if call["agent"] is not None:
        return space
    return space.seen_by(space.caller.replace(actor=Actor(kind="agent", name=AGENT)))


def show(call: Call, out: Output) -> None:
    import sys
    from json import dumps
    from pathlib import Path

    from holdfast.core.endpoint import client_configuration, mcp_endpoint

    where = vault_place(call)
    if "://" not in where and not where.startswith("sqlite:"):
        where = str(Path(where).absolute())
    with seen_space(call) as space:
        name = space.name
    key_file = call["key_file"]
    endpoint = mcp_endpoint(
        (sys.executable, "-m", "holdfast"),
        vault=where,
        space=name,
        session=call["session"],
        agent=call["agent"],
        user=call["user"],
        key_file=None if key_file is None else str(Path(key_file).absolute()),
        budget=call["budget"],
    )
    found = client_configuration(endpoint)
    out.emit(found, lambda: dumps(found, ensure_ascii=False, indent=2))
    if not exists(where):
        out.note("There is no vault there yet: the first connection makes it")
