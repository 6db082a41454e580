"""The nodes `planner` and `coder` in a process of their own: `ros2 run spca planner`, on any machine.

A program uses them where it is told their names: `planner:=/planner`.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from spca.assembly import open_stages
from spca.kits import kits
from spca_coder.node import CoderNode
from spca_core.options import RunOptions
from spca_core.processes.child import leave
from spca_core.run_folder import RunFolder, scratch
from spca_planner.node import PlannerNode
from spca_ros.node import SpcaNode, run_nodes


def planner() -> None:
    """Run the planner's node alone, and end the process with its exit status."""
    _run(PlannerNode, "planner")


def coder() -> None:
    """Run the coder's node alone, and end the process with its exit status."""
    _run(CoderNode, "coder")


def _run(kind: type[PlannerNode | CoderNode], stage: str) -> None:
    """Run a node of that kind, with the stage of a run with its parameters."""
    with ExitStack() as stack:

        def made() -> list[SpcaNode]:
            node = kind()
            proposer = node.parameter("proposer", "builtin", "who drafts: builtin or openai")
            folder = Path(stack.enter_context(scratch("node")))
            options = RunOptions(level="stack_01", proposer=proposer)
            opened = stack.enter_context(open_stages(options, kits()[0], RunFolder(folder)))
            setattr(node, stage, getattr(opened, stage))
            return [node]

        status = run_nodes(made)
    leave(status)
