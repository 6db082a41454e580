"""A session's table on the graph that is up, seen from a process that needs no ROS for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spca.events import Event, Listener, telling
from spca.order import Order
from spca.ros import standing
from spca.ros.asked import ASKED, GraphOrder, give_answer
from spca.ros.run import ended
from spca.ros.run_protocol import RunOrder
from spca.ros.standing_run import run_on_standing
from spca_core.errors import InputError, SpcaError
from spca_core.flag import Flag

if TYPE_CHECKING:
    from spca.stages import Approve
    from spca_core.options import RunOptions
    from spca_core.result import RunResult
    from spca_core.run_folder import RunFolder


class TableOnGraph:
    """The table of a session over ROS. Raises InputError where no graph is up, or it does not fit."""

    def __init__(self, options: RunOptions, approve: Approve | None) -> None:
        if (found := standing.find()) is None:
            raise InputError("no graph is up", hint="`spca up` starts one")
        if problem := standing.misfit(found, options):
            raise InputError(f"not on the graph that is up: it {problem}", hint="or use --transport inproc")
        self._approve, self._stopped = approve, Flag()
        self._after = ""  # the folder of the run that has left the table as it is

    def conduct(self, folder: RunFolder, asked: Order | None, listeners: tuple[Listener, ...]) -> RunResult:
        """Have the run of a folder, which has its manifest, carried out."""
        asks = self._approve is not None
        folder.write(ASKED, GraphOrder(**dict(asked or Order()), after=self._after, asks=asks))
        self._after = ""  # after a fault, the next run begins with a table that is laid anew
        self._stopped.clear()
        order = RunOrder(run_folder=str(folder.path))
        told = telling(listeners)

        def tell(event: Event) -> None:
            told(event)
            if event.kind == "question" and self._approve is not None:
                give_answer(folder, self._approve, event.text)

        try:
            problem = run_on_standing(order, tell, self._stopped)
        except SpcaError as error:
            return ended(folder, error)
        result = ended(folder, SpcaError(f"the graph that is up {problem}") if problem else None)
        self._after = str(folder.path)
        return result

    def stop(self) -> None:
        """Stop the arm, and end the run under way. From any thread."""
        self._stopped.set()

    def close(self) -> None:
        """The graph stays up."""
