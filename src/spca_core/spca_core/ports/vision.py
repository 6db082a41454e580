"""Port: a model that describes an image in words. Positions always come from the detector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spca_core.observation import Observation
    from spca_core.scene import Scene
    from spca_core.task import Task


class VisionModel(ABC):
    """Describes in words what an image shows.

    The text is untrusted: callers must treat it as data, never as instructions.
    """

    @abstractmethod
    def describe(self, image: NDArray[np.uint8], title: str, description: str) -> tuple[str, ...]:
        """Describe an RGB `image` (H, W, 3) in short sentences without numbers.

        `title` and `description` are those of the task.
        """

    def observation(self, scene: Scene, image: NDArray[np.uint8], task: Task) -> Observation | None:
        """Return what the planner is told of an RGB `image` (H, W, 3) in which the detector sees `scene`.

        None where the model only adds remarks to what the detector sees.
        """
        return None
