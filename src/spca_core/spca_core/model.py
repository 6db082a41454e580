"""The base of every record that crosses a stage border or is written to disk."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable, strictly checked value: unknown fields are errors, not silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")
