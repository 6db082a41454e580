"""A language-model server on loopback that speaks the OpenAI HTTP API and does what its script says.

>>> from spca_testing.models.behaviours import Say, Status
>>> with ModelServer([Status(500), Say("hello")]) as server:
...     address = server.base_url  # give this to the client under test
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from spca_testing.models.behaviours import Behaviour, Status
from spca_testing.models.wire import Wire


@dataclass(frozen=True)
class Seen:
    """A received request: decoded body, headers (lower-case names), and index of arrival from 0."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    index: int

    @property
    def text(self) -> str:
        """All text of its messages, for scripts that look for a word."""
        return "\n".join(_text(message.get("content")) for message in self.body.get("messages", ()))


class ModelServer:
    """Serves /v1/chat/completions and /v1/models on 127.0.0.1, on a free port, until it is closed.

    `script`: behaviours for one request after the other, or a function that chooses one for each. `models`
    are the names it lists (None: no such page; or how it behaves there); `api_key`, where given, is
    demanded; without `supports_schema` it answers 400 to any `response_format`, as an older server would.
    When the script has ended, the answer is status 400, which no client tries again.
    """

    def __init__(
        self,
        script: Sequence[Behaviour] | Callable[[Seen], Behaviour],
        models: Sequence[str] | Behaviour | None = ("test-model",),
        api_key: str | None = None,
        supports_schema: bool = True,
    ) -> None:
        self.models = models
        self.api_key = api_key
        self.supports_schema = supports_schema
        self.requests: list[Seen] = []
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """URL that a client is given as `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        """Stop; ends stalled answers too."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _behaviour(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Behaviour:
        if self.api_key is not None and headers.get("authorization") != f"Bearer {self.api_key}":
            return Status(401, f"Incorrect API key provided: {headers.get('authorization', '')}")
        with self._lock:
            seen = Seen(body, headers, len(self.requests))
            self.requests.append(seen)
            if not self.supports_schema and "response_format" in body:
                return Status(400, "unknown field: response_format")
            if callable(self._script):
                try:
                    return self._script(seen)
                except Exception as error:  # a client would only see a lost connection
                    return Status(400, f"the script of this test server failed: {error!r}")
            answered = [r for r in self.requests if self.supports_schema or "response_format" not in r.body]
            if len(answered) > len(self._script):
                return Status(400, "the script of this test server has ended")
            return self._script[len(answered) - 1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                wire = Wire(self, owner._closing)
                if self.path != "/v1/models" or owner.models is None:
                    Status(404, "no such page").answer(wire, {})
                elif owner.api_key and self.headers.get("authorization") != f"Bearer {owner.api_key}":
                    Status(401, "Incorrect API key provided").answer(wire, {})
                elif not isinstance(owner.models, Sequence):
                    owner.models.answer(wire, {})
                else:
                    listed = [
                        {"id": n, "object": "model", "created": 0, "owned_by": "test"} for n in owner.models
                    ]
                    wire.json(200, {"object": "list", "data": listed})

            def do_POST(self) -> None:
                wire = Wire(self, owner._closing)
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path != "/v1/chat/completions":
                    Status(404, "no such page").answer(wire, {})
                    return
                try:
                    body = json.loads(content)
                except ValueError:
                    Status(400, "the request is not JSON").answer(wire, {})
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                owner._behaviour(body, headers).answer(wire, body)

            def handle(self) -> None:
                with contextlib.suppress(
                    OSError, ValueError
                ):  # clients may go away, and scripts may cut them off
                    super().handle()

            def finish(self) -> None:
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

            def log_message(self, format: str, *args: Any) -> None:  # as the base class names it
                """Tests look at `requests` in place of a log."""

        return Handler


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")
