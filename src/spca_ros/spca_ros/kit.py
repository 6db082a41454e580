"""Port: the ROS side of a kit: its nodes, and its environment spoken to over topics, services and actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from spca_core.options import RunOptions
from spca_core.ports.environment import Environment
from spca_core.ports.vision import VisionModel
from spca_ros.process_spec import ProcessSpec

if TYPE_CHECKING:
    from spca_ros.loop import Loop
    from spca_ros.node import SpcaNode


class VisionSlot:
    """Slot for the vision model of the run under way; empty between runs."""

    model: VisionModel | None = None


class RosEnvironment(Environment):
    """An environment whose parts are nodes. Its calls block: they are not for callbacks."""

    def begin(self, options: RunOptions, timeout: float) -> None:
        """Wait up to `timeout` wall seconds for its nodes, then lay out and begin the level.

        Raises InputError when the level is refused, NodeLost when a node does not come up.
        """
        raise NotImplementedError


class RosSide(Protocol):
    """Additions of a kit to a ROS graph."""

    def processes(self, options: RunOptions) -> Sequence[ProcessSpec]:
        """The processes of the world itself: all nodes but those that think."""
        ...

    thinking: Sequence[str]
    """The names of its nodes that live with the language models."""

    def thinking_nodes(self, loop: Loop, vision: VisionSlot) -> Sequence[SpcaNode]:
        """Those nodes: perception, where a vision model may describe a look."""
        ...

    def parameters(self, options: RunOptions) -> dict[str, str]:
        """Parameters that the thinking nodes need, too: the world's name, for example."""
        ...

    def environment(self, node: SpcaNode) -> RosEnvironment:
        """The environment as seen from a node."""
        ...
