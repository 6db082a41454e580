"""The world itself: a row of cells with an agent, and what a skill may call in it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from spca_core.errors import Cancelled, MotionError
from spca_core.ports.environment import CtxServer
from spca_core.scene import Fact, Observation
from spca_core.skill import CtxApi, CtxMethod

API = CtxApi(
    environment="corridor",
    methods=(
        CtxMethod(name="where", signature="where() -> str", doc="The cell in which the agent stands."),
        CtxMethod(name="step", signature="step(cell: str) -> None", doc="Go to a neighbouring cell."),
    ),
)


class Corridor(CtxServer):
    """Cells `c1` to `cN` in a row, the agent in the first. It answers a skill's calls; time counts steps."""

    api = API

    def __init__(self, cells: int) -> None:
        self.cells, self.position, self.steps = cells, 1, 0
        self._stopped = False

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """See `spca_core.ports.environment.CtxServer`."""
        if self._stopped:
            raise Cancelled("stopped")
        if method == "where":
            return f"c{self.position}"
        if method != "step":
            raise ValueError(f"ctx has no '{method}'")
        (cell,) = args
        number = int(cell.removeprefix("c"))
        if abs(number - self.position) != 1 or not 1 <= number <= self.cells:
            raise MotionError("unreachable", f"{cell} is no neighbour of c{self.position}")
        self.position, self.steps = number, self.steps + 1

    def now(self) -> float:
        """Steps taken so far."""
        return float(self.steps)

    def notice(self, since: float) -> Observation:
        """The whole corridor is always in view."""
        return self.observe()

    def stop(self) -> None:
        """Every further call raises Cancelled until `resume`."""
        self._stopped = True

    def resume(self) -> None:
        """Take calls again."""
        self._stopped = False

    def observe(self) -> Observation:
        """Which cells there are, which are neighbours, and where the agent is."""
        names = [f"c{number}" for number in range(1, self.cells + 1)]
        pairs = [*pairwise(names), *zip(names[1:], names, strict=False)]
        facts = [Fact(predicate="joined", args=pair) for pair in pairs]
        facts.append(Fact(predicate="at", args=(f"c{self.position}",)))
        return Observation(
            stamp=self.now(),
            objects=dict.fromkeys(names, "cell"),
            facts=tuple(facts),
            sentences=(f"A row of {self.cells} cells. The agent stands in c{self.position}.",),
        )
