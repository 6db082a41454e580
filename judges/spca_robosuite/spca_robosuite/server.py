"""robosuite's end of the border: run by its own interpreter, which has nothing of spca.

Arguments: the folder of `messages.py` and `serve.py`, the environment (`Lift`), the robot (`UR5e`), the
cameras with commas. The arm is driven by robosuite's own joint position controller, at its own rate.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

os.environ.setdefault("MUJOCO_GL", "egl")
sys.path.insert(0, sys.argv[1])

import numpy as np
import robosuite
from robosuite.controllers import load_composite_controller_config
from robosuite.utils import transform_utils

RATE = 20  # Hz, of the controller's commands
WIDTH, HEIGHT = 640, 480
TEXTS = {"Lift": "Lift the red cube.", "Stack": "Stack the red cube on the green cube."}
STIFFNESS = 150.0  # 1/s², of the joint position controller


class Episode:
    """See `spca_judges.port.Episode`, in plain values."""

    period = 1.0 / RATE

    def __init__(self, task: str, robot: str, cameras: list[str]) -> None:
        """Build the environment; raises KeyError for an unknown task."""
        self.text, self._cameras = TEXTS[task], cameras
        control = load_composite_controller_config(controller="BASIC", robot=robot)
        arm = control["body_parts"]["right"]
        control["body_parts"]["right"] = {
            "type": "JOINT_POSITION", "input_type": "absolute", "kp": STIFFNESS, "damping_ratio": 1,
            "impedance_mode": "fixed", "kp_limits": [0, 300], "damping_ratio_limits": [0, 10],
            "qpos_limits": None, "interpolation": None, "ramp_ratio": 0.2,
            "input_max": 1, "input_min": -1, "output_max": 0.05, "output_min": -0.05,
            "gripper": arm["gripper"],
        }  # fmt: skip
        self._env = robosuite.make(
            task, robots=robot, controller_configs=control, has_renderer=False, has_offscreen_renderer=True,
            use_camera_obs=False, use_object_obs=False, control_freq=RATE, horizon=10**9, ignore_done=True,
        )  # fmt: skip

    def reset(self, seed: int) -> None:
        """Draw a layout."""
        self._env.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        self._env.reset()

    def look(self) -> list[dict[str, Any]]:
        """Colour and depth of every camera."""
        return [self._frame(name) for name in self._cameras]

    def feel(self) -> dict[str, Any]:
        """Joints, and the gripper's opening from its first joint."""
        robot, data = self._env.robots[0], self._env.sim.data
        fingers = robot._ref_gripper_joint_pos_indexes["right"]
        limits = self._env.sim.model.jnt_range[
            [self._env.sim.model.joint_name2id(j) for j in robot.gripper["right"].joints]
        ]
        closed = data.qpos[fingers[0]] / limits[0][1]
        return {
            "positions": np.array(data.qpos[robot._ref_joint_pos_indexes]),
            "velocities": np.array(data.qvel[robot._ref_joint_vel_indexes]),
            "opening": float(np.clip(1.0 - closed, 0.0, 1.0)),
            "stamp": float(data.time),
        }

    def act(self, joints: np.ndarray, opening: float) -> None:
        """One command: robosuite's grippers take a direction, not a gap."""
        self._env.step(np.append(joints, -1.0 if opening > 0.5 else 1.0))

    def success(self) -> bool:
        """robosuite's own rule."""
        return bool(self._env._check_success())

    def _frame(self, name: str) -> dict[str, Any]:
        sim = self._env.sim
        colour, depth = sim.render(camera_name=name, width=WIDTH, height=HEIGHT, depth=True)
        camera = sim.model.camera_name2id(name)
        focal = float(0.5 * HEIGHT / np.tan(np.radians(sim.model.cam_fovy[camera]) / 2))
        near, far = (float(limit * sim.model.stat.extent) for limit in _planes(sim.model))
        metres = near / (1.0 - depth[::-1].reshape(HEIGHT, WIDTH) * (1.0 - near / far))
        base = sim.model.body_name2id(self._env.robots[0].robot_model.root_body)
        mount = _frame(sim.data.body_xpos[base], sim.data.body_xmat[base])
        # A MuJoCo camera looks along -z, y up: half a turn about x from the optical frame.
        optical = _frame(sim.data.cam_xpos[camera], sim.data.cam_xmat[camera]) @ np.diag(
            [1.0, -1.0, -1.0, 1.0]
        )
        pose = np.linalg.inv(mount) @ optical
        return {
            "colour": np.ascontiguousarray(colour[::-1]),
            "depth": np.ascontiguousarray(metres, dtype=np.float32),
            "intrinsics": {
                "width": WIDTH, "height": HEIGHT, "fx": focal, "fy": focal,
                "cx": (WIDTH - 1) / 2, "cy": (HEIGHT - 1) / 2,
            },
            "pose": {
                "position": pose[:3, 3].tolist(),
                "quaternion": transform_utils.mat2quat(pose[:3, :3]).tolist(),
            },
            "stamp": float(sim.data.time),
        }  # fmt: skip


def _frame(position: np.ndarray, axes: np.ndarray) -> np.ndarray:
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = np.reshape(axes, (3, 3)), position
    return frame


def _planes(model: Any) -> tuple[float, float]:
    """The clipping planes, in multiples of the model's extent."""
    return model.vis.map.znear, model.vis.map.zfar


if __name__ == "__main__":
    messages, serve = (importlib.import_module(name) for name in ("messages", "serve"))
    serve.serve(messages, Episode(sys.argv[2], sys.argv[3], sys.argv[4].split(",")), robosuite.__version__)
