"""Tables for tests and benchmarks on which what geometry puts first does not work."""

from __future__ import annotations

import math
from pathlib import Path

import yaml

_MASS = {"mass": 0.08, "friction": 1.0}
_CUBE = {"kind": "cube", "size": [0.04, 0.04, 0.04], **_MASS}
_RED, _GREEN, _BLUE = [0.75, 0.10, 0.10], [0.10, 0.55, 0.16], [0.10, 0.22, 0.70]
_WIDTH, _HEIGHT = 0.015, 0.15


def slender(folder: Path, gap: float, angle: float) -> Path:
    """Writes a level: a cube is to be stacked on another, which has a tall, slender block for a neighbour.

    The block's near face is `gap` metres from the lower cube's middle, in the direction `angle` (radians).
    Around 5.6 cm there is room for the fingers with the cube between them, and none for them to open.
    """
    distance = gap + _WIDTH / 2
    block = [round(0.5 + distance * math.cos(angle), 4), round(distance * math.sin(angle), 4)]
    world = {
        "extends": "tabletop",
        "name": "slender",
        "objects": [
            {"model": "box_red", "colour": _RED, "position": [0.40, 0.15], **_CUBE},
            {"model": "box_blue", "colour": _BLUE, "position": [0.50, 0.0], **_CUBE},
            {"model": "cuboid_green", "kind": "cuboid", "colour": _GREEN, "size": [_WIDTH, _WIDTH, _HEIGHT],
             "position": block, "yaw": angle, **_MASS},
        ],
    }  # fmt: skip
    level = {
        "task_group": "stack",
        "task_id": "99",
        "title": "Stack the red cube on the blue cube",
        "description": "Put the red cube on top of the blue cube, which stays on the table, and let go.",
        "difficulty": "hard",
        "time_limit_s": 180,
        "world": str(folder / "slender_world.yaml"),
        "success": {
            "collisions_true": [["box_red", "box_blue"], ["box_blue", "table_lightgray"]],
            "collisions_false": [["box_red", "table_lightgray"]],
        },
        "fail": {"collisions_true": [["cobot", "table_lightgray"], ["cobot", "cuboid_green"]]},
    }
    (folder / "slender_world.yaml").write_text(yaml.safe_dump(world))
    path = folder / "slender.yaml"
    path.write_text(yaml.safe_dump(level))
    return path
