"""Answers from any OpenAI-compatible chat-completions API (OpenAI, vLLM, Ollama, llama.cpp).

A response is bounded from outside in wall time and in size. Timeouts of HTTP libraries bound the wait for the
next bytes, so a server that sends some now and then can hold a client for ever: in headers, in interim
responses (100 Continue), in a body. Here a thread receives, and its owner leaves when the time is up.
Redirects are not followed: a prompt goes where the configuration says.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import json
import math
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any

import httpx2
import openai

from spca_core.errors import BudgetExhausted, InputError, did_you_mean
from spca_core.ports.chat import Message, Role
from spca_core.ports.proposer import ModelError
from spca_core.stopping import left_alone
from spca_llm.answer import answer_from, whole
from spca_llm.config import LlmConfig, ModelConfig, PriceTable, load_prices
from spca_llm.exchange import HIDDEN, Answer, Attempt, Request, described, enforced

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


_NOT_SUPPORTED = (400, 404, 415, 422, 501)
"""Statuses by which servers answer to a `response_format` they do not know."""
_REJECTED = (401, 403)
_TRANSIENT = (408, 409, 425, 429)
_SPENT = ("insufficient_quota", "billing_hard_limit_reached")


class OpenAISource:
    """A server for each role. Keys come from the environment and go nowhere but into a request's header.

    A schema is enforced by the server, or described in the prompt where a server does not know how to.
    """

    def __init__(
        self, config: LlmConfig, prices: PriceTable | None = None, env: Mapping[str, str] = os.environ
    ) -> None:
        self.config = config
        self.prices = prices or load_prices(config.prices)
        self._env = env
        self._schema_in_prompt: set[Role] = set()
        self._answered: set[str] = set()
        """Addresses of servers that have answered as such: a web page of theirs is a passing fault."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys in use, to be kept out of records."""
        names = {c.key_variable for c in self.config.roles.values() if c.key_variable}
        return tuple(self._env[name] for name in sorted(names) if self._env.get(name))

    def model_of(self, role: Role) -> tuple[str, str]:
        """Return the name of a role's model, and its server's address. Raises InputError if it has none."""
        config = self.config.role(role)
        return config.model, config.base_url

    def ask(self, request: Request, seconds: float | None, note: Callable[[Attempt], None]) -> Answer:
        """Return the answer, within `seconds` of wall time; every try is reported to `note`.

        Raises ModelError when there is none, and InputError when the request or the configuration is wrong.
        """
        config, role = self.config.role(request.role), request.role
        until = None if seconds is None else time.monotonic() + seconds
        in_words = role in self._schema_in_prompt
        try:
            if request.json_schema is None or in_words:
                answer = self._post(config, described(request), {}, until, note)
                return answer.model_copy(update={"in_words": in_words and request.json_schema is not None})
            try:
                answer = self._post(config, request.messages, enforced(request), until, note)
                in_words = answer.finish_reason == "stop" and "{" not in answer.text
            except NoAnswer as error:
                if error.status not in _NOT_SUPPORTED:
                    raise
                answer, in_words = self._post(config, described(request), {}, until, note), True
            if in_words:
                self._schema_in_prompt.add(role)
            return answer.model_copy(update={"in_words": in_words})
        except NoAnswer as error:
            raise self._explained(error, config) from error

    def preflight(self, roles: Sequence[Role]) -> None:
        """Reach every server once.

        Raises InputError: unreachable, key rejected, no such model, unknown price.
        """
        for role in roles:
            config = self.config.role(role)
            self._check_price(role, config)
            try:
                key = config.api_key(self._env)
                listed = json.loads(receive(config, key, config.connect_timeout_s))
                known = [self._clean(model["id"]) for model in listed["data"]]
            except (NoAnswer, ModelError, ValueError, LookupError, TypeError, RecursionError) as error:
                status = error.status if isinstance(error, NoAnswer) else None
                if status in (404, 405, 501):
                    continue  # a server need not list its models
                if isinstance(error, NoAnswer) and status in _REJECTED:
                    raise self._explained(error, config) from error
                what = f"cannot reach the language-model server of role '{role}'"
                hint = f"start it, or correct base_url ({self._clean(error)})"
                raise InputError(what, where=config.base_url, hint=hint) from error
            _check_model(config, role, known)

    def _post(
        self,
        config: ModelConfig,
        messages: Sequence[Message],
        response_format: dict[str, Any],
        until: float | None,
        note: Callable[[Attempt], None],
    ) -> Answer:
        """Send one request with its retries, until `until` (monotonic s). Raises what the last try raised."""
        limit = "max_completion_tokens" if config.is_openai else "max_tokens"  # the name other servers know
        optional = {"temperature": config.temperature, limit: config.max_output_tokens}
        given = {name: value for name, value in optional.items() if value is not None}
        body = {"model": config.model, "messages": list(messages), **response_format, **given, **config.extra}
        sent, key = json.dumps(body, default=str), config.api_key(self._env)
        asked = json.loads(sent)
        for attempt in itertools.count(1):
            began = time.monotonic()
            left = config.timeout_s if until is None else min(config.timeout_s, until - began)
            if left <= 0:
                raise BudgetExhausted("the level's time for language models is over")
            status, problem, wait_s = None, "", 0.0
            try:
                content = receive(config, key, left, asked)
                status = 200
                if config.base_url not in self._answered and content.lstrip()[:1] == b"<":
                    problem = "the server answers with a web page"
                    raise InputError(problem, where=config.base_url, hint="correct base_url")
                answer = answer_from(content, sent)
                self._answered.add(config.base_url)
                return self._priced(answer, config)
            except (NoAnswer, ModelError) as error:
                status, problem = getattr(error, "status", status), self._clean(error)
                wait_s = config.wait_s * 2 ** min(attempt - 1, 20) * random.uniform(0.75, 1.25)
                wait_s = max(min(wait_s, config.max_wait_s), getattr(error, "wait_s", 0.0))
                overdue = until is not None and time.monotonic() + wait_s >= until
                if overdue or attempt >= config.attempts or not _worth_retrying(error, config):
                    raise
            finally:
                note(Attempt(status=status, problem=problem, seconds=time.monotonic() - began))
            time.sleep(min(wait_s, config.max_wait_s))
        raise AssertionError("unreachable")

    def _priced(self, answer: Answer, config: ModelConfig) -> Answer:
        """Return the answer without keys, and with its cost in US dollars.

        The cost is 0 where the table has no price, and for a local server unless the user has set a price.
        """
        texts = {name: self._without_keys(value) for name, value in answer if isinstance(value, str)}
        answer, free = answer.model_copy(update=texts), config.is_local and self.config.prices is None
        price = None if free else self.prices.of(answer.model) or self.prices.of(config.model)
        tokens = answer.input_tokens, answer.output_tokens, answer.cached_tokens
        return answer.model_copy(
            update={"usd": price.cost(*tokens) if price else 0.0, "priced": free or price is not None}
        )

    def _explained(self, error: NoAnswer, config: ModelConfig) -> Exception:
        """Return the failure as a user or a proposer should see it: one line, no key."""
        who, why, status = f"model '{config.model}' at {config.base_url}", self._clean(error), error.status
        if error.late:
            return ModelError(f"{who} did not answer within {config.timeout_s:g} s", "timeout")
        if status is None:
            return ModelError(f"no connection to {who}: {why}", "unreachable")
        if status in _REJECTED:
            key = config.key_variable
            hint = f"check the key in {key}" if key else "name a key in api_key_env"
            return InputError(f"the server rejected the request of {who}", where=why, hint=hint)
        if status == 404:
            return InputError(f"the server does not know {who}", where=why, hint="check model and base_url")
        if 300 <= status < 400:
            hint = "redirects are not followed; correct base_url"
            return InputError(f"the server redirects the request of {who}", f"status {status}", hint)
        if error.wait_s > config.max_wait_s:
            why += f"; it asks to wait {error.wait_s:.0f} s, more than max_wait_s"
        if status == 429:
            return ModelError(f"{who} is too busy: {why}", "busy")
        kind = "broken" if status >= 500 else "rejected"
        return ModelError(f"{who} answered with status {status}: {why}", kind)

    def _clean(self, words: object) -> str:
        """Return an error's words, or a name, in one line, without keys."""
        text = str(words) or type(words).__name__
        return self._without_keys(whole(" ".join(text.split())))[:300]

    def _without_keys(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def _check_price(self, role: Role, config: ModelConfig) -> None:
        if self.config.budget.usd is None or config.is_local or self.prices.of(config.model):
            return
        what = f"a budget in US dollars, but no price for model '{config.model}' (role '{role}')"
        hint = "add it to the price table, or set a budget in tokens instead"
        raise InputError(what, where="prices", hint=hint)


def _worth_retrying(error: NoAnswer | ModelError, config: ModelConfig) -> bool:
    """Return whether the same request may succeed a little later."""
    if isinstance(error, ModelError) or error.code in _SPENT or error.wait_s > config.max_wait_s:
        return False
    return error.status is None or error.status >= 500 or error.status in _TRANSIENT


def _check_model(config: ModelConfig, role: Role, known: list[str]) -> None:
    """Raise InputError unless the server lists the model; Ollama lists `llama3:latest` for `llama3`."""
    if not config.check_model or not known:
        return
    if any(name == config.model or name.startswith(f"{config.model}:") for name in known):
        return
    hint = did_you_mean(config.model, known, 3, 0.4) or f"it has {', '.join(known[:5])}"
    raise InputError(f"the server has no model '{config.model}' (role '{role}')", config.base_url, hint)
