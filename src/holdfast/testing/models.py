"""A service of language models that lives in a thread and says what it is told to.

It speaks the wire of OpenAI's chat completions and of Anthropic's messages, keeps what it was sent,
and fails on demand: with a status, with bytes that are no answer, with an answer that breaks off,
that drips without end, or that never comes. No sleeping: what waits, waits for the client to go.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from holdfast.model.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Literal, Self

    Manner = Literal["whole", "broken off", "dripping", "silent"]


class Reply(Value):
    """What the service says to one request. `text` is the model's answer; `body` replaces all."""

    text: str = '{"suggestions": []}'
    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    manner: Manner = "whole"
    usage: Mapping[str, Any] | None = None
    finish: str = ""


class Request(Value):
    """What the service was sent."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class FakeModels:
    """`with FakeModels(Reply(…), …) as service:` answers in this order; the last one repeats.

    `asked` is set once a request came; with a `gate`, answers wait until it is set.
    """

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies) or [Reply()]
        self._lock, self._over = Lock(), Event()
        self.requests: list[Request] = []
        self.asked, self.gate = Event(), Event()
        self.gate.set()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                service._answer(self)

            def log_message(self, format: str, *args: object) -> None:
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        self._over.set()
        self.gate.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        sent = http.rfile.read(int(http.headers.get("content-length", "0")))
        with self._lock:
            self.requests.append(
                Request(path=http.path, headers=dict(http.headers.items()), body=json.loads(sent))
            )
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        self.asked.set()
        self.gate.wait()
        if reply.manner == "silent":
            self._over.wait()
            return
        body = reply.body if reply.body is not None else _body(http.path, reply)
        try:
            self._send(http, reply, body)
        except OSError:  # the client has gone, as it should from what drips
            http.close_connection = True

    def _send(self, http: BaseHTTPRequestHandler, reply: Reply, body: bytes) -> None:
        http.send_response(reply.status)
        length = len(body) * (1 if reply.manner == "whole" else 1_000)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(length),
            **reply.headers,
        }.items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(body)
        http.wfile.flush()
        if reply.manner == "dripping":
            while not self._over.is_set():
                http.wfile.write(b" ")
                http.wfile.flush()
        http.close_connection = http.close_connection or reply.manner != "whole"


def _body(path: str, reply: Reply) -> bytes:
    made = _anthropic(reply) if path.endswith("/messages") else _openai(reply)
    if reply.status >= 400:
        made = {"error": {"message": "no", "type": "error"}}
    return json.dumps(made).encode()


def _openai(reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "c1",
        "object": "chat.completion",
        "model": "fake-1",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish or "stop"}],
        "usage": reply.usage or {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def _anthropic(reply: Reply) -> dict[str, Any]:
    try:
        block = {
            "type": "tool_use",
            "id": "t1",
            "name": "suggestions",
            "input": json.loads(reply.text),
        }
    except ValueError:
        block = {"type": "text", "text": reply.text}
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "fake-1",
        "content": [block],
        "stop_reason": reply.finish or "tool_use",
        "usage": reply.usage or {"input_tokens": 11, "output_tokens": 7},
    }
