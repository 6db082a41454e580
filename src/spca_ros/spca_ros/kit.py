"""Port: the ROS side of a kit: its nodes in the process that thinks, and its environment over the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from spca_core.options import RunOptions
from spca_core.ports.environment import Environment
from spca_core.ports.vision import VisionModel

if TYPE_CHECKING:
    from spca_ros.loop import Loop
    from spca_ros.node import SpcaNode


class RosSide(Protocol):
    """The nodes of an environment, made on one loop."""

    nodes: Sequence[SpcaNode]

    def __init__(self, loop: Loop, sense: str = "") -> None:
        """Make the nodes; `sense` names a node of somebody else's that perceives in place of the one here."""
        ...

    def build(
        self, options: RunOptions, vision: VisionModel | None, ready: Callable[[Any], None], anew: bool
    ) -> Environment:
        """Build the environment of a run. `ready(world)` returns when the world answers, or raises.

        Without `anew` nothing is laid: the table is taken as it is.
        """
        ...

    def using(self) -> AbstractContextManager[None]:
        """Keep the environment for oneself while the context lasts. Raises SpcaError while another has it."""
        ...

    def rest(self) -> None:
        """Stop all motion."""
        ...

    def part(self) -> None:
        """Close the environment that was built last; the nodes stay."""
        ...
