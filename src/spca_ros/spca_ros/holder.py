"""The one node that has a simulated world at a time: whoever laid its table last, while it is there."""

from __future__ import annotations

from rclpy.node import Node

from spca_core.errors import SpcaError


class Holder:
    """Holder of the simulated world, one node at a time (see the module). `node` is the simulator's."""

    def __init__(self, node: Node) -> None:
        self._node, self._client = node, ""

    @property
    def present(self) -> bool:
        """The node that has the world is on the graph."""
        return bool(self._client) and self._client in self._node.get_node_names()

    def admit(self, client: str) -> None:
        """Raise SpcaError if the world belongs to another node, which is on the graph."""
        if client != self._client and self.present:
            raise SpcaError(f"the node '{self._client}' has the world")

    def change(self, client: str) -> None:
        """Give the world to the node of that name. Raises SpcaError as `admit` does."""
        self.admit(client)
        self._client = client
