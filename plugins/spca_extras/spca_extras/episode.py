"""A tabletop run as an episode for imitation learning: pictures, joints, actions, and the task in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import build_model
from spca_sim.recording import SimState, recorded_states
from spca_sim.video import sensor_pictures
from spca_tabletop.presets import draw_table, load_table


@dataclass(frozen=True)
class Episode:
    """One run at a fixed rate of frames."""

    task: str
    """The task in words."""
    joints: NDArray[np.float32]
    """Joint positions in radians and the gripper's opening in metres, as in `joint_names`; shape (N, D)."""
    joint_names: tuple[str, ...]
    images: Iterator[NDArray[np.uint8]]
    """N raw pictures (H, W, 3) of the sensor's camera, RGB, nothing drawn in; can be read once."""
    size: tuple[int, int]
    """Width and height of the pictures in pixels, even numbers."""
    success: bool
    robot: str
    """Name of the arm and its gripper."""


def episode_of(folder: RunFolder, options: RunOptions, fps: int) -> Episode | None:
    """Return the last attempt of a finished run at `fps` frames a simulated second; None without states."""
    if not (states := recorded_states(folder.path)):
        return None
    world, level = load_table(options)
    _, variation = draw_table(options.preset, options.seed, world, level)
    shown = last_attempt(states, fps)
    model, index = build_model(world, map(world.object, shown[0].objects))
    data = mujoco.MjData(model)
    joints = []
    for state in shown:
        data.qpos[:] = state.qpos
        mujoco.mj_kinematics(model, data)
        joints.append([*state.qpos[index.arm_qpos], index.gap(data)])
    camera = world.camera.intrinsics
    return Episode(
        task=f"{level.title}. {level.description}",
        joints=np.array(joints, np.float32),
        joint_names=(*world.robot.arm.joint_names, "gripper_gap"),
        images=sensor_pictures(world, shown, variation),
        size=(camera.width, camera.height),
        success=folder.read("result.json", RunResult).success,
        robot=f"{world.robot.arm.name}_2f85",
    )


def last_attempt(states: Sequence[SimState], fps: int) -> list[SimState]:
    """Return the state nearest to every 1/fps s since the clock was last set back to try again."""
    begin = max((i for i in range(1, len(states)) if states[i].stamp < states[i - 1].stamp), default=0)
    own = states[begin:]
    stamps = np.array([s.stamp for s in own])
    due = np.arange(stamps[0], stamps[-1] + 1e-9, 1 / fps)
    return [own[int(i)] for i in np.minimum(np.searchsorted(stamps, due - 1e-6), len(own) - 1)]
