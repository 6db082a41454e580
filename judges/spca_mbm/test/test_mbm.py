"""The reader of MotionBenchMaker's files, and the check of paths that shares nothing with the planner's."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from spca_core.arms import load_arm
from spca_core.errors import InputError
from spca_mbm.checking import surfaces, touched
from spca_mbm.planning import plan
from spca_mbm.problems import problem_names, read_problem, ur5_world
from spca_motion.collision import CollisionChecker
from spca_robot.gripper_2f85 import STROKE

START, GOAL = [1.57, -1.57, 1.2, -1.2, -1.57, 0.0], [-0.6, -1.57, 1.2, -1.2, -1.57, 0.0]


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """One problem: a post between start and goal, whose pose is given in that of its object."""
    folder = tmp_path / "problems" / "posts"
    folder.mkdir(parents=True)
    names = [*load_arm("ur5").joint_names, "robotiq_85_left_knuckle_joint"]
    limits = [
        {"joint_name": n, "position": q} for n, q in zip(load_arm("ur5").joint_names, GOAL, strict=True)
    ]
    request = {
        "start_state": {"joint_state": {"name": names[::-1], "position": [0.0, *START[::-1]]}},
        "goal_constraints": [{"joint_constraints": limits}],
    }
    half = {"position": [-0.15, 0.2, 0.6], "orientation": [0, 0, 0, 1]}
    post = {
        "id": "post",
        "pose": half,
        "primitives": [{"type": "cylinder", "dimensions": [1.2, 0.04]}],
        "primitive_poses": [half],
    }
    (folder / "request0001.yaml").write_text(yaml.safe_dump(request))
    (folder / "scene0001.yaml").write_text(yaml.safe_dump({"world": {"collision_objects": [post]}}))
    return tmp_path


def test_a_problem_is_read(problems: Path) -> None:
    [name] = problem_names(problems)
    problem = read_problem(problems, name)
    assert name == "problems/posts/0001"
    assert problem.start.tolist() == START and problem.goal.tolist() == GOAL
    [post] = problem.scene.obstacles
    assert (post.kind, post.size) == ("cylinder", (0.08, 0.08, 1.2))
    assert post.pose[:3, 3] == pytest.approx([-0.3, 0.4, 1.2])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cylinder", "cone", "only boxes and cylinders"),
        ("primitives", "meshes", "KeyError"),
        ("- 1\n", "- 0\n", "no unit quaternion"),
    ],
)
def test_a_scene_that_cannot_be_read_is_named(problems: Path, old: str, new: str, words: str) -> None:
    file = problems / "problems/posts/scene0001.yaml"
    text = file.read_text()
    assert old in text
    file.write_bytes(text.replace(old, new).encode("latin-1"))
    with pytest.raises(InputError, match=f"posts/0001.*{words}"):
        read_problem(problems, "problems/posts/0001")
    with pytest.raises(InputError, match="no FAMILY/request0001"):
        problem_names(problems / "problems" / "posts" / "none")


def test_a_path_around_is_found_and_the_straight_one_is_seen_to_touch(problems: Path) -> None:
    problem = read_problem(problems, "problems/posts/0001")
    outcome, path = plan(problem)
    assert outcome.status == "solved" and path is not None
    robot = surfaces(ur5_world(), STROKE)
    assert touched(ur5_world(), robot, problem.scene.obstacles, path) == ""
    straight = np.linspace(problem.start, problem.goal, 100)
    assert "in post_0" in touched(ur5_world(), robot, problem.scene.obstacles, straight)


def test_both_checks_agree_on_what_is_deep_inside(problems: Path) -> None:
    """Deeper than the samples' spacing, or farther than the planner's clearance."""
    problem = read_problem(problems, "problems/posts/0001")
    robot, checker = surfaces(ur5_world(), STROKE), CollisionChecker(ur5_world(), problem.scene)
    rng = np.random.default_rng(0)
    seen = 0
    for joints in rng.uniform(-3, 3, (400, 6)):
        depths = [hit.depth - 0.003 for hit in checker.hits(joints, STROKE) if hit.other == "post_0"]
        sampled = touched(ur5_world(), robot, problem.scene.obstacles, joints[None])
        if not depths:
            assert sampled == ""
        elif max(depths) > 0.01:
            assert sampled
            seen += 1
    assert seen > 20
