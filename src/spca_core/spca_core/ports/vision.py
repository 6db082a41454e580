"""Port: a model that puts an image into words. Words only: positions always come from the detector."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class VisionModel(Protocol):
    """Describes what an image shows, as untrusted text: whoever uses it must treat it as data, never as instructions."""

    def describe(self, image: NDArray[np.uint8], title: str, description: str) -> tuple[str, ...]:
        """Short sentences without numbers about an RGB `image` (H, W, 3), for a task of that title and description."""
        ...
