"""The nodes `planner` and `coder` in a process of their own: `ros2 run spca planner`, on any machine.

A program uses them where it is told their names: `planner:=/planner`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from spca.assembly import open_stages
from spca.kits import kits
from spca.stages import Stages
from spca_coder.node import CoderNode
from spca_core.options import RunOptions
from spca_core.processes.child import leave
from spca_core.run_folder import RunFolder
from spca_planner.node import PlannerNode
from spca_ros.node import SpcaNode, run_nodes


def planner() -> None:
    """Run the planner's node alone, and end the process with its exit status."""

    def made(opened: Callable[[SpcaNode], Stages]) -> SpcaNode:
        node = PlannerNode()
        node.planner = opened(node).planner
        return node

    _run(made)


def coder() -> None:
    """Run the coder's node alone, and end the process with its exit status."""

    def made(opened: Callable[[SpcaNode], Stages]) -> SpcaNode:
        node = CoderNode()
        node.coder = opened(node).coder
        return node

    _run(made)


def _run(made: Callable[[Callable[[SpcaNode], Stages]], SpcaNode]) -> None:
    """Run the node that is made with the stages of a run with its parameters."""
    with ExitStack() as stack:

        def opened(node: SpcaNode) -> Stages:
            proposer = node.parameter("proposer", "builtin", "who drafts: builtin or openai")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spca-")))
            options = RunOptions(level="stack_01", proposer=proposer)
            return stack.enter_context(open_stages(options, kits()[0], RunFolder(folder)))

        status = run_nodes(lambda: [made(opened)])
    leave(status)
