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
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache

import httpx2

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


def receive(config: ModelConfig, key: str | None, seconds: float, asked: str | None = None) -> bytes:
    """Return the body of the response to what is `asked` for (JSON), or else of the list of models.

    Raises NoAnswer, after `seconds` of wall time at the latest, and ModelError for a body of more than
    `max_answer_bytes`.
    """
    timeout = httpx2.Timeout(seconds, connect=min(seconds, config.connect_timeout_s))
    most = config.max_answer_bytes
    headers = {"accept-encoding": "identity", "content-type": "application/json"}
    headers |= {"authorization": f"Bearer {key}"} if key else {}
    method, path = ("GET", "models") if asked is None else ("POST", "chat/completions")
    clients: list[httpx2.Client] = []

    def work() -> bytes:
        proxies = not config.is_local  # none to this machine
        with httpx2.Client(verify=_tls(), timeout=timeout, headers=headers, trust_env=proxies) as http:
            clients.append(http)
            with http.stream(method, f"{config.base_url}/{path}", content=asked) as response:
                _refuse(response, most)
                return _body(response, most)

    try:
        return left_alone(work).result(seconds)
    except (NoAnswer, ModelError):
        raise
    except concurrent.futures.TimeoutError:
        raise NoAnswer("the whole response took too long", late=True) from None
    except Exception as error:  # whatever a server, a proxy or an address can make the library raise
        late = isinstance(error, httpx2.TimeoutException)
        raise NoAnswer(str(error) or type(error).__name__, late=late) from error
    finally:
        for http in clients:
            http.close()  # the thread ends with its connection


def _refuse(response: httpx2.Response, most: int) -> None:
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
