"""Server, model, key and limits of each role, from a YAML file and the environment.

A file has `defaults` for all roles, `roles`, and optionally `budget` and `prices` (a table of one's own):

    defaults: {base_url: "http://127.0.0.1:8000/v1"}
    roles:
      planner_big: {model: qwen3-32b, temperature: 0.2}
      coder: {model: qwen3-coder, timeout_s: 300}
    budget: {tokens: 200000, usd: 1.5, seconds: 900}

The environment wins over the file: `SPCA_LLM_MODEL` and `SPCA_LLM_BASE_URL` for all roles,
`SPCA_LLM_CODER_MODEL` and so on for one; `OPENAI_BASE_URL` counts where nothing else says it. Keys are never
written down: the file names the environment variable that holds one.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, RootModel

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.ports.chat import Role
from spca_core.validation import expecting, read_yaml
from spca_llm import DEFAULT_FILE, config_file

_T = TypeVar("_T", bound=BaseModel)
DEFAULT_TABLE = Path(__file__).with_name("prices.yaml")

_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})$")


class Price(Record):
    """US dollars per million tokens.

    `cached` is for input tokens from the server's cache; None means the ordinary input price.
    """

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """Return the cost of one exchange in US dollars; the cached tokens are among the input tokens.

        >>> Price(input=2.0, output=8.0).cost(1_000_000, 500_000)
        6.0
        """
        cached = self.input if self.cached is None else self.cached
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * cached + output_tokens * self.output) / 1e6


class PriceTable(RootModel[dict[str, Price]]):
    """Prices by model name."""

    def of(self, model: str) -> Price | None:
        """Return the price of a model, also by its name without a date; None if the table has none."""
        return self.root.get(model) or self.root.get(_DATE.sub("", model))


def load_prices(path: Path | None = None) -> PriceTable:
    """Read a table (`model: {input: …, output: …, cached: …}`). Raises InputError with one clear line."""
    return _read(path or DEFAULT_TABLE, PriceTable, "price table")


class Budget(Record):
    """Limits of one level; None is no limit. `tokens` in and out together, `usd`, `seconds` of wall time."""

    tokens: int | None = Field(default=None, ge=0)
    usd: float | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)

    def exceeded(self, tokens: int, usd: float, seconds: float = 0.0) -> str:
        """Return in words the limit that these amounts have reached; empty if none.

        >>> Budget(tokens=1000).exceeded(1100, 0.2)
        '1000 tokens are used up (1100 so far)'
        """
        if self.tokens is not None and tokens >= self.tokens:
            return f"{self.tokens} tokens are used up ({tokens} so far)"
        if self.usd is not None and usd >= self.usd:
            return f"{self.usd:g} US dollars are used up ({usd:.4f} so far)"
        if self.seconds is not None and seconds >= self.seconds:
            return f"{self.seconds:g} s for language models are over"
        return ""


OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
ROLES: tuple[Role, ...] = get_args(Role)


def _http_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http or https address such as http://127.0.0.1:8000/v1")
    if "@" in parts.netloc:
        raise ValueError("must not contain a user name or a password; name a key's variable in api_key_env")
    _ = parts.port  # which raises for one that no address has
    return text.rstrip("/")


class ModelConfig(Record):
    """One role's model. Seconds of wall time; `attempts` counts the first one; `extra` is sent as it is.

    `api_key_env` names the environment variable with the key. By default that is OPENAI_API_KEY for OpenAI's
    own server, and for any other server no key is sent.
    """

    model: str = Field(min_length=1)
    base_url: Annotated[str, AfterValidator(_http_url)] = OPENAI_URL
    api_key_env: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    max_output_tokens: int | None = Field(None, gt=0)
    timeout_s: float = Field(180.0, gt=0)
    connect_timeout_s: float = Field(5.0, gt=0)
    attempts: int = Field(4, ge=1)
    wait_s: float = Field(1.0, ge=0)
    """First wait between attempts in seconds; it doubles each time, with some jitter."""
    max_wait_s: float = Field(60.0, ge=0)
    """Longest wait in seconds; a server that asks for more (Retry-After) is given up at once."""
    max_answer_bytes: int = Field(2_000_000, gt=0)
    check_model: bool = True
    """The server's list of models, if it has one, must contain `model`."""
    extra: dict[str, Any] = {}

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key, or None."""
        return self.api_key_env or (OPENAI_KEY if self.is_openai else None)

    @property
    def is_openai(self) -> bool:
        """The server is OpenAI's own."""
        return urlsplit(self.base_url).hostname == urlsplit(OPENAI_URL).hostname

    @property
    def is_local(self) -> bool:
        """The server runs on this machine, where tokens cost no money."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def api_key(self, env: Mapping[str, str] = os.environ) -> str | None:
        """Return the key from the environment; None if none is needed. Raises InputError if it is missing."""
        if self.key_variable is None:
            return None
        if not (key := env.get(self.key_variable, "")):
            hint = f"set the environment variable {self.key_variable}"
            raise InputError(f"no API key for model '{self.model}'", where=self.base_url, hint=hint)
        if not (key.isascii() and key.isprintable()):
            raise InputError(f"the API key in {self.key_variable} has characters that no header can carry")
        return key


class LlmConfig(Record):
    """All roles that have a model, the budget of a level, and a price table of the user's own."""

    roles: dict[Role, ModelConfig]
    budget: Budget = Budget()
    prices: Path | None = None

    def role(self, role: Role) -> ModelConfig:
        """Return a role's model. Raises InputError when it has none."""
        if role not in self.roles:
            raise InputError(
                f"no model is configured for the role '{role}'",
                where=f"configured: {', '.join(self.roles) or 'none'}",
                hint=f"name one in SPCA_LLM_MODEL (for all roles), SPCA_LLM_{role.upper()}_MODEL "
                f"or {DEFAULT_FILE.name}",
            )
        return self.roles[role]


