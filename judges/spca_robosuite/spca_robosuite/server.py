"""robosuite's end of the border: run by its own interpreter, which has nothing of spca.

Arguments: the folder of `messages.py` and `serve.py`, the environment (`Lift`), the robot (`UR5e`), the
stiffness of the controller (1/s²), the cameras with commas. The arm is driven by robosuite's own joint
position controller, at its own rate; the fingers by the position servos of robosuite's gripper.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import Any

os.environ.setdefault("MUJOCO_GL", "egl")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, sys.argv[1])

import numpy as np
import robosuite
from robosuite.controllers import load_composite_controller_config
from robosuite.models.grippers import register_gripper
from robosuite.models.grippers.robotiq_85_gripper import Robotiq85GripperBase
from robosuite.utils import transform_utils

TEXTS = importlib.import_module("texts").TEXTS
RATE = 20  # Hz, of the controller's commands
WIDTH, HEIGHT = 1600, 1200

# The Robotiq 85's linkage, as in Robotiq's drawings, metres: its pivot, its link, and the pad's face from the
# link's end. The pads are `2 * (PIVOT + LINK * cos(angle + OPEN) - FACE)` apart.
PIVOT, LINK, OPEN, FACE = 0.0306, 0.05712, 0.85227, 0.0257
STROKE = 0.085
SERVO = 20.0  # N·m/rad, of a finger's servo
# The moment (N·m) that the linkage itself takes at angles of the driver (rad), with nothing held: measured.
ANGLES = (-0.0272, 0.0152, 0.0920, 0.2190, 0.2758, 0.3709, 0.4720, 0.5140)
MOMENTS = (0.545, 1.296, 2.160, 3.620, 4.080, 4.580, 4.590, 5.740)


class Episode:
    """See `spca_judges.port.Episode`, in plain values."""

    period = 1.0 / RATE

    def __init__(self, task: str, robot: str, stiffness: float, cameras: list[str]) -> None:
        """Build the environment; raises KeyError for an unknown task."""
        self.text, self._cameras = TEXTS[task], cameras
        control = load_composite_controller_config(controller="BASIC", robot=robot)
        arm = control["body_parts"]["right"]
        control["body_parts"]["right"] = {
            "type": "JOINT_POSITION", "input_type": "absolute", "kp": stiffness, "damping_ratio": 1,
            "impedance_mode": "fixed", "kp_limits": [0, 300], "damping_ratio_limits": [0, 10],
            "qpos_limits": None, "interpolation": None, "ramp_ratio": 0.2,
            "input_max": 1, "input_min": -1, "output_max": 0.05, "output_min": -0.05,
            "gripper": arm["gripper"],
        }  # fmt: skip
        self._env = robosuite.make(
            task, robots=robot, gripper_types=register_gripper(Robotiq85GripperBase).__name__,
            controller_configs=control, has_renderer=False, has_offscreen_renderer=True,
            use_camera_obs=False, use_object_obs=False, control_freq=RATE, horizon=10**9, ignore_done=True,
        )  # fmt: skip

    def reset(self, seed: int) -> None:
        """Draw a layout. The environment is built anew; what the last one drew with goes with it: 400 MB."""
        context = self._env.sim._render_context_offscreen
        context.gl_ctx.make_current()
        context.con.free()
        context.gl_ctx.free()
        self._env.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        self._env.reset()
        gc.collect()  # the last one is in reference cycles

    def look(self) -> list[dict[str, Any]]:
        """Colour and depth of every camera."""
        return [self._frame(name) for name in self._cameras]

    def feel(self) -> dict[str, Any]:
        """Joints, the gripper's opening and force from the angles and moments of its servos."""
        robot, data = self._env.robots[0], self._env.sim.data
        angle, moment = self._fingers()
        gap = 2 * (PIVOT + LINK * np.cos(angle + OPEN) - FACE)
        pressing = max(moment - float(np.interp(angle, ANGLES, MOMENTS)), 0.0)
        return {
            "positions": np.array(data.qpos[robot._ref_joint_pos_indexes]),
            "velocities": np.array(data.qvel[robot._ref_joint_vel_indexes]),
            "opening": float(np.clip(gap / STROKE, 0.0, 1.0)),
            "force": float(pressing / (2 * LINK * np.sin(angle + OPEN))), "stamp": float(data.time),
        }  # fmt: skip

    def act(self, joints: np.ndarray, opening: float) -> None:
        """One command; the fingers' servos are told an angle, with what the linkage takes added."""
        angle = np.arccos((opening * STROKE / 2 - PIVOT + FACE) / LINK) - OPEN
        told = 2.5 * (angle + np.interp(angle, ANGLES, MOMENTS) / SERVO) - 1  # of 0 to 0.8 rad
        self._env.step(np.append(joints, np.clip([told, told], -1.0, 1.0)))

    def _fingers(self) -> tuple[float, float]:
        """The drivers' mean angle (rad) and moment (N·m)."""
        sim, gripper = self._env.sim, self._env.robots[0].gripper["right"]
        drivers = [name for name in gripper.joints if name.endswith(("finger_joint", "outer_knuckle_joint"))]
        drivers = [name for name in drivers if "inner" not in name]
        angles = [sim.data.get_joint_qpos(name) for name in drivers]
        moments = sim.data.actuator_force[[sim.model.actuator_name2id(name) for name in gripper.actuators]]
        return float(np.mean(angles)), float(np.mean(moments))

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
    messages, serve, _ = (importlib.import_module(name) for name in ("messages", "serve", "stack_three"))
    episode = Episode(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5].split(","))
    serve.serve(messages, episode, robosuite.__version__)
