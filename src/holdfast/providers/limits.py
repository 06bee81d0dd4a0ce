"""A connection that ends: so many bytes of an answer, so much time for all of it.

A time-out of the connection counts from one piece to the next, so a service that sends a byte now
and then would hold a reviewer for ever; and nothing bounds what it may send. Redirects are not
followed: they would carry the key elsewhere. What the SDKs add to a request from the environment
and about the machine is left out: only what was configured is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANSWER_BYTES_MAX = 4 * 1024 * 1024
CONNECT_S = 10.0
_HEADERS = frozenset(
    (
        "accept",
        "accept-encoding",
        "anthropic-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    )
)
_KEY_HEADERS = frozenset(("authorization", "x-api-key"))


class _Bounded(httpx2.SyncByteStream):
    def __init__(
        self, stream: httpx2.SyncByteStream, until_us: int, clock: Callable[[], int]
    ) -> None:
        self._stream, self._until_us, self._clock = stream, until_us, clock

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for piece in self._stream:
            count += len(piece)
            if count > ANSWER_BYTES_MAX:
                raise httpx2.RemoteProtocolError("the answer is too long")
            if self._clock() > self._until_us:
                raise httpx2.ReadTimeout("the answer takes too long")
            yield piece

    def close(self) -> None:
        self._stream.close()


class BoundedTransport(httpx2.HTTPTransport):
    def __init__(self, timeout_s: float, clock: Callable[[], int], names: frozenset[str]) -> None:
        super().__init__()
        self._timeout_s, self._clock, self._names = timeout_s, clock, names

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        sent = httpx2.Request(
            request.method,
            request.url,
            headers=[(n, v) for n, v in request.headers.items() if n.lower() in self._names],
            stream=request.stream,
            extensions=request.extensions,
        )
        until_us = self._clock() + int(self._timeout_s * 1_000_000)
        response = super().handle_request(sent)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, until_us, self._clock)
        return response


def http_client(timeout_s: float, clock: Callable[[], int], *, with_key: bool) -> httpx2.Client:
    """What both services are asked with. `clock` gives microseconds that never go back."""
    names = _HEADERS | _KEY_HEADERS if with_key else _HEADERS
    return httpx2.Client(
        transport=BoundedTransport(timeout_s, clock, names),
        timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        follow_redirects=False,
    )
