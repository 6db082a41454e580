"""Things in bins are found in a drawn depth image, and their tasks are understood; without robosuite."""

import numpy as np
import pytest

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Array, Pose, Vec3
from spca_core.scene import Observation
from spca_robosuite.bins import BINS, WALL_HEIGHT, BinsDetector
from spca_robosuite.episode import PICK_PLACE, judged_world
from spca_robosuite.texts import TEXTS
from spca_sense.detection import Detection
from spca_sense.tracker import SceneTracker
from spca_tabletop.language.understanding import understand
from spca_testing.observations import task

CAMERA = CameraIntrinsics(width=740, height=340, fx=1448.5, fy=1448.5, cx=360.0, cy=-40.0)
EYE = (-0.2, 0.0, 3.0)
FLOOR = 0.82
CAN = ((0.05, 0.05, 0.08), (0.0, -0.12), 0.0)
MILK = ((0.04, 0.04, 0.144), (0.16, -0.17), 0.4)
BREAD = ((0.048, 0.04, 0.048), (0.22, -0.40), 1.2)
CEREAL = ((0.1, 0.03, 0.15), (0.05, -0.35), 2.0)
Placed = tuple[Vec3, tuple[float, float], float]


def drawn(*things: Placed) -> RgbdFrame:
    """Boxes (the can is a square one) that stand in the bins, seen by the judge's camera from above."""
    rows, columns = np.indices((CAMERA.height, CAMERA.width))
    ray = np.stack(
        [(rows - CAMERA.cy) / CAMERA.fy, (columns - CAMERA.cx) / CAMERA.fx, -np.ones(rows.shape)], axis=2
    )
    depth = np.full(rows.shape, EYE[2] - FLOOR, np.float32)
    for (x, y), (a, b) in BINS.values():
        for side in (1, -1):
            for size, at in (((0.014, b, WALL_HEIGHT), (x + side * (a / 2 + 0.007), y)),
                             ((a, 0.014, WALL_HEIGHT), (x, y + side * (b / 2 + 0.007)))):  # fmt: skip
                depth = np.minimum(depth, _box(ray, size, at, 0.0))
    for thing in things:
        depth = np.minimum(depth, _box(ray, *thing))
    matrix = np.array([[0.0, 1, 0, EYE[0]], [1, 0, 0, EYE[1]], [0, 0, -1, EYE[2]], [0, 0, 0, 1]])
    colour = np.full((*rows.shape, 3), 200, np.uint8)
    return RgbdFrame(colour, depth.astype(np.float32), CAMERA, Pose.from_matrix(matrix), 0.0)


def _box(ray: Array, size: Vec3, at: tuple[float, float], yaw: float) -> Array:
    """Depth of a box that stands on the floor, infinite beside it."""
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    start, along = turn @ (np.array(EYE) - (*at, FLOOR + size[2] / 2)), ray @ turn.T
    with np.errstate(divide="ignore"):
        ends = np.stack([(side * np.array(size) / 2 - start) / along for side in (1, -1)])
    near, far = ends.min(axis=0).max(axis=-1), ends.max(axis=0).min(axis=-1)
    return np.where(near <= far, near, np.inf)


def seen_of(*things: Placed) -> dict[str, Detection]:
    """What is seen of things in the bins, by colour."""
    look = BinsDetector(judged_world(bins=True)).detect(drawn(*things))
    assert sum(d.kind == "tray" for d in look.detections) == len(BINS)
    return {d.colour: d for d in look.detections if d.kind != "tray"}


def test_things_are_known_by_their_measures() -> None:
    things = {"red": CAN, "white": MILK, "brown": BREAD, "orange": CEREAL}
    found = seen_of(*things.values())
    assert {d.colour for d in found.values() if d.kind == "cylinder"} == {"red"}
    for colour, (size, at, yaw) in things.items():
        seen = found[colour]
        assert (seen.size, seen.pose.position[:2]) == (size, pytest.approx(at, abs=0.003))
        assert abs(np.sin(2 * (seen.pose.yaw - yaw))) < 0.1 or colour == "red"


def test_things_with_a_corner_that_touches_are_told_apart() -> None:
    places = {"white": (0.1, -0.2067), "orange": (0.1, -0.25)}
    found = seen_of((MILK[0], places["white"], np.pi / 4), (CEREAL[0], places["orange"], 0.0))
    at = {colour: seen.pose.position[:2] for colour, seen in found.items()}
    assert at == {colour: pytest.approx(place, abs=0.004) for colour, place in places.items()}


def test_what_has_fallen_over_is_still_known_and_a_stranger_is_not() -> None:
    found = seen_of(((0.15, 0.1, 0.03), CEREAL[1], 0.5), ((0.2, 0.03, 0.03), (0.2, -0.2), 0.0))
    assert found["orange"].size == pytest.approx((0.15, 0.1, 0.03), abs=0.006)
    assert found["unknown"].kind == "unknown"


def test_its_tasks_are_understood() -> None:
    ids = {
        "PickPlaceCan": "cylinder_red", "PickPlaceMilk": "cuboid_white", "PickPlaceBread": "cuboid_brown",
        "PickPlaceCereal": "cuboid_orange",
    }  # fmt: skip
    tracker = SceneTracker(BinsDetector(judged_world(bins=True)))
    seen = Observation.of(tracker.update(drawn(CAN, MILK, BREAD, CEREAL)))
    goals = {name: ("on", thing, f"tray_{thing.split('_')[1]}") for name, thing in ids.items()}
    assert {f"on({thing}, tray_yellow)" for thing in ids.values()} <= set(map(str, seen.facts))
    for name in PICK_PLACE:
        wanted = {goals[name]} if name in goals else set(goals.values())
        assert any(wanted <= goal for goal in understand(task(TEXTS[name]), seen)), TEXTS[name]
