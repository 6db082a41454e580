"""An MCAP log of a run's topics, made from its recording: `spca mcap`.

Foxglove and rosbag2 open it.

Log times are simulated time since the level began. Frames: `world`, one for every moving body, and the
camera's. Topics have the names and types that the ROS nodes use, except that depth is 16UC1 (whole
millimetres, as it was recorded). `launch/rviz/foxglove.json` is a layout for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from mcap_ros2.writer import Writer
from numpy.typing import NDArray

from spca.journal import Event
from spca_core.camera import CameraIntrinsics
from spca_core.geometry import Vec3
from spca_core.kinds import is_round
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.plan import ActResult, PlanResult
from spca_core.result import Verdict
from spca_core.run_folder import RunFolder, read_picture
from spca_core.scene import Scene
from spca_core.world import World
from spca_extras.message_definitions import Message, definition, header, mirrored, quaternion, time, vector
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import build_model
from spca_sim.recording import SimState, recorded_states
from spca_tabletop.presets import load_table

LOG = "run.mcap"
CAMERA_FRAME = "camera_color_optical_frame"
_CONTACT_PERIOD = 0.1
_STATES_A_TF = 2  # 25 messages of all frames a second: readers interpolate, and they are most of the log
_COLOURS: dict[str, Vec3] = {"red": (0.8, 0.1, 0.1), "green": (0.1, 0.6, 0.2), "blue": (0.1, 0.25, 0.8)}


def write_mcap(folder: RunFolder, options: RunOptions) -> Path:
    """Write `run.mcap` into the run's folder; return its path."""
    world, _ = load_table(options)
    path = folder.path / LOG
    with path.open("wb") as stream:
        log = _Log(Writer(stream))
        states = recorded_states(folder.path)
        for write in _WRITERS:
            write(log, folder.path, world, states)
        log.finish()
    return path


