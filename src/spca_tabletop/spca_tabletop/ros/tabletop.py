"""The tabletop whose looks are published, and may be perceived by a node of somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseArray
from std_msgs.msg import Header

from spca_core.scene import Scene
from spca_referee.referee import Referee
from spca_ros.convert.records import WORLD_FRAME, pose_msg
from spca_ros.world import RosWorld
from spca_sense.node import Look
from spca_tabletop.environment import Tabletop


class RosTabletop(Tabletop[RosWorld]):
    """See `Tabletop`. `saw` and `considered` hear of each look, and of the grasps that skills are offered."""

    def __init__(
        self,
        *arguments: Any,
        saw: Callable[[Scene], None],
        considered: Callable[[PoseArray], None],
        elsewhere: Look | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._saw, self._elsewhere = saw, elsewhere
        self._ctx.on_grasps = lambda poses: considered(
            PoseArray(header=Header(frame_id=WORLD_FRAME), poses=[pose_msg(pose) for pose in poses])
        )

    @property
    def referee(self) -> Referee:
        """The referee of the level that is under way."""
        return self._referee

    def look(self) -> Scene:
        """Move the arm out of view and look; what is seen is the scene to plan motions in."""
        self._arm.resume()
        return self._ctx.survey()

    def glance(self) -> Scene:
        """Take a picture and perceive, without moving anything."""
        return self._perceive()

    def _perceive(self) -> Scene:
        if self._elsewhere is None:
            scene = super()._perceive()
        else:
            frame = self.table.camera.capture()
            scene = self._elsewhere(self._arm.held, self._arm.tool_pose(), self._arm.state())
            self.looks.append((frame, scene))
        self._saw(scene)
        return scene
