"""How an agent's program reaches a memory: the command that serves it over standard input and
output, and the configuration by which MCP clients start that command.

A key is never part of it: what starts the command hands on `HOLDFAST_KEY`.
"""

from __future__ import annotations

from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.model.entry import Json


class Endpoint(Value):
    """A command and its arguments, for no shell."""

    command: str
    args: tuple[str, ...]


def mcp_endpoint(
    program: Sequence[str],
    *,
    vault: str,
    space: str,
    session: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    key_file: str | None = None,
    budget: int | None = None,
) -> Endpoint:
    """The command that serves a space. `program` starts Holdfast, as `("holdfast",)` does."""
    named = {
        "vault": vault,
        "space": space,
        "session": session,
        "agent": agent,
        "user": user,
        "key-file": key_file,
        "budget": None if budget is None else str(budget),
    }
    given = [f"--{name}={value}" for name, value in named.items() if value is not None]
    command, *args = program
    return Endpoint(command=command, args=(*args, "mcp", *given))


def client_configuration(endpoint: Endpoint, name: str = "holdfast") -> Mapping[str, Json]:
    """The JSON that most clients read: what stands in a file such as `.mcp.json`."""
    server: dict[str, Json] = {"command": endpoint.command, "args": list(endpoint.args)}
    return {"mcpServers": {name: server}}
