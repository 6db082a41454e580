"""The base class of every record that is passed between stages or written to disk."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable, strictly validated value; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(Record):
    """A part of a file that people write: a record whose every number is finite."""

    model_config = ConfigDict(allow_inf_nan=False)


def _ascending(values: tuple[float, float]) -> tuple[float, float]:
    if values[0] >= values[1]:
        raise ValueError("the smaller end comes first")
    return values


Interval = Annotated[tuple[float, float], AfterValidator(_ascending)]
