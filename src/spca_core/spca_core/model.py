"""The base class of every record that is passed between stages or written to disk."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable, strictly validated value; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
