"""The one way in which a text by a model is judged: whatever it makes a critic raise is a rejection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import structlog

from spca_core.errors import InputError, SpcaError

log = structlog.get_logger(__name__)
_T = TypeVar("_T")


def criticised(critic: Callable[[], _T], rejected: Callable[[str], _T]) -> _T:
    """Ask a critic; what the text makes it raise becomes `rejected` with a sentence.

    No text may end a run: nested too deeply, with numbers too large, or in a way that nobody has thought of.
    A machine's faults (OSError) and the ends of a run (SpcaError, but for bad input) are passed on.
    """
    try:
        return critic()
    except InputError as error:
        return rejected(str(error))
    except (SpcaError, OSError):
        raise
    except Exception as error:
        log.warning("a critic stumbled over a text", exc_info=not isinstance(error, RecursionError))
        return rejected(f"it cannot be judged: {type(error).__name__}: {str(error)[:200]}")
