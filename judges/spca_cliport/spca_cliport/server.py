"""CLIPort's end of the border: run by its own interpreter, which has nothing of spca.

Arguments: the folder of `messages.py` and `serve.py`, CLIPort's checkout, the task
(`put-block-in-bowl-seen-colors`). An action is CLIPort's own: a pose to pick at and one to place at.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
import types
from functools import partial
from typing import Any
from unittest.mock import MagicMock

sys.path.insert(0, sys.argv[1])

import numpy as np

RATE = 480  # Hz, of the physics, as in CLIPort's own evaluation
PACE = 1000  # steps of the physics that count as a second of CLIPort's time limits, which are of wall time
UNUSED = (
    "PIL", "imageio", "kornia", "matplotlib", "matplotlib.pyplot", "meshcat", "meshcat.geometry",
    "meshcat.transformations", "omegaconf", "six", "torch",
)  # fmt: skip
"""What CLIPort's simulator imports and never calls."""


class Episode:
    """See `spca_cliport.episode.PickPlaceEpisode`, in plain values."""

    text, period = "", 0.0

    def __init__(self, checkout: str, task: str) -> None:
        """Start PyBullet; raises KeyError for an unknown task."""
        environments, self._tasks, self._utils = _imported(checkout)
        assets = os.path.join(checkout, "cliport", "environments", "assets")
        self._colours = [list(names) for names in (self._utils.TRAIN_COLORS, self._utils.EVAL_COLORS)]
        self._make = self._tasks.names[task]
        self._env = environments.Environment(assets, hz=RATE)
        self._env.render_camera = partial(_render, self._env.render_camera)
        environments.time = types.SimpleNamespace(time=lambda: self._env.step_counter / (2 * PACE))

    def reset(self, seed: int) -> None:
        """Draw a table, as for a demonstration with that seed."""
        self._utils.TRAIN_COLORS[:], self._utils.EVAL_COLORS[:] = self._colours  # tasks shuffle them
        np.random.seed(seed)
        random.seed(seed)
        task = self._make()
        task.mode = "test"
        self._env.seed(seed)
        self._env.set_task(task)
        self._seen = self._env.reset()
        self._score, self._left, self._done = 0.0, int(task.max_steps), False

    def look(self) -> list[dict[str, Any]]:
        """Colour and depth of every camera, after the last action."""
        images = zip(self._env.agent_cams, self._seen["color"], self._seen["depth"], strict=True)
        return [_frame(camera, colour, depth) for camera, colour, depth in images]

    def feel(self) -> dict[str, Any]:
        """The sentence, the score up to now, how many actions are left, and whether all is done."""
        text = str(self._env.get_lang_goal())
        return {"text": text, "score": float(self._score), "left": self._left, "done": bool(self._done)}

    def act(self, pick: np.ndarray, place: np.ndarray) -> None:
        """Pick and place once: rows are x, y, z and a quaternion x, y, z, w, in the frame of the base."""
        poses = {name: (pose[:3], pose[3:]) for name, pose in (("pose0", pick), ("pose1", place))}
        self._seen, reward, self._done, _ = self._env.step(poses)
        self._score += reward
        self._left -= 1

    def success(self) -> bool:
        """Return whether all of the score is earned."""
        return self._score > 0.99


def _imported(checkout: str) -> tuple[Any, ...]:
    """CLIPort's environments, tasks and utilities, without its networks."""
    sys.modules.update({name: MagicMock() for name in UNUSED})
    sys.modules["gym"] = types.ModuleType("gym")
    sys.modules["gym"].__dict__.update(Env=object, spaces=MagicMock())
    package = types.ModuleType("cliport")  # its own `__init__` imports the networks
    package.__path__ = [os.path.join(checkout, "cliport")]
    sys.modules["cliport"] = package
    names = ("cliport.environments.environment", "cliport.tasks", "cliport.utils.utils")
    return tuple(importlib.import_module(name) for name in names)


def _render(render: Any, camera: dict[str, Any], *settings: Any, **named: Any) -> Any:
    """Draw no shadows for the camera 1000 m up: only the masks of its images are used, for free places."""
    if camera["position"][2] > 100:
        named["shadow"] = 0
    return render(camera, *settings, **named)


def _frame(camera: dict[str, Any], colour: np.ndarray, depth: np.ndarray) -> dict[str, Any]:
    height, width = camera["image_size"]
    return {
        "colour": np.ascontiguousarray(colour, dtype=np.uint8),
        "depth": np.ascontiguousarray(depth, dtype=np.float32),
        "intrinsics": {
            "width": width, "height": height, "fx": camera["intrinsics"][0], "fy": camera["intrinsics"][4],
            "cx": (width - 1) / 2, "cy": (height - 1) / 2,
        },
        "pose": {"position": list(camera["position"]), "quaternion": list(camera["rotation"])},
        "stamp": 0.0,
    }  # fmt: skip


if __name__ == "__main__":
    messages, serve = (importlib.import_module(name) for name in ("messages", "serve"))
    output = os.dup(1)
    os.dup2(2, 1)  # PyBullet prints as soon as it is loaded
    episode = Episode(sys.argv[2], sys.argv[3])
    os.dup2(output, 1)
    serve.serve(messages, episode, "CLIPort")
