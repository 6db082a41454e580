"""The reader of MotionBenchMaker's files, and the check of paths that shares nothing with the planner's."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from spca_core.errors import InputError
from spca_mbm.checking import surfaces, touched
from spca_mbm.planning import plan
from spca_mbm.problems import Problem, problem_names, read_problem, ur5_world
from spca_motion.collision import CollisionChecker
from spca_robot.gripper_2f85 import STROKE

PROBLEMS = Path(__file__).with_name("data")
"""One problem: a post between start and goal."""


@pytest.fixture(scope="module")
def problem() -> Problem:
    return read_problem(PROBLEMS, "problems/posts/0001")


def test_a_problem_is_read(problem: Problem) -> None:
    assert problem_names(PROBLEMS) == ["problems/posts/0001"]
    assert problem.start.tolist() == [1.57, -1.57, 1.2, -1.2, -1.57, 0.0] and problem.goal[0] == -0.6
    [post] = problem.scene.obstacles
    assert (post.kind, post.size) == ("cylinder", (0.08, 0.08, 1.2))
    assert post.pose[:3, 3] == pytest.approx([-0.3, 0.4, 1.2])


def test_a_scene_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = shutil.copytree(PROBLEMS, tmp_path / "copy") / "problems/posts/scene0001.yaml"
    file.write_text(file.read_text().replace("cylinder", "cone"))
    with pytest.raises(InputError, match=r"posts/0001.*only boxes and cylinders"):
        read_problem(tmp_path / "copy", "problems/posts/0001")


def test_a_path_around_is_found_and_the_straight_one_is_seen_to_touch(problem: Problem) -> None:
    outcome, path = plan(problem)
    assert outcome.status == "solved" and path is not None
    robot = surfaces(ur5_world(), STROKE)
    assert touched(ur5_world(), robot, problem.scene.obstacles, path) == ""
    straight = np.linspace(problem.start, problem.goal, 100)
    assert "in post_0" in touched(ur5_world(), robot, problem.scene.obstacles, straight)


def test_both_checks_agree_on_what_is_deep_inside(problem: Problem) -> None:
    """Deeper than the samples' spacing, or farther than the planner's clearance."""
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