class _Log:
    """A writer that registers schemas as they come up. Messages are sorted by time when it is finished.

    A record becomes a message like it; what a message leaves out is written as its default: zero, or empty.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._schemas: dict[str, Any] = {}
        self._messages: list[tuple[int, str, str, Message]] = []

    def add(self, topic: str, datatype: str, stamp: float, content: Message | Record) -> None:
        message = mirrored(datatype, content) if isinstance(content, Record) else content
        self._messages.append((round(stamp * 1e9), topic, datatype, message))

    def finish(self) -> None:
        for nanoseconds, topic, datatype, message in sorted(self._messages, key=lambda m: m[0]):
            if datatype not in self._schemas:
                package, name = datatype.split("/")
                text = definition(datatype)
                self._schemas[datatype] = self._writer.register_msgdef(f"{package}/msg/{name}", text)
            self._writer.write_message(topic, self._schemas[datatype], message, nanoseconds, nanoseconds)
        self._writer.finish()


def _write_states(log: _Log, _: Path, world: World, states: list[SimState]) -> None:
    """Write /clock, /joint_states, /tf and, once, /world_markers."""
    if not states:
        return
    model, index = build_model(world, map(world.object, states[0].objects))
    data, joints = mujoco.MjData(model), world.robot.arm.joint_names
    bodies = [(b, name) for b in range(1, model.nbody) if (name := model.body(b).name)]
    for number, state in enumerate(states):
        data.qpos[:] = state.qpos
        log.add("/clock", "rosgraph_msgs/Clock", state.stamp, {"clock": time(state.stamp)})
        positions = [*(float(q) for q in state.qpos[index.arm_qpos]), index.gap(data)]
        arm = {"header": header(state.stamp), "name": [*joints, "gripper_gap"], "position": positions}
        log.add("/joint_states", "sensor_msgs/JointState", state.stamp, arm)
        if number % _STATES_A_TF:
            continue
        mujoco.mj_kinematics(model, data)
        places, turns = data.xpos.tolist(), data.xquat.tolist()
        transforms = [_transform(state.stamp, name, places[b], turns[b]) for b, name in bodies]
        log.add("/tf", "tf2_msgs/TFMessage", state.stamp, {"transforms": transforms})
    markers = list(_geom_markers(model))
    log.add("/world_markers", "visualization_msgs/MarkerArray", states[0].stamp, {"markers": markers})


def _geom_markers(model: mujoco.MjModel) -> Iterator[Message]:
    """Yield a marker for every shape, in the frame of its body, so that /tf moves it."""
    shapes = {
        mujoco.mjtGeom.mjGEOM_BOX: 1,
        mujoco.mjtGeom.mjGEOM_MESH: 1,  # whose size is that of the box around it
        mujoco.mjtGeom.mjGEOM_SPHERE: 2,
        mujoco.mjtGeom.mjGEOM_CYLINDER: 3,
        mujoco.mjtGeom.mjGEOM_CAPSULE: 3,
    }
    for g in range(model.ngeom):
        if (shape := shapes.get(int(model.geom_type[g]))) is None:
            continue
        scale = 2 * model.geom_size[g][{1: [0, 1, 2], 2: [0, 0, 0], 3: [0, 0, 1]}[shape]]
        frame = model.body(int(model.geom_bodyid[g])).name or "world"
        where, rgba = (model.geom_pos[g], model.geom_quat[g]), model.geom_rgba[g].tolist()
        yield _marker(0.0, frame, "world", g, shape, *where, scale, rgba)


def _write_looks(log: _Log, folder: Path, world: World, _: list[SimState]) -> None:
    """Write what the camera delivered and what came of it: raw RGB-D, /scene, both as pictures and text."""
    paths = sorted((folder / "looks").glob("*.json"))
    if paths:
        pose = world.camera.pose
        x, y, z, w = pose.quaternion
        mounted = {"transforms": [_transform(0.0, CAMERA_FRAME, pose.position, (w, x, y, z))]}
        log.add("/tf_static", "tf2_msgs/TFMessage", 0.0, mounted)
    for path in paths:
        scene = Scene.model_validate_json(path.read_bytes())
        _write_frame(log, path, scene.stamp, world.camera.intrinsics)
        log.add("/scene", "spca_interfaces/Scene", scene.stamp, scene)
        markers = {"markers": _scene_markers(scene)}
        log.add("/scene_markers", "visualization_msgs/MarkerArray", scene.stamp, markers)
        log.add("/scene_text", "std_msgs/String", scene.stamp, {"data": " ".join(scene.sentences)})


def _write_frame(log: _Log, path: Path, stamp: float, intrinsics: CameraIntrinsics) -> None:
    """Write the images of one look; those that are missing are left out."""
    rgb, raw = cv2.IMREAD_COLOR_RGB, cv2.IMREAD_UNCHANGED
    for topic, name, encoding, flags in (("color", "colour", "rgb8", rgb), ("depth", "depth", "16UC1", raw)):
        if (pixels := read_picture(path.with_name(f"{path.stem}_{name}.png"), flags)) is not None:
            at = f"/camera/{topic}"
            log.add(f"{at}/image_raw", "sensor_msgs/Image", stamp, _image(pixels, encoding, stamp))
            log.add(f"{at}/camera_info", "sensor_msgs/CameraInfo", stamp, _info(intrinsics, stamp))
    if (drawn := path.with_suffix(".jpg")).is_file():
        message = {"header": header(stamp, CAMERA_FRAME), "format": "jpeg", "data": drawn.read_bytes()}
        log.add("/camera/detections", "sensor_msgs/CompressedImage", stamp, message)


def _image(pixels: NDArray[Any], encoding: str, stamp: float) -> Message:
    height, width = pixels.shape[:2]
    little = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder("<")))
    return {
        "header": header(stamp, CAMERA_FRAME),
        "height": height,
        "width": width,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": little.nbytes // height,
        "data": little.tobytes(),
    }


def _info(i: CameraIntrinsics, stamp: float) -> Message:
    """Return the calibration of a camera without distortion."""
    return {
        "header": header(stamp, CAMERA_FRAME),
        "height": i.height,
        "width": i.width,
        "distortion_model": "plumb_bob",
        "d": [0.0] * 5,
        "k": [i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0],
        "r": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        "p": [i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    }


def _scene_markers(scene: Scene) -> list[Message]:
    found = []
    for number, thing in enumerate(scene.objects):
        x, y, z, w = thing.pose.quaternion
        colour = (*_COLOURS.get(thing.colour, (0.6, 0.6, 0.6)), 0.9 if thing.visible else 0.4)
        shape = 3 if is_round(thing.kind) else 1
        where = np.array(thing.pose.position), np.array([w, x, y, z])
        size = np.array(thing.size) * 1.02
        found.append(_marker(scene.stamp, "world", "scene", number, shape, *where, size, colour))
    return found


def _write_contacts(log: _Log, folder: Path, _: World, __: list[SimState]) -> None:
    """Write /contacts: every pair that touches, ten times a second."""
    path = folder / "contacts.json"
    intervals = json.loads(path.read_text()) if path.is_file() else []
    for stamp in np.arange(0.0, max((i["end"] for i in intervals), default=0.0), _CONTACT_PERIOD):
        pairs = [{"a": i["pair"][0], "b": i["pair"][1]} for i in intervals if i["start"] <= stamp <= i["end"]]
        sample = {"stamp": time(float(stamp)), "pairs": pairs}
        message = {"header": header(float(stamp)), "attempt": "", "samples": [sample]}
        log.add("/contacts", "spca_interfaces/Contacts", float(stamp), message)


def _write_plans(log: _Log, folder: Path, _: World, __: list[SimState]) -> None:
    """Write /plan: every plan that was found, at the time when its stage had ended."""
    run = RunFolder(folder)
    ended = [e.sim for e in run.read_log(Event) if (e.kind, e.stage) == ("stage_ended", "plan")]
    results = run.read_stage("plan", PlanResult)
    for result, stamp in zip(results, ended, strict=False):  # a run that was killed may lack the last event
        if result.plan is not None:
            log.add("/plan", "spca_interfaces/Plan", stamp, result.plan)


def _write_steps(log: _Log, folder: Path, _: World, __: list[SimState]) -> None:
    """Write /steps: every executed step of a plan, at the time when it ended."""
    for act in RunFolder(folder).read_stage("act", ActResult):
        for step in act.steps:
            log.add("/steps", "spca_interfaces/StepReport", step.ended, step)


def _write_verdict(log: _Log, folder: Path, _: World, __: list[SimState]) -> None:
    """Write /verdict, at the end."""
    if (path := folder / "result.json").is_file():
        verdict = Verdict.model_validate(json.loads(path.read_text())["verdict"])
        log.add("/verdict", "spca_interfaces/Verdict", verdict.stamp, verdict)


_WRITERS = (_write_states, _write_looks, _write_contacts, _write_plans, _write_steps, _write_verdict)


def _transform(stamp: float, frame: str, position: Any, wxyz: Any) -> Message:
    transform = {"translation": vector(position), "rotation": quaternion(wxyz)}
    return {"header": header(stamp), "child_frame_id": frame, "transform": transform}


def _marker(
    stamp: float, frame: str, namespace: str, number: int, shape: int, position: Any, wxyz: Any, scale: Any,
    rgba: Sequence[float],
) -> Message:  # fmt: skip
    return {
        "header": header(stamp, frame),
        "ns": namespace,
        "id": number,
        "type": shape,
        "pose": {"position": vector(position), "orientation": quaternion(wxyz)},
        "scale": vector(scale),
        "color": dict(zip("rgba", rgba, strict=True)),
        "frame_locked": True,
    }
