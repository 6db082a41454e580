"""The base classes of records that are passed on or written to disk, and records from a command line."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from spca_core.errors import InputError

T = TypeVar("T", bound=BaseModel)


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


def checked(kind: type[T], **values: object) -> T:
    """Return a record of what was asked for. Raises InputError that names the option which is wrong."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + ".".join(str(p) for p in first["loc"]).replace("_", "-")
        raise InputError(f"{option} {first['input']!r}", hint=first["msg"]) from error
