"""Prices of tokens, by a table that can be edited."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field, TypeAdapter

from spca_core.model import Record
from spca_core.validation import expecting, read_yaml

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


class PriceTable:
    """Prices by model name."""

    def __init__(self, prices: dict[str, Price]) -> None:
        self._prices = prices

    def of(self, model: str) -> Price | None:
        """Return the price of a model, also by its name without a date; None if the table has none."""
        return self._prices.get(model) or self._prices.get(_DATE.sub("", model))


def load_prices(path: Path | None = None) -> PriceTable:
    """Read a table (`model: {input: …, output: …, cached: …}`). Raises InputError with one clear line."""
    path = path or DEFAULT_TABLE
    content = read_yaml(path, "the price table")
    with expecting("a price table", path):
        prices = TypeAdapter(dict[str, Price]).validate_python(content or {})
    return PriceTable(prices)
