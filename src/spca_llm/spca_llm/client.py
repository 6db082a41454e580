"""Answers from any OpenAI-compatible chat-completions API (OpenAI, vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spca_core.errors import BudgetExhausted, InputError, did_you_mean
from spca_core.ports.chat import Message, Role
from spca_core.ports.proposer import ModelError
from spca_llm.answer import answer_from, whole
from spca_llm.config import LlmConfig, ModelConfig, PriceTable, load_prices
from spca_llm.exchange import HIDDEN, Answer, Attempt, Request, described, enforced
from spca_llm.transport import NoAnswer, receive

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
