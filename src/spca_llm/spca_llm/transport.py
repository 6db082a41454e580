"""HTTP to a language-model server: one response, bounded from outside in wall time and in size.

Timeouts of HTTP libraries bound the wait for the next bytes, so a server that sends some now and then can
hold a client for ever: in headers, in interim responses (100 Continue), in a body. Here a thread receives,
and its owner leaves when the time is up. Redirects are not followed: a prompt goes where the configuration
says.
"""

from __future__ import annotations

import concurrent.futures
import json
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any

import httpx2
import openai

from spca_core.ports.proposer import ModelError
from spca_core.stopping import left_alone
from spca_llm.config import ModelConfig

_tls = cache(httpx2.create_ssl_context)  # 30 ms to load the certificates


class NoAnswer(Exception):
    """A request that brought no usable response.

    `status` is the response's (None without one), `code` the server's own word, `wait_s` how long it asks to
    wait; `late` says that the time was up.
    """

    def __init__(
        self, words: str, status: int | None = None, code: str = "", wait_s: float = 0.0, late: bool = False
    ) -> None:
        super().__init__(words)
        self.status, self.code, self.wait_s, self.late = status, code, wait_s, late


def receive(
    config: ModelConfig, key: str | None, seconds: float, asked: Mapping[str, Any] | None = None
) -> bytes:
    """Return the body of the response to a chat completion that is `asked` for, or else the list of models.

    Raises NoAnswer, after `seconds` of wall time at the latest, and ModelError for a body of more than
    `max_answer_bytes`.
    """
    timeout = httpx2.Timeout(seconds, connect=min(seconds, config.connect_timeout_s))
    most = config.max_answer_bytes
    clients: list[httpx2.Client] = []

    def work() -> bytes:
        with httpx2.Client(
            verify=_tls(), timeout=timeout, headers={"accept-encoding": "identity"},
            trust_env=not config.is_local,  # no proxy to this machine
            event_hooks={"response": [partial(_refuse, most)]},
        ) as http:  # fmt: skip
            clients.append(http)
            client = openai.OpenAI(
                base_url=config.base_url, http_client=http, max_retries=0,
                api_key=key or "none",  # it insists on one, which goes nowhere
            )  # fmt: skip
            unsigned = {} if key else {"Authorization": openai.Omit()}
            answering: Any
            if asked is None:
                answering = client.models.with_streaming_response.list(extra_headers=unsigned)
            else:
                more = {name: value for name, value in asked.items() if name not in ("model", "messages")}
                answering = client.chat.completions.with_streaming_response.create(
                    model=asked["model"], messages=asked["messages"], extra_body=more, extra_headers=unsigned
                )
            with answering as response:
                return _body(response.http_response, most)

    try:
        return left_alone(work).result(seconds)
    except concurrent.futures.TimeoutError:
        raise NoAnswer("the whole response took too long", late=True) from None
    except Exception as error:  # whatever a server, a proxy or an address can make the library raise
        raise _no_answer(error) from None
    finally:
        for http in clients:
            http.close()  # the thread ends with its connection


def _no_answer(error: Exception) -> Exception:
    """Return what is behind an error of the library."""
    cause = error.__cause__ if isinstance(error, openai.APIError) and error.__cause__ is not None else error
    if isinstance(cause, (NoAnswer, ModelError)):
        return cause
    return NoAnswer(str(cause) or type(cause).__name__, late=isinstance(cause, httpx2.TimeoutException))


def _refuse(most: int, response: httpx2.Response) -> None:
    """Raise what the server says in place of an answer."""
    if not response.is_success:
        words, code = _told(_body(response, most))
        raise NoAnswer(words, response.status_code, code, _asked_to_wait(response.headers))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise NoAnswer("the answer is compressed, which nobody asked for")


def _body(response: httpx2.Response, most: int) -> bytes:
    """Return a body as it was sent: what is packed may be any size unpacked."""
    body = b""
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > most:
            raise ModelError(f"the answer is longer than {most} bytes", "truncated")
    return body


def _told(body: bytes) -> tuple[str, str]:
    """Return message and code of an error, as far as its body is of the usual form."""
    with suppress(ValueError, RecursionError):
        value = json.loads(body)
        error = value.get("error", value) if isinstance(value, dict) else value
        if isinstance(error, dict):
            return str(error.get("message") or ""), str(error.get("code") or "")
    return body.decode(errors="replace"), ""


def _asked_to_wait(headers: httpx2.Headers) -> float:
    """Return the seconds of `Retry-After` (a number or a date); 0 without one that makes sense."""
    text = headers.get("retry-after", "")
    with suppress(ValueError):
        seconds = float(text)
        return max(0.0, seconds) if math.isfinite(seconds) else 0.0
    with suppress(TypeError, ValueError, OverflowError, OSError):  # dates that no clock can show
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    return 0.0
