"""The process of the nodes `supervisor`, `planner`, `coder` and perception.

It is the only one that holds the language models' keys.

It is one process because the stages share the models' budgets and their ledger. `python -m spca.ros.brain`,
or the executable `brain` of this package for `ros2 run`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spca.assembly import open_stages
from spca.kits import kit_of
from spca.ros.supervisor_node import SupervisorNode
from spca.stages import Stages
from spca_coder.node import CoderNode
from spca_core.options import RunOptions
from spca_core.processes.leaving import leave
from spca_core.run_folder import RunFolder
from spca_planner.node import PlannerNode
from spca_planner.solver.process import warm_solver
from spca_ros.kit import VisionSlot
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, run_nodes


def make_nodes() -> list[SpcaNode]:
    """The nodes of this process, on one loop."""
    loop = Loop()
    slot = VisionSlot()
    planner, coder = PlannerNode(loop=loop), CoderNode(loop=loop)

    @contextmanager
    def stages_for_nodes(options: RunOptions, folder: RunFolder) -> Iterator[Stages]:
        with open_stages(options, kit_of(options.level), folder) as stages:
            planner.planner, coder.coder, slot.model = stages.planner, stages.coder, stages.vision
            try:
                yield stages
            finally:
                planner.planner = coder.coder = slot.model = None

    supervisor = SupervisorNode(stages_for_nodes, loop)
    warm_solver()  # it takes longer to be ready than the nodes
    return [supervisor, *supervisor.side.thinking_nodes(loop, slot), planner, coder]


def main() -> None:
    """Run the nodes; the exit status is the process's."""
    leave(run_nodes(make_nodes))


if __name__ == "__main__":
    main()
