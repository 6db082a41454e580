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

    def make(node: PlannerNode, stages: Stages) -> None:
        node.planner = stages.planner

    _run(PlannerNode, make)


def coder() -> None:
    """Run the coder's node alone, and end the process with its exit status."""

    def make(node: CoderNode, stages: Stages) -> None:
        node.coder = stages.coder

    _run(CoderNode, make)


def _run(kind: Callable[[], SpcaNode], give: Callable[..., None]) -> None:
    with ExitStack() as opened:

        def make() -> list[SpcaNode]:
            node = kind()
            proposer = node.parameter("proposer", "builtin", "who drafts: builtin or openai")
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="spca-")))
            options = RunOptions(level="stack_01", proposer=proposer)
            give(node, opened.enter_context(open_stages(options, kits()[0], RunFolder(folder))))
            return [node]

        status = run_nodes(make)
    leave(status)
