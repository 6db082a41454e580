"""How fast motions are planned, and how long they take: medians over random tables, exact poses, no camera.

Run it from the checkout:  .venv/bin/python benchmarks/motion_planning.py --tables 40
With MoveIt sourced, `--pipeline ompl` measures the same queries with its checks and its search.

A plan is all that happens between a skill's call and the first command: compiling the collision model if the
scene has changed, inverse kinematics, collision checks, the search if the straight way is barred, and the
time law.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import partial

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Pose, top_down
from spca_core.layout import random_layout
from spca_core.scene import Scene
from spca_core.trajectory import JointTrajectory
from spca_core.world import World, load_world
from spca_motion.collision import CollisionChecker, Obstacle, PlanningScene
from spca_motion.limits import EMPTY
from spca_motion.manipulator import Manipulator
from spca_motion.moveit.process import PlannerProcess, Setup
from spca_motion.moveit.search import MoveItSearch, ProcessChecker
from spca_motion.paths import Piece, sampled, time_path
from spca_motion.planner import MotionPlanner
from spca_motion.search import Start
from spca_robot.description.moveit_config import PIPELINES
from spca_robot.kinematics import ArmKinematics
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import GRASP, true_scene

OPEN, ABOVE = 0.085, 0.09
BOARD = Obstacle("board", Pose.from_xyz_yaw(0.5, 0.0, 0.55).matrix(), (0.3, 0.02, 0.3))


class Stopwatch:
    """Collects wall times by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def time(self, name: str, work: Callable[[], object], repeat: int = 1) -> None:
        begun = time.perf_counter()
        for _ in range(repeat):
            work()
        self.seconds[name].append((time.perf_counter() - begun) / repeat)


def planned(
    planner: MotionPlanner, start: Start, pose: Pose, line: bool = False
) -> tuple[list[Piece], JointTrajectory]:
    pieces = planner.along_line(start, pose) if line else planner.to_pose(start, pose, lambda: False)
    return pieces, time_path(pieces, EMPTY)


def plans(world: World, planner: MotionPlanner, seed: int, watch: Stopwatch) -> bool:
    """Times plans on one random table; returns whether the one to a pre-grasp needed a search."""
    scene = true_scene(world, random_layout(world, seed))
    out_of_view = Start(np.array(world.robot.out_of_view), OPEN)
    cube = scene.of_kind("cube")[seed % 3]
    x, y, z = cube.pose.position
    for turn in range(4):
        yaw = cube.pose.yaw + turn * math.pi / 2
        above, grasp = top_down(x, y, z + GRASP + ABOVE, yaw), top_down(x, y, z + GRASP, yaw)
        planner.scene = PlanningScene().perceived(scene)
        if planner.reachable(out_of_view, above, OPEN) and planner.reachable(out_of_view, grasp, OPEN):
            break
    planner.scene = PlanningScene().perceived(scene)
    watch.time("plan to a pre-grasp, scene new", lambda: planned(planner, out_of_view, above))
    watch.time("plan to a pre-grasp, scene known", lambda: planned(planner, out_of_view, above))
    pieces, trajectory = planned(planner, out_of_view, above)
    watch.time("time law", lambda: time_path(pieces, EMPTY))
    there = Start(trajectory.positions[-1], OPEN)
    watch.time("plan of a straight line, 9 cm", lambda: planned(planner, there, grasp, line=True))
    watch.time("reachable?", lambda: planner.reachable(there, grasp, OPEN), repeat=20)

    checker = CollisionChecker(world, PlanningScene().perceived(scene))
    configurations = sampled(pieces, 0.01)
    watch.time(
        "collision checks, 100 configurations", lambda: [checker.valid(q, OPEN) for q in configurations]
    )
    watch.seconds["collision checks, 100 configurations"][-1] *= 100 / len(configurations)
    rng = np.random.default_rng(seed)
    arm = ArmKinematics(world.robot.arm)
    flange = arm.forward(rng.uniform(-3, 3, 6))
    watch.time("inverse kinematics, all solutions", lambda: arm.inverse_branches(flange), repeat=50)

    planner.scene = PlanningScene((BOARD,))
    side = rng.uniform(0.12, 0.25, 2)
    left, right = top_down(0.5, side[0], 0.5, 0.0), top_down(0.5, -side[1], 0.5, 0.0)
    begin = Start(sampled(planner.to_pose(out_of_view, left, lambda: False), 1.0)[-1], OPEN)
    try:
        watch.time("plan around a board, with search", lambda: planned(planner, begin, right))
    except MotionError as error:
        print(f"table {seed}, around the board: {error}")
    return len(pieces) > 1


