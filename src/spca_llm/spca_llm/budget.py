"""The limits of one level."""

from __future__ import annotations

from pydantic import Field

from spca_core.model import Record


class Budget(Record):
    """Limits of one level; None is no limit. `tokens` in and out together, `usd`, `seconds` of wall time."""

    tokens: int | None = Field(default=None, ge=0)
    usd: float | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)
