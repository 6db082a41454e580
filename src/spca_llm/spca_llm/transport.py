"""HTTP to a language-model server, where one deadline and one limit bound the whole of every response.

Timeouts of HTTP libraries bound the wait for the next bytes, so a server that sends some now and then can
hold a client for ever: in headers, in interim responses (100 Continue), in the body of an error. Here every
read of the connection takes from one account. Redirects are not followed: a prompt goes where the
configuration says. It also says which failures are worth a retry, and after which wait.
"""

from __future__ import annotations

import json
import math
import random
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, TypeVar

import httpcore2
import httpx2
import openai
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from spca_llm.config import ModelConfig
from spca_llm.exchange import HIDDEN

_T = TypeVar("_T")
_tls = cache(httpx2.create_ssl_context)  # 30 ms to load the certificates
_TRANSIENT = (408, 409, 425, 429)
_SPENT = ("insufficient_quota", "billing_hard_limit_reached")


class TooLong(httpx2.TransportError):
    """A response has more bytes than it may have."""


class _Account:
    """Remaining allowance of one response: wall seconds until a deadline, and bytes."""

    def __init__(self, seconds: float, size: int) -> None:
        self._until, self._size, self._left = time.monotonic() + seconds, size, size

    def wait(self, timeout: float | None) -> float:
        """Return how long the next step may take. Raises ReadTimeout when nothing is left."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the whole response took too long")
        return left if timeout is None else min(timeout, left)

    def take(self, data: bytes) -> bytes:
        """Count received bytes. Raises TooLong."""
        self._left -= len(data)
        if self._left < 0:
            raise TooLong(f"the answer is longer than {self._size} bytes")
        return data


_account: ContextVar[_Account] = ContextVar("account of a response")


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        account = _account.get()
        return account.take(self._inner.read(max_bytes, account.wait(timeout)))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _account.get().wait(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        wait = _account.get().wait(timeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, wait))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    def connect_tcp(  # type: ignore[override]
        self, host: str, port: int, timeout: float | None = None, **more: Any
    ) -> httpcore2.NetworkStream:
        """Connect; the look-up of the name counts, too, though the system's function takes no time limit."""
        wait = _account.get().wait(timeout)
        connect = super().connect_tcp
        return _Stream(_within(wait, lambda: connect(host, port, wait, **more)))


class _Whole(httpx2.BaseTransport):
    """Receives each response whole before anybody sees it, without the `secrets` that it may echo."""

    def __init__(self, inner: httpx2.HTTPTransport, size: int, secrets: Callable[[], Iterable[str]]) -> None:
        inner._pool._network_backend = _Backend()  # httpx has no parameter for it
        self._inner, self._size, self._secrets = inner, size, secrets

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        timeouts = request.extensions.get("timeout", {})
        account = _account.set(_Account(timeouts.get("read") or 60.0, self._size))
        request.headers["accept-encoding"] = "identity"  # what is packed may be any size unpacked
        try:
            response = self._inner.handle_request(request)
            try:
                body = b"".join(response.stream)  # type: ignore[arg-type]
            finally:
                response.close()
        finally:
            _account.reset(account)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.RemoteProtocolError("the answer is compressed, which nobody asked for")
        secrets = tuple(self._secrets())
        kept = [(name, without(secrets, value)) for name, value in response.headers.multi_items()
                if name not in ("content-length", "transfer-encoding")]  # fmt: skip
        return httpx2.Response(response.status_code, headers=kept, content=_redacted(secrets, body))

    def close(self) -> None:
        self._inner.close()


class BoundedClient(httpx2.Client):
    """A client whose `timeout` is that of a whole response, of at most `size` bytes.

    `secrets` are blotted out of all that comes in.
    """

    def __init__(self, size: int, secrets: Callable[[], Iterable[str]], *, trust_env: bool) -> None:
        self._of_each = (size, secrets)
        super().__init__(trust_env=trust_env, follow_redirects=False)

    def _init_transport(self, *arguments: Any, **options: Any) -> httpx2.BaseTransport:
        trust_env = options.get("trust_env", True)
        return _Whole(httpx2.HTTPTransport(_tls(trust_env=trust_env), trust_env=trust_env), *self._of_each)

    def _init_proxy_transport(self, proxy: Any, *arguments: Any, **options: Any) -> httpx2.BaseTransport:
        return _Whole(httpx2.HTTPTransport(_tls(), proxy=proxy), *self._of_each)


def without(secrets: Iterable[str], text: str) -> str:
    """A text in which no key stands.

    >>> without(["sk-1"], "Incorrect API key: sk-1")
    'Incorrect API key: [key]'
    """
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def _redacted(secrets: Iterable[str], body: bytes) -> bytes:
    """A body without keys, however JSON may have escaped them."""
    if not secrets:
        return body
    try:
        return json.dumps(_walked(secrets, json.loads(body))).encode()
    except (ValueError, RecursionError):
        return without(secrets, body.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _walked(secrets: Iterable[str], value: Any) -> Any:
    if isinstance(value, str):
        return without(secrets, value)
    if isinstance(value, list):
        return [_walked(secrets, part) for part in value]
    if isinstance(value, dict):
        return {without(secrets, name): _walked(secrets, part) for name, part in value.items()}
    return value


def _within(seconds: float, work: Callable[[], _T]) -> _T:
    """Return or raise what `work` does, or ConnectTimeout; work that takes longer is left to itself."""
    done: list[_T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise httpcore2.ConnectTimeout("no connection in time")
    return done[0]


def retrying(config: ModelConfig, seconds: float | None) -> Retrying:
    """Retry as the role allows, within `seconds` of wall time; raise the last failure unchanged."""
    stop = stop_after_attempt(config.attempts)
    return Retrying(
        retry=retry_if_exception(lambda error: worth_retrying(error, config.max_wait_s)),
        wait=lambda state: _wait(state, config),
        stop=stop if seconds is None else stop | stop_before_delay(seconds),
        reraise=True,
    )


def worth_retrying(error: BaseException, max_wait_s: float) -> bool:
    """Return whether the same request may succeed a little later."""
    if isinstance(error, (openai.APIConnectionError, httpx2.TransportError)):
        return True
    if not isinstance(error, openai.APIStatusError) or error.code in _SPENT:
        return False
    transient = error.status_code >= 500 or error.status_code in _TRANSIENT
    return transient and (retry_after(error) or 0.0) <= max_wait_s


def retry_after(error: BaseException | None) -> float | None:
    """The seconds that the server asks to wait, from its `Retry-After` (seconds or a date), or None."""
    if not isinstance(error, openai.APIStatusError):
        return None
    text = error.response.headers.get("retry-after", "")
    with suppress(ValueError):
        seconds = float(text)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(TypeError, ValueError, OverflowError, OSError):  # dates that no clock can show
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    return None


def _wait(state: RetryCallState, config: ModelConfig) -> float:
    error = state.outcome.exception() if state.outcome else None
    backoff = config.wait_s * 2 ** (state.attempt_number - 1) * random.uniform(0.75, 1.25)
    return min(max(backoff, retry_after(error) or 0.0), config.max_wait_s)
