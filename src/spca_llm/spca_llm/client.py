"""Answers from any OpenAI-compatible chat-completions API (OpenAI, vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

import difflib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx2
import openai

from spca_core.errors import BudgetExhausted, InputError
from spca_core.ports.chat import Role
from spca_core.ports.proposer import ModelError
from spca_llm.answer import answer_from, whole
from spca_llm.config import LlmConfig, ModelConfig
from spca_llm.exchange import Answer, Attempt, Request
from spca_llm.prices import PriceTable, load_prices
from spca_llm.schema import described, enforced, grammar_of
from spca_llm.transport import BoundedClient, TooLong, retry_after, retrying, without

_NOT_SUPPORTED = (400, 404, 415, 422, 501)
"""What servers answer to a `response_format` they do not know."""


class OpenAISource:
    """One connection per role.

    Keys come from the environment and go nowhere but into the request's header.
    """

    def __init__(
        self, config: LlmConfig, prices: PriceTable | None = None, env: Mapping[str, str] = os.environ
    ) -> None:
        self.config = config
        self.prices = prices or load_prices(config.prices)
        self._env = env
        self._clients: dict[Role, openai.OpenAI] = {}
        self._schema_in_prompt: set[Role] = set()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys in use, to be kept out of records."""
        names = {c.key_variable for c in self.config.roles.values() if c.key_variable}
        return tuple(self._env[name] for name in sorted(names) if self._env.get(name))

    def model_of(self, role: Role) -> tuple[str, str]:
        """The name of a role's model, and its server's address. Raises InputError when the role has none."""
        config = self.config.role(role)
        return config.model, config.base_url

    def ask(self, request: Request, seconds: float | None, note: Callable[[Attempt], None]) -> Answer:
        """See `Source.ask`."""
        config = self.config.role(request.role)
        if request.json_schema is not None and config.structured in ("gbnf", "vllm"):
            config = _with_grammar(config, request.json_schema)
        if not self._enforces(request, config):
            return self._ask_in_prompt(request, config, seconds, note)
        began = time.monotonic()
        body = self._body(config, list(request.messages), enforced(request))
        try:
            answer = self._post(request.role, body, seconds, note)
        except openai.APIStatusError as error:
            if config.structured != "auto" or error.status_code not in _NOT_SUPPORTED:
                raise self._explained(error, config) from error
            left = None if seconds is None else seconds - (time.monotonic() - began)
            answer = self._ask_in_prompt(request, config, left, note)
            self._schema_in_prompt.add(
                request.role
            )  # the retry succeeded, so the response_format was the cause
            return answer
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise self._explained(error, config) from error
        if config.structured == "auto" and answer.finish_reason == "stop" and "{" not in answer.text:
            self._schema_in_prompt.add(request.role)  # some servers take a response_format and ignore it
        return answer

    def preflight(self, roles: Sequence[Role]) -> None:
        """Reach every server once.

        Raises InputError: unreachable, key rejected, no such model, unknown price.
        """
        for role in roles:
            config = self.config.role(role)
            self._check_price(role, config)
            try:
                client = self._client(role).with_options(timeout=config.connect_timeout_s)
                known = [model.id for model in client.models.list().data]
            except openai.NotFoundError:
                continue  # a server need not list its models
            except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
                raise self._explained(error, config) from error
            except (openai.OpenAIError, httpx2.HTTPError, ValueError, AttributeError, TypeError) as error:
                raise InputError(
                    f"cannot reach the language-model server of role '{role}'",
                    where=config.base_url,
                    hint=f"start it, or correct base_url ({self._clean(error)})",
                ) from error
            _check_model(config, role, known)

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _enforces(self, request: Request, config: ModelConfig) -> bool:
        return (
            request.json_schema is not None
            and config.structured in ("auto", "json_schema")
            and request.role not in self._schema_in_prompt
        )

    def _ask_in_prompt(
        self, request: Request, config: ModelConfig, seconds: float | None, note: Callable[[Attempt], None]
    ) -> Answer:
        """Ask without a schema, or with one that is only described in the prompt."""
        schema = request.json_schema is not None
        wanted = {"type": "json_object"} if schema and config.structured == "json_object" else None
        body = self._body(config, described(request) if schema else list(request.messages), wanted)
        try:
            return self._post(request.role, body, seconds, note)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise self._explained(error, config) from error

    def _body(self, config: ModelConfig, messages: list[Any], response_format: Any) -> dict[str, Any]:
        limit = "max_completion_tokens" if config.is_openai else "max_tokens"  # the name other servers know
        optional = {
            "response_format": response_format,
            "temperature": config.temperature,
            limit: config.max_output_tokens,
            "extra_body": config.extra or None,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        return {"model": config.model, "messages": messages, **given}

    def _post(
        self, role: Role, body: dict[str, Any], seconds: float | None, note: Callable[[Attempt], None]
    ) -> Answer:
        """One request with its retries. Raises what the last try raised."""
        config, client = self.config.role(role), self._client(role)
        until = None if seconds is None else time.monotonic() + seconds
        for attempt in retrying(config, seconds):
            with attempt:
                left = config.timeout_s if until is None else min(config.timeout_s, until - time.monotonic())
                if left <= 0:
                    raise BudgetExhausted("the level's time for language models is over")
                began, status, problem = time.monotonic(), None, ""
                try:
                    content = _receive(client, body, left, config)
                    status = 200
                    return self._priced(answer_from(content, json.dumps(body)), config)
                except (openai.OpenAIError, httpx2.HTTPError, ModelError) as error:
                    status, problem = getattr(error, "status_code", status), self._clean(error)
                    raise
                finally:
                    note(Attempt(status=status, problem=problem, seconds=time.monotonic() - began))
        raise AssertionError("tenacity returns or raises")

    def _priced(self, answer: Answer, config: ModelConfig) -> Answer:
        """The same with its cost.

        The cost is 0 where the table has no price, and for a local server unless the user has set a price.
        """
        free = config.is_local and self.config.prices is None
        price = None if free else self.prices.of(answer.model) or self.prices.of(config.model)
        if price is None:
            return answer
        usd = price.cost(answer.input_tokens, answer.output_tokens, answer.cached_tokens)
        return answer.model_copy(update={"usd": usd})

    def _client(self, role: Role) -> openai.OpenAI:
        if role not in self._clients:
            config = self.config.role(role)
            self._clients[role] = openai.OpenAI(
                base_url=config.base_url,
                api_key=config.api_key(self._env) or "none",
                max_retries=0,  # ours are bounded, recorded and honour Retry-After
                http_client=BoundedClient(
                    config.max_answer_bytes,
                    lambda: self.secrets,
                    trust_env=not config.is_local,  # no proxy to this machine
                ),
            )
        return self._clients[role]

    def _explained(self, error: Exception, config: ModelConfig) -> Exception:
        """The failure as a user or a proposer should see it: one line, no key."""
        who, why = f"model '{config.model}' at {config.base_url}", self._clean(error)
        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
            hint = (
                f"check the key in {config.key_variable}"
                if config.key_variable
                else "name a key in api_key_env"
            )
            return InputError(f"the server rejected the request of {who}", where=why, hint=hint)
        if isinstance(error, openai.NotFoundError):
            return InputError(f"the server does not know {who}", where=why, hint="check model and base_url")
        if isinstance(error, openai.APIStatusError):
            asked = retry_after(error)
            if asked is not None and asked > config.max_wait_s:
                why += f"; it asks to wait {asked:.0f} s, more than max_wait_s"
            if error.status_code == 429:
                return ModelError(f"{who} is too busy: {why}", "busy")
            if 300 <= error.status_code < 400:
                why = "redirects are not followed; correct base_url"
            kind = "broken" if error.status_code >= 500 else "rejected"
            return ModelError(f"{who} answered with status {error.status_code}: {why}", kind)
        if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
            return ModelError(f"{who} did not answer within {config.timeout_s:g} s", "timeout")
        return ModelError(f"no connection to {who}: {why}", "unreachable")

    def _clean(self, error: Exception) -> str:
        """An error's words in one line, without keys."""
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
        body = error.body if isinstance(error, openai.APIStatusError) else None
        text = body.get("message") if isinstance(body, dict) else None
        line = whole(" ".join(str(text or cause or error or type(error).__name__).split()))
        return without(self.secrets, line)[:300]

    def _check_price(self, role: Role, config: ModelConfig) -> None:
        if self.config.budget.usd is None or config.is_local or self.prices.of(config.model):
            return
        raise InputError(
            f"a budget in US dollars, but no price for model '{config.model}' (role '{role}')",
            where="prices",
            hint="add it to the price table, or set a budget in tokens instead",
        )


def _with_grammar(config: ModelConfig, schema: dict[str, Any]) -> ModelConfig:
    """The same with a grammar among the fields that are sent, in the dialect of its server.

    A schema that has no grammar is left to the server to enforce.
    """
    field = {"grammar": grammar_of(schema)}
    if not field["grammar"]:
        return config.model_copy(update={"structured": "json_schema"})
    sent = field if config.structured == "gbnf" else {"structured_outputs": field}
    return config.model_copy(update={"extra": {**config.extra, **sent}})


def _receive(client: openai.OpenAI, body: dict[str, Any], seconds: float, config: ModelConfig) -> bytes:
    """The body of the answer, whole.

    Raises ModelError when it is too long.
    """
    timeout = openai.Timeout(seconds, connect=min(seconds, config.connect_timeout_s))
    try:
        return client.chat.completions.with_raw_response.create(**body, timeout=timeout).content
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, TooLong):
            raise ModelError(str(error.__cause__), "truncated") from error
        raise


def _check_model(config: ModelConfig, role: Role, known: list[str]) -> None:
    """Ollama lists `llama3:latest` and answers to `llama3`."""
    if not config.check_model or not known:
        return
    if any(name == config.model or name.startswith(f"{config.model}:") for name in known):
        return
    near = difflib.get_close_matches(config.model, known, n=3, cutoff=0.4) or known[:5]
    raise InputError(
        f"the server has no model '{config.model}' (role '{role}')",
        where=config.base_url,
        hint=f"it has {', '.join(near)}",
    )
