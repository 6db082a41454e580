"""Protocol between a run and the daemon of a standing graph, over a socket of this user alone.

The run sends one `RunOrder`; the daemon answers with `unfit`, or with the run's events and then its `RunEnd`.
Whatever else the run sends, and its end, cancels the run.
"""

from __future__ import annotations

from spca_core.errors import Cancelled, InputError, SpcaError
from spca_core.model import Record

RUN, UNFIT, EVENT, END, CANCEL = "run", "unfit", "event", "end", "cancel"  # operations
MAX_BYTES = 1 << 22
SEND_S = 5.0  # wall seconds that the other side may take to read


class RunOrder(Record):
    """A run that is asked for. Its folder holds a manifest that says how it is to be run."""

    run_folder: str
    resume: bool = False


class RunEnd(Record):
    """Ending of a run, as the daemon reports it."""

    outcome: str = ""
    """See `spca_core.ending.Ending`; empty where there is no result."""
    message: str
    """The reason."""
    input_error: bool = False
    """Whether there is no result because what was asked for makes no sense."""

    def check(self, cancelled: bool) -> None:
        """Raise the reason if there is no result: InputError, Cancelled if it was cancelled, or SpcaError."""
        if self.input_error:
            raise InputError(self.message)
        if not self.outcome:
            raise Cancelled(self.message) if cancelled else SpcaError(self.message)
