"""Port: a planning engine that searches for a plan of a PDDL problem."""

from __future__ import annotations

from typing import Literal, Protocol

from spca_core.model import Record


class Solution(Record):
    """Result of a search; `message` says why there is no plan.

    solved: `steps` are the plan, each one an action's name and its arguments. unsolvable: proven to have no
    plan. timeout: neither found nor disproved within the limits of time and memory. refused: the engine
    cannot read the problem or does not support what it uses.
    """

    status: Literal["solved", "unsolvable", "timeout", "refused"]
    steps: tuple[tuple[str, ...], ...] = ()
    message: str = ""
    grounded: bool = False
    """The search had all ground actions already: it did not find nothing because they are so many."""


class Search(Protocol):
    """A running search, in a process of its own."""

    def wait(self) -> Solution:
        """Wait for the result, at most until the time limit."""

    def close(self) -> None:
        """End the search if it still runs and remove its files. Calling it twice is harmless."""


class Engine(Protocol):
    """Starts searches.

    It lives in the solver's process, which has one thread, so that a search may be a fork of it.
    """

    name: str

    def warm(self) -> None:
        """Import what searches need, so that the first search does not have to wait for it."""

    def start(self, domain: str, problem: str, timeout_s: float) -> Search:
        """Start a search of at most `timeout_s` seconds of processor time. Returns at once.

        `spca_core.processes.PATIENCE` times as many seconds of wall time are the last resort.
        """
