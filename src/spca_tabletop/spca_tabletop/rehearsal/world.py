"""A workspace made of a perceived scene: what a twin's physics is built from."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.plan import Perturbation
from spca_core.scene import Scene, SceneObject
from spca_core.world import World, WorldObject
from spca_sense.catalogue import Catalogue
from spca_sim.variation import SimVariation, draw_variation

# Errors of perception (`benchmarks/sense_accuracy.py`): standard deviations of position (m) and yaw (rad).
POSITION_SD, YAW_SD = 0.0001, math.radians(0.1)
# Systematic error of all positions: the camera's calibration, as in the preset `noisy`.
SHIFT_SD = 0.0005
LOW_CONFIDENCE, LOW_FACTOR = 0.6, 2.0
UNSEEN_FACTOR = 5.0
# The pessimistic try: errors that are rare, and little friction.
RARE_SHIFT, RARE_YAW, RARE_FRICTION = 0.002, math.radians(2.0), 0.7
# Nearer than this (m, between centres), two things do not turn by themselves in the pessimistic try.
_CLOSE = 0.075
VARIATIONS = 8
"""Number of different draws of friction and mass: few, so that simulators are kept between rehearsals."""
_GREY = (0.5, 0.5, 0.5)
_DENSITY, _FRICTION = 1000.0, 1.0  # kg/m³


class SeenWorld:
    """Makes workspaces of scenes.

    Of the described world it uses what cannot move, and the mass and friction of each kind of thing and its
    colours: where objects are said to lie is left out.
    """

    def __init__(self, world: World) -> None:
        self.bare = world.model_copy(update={"objects": ()})
        self._kinds: Mapping[str, WorldObject] = {o.kind: o for o in world.objects}
        self._colours = {colour.name: colour.rgb for colour in Catalogue.from_world(world).palette}

    def of(self, scene: Scene) -> World:
        """Return the workspace with the things of a scene in it, whose models are called by their symbols.

        The robot's `home`, where a simulator starts, is out of the camera's view: there the arm is after a
        look.
        """
        mount = self.bare.robot
        return self.bare.model_copy(
            update={
                "objects": tuple(map(self.item, scene.objects)),
                "robot": mount.model_copy(update={"home": mount.out_of_view}),
            }
        )

    def item(self, thing: SceneObject) -> WorldObject:
        """Return a thing as it is built."""
        known = self._kinds.get(thing.kind)
        return WorldObject(
            model=thing.id,
            kind=thing.kind,
            colour=self._colours.get(thing.colour, _GREY),
            size=thing.size,
            mass=known.mass if known else _DENSITY * math.prod(thing.size),
            friction=known.friction if known else _FRICTION,
            position=thing.pose.position[:2],
        )


class Errors:
    """Errors of perception in one try: a systematic shift, and a draw for each thing and look."""

    def __init__(self, perturbation: Perturbation) -> None:
        self._kind, self._rng = perturbation.kind, np.random.default_rng(perturbation.seed)
        direction = self._rng.uniform(-math.pi, math.pi)
        rare = RARE_SHIFT * np.array([math.cos(direction), math.sin(direction)])
        shifts = {"exact": np.zeros(2), "drawn": self._rng.normal(0.0, SHIFT_SD, 2), "pessimistic": rare}
        self.shift = shifts[perturbation.kind]
        """Shift of everything: perceived minus true position, x and y in metres."""
        self.variation = self._variation(perturbation)

    @staticmethod
    def _variation(perturbation: Perturbation) -> SimVariation:
        if perturbation.kind == "pessimistic":
            return SimVariation(friction_scale=RARE_FRICTION)
        if perturbation.kind == "drawn":
            drawn = draw_variation("noisy", perturbation.seed % VARIATIONS)
            return SimVariation(friction_scale=drawn.friction_scale, mass_scale=drawn.mass_scale)
        return SimVariation()

    def truth(self, scene: Scene) -> Layout:
        """Return where things may truly be, given what was perceived."""
        poses = {}
        for thing in scene.objects:
            factor = LOW_FACTOR if thing.confidence < LOW_CONFIDENCE else 1.0
            factor *= 1.0 if thing.visible else UNSEEN_FACTOR
            yaw = 0.0
            others = (o.pose.position[:2] for o in scene.objects if o is not thing)
            alone = all(math.dist(thing.pose.position[:2], xy) > _CLOSE for xy in others)
            if self._kind == "pessimistic" and alone:
                yaw = RARE_YAW * self._rng.choice((-1.0, 1.0))
            poses[thing.id] = self._moved(thing.pose, -self.shift, factor, yaw)
        return Layout(poses=poses)

    def perceived(self, pose: Pose) -> Pose:
        """Return a true pose as it is perceived in one look."""
        return self._moved(pose, self.shift, 1.0, 0.0)

    def _moved(self, pose: Pose, shift: np.ndarray, factor: float, yaw: float) -> Pose:
        if self._kind == "exact":
            return pose
        x, y, z = pose.position
        dx, dy = shift + self._rng.normal(0.0, POSITION_SD * factor, 2)
        angle = yaw + self._rng.normal(0.0, YAW_SD * factor)
        return Pose(position=(x + dx, y + dy, z), quaternion=_turned(pose, angle))


def _turned(pose: Pose, angle: float) -> tuple[float, float, float, float]:
    """Return the orientation of a pose, turned about the vertical by an angle in radians."""
    x, y, z, w = pose.quaternion
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    return (c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z)