class _File(Record):
    defaults: dict[str, Any] = {}
    roles: dict[Role, dict[str, Any]] = {}
    budget: Budget = Budget()
    prices: Path | None = None


def load_config(path: Path | None = None, env: Mapping[str, str] = os.environ) -> LlmConfig:
    """Read the configuration from `path`, SPCA_LLM_CONFIG or the project's `llm.yaml`, in this order.

    Environment variables override it.

    Raises InputError with one clear line.
    """
    path = path or config_file(env)
    file = _File() if path is None else _read(path, _File, "model configuration")
    prices = None if file.prices is None else (path or Path()).parent / file.prices
    with expecting("a model configuration", path or "the environment"):
        every, known = {role: _values(file, role, env) for role in ROLES}, ModelConfig.model_fields.keys()
        # What has no model is read, too, where it has a key that no model has: "model" misspelt, say.
        roles = {r: ModelConfig(**v) for r, v in every.items() if "model" in v or v.keys() - known}
    return LlmConfig(roles=roles, budget=file.budget, prices=prices)


def _read(path: Path, kind: type[_T], what: str) -> _T:
    content = read_yaml(path, f"the {what}")
    with expecting(f"a {what}", path):
        return kind.model_validate(content or {})


def _values(file: _File, role: Role, env: Mapping[str, str]) -> dict[str, Any]:
    """Collect the settings of a role's model: defaults, then the role's own, then the environment's."""
    url = env.get("OPENAI_BASE_URL") or OPENAI_URL
    values = {"base_url": url, **file.defaults, **file.roles.get(role, {})}
    for field in ("model", "base_url", "api_key_env"):
        for name in (f"SPCA_LLM_{field.upper()}", f"SPCA_LLM_{role.upper()}_{field.upper()}"):
            if env.get(name):
                values[field] = env[name]
    return values
