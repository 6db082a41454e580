"""Contract of every kind of thing, built in or brought by a package."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from spca_core.geometry import Pose, Vec3, top_down, wrap_angle
from spca_core.kinds import KINDS, MESHES, primitives
from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.world import World, WorldObject, load_world
from spca_motion.manipulator import Manipulator
from spca_robot.gripper_2f85 import PAD_TIP
from spca_sense.catalogue import Catalogue
from spca_sense.outline import footprint
from spca_sense.search import ShapeDetector
from spca_sim.gazebo.write import write_all
from spca_sim.mujoco_world import MujocoWorld
from spca_tabletop.act.grasps import grasps
from spca_tabletop.language.lexicon import longest
from spca_testing.contracts.arm_contract import true_scene

_AT, _YAW = (0.48, 0.06), 0.5


class KindContract:
    """Subclass it with the name of an installed `kind`, and a `size` for one without a mesh (metres)."""

    kind: str
    size: Vec3 = (0.0, 0.0, 0.0)

    def test_it_stands_where_it_is_put(self) -> None:
        """The physics builds it, and it does not tip over, roll or jump."""
        simulator = self._simulator()
        simulator.step(0.5)
        there, put = simulator.object_pose(self._name), self._pose()
        assert math.dist(there.position, put.position) < 0.003
        assert np.allclose(there.matrix()[:3, 2], (0, 0, 1), atol=0.03)

    def test_it_is_seen(self) -> None:
        """As this kind, in its colour and place; one with a mesh in its turn, too."""
        look = ShapeDetector(Catalogue.from_world(self._world())).detect(self._simulator().capture())
        (found,) = look.detections
        assert (found.kind, found.colour) == (self.kind, "red")
        assert math.dist(found.pose.position, self._pose().position) < 0.004
        if self.kind in MESHES:
            assert found.size == MESHES[self.kind].size
            assert abs(wrap_angle(found.pose.yaw - _YAW)) < 0.05

    def test_the_arm_goes_around_it(self) -> None:
        """The planning scene has its shape: the gripper may be above it, and not in it."""
        arm = self._arm()
        (thing,) = self._scene().objects
        x, y = 0.9 * footprint(thing)[0] + 0.1 * np.array(_AT)
        tip = thing.top + PAD_TIP
        assert arm.reachable(top_down(x, y, tip + 0.02, 0.0), gap=0.0)
        assert not arm.reachable(top_down(x, y, tip - min(0.015, thing.size[2]), 0.0), gap=0.0)

    def test_it_can_be_grasped_if_it_is_solid(self) -> None:
        """There is a grasp from above that the arm reaches."""
        arm = self._arm()
        arm.allow_contact(self._name)
        if KINDS[self.kind].solid:
            assert next(grasps(self._scene(), self._name, arm, PAD_TIP), None) is not None

    def test_it_is_described_to_gazebo(self, tmp_path: Path) -> None:
        """Every part has a collision, and a part of a mesh the file that it names."""
        written = write_all(self._world(), tmp_path).world
        link = ET.parse(written).find(f"world/model[@name='{self._name}']/link")
        assert link is not None
        assert len(link.findall("collision")) == len(primitives(self.kind, self._size))
        for uri in link.iter("uri"):
            assert (tmp_path / (uri.text or "")).read_text().count("\nf ") >= 4

    def test_its_nouns_are_read(self) -> None:
        """Each as this kind, or as a noun of its own where several kinds are called that."""
        for noun in KINDS[self.kind].nouns:
            several = sum(noun in kind.nouns for kind in KINDS.values()) > 1
            assert longest(noun, 0) == ((noun if several else self.kind).upper(), len(noun))
            assert not several or self.kind not in MESHES

    @property
    def _name(self) -> str:
        return f"{self.kind}_red"

    @property
    def _size(self) -> Vec3:
        mesh = MESHES.get(self.kind)
        return mesh.size if mesh is not None else self.size

    def _world(self) -> World:
        thing = WorldObject(
            model=self._name, kind=self.kind, colour=(0.75, 0.1, 0.1), size=self._size, mass=0.1,
            friction=1.0, position=_AT, yaw=_YAW,
        )  # fmt: skip
        return load_world().model_copy(update={"objects": (thing,)})

    def _pose(self) -> Pose:
        return nominal_layout(self._world()).poses[self._name]

    def _scene(self) -> Scene:
        return true_scene(self._world(), nominal_layout(self._world()))

    def _simulator(self) -> MujocoWorld:
        simulator = MujocoWorld(self._world())
        simulator.reset(nominal_layout(self._world()))
        return simulator

    def _arm(self) -> Manipulator:
        arm = Manipulator(self._world(), self._simulator())
        arm.set_scene(self._scene())
        return arm
