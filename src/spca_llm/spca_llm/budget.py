"""The limits of one level."""

from __future__ import annotations

from pydantic import Field

from spca_core.model import Record


class Budget(Record):
    """Limits of one level; None is no limit. `tokens` in and out together, `usd`, `seconds` of wall time."""

    tokens: int | None = Field(default=None, ge=0)
    usd: float | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)

    def exceeded(self, tokens: int, usd: float) -> str:
        """Return in words the limit that these amounts have reached; empty if none.

        >>> Budget(tokens=1000).exceeded(1100, 0.2)
        '1000 tokens are used up (1100 so far)'
        """
        if self.tokens is not None and tokens >= self.tokens:
            return f"{self.tokens} tokens are used up ({tokens} so far)"
        if self.usd is not None and usd >= self.usd:
            return f"{self.usd:g} US dollars are used up ({usd:.4f} so far)"
        return ""
