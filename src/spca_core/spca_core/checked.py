"""Records from command-line values."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


def checked(kind: type[T], **values: object) -> T:
    """A record from command-line values. Raises InputError that names the option which is wrong."""
    from pydantic import ValidationError

    from spca_core.errors import InputError

    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + ".".join(str(p) for p in first["loc"]).replace("_", "-")
        raise InputError(f"{option} {first['input']!r}", hint=first["msg"]) from error
