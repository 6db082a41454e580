"""Heights of a thing that stands or lies upright: of its faces, and of what rests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spca_core.kinds import ObjectKind, deck

if TYPE_CHECKING:
    from spca_core.geometry import Pose, Vec3


class Upright:
    """A mixin for what has a kind, a pose (of its centre) and a size. Metres, in the frame of the pose."""

    if TYPE_CHECKING:

        @property
        def kind(self) -> ObjectKind:
            """Kind of the thing."""
            ...

        @property
        def pose(self) -> Pose:
            """Pose of its centre."""
            ...

        @property
        def size(self) -> Vec3:
            """Its extents along its own axes."""
            ...

    @property
    def top(self) -> float:
        """Height of its upper face."""
        return self.pose.position[2] + self.size[2] / 2

    @property
    def bottom(self) -> float:
        """Height of its lower face."""
        return self.pose.position[2] - self.size[2] / 2

    @property
    def deck(self) -> float:
        """Height at which other things rest on it, or in it."""
        return self.bottom + deck(self.kind, self.size[2])
