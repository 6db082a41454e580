"""The tabletop's ROS side: which processes and nodes it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spca_core.options import RunOptions
from spca_ros import names
from spca_ros.kit import VisionSlot
from spca_ros.process_spec import ProcessSpec, Value

if TYPE_CHECKING:
    from spca_ros.loop import Loop
    from spca_ros.node import SpcaNode
    from spca_tabletop.ros.environment import RosTabletop


class TabletopRos:
    """See `spca_ros.kit.RosSide`."""

    thinking = (names.SENSE,)

    def processes(self, options: RunOptions) -> Sequence[ProcessSpec]:
        """Simulator, executor and referee, a process each.

        Simulated time passes only on request: not while a model thinks, which may take
        minutes, and not between the request for a motion and its start, where it would make the arm seem late
        on its path.
        """
        from spca_tabletop.presets import variation_of  # loads numpy, which not everybody needs

        shared = self.parameters(options)
        sim: dict[str, Value] = {
            **shared,
            "rate": options.rate or 0.0,
            "idle_rate": 0.0,
            "preset": variation_of(options.preset),
            "seed": options.seed,
            "noise": options.noise,
            "camera": options.camera,
            "view": "web" if options.view == "web" else "window" if options.view else "none",
        }
        return [
            ProcessSpec("spca_sim.node", (names.SIM,), sim, ends_last=True),
            ProcessSpec("spca_tabletop.ros.executor_node", (names.EXECUTOR,), shared),
            ProcessSpec("spca_referee.node", (names.REFEREE,), shared),
        ]

    def thinking_nodes(self, loop: Loop, vision: VisionSlot) -> Sequence[SpcaNode]:
        """Sense, which shares the language models with the planner and the coder."""
        from spca_sense.node import SenseNode

        return [SenseNode(loop, vision)]

    def parameters(self, options: RunOptions) -> dict[str, str]:
        """The world's and the detector's names."""
        from spca_tabletop.presets import load_table, world_named

        _, level = load_table(options)
        return {"world": world_named(options, level), "detector": options.detector}

    def environment(self, node: SpcaNode) -> RosTabletop:
        """The tabletop as seen from a node."""
        from spca_tabletop.ros.environment import RosTabletop  # not needed where processes are only started

        return RosTabletop(node)
