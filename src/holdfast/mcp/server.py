"""A space as a server of the protocol, whatever carries the messages.

What the space's strategies offer is what is listed; other names of tools are accepted and not
listed. Arguments are held to the schema that was shown, a failure is a result that says so with its
code and its cure, and no text of a memory goes anywhere but to the client. A call runs on a thread:
cancelled, it is dropped if it has not begun, else it ends unseen.
"""

from __future__ import annotations

import inspect
import logging
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

import holdfast
from holdfast.core.forms import Misfit
from holdfast.core.results import result_of, result_schema, text_of
from holdfast.core.signatures import arguments_form, signature_of
from holdfast.engine.tools import ALIASES
from holdfast.errors import HoldfastError, InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Protocol

    from mcp.server.context import ServerRequestContext

    from holdfast.core.forms import Group
    from holdfast.engine.space import Space
    from holdfast.ports import Tool

    class HandOver(Protocol):
        """Runs a function off the event loop."""

        def __call__(self, function: Callable[..., Any], /, *args: Any) -> Awaitable[Any]: ...

    Asked = ServerRequestContext[Any]

NAME = "holdfast"
INTRODUCTION = (
    "The memory of the space {space}. What follows is what it holds that a session should know "
    "from its start; memory_context shows it again, memory_recall asks the whole memory."
)


class Offered:
    """One tool, as it is shown and as it is called."""

    def __init__(self, tool: Tool) -> None:
        signature = signature_of(tool)
        self.name = tool.__name__
        self._tool = tool
        self._form: Group = arguments_form(signature)
        self.shown = types.Tool(
            name=self.name,
            description=inspect.cleandoc(tool.__doc__ or ""),
            input_schema=_input_schema(self._form),
            output_schema=result_schema(signature.return_annotation),
        )

    def __call__(self, arguments: Mapping[str, Any]) -> types.CallToolResult:
        try:
            value = self._tool(**self._read(arguments))
        except HoldfastError as exc:
            return refusal(exc)
        found = result_of(value)
        return types.CallToolResult(
            content=[types.TextContent(text=clean(text_of(value, found)))],
            structured_content=found,
        )

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            given = self._form.read(dict(arguments), ())
        except Misfit as exc:
            raise InvalidInput(
                "arguments_invalid", f"{self.name}: {exc.message}", hint=exc.cure
            ) from None
        needs = self._form.needs
        return {key: value for key, value in given.items() if value is not None or key in needs}


def _input_schema(form: Group) -> dict[str, Any]:
    """As the protocol wants it, and no longer than it must be: agents pay for every word, and what
    a tool does not take is refused by name in any case."""
    schema = {**form.schema(), "type": "object"}
    del schema["additionalProperties"]
    return schema


class SpaceServer:
    """What answers for one space, to one connection."""

    def __init__(self, space: Space, call: HandOver) -> None:
        self._space = space
        self._call = call
        self._offered: dict[str, Offered] = {}

    def look(self) -> dict[str, Offered]:
        """The tools of the space as it is declared now."""
        self._offered = {tool.__name__: Offered(tool) for tool in self._space.tools()}
        return self._offered

    async def list_tools(
        self,
        _asked: Asked,
        _params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        offered = await self._call(self.look)
        return types.ListToolsResult(tools=[each.shown for each in offered.values()])

    async def call_tool(
        self, _asked: Asked, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        name = ALIASES.get(params.name, params.name)
        if name not in self._offered:
            await self._call(self.look)
        if name not in self._offered:
            raise MCPError(
                code=types.INVALID_PARAMS,
                message=f"{params.name[:100]!r} is no tool of {self._space.name}; "
                f"it has {', '.join(self._offered)}",
            )
        return await self._call(self._offered[name], params.arguments or {})


def refusal(error: HoldfastError) -> types.CallToolResult:
    said = {"code": error.code, "message": error.message, "hint": error.hint}
    return types.CallToolResult(
        content=[types.TextContent(text=clean(f"{error} [{error.code}]"))],
        structured_content={"error": said},
        is_error=True,
    )


def clean(text: str) -> str:
    """Half a character (a lone surrogate) has no place in a message."""
    return text.encode(errors="replace").decode()


def instructions(space: Space, budget: int | None) -> str:
    """What an agent is told before it asks: the context that its session began with."""
    context = space.context(budget)
    return clean("\n\n".join(filter(None, (INTRODUCTION.format(space=space.name), context.text))))


def server_for(space: Space, call: HandOver, told: str) -> Server[Any]:
    quiet = logging.getLogger("mcp")  # what it logs may quote what is remembered
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    answers = SpaceServer(space, call)
    return Server(
        NAME,
        version=holdfast.__version__,
        instructions=told,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
    )
