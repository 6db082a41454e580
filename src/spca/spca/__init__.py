"""Sense–Plan–Code–Act: run levels, campaigns and checks from Python. See `spca.api`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spca.api import Campaign, campaign, check, levels, run, session
    from spca.runs import Run
    from spca.sessions import Session

__version__ = "0.1.0"
__all__ = ["Campaign", "Run", "Session", "campaign", "check", "levels", "run", "session"]


def __getattr__(name: str) -> Any:
    """Import the interface when it is first used: nodes of this package start without it."""
    if name not in __all__:
        raise AttributeError(f"module 'spca' has no attribute '{name}'")
    if name == "Session":
        from spca.sessions import Session

        return Session
    from spca import api

    return getattr(api, name)


def __dir__() -> list[str]:
    """Return the names of the interface with those of the module, for completion and `dir`."""
    return sorted([*globals(), *__all__])
