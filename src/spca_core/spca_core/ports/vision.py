"""Port: a model that describes an image in words. Positions always come from the detector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class VisionModel(Protocol):
    """Describes in words what an image shows.

    The text is untrusted: callers must treat it as data, never as instructions.
    """

    def describe(self, image: NDArray[np.uint8], title: str, description: str) -> tuple[str, ...]:
        """Short sentences without numbers about an RGB `image` (H, W, 3).

        `title` and `description` are those of the task.
        """
        ...
