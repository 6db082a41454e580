"""Specification of a graph's process, known without ROS, so that a graph can be described without joining."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool


@dataclass(frozen=True)
class ProcessSpec:
    """A process: the Python module that it runs, the nodes that live in it, and their parameters."""

    module: str
    nodes: tuple[str, ...]
    parameters: Mapping[str, Value] = field(default_factory=dict)
    needs_keys: bool = False
    """Whether it talks to language models. The others start without keys in their environment."""
    command: tuple[str, ...] = ()
    """What is run in place of the module: a launch file that brings the nodes up, for example."""
    ends_last: bool = False
    """Whether it ends last: the arm's driver has to receive the command to hold its position."""

    @property
    def name(self) -> str:
        """Name for people."""
        return "+".join(self.nodes)

    @property
    def package(self) -> str:
        """The ament package that has the module."""
        return self.module.partition(".")[0]

    @property
    def executable(self) -> str:
        """Name for `ros2 run`: the node's, or the module's where several nodes live in it."""
        return self.nodes[0] if len(self.nodes) == 1 else self.module.rpartition(".")[2]
