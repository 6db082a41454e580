"""The tabletop's ROS side: its nodes in the process that thinks, and the table that they speak of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from spca_core.options import RunOptions
from spca_core.ports.vision import VisionModel
from spca_core.scene import Scene
from spca_referee.node import RefereeNode
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode
from spca_ros.stages import RosSense
from spca_ros.world import RosWorld
from spca_sense.detection import make_detector
from spca_sense.node import SenseNode
from spca_tabletop.presets import draw_table, load_table, variation_of, world_named
from spca_tabletop.ros.executor_node import ExecutorNode
from spca_tabletop.ros.tabletop import RosTabletop


class TabletopRos:
    """See `spca_ros.kit.RosSide`."""

    def __init__(self, loop: Loop, sense: str = "") -> None:
        self._executor, self._referee, self._sense = ExecutorNode(loop), RefereeNode(loop), SenseNode(loop)
        self.nodes: Sequence[SpcaNode] = (self._sense, self._executor, self._referee)
        joints = self._sense.world.robot.arm.joint_names
        self._elsewhere = RosSense(self._sense, sense, joints) if sense else None
        self._sense.look = lambda held, tool, joints: self._glance()
        self._referee.referee = lambda: table.referee if (table := self._executor.table) else None

    def build(
        self, options: RunOptions, vision: VisionModel | None, ready: Callable[[RosWorld], None], anew: bool
    ) -> RosTabletop:
        """See `RosSide`."""
        world, level = load_table(options)
        layout, drawn = draw_table(options.preset, options.seed, world, level)
        varied = {
            "world": world_named(options, level),
            "preset": variation_of(options.preset),
            "seed": options.seed,
            "noise": options.noise,
            "disturbances": json.dumps([each.model_dump() for each in drawn.disturbances]),
            "places": level.needs_poses,
        }
        there = self._executor.world(world, self._sense.camera(world), varied, standing=not anew)
        ready(there)
        self._executor.table = table = RosTabletop(
            *(level, world, layout, there, options.seed),
            arm=self._executor.arm(world, there.robot),
            vision=vision,
            detector=make_detector(options.detector, world),
            saw=self._sense.saw,
            considered=self._executor.considered,
            elsewhere=self._elsewhere,
        )
        there.on_contacts(lambda sample: self._referee.tell())
        return table

    @contextmanager
    def using(self) -> Iterator[None]:
        """See `RosSide`."""
        with self._executor.using():
            yield

    def rest(self) -> None:
        """See `RosSide`."""
        self._executor.standing().table.rest()

    def part(self) -> None:
        """See `RosSide`."""
        if (table := self._executor.table) is not None:
            self._executor.table = None
            table.close()

    def _glance(self) -> Scene:
        with self._executor.using():
            return self._executor.standing().glance()
