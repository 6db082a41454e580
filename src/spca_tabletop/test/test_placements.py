"""Where a held thing can be put down: free of what is there, and on what shall carry it."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose
from spca_core.scene import Fact, Scene, SceneObject
from spca_sense.outline import footprint, gap, outline_of, shared_area
from spca_tabletop.act.placements import Hold, across, on_top
from spca_testing.observations import thing

EDGE = 0.04


def cube(name: str, x: float, y: float, yaw: float = 0.0, level: int = 0) -> SceneObject:
    pose = Pose.from_xyz_yaw(x, y, 0.4 + EDGE * (level + 0.5), yaw)
    return thing(name, pose, kind="cube", colour="red")


def along(row: float, distance: float) -> tuple[float, float]:
    return 0.5 + distance * math.cos(row), distance * math.sin(row)


def scene_of(*objects: SceneObject, **on: str) -> Scene:
    """Things, and what rests on what."""
    facts = tuple(Fact(predicate="on", args=pair) for pair in on.items())
    return Scene(stamp=0.0, objects=objects, relations=facts, sentences=())


@given(
    row=st.floats(-math.pi, math.pi), apart=st.floats(EDGE + 0.002, EDGE + 0.006),
    turned=st.floats(-0.3, 0.3), bent=st.floats(-0.1, 0.1), lifted_from=st.floats(-0.01, 0.01),
)  # fmt: skip
def test_a_bridge_is_built_off_its_neighbour_and_on_both_supports(
    row: float, apart: float, turned: float, bent: float, lifted_from: float
) -> None:
    """What is held may have rested on one of them before: that place is free."""
    left, right = cube("left", *along(row, 0.0), row + bent), cube("right", *along(row, EDGE), row + bent)
    beside = cube("beside", *along(row, EDGE / 2 + apart), row + turned, level=1)
    held = cube("held", *along(row, lifted_from), row, level=1)
    scene = scene_of(left, right, beside, held, beside="right", held="left")
    poses = list(across(left, right, scene, "held", Hold()))
    assert poses
    for pose in poses:
        own = outline_of("cuboid", Pose.from_xyz_yaw(*pose.position, pose.yaw), (EDGE, EDGE, EDGE))
        assert gap(own, footprint(beside)) > 0.0005
        assert all(shared_area(own, footprint(support)) > 0.2 * EDGE**2 for support in (left, right))
        faces = math.remainder(pose.yaw - left.pose.yaw, math.pi / 2)
        assert np.isclose(faces, 0.0, atol=1e-6), "along the faces of what carries it"


@given(turn=st.floats(-math.pi, math.pi))
def test_a_bowl_takes_a_second_cube_wherever_the_gripper_is_turned(turn: float) -> None:
    bowl = thing("bowl", Pose.from_xyz_yaw(0.5, 0.0, 0.411), (0.13, 0.13, 0.022))
    first = next(on_top(bowl, scene_of(bowl), "", Hold(), 0.02))
    there = cube("there", *first.position[:2], first.yaw)
    second = next(on_top(bowl, scene_of(bowl, there, there="bowl"), "", Hold(yaw=turn), 0.02))
    own = outline_of("cuboid", Pose.from_xyz_yaw(*second.position, second.yaw), (EDGE, EDGE, EDGE))
    assert gap(own, footprint(there)) > 0.01
    for outline in (own, footprint(there)):
        assert max(math.dist(corner, (0.5, 0.0)) for corner in outline) < 0.13 / 2 - 0.007 - 0.004