def pick_and_place(world: World, simulator: MujocoWorld, seed: int, watch: Stopwatch) -> bool:
    """The red cube onto the blue one; times it in simulated seconds. Whether it stands there."""
    layout = random_layout(world, seed)
    simulator.reset(layout)
    arm, scene = Manipulator(world, simulator), true_scene(world, layout)
    arm.set_scene(scene)
    try:
        arm.move_named("out_of_view")
        begun = simulator.time
        above, grasp = _choice(arm, scene, "cube_red", GRASP)
        arm.move_to(above)
        arm.move_linear(grasp)
        arm.close()
        arm.attach("cube_red")
        arm.move_linear(above)
        arm.allow_contact("cube_blue")
        above, place = _choice(arm, scene, "cube_blue", GRASP + 0.042)
        arm.move_to(above)
        arm.move_linear(place)
        arm.open(0.06)
        arm.detach()
        arm.move_linear(above)
        arm.allow_contact()
        arm.move_named("out_of_view")
    except (MotionError, StopIteration) as error:
        print(f"table {seed}: {error!r}")
        return False
    watch.seconds["pick and place (simulated s)"].append(simulator.time - begun)
    red, blue = (np.array(simulator.object_pose(m).position) for m in ("box_red", "box_blue"))
    watch.seconds["placing error"].append(math.hypot(*(red - blue)[:2]))
    return bool(abs((red - blue)[2] - 0.04) < 0.002)


def _choice(arm: Manipulator, scene: Scene, name: str, height: float) -> tuple[Pose, Pose]:
    thing = scene.get(name)
    assert thing is not None
    x, y, z = thing.pose.position
    for turn in range(4):
        yaw = thing.pose.yaw + turn * math.pi / 2
        above, at = top_down(x, y, z + height + ABOVE, yaw), top_down(x, y, z + height, yaw)
        if arm.reachable(above) and arm.reachable(at):
            return above, at
    raise StopIteration(f"no room around {name}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--pipeline", choices=list(PIPELINES), help="MoveIt's, instead of the embedded arm's")
    chosen = parser.parse_args()
    world, watch, tables = load_world(), Stopwatch(), chosen.tables
    placed = "no"
    if chosen.pipeline:
        with closing(PlannerProcess(Setup(world, pipeline=chosen.pipeline))) as process:
            checker = partial(ProcessChecker, process=process)
            planner = MotionPlanner(world, checker, MoveItSearch(process))
            searches = sum(plans(world, planner, seed, watch) for seed in range(tables))
    else:
        searches = sum(plans(world, MotionPlanner(world), seed, watch) for seed in range(tables))
        simulator = MujocoWorld(world)
        placed = str(sum(pick_and_place(world, simulator, seed, watch) for seed in range(tables)))

    print(f"{'':42}{'median':>10}{'90 %':>10}{'worst':>10}")
    for name, values in watch.seconds.items():
        ordered = sorted(values)
        scale, unit = (1.0, "s ") if "simulated" in name else (1e3, "mm") if "error" in name else (1e3, "ms")
        row = (statistics.median(ordered), ordered[int(0.9 * (len(ordered) - 1))], ordered[-1])
        print(f"{name:42}" + "".join(f"{scale * v:10.3f}" for v in row) + f" {unit}")
    print(f"{searches} of {tables} plans to a pre-grasp needed a search; {placed} of {tables} cubes stacked")


if __name__ == "__main__":
    main()
