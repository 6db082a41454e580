"""robosuite's Stack with a third cube, which robosuite does not have; imported by `server`."""

from __future__ import annotations

from typing import Any

from robosuite.environments.manipulation.stack import Stack
from robosuite.models.objects import BoxObject
from robosuite.utils.mjcf_utils import CustomMaterial

HALF = 0.02  # m
HIGHER = 0.03  # m, from the centre of a cube to that of the one on it, at the least


class StackThree(Stack):
    """Red on green, blue on red: each touches the one below it and is higher, and the hand holds neither."""

    def _load_model(self) -> None:
        super()._load_model()
        wood = CustomMaterial(
            texture="WoodBlue", tex_name="bluewood", mat_name="bluewood_mat", tex_attrib={"type": "cube"},
            mat_attrib={"texrepeat": "1 1", "specular": "0.4", "shininess": "0.1"},
        )  # fmt: skip
        self.cubeC = BoxObject(name="cubeC", size=[HALF] * 3, rgba=[0, 0, 1, 1], material=wood)
        self.model.mujoco_objects.append(self.cubeC)
        self.model.merge_objects([self.cubeC])
        self.placement_initializer.add_objects(self.cubeC)

    def _check_success(self) -> bool:
        return self._is_on(self.cubeA, self.cubeB) and self._is_on(self.cubeC, self.cubeA)

    def _is_on(self, upper: Any, lower: Any) -> bool:
        bodies = [self.sim.model.body_name2id(cube.root_body) for cube in (upper, lower)]
        heights = self.sim.data.body_xpos[bodies, 2]
        held = self._check_grasp(gripper=self.robots[0].gripper, object_geoms=upper)
        return bool(heights[0] > heights[1] + HIGHER and self.check_contact(upper, lower) and not held)
