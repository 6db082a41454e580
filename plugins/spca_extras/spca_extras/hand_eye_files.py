"""Input of a hand–eye calibration, as `ros2 topic echo` prints it, and the world file that it writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from spca_core.geometry import Array, Pose
from spca_core.validation import expecting, read_yaml
from spca_core.world import CameraMount, World
from spca_extras.hand_eye import Calibration, Lens
from spca_robot.kinematics import ArmKinematics

_DISTORTIONS = (4, 5, 8, 12, 14)  # parameters that OpenCV's models have


def read_lens(path: Path, camera: CameraMount) -> tuple[CameraMount, Lens]:
    """The camera with the size and lens of a sensor_msgs/CameraInfo; as it is, where there is no file."""
    distortion = np.zeros(5)
    if path.exists():
        said = read_yaml(path, "the camera's calibration")
        with expecting("a sensor_msgs/CameraInfo", path):
            (fx, _, cx), (_, fy, cy), _ = np.array(said["k"], float).reshape(3, 3).tolist()
            size = {side: said[side] for side in ("width", "height")}
            fields = {**camera.model_dump(), **size, "fx": fx, "fy": fy, "cx": cx, "cy": cy}
            camera = CameraMount.model_validate(fields)
            distortion = np.array(said["d"] or distortion, float)
            if distortion.size not in _DISTORTIONS or not np.isfinite(distortion).all():
                raise ValueError(f"the distortion d has {distortion.size} numbers")
    matrix = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1.0]])
    return camera, Lens(matrix, distortion)


def read_wrist(path: Path, world: World) -> Array:
    """The wrist (4×4) in `world`: by a sensor_msgs/JointState, or by the tool's pose in `base_link`."""
    base = world.robot.base
    said = read_yaml(path, "the robot's pose")
    with expecting("a sensor_msgs/JointState, or a `position` with a `quaternion` (x, y, z, w)", path):
        if "name" in said:
            at = dict(zip(said["name"], said["position"], strict=True))
            arm = world.robot.arm
            wrist = ArmKinematics(arm).forward([float(at[name]) for name in arm.joint_names])
        else:
            wrist = Pose.model_validate(said).matrix()
        if not np.isfinite(wrist).all():
            raise ValueError("not finite")
    return np.asarray(Pose.from_xyz_yaw(*base.position, base.yaw).matrix() @ wrist)


def world_file(world: str, camera: CameraMount, found: Calibration, key: str = "camera") -> str:
    """A world with the calibrated camera by that key, all else from the one in `worlds/` that it extends."""
    pose = {
        "position": [round(v, 5) for v in found.pose.position],
        "quaternion": [round(v, 6) for v in found.pose.quaternion],
    }
    name = Path(world.partition("@")[0]).stem
    content = {"extends": name, key: {**camera.model_dump(mode="json"), **pose}}
    return f"# {residual(found)}\n{yaml.safe_dump(content, sort_keys=False, default_flow_style=None)}"


def residual(found: Calibration) -> str:
    """Describe how well the pictures fit, as a sentence."""
    off, far = np.array(list(found.pixels.values())), 1000 * np.array(list(found.distances.values()))
    worst = list(found.distances)[int(far.argmax())]
    return (
        f"calibrated from {len(off)} pictures: corners off by {np.sqrt(np.mean(off**2)):.2f} pixels, "
        f"the board by {np.sqrt(np.mean(far**2)):.1f} mm (RMS), at most {far.max():.1f} mm ({worst})"
    )
