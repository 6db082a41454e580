"""Back to a layout without restarting Gazebo.

Gazebo's own "reset all" leaves the contact topics silent (gz-sim 8.14), so that a level could never be
judged. Instead the models are moved with the world's pose service: first out of the robot's way, then, once
the robot is home, to where the layout says. Afterwards every object must be seen to touch something again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from subprocess import PIPE, STDOUT, Popen

from spca_core.contacts import Pair
from spca_core.errors import InputError, one_of
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.world import World

_TIMEOUT_MS, _TRIES = 5000, 3
_PROGRAM_TIMEOUT_S, _LOOK_S = 15.0, 0.02


def ask(service: str, kind: str, request: str, wait: Callable[[float], None] = time.sleep) -> str:
    """Send `request`, a `gz.msgs.<kind>` in protobuf's text format, to a service that answers with a Boolean.

    The program `gz` asks: it takes about a second, mostly to start Ruby and find Gazebo.
    Returns "" if Gazebo accepts it, else what went wrong. The answer of a busy machine can come too late. To
    ask again does no harm: what is asked for is a state, not a change. `wait` waits so many seconds; it may
    raise, which ends the program.
    """
    command = [
        *("gz", "service", "-s", service, "--reqtype", f"gz.msgs.{kind}"),
        *("--reptype", "gz.msgs.Boolean", "--timeout", str(_TIMEOUT_MS), "--req", request),
    ]
    said = ""
    for _ in range(_TRIES):
        patience = time.monotonic() + _PROGRAM_TIMEOUT_S
        try:
            with Popen(command, stdout=PIPE, stderr=STDOUT, text=True) as program:
                try:
                    while program.poll() is None and time.monotonic() < patience:
                        wait(_LOOK_S)
                finally:
                    program.kill()
                said = program.communicate()[0].strip() or "no answer"
        except OSError as error:
            return f"Gazebo cannot be asked: {error}"
        if "data: true" in said:
            return ""
        if "timed out" not in said:
            break
    return f"Gazebo refuses: {said}"


# Objects wait here, on the ground behind the robot, this far apart (m).
_PARKING_X, _PARKING_STEP = -1.5, 0.3


def parking(world: World) -> dict[str, Pose]:
    """Return a pose on the ground for every object, out of the robot's reach and the camera's view."""
    middle = (len(world.objects) - 1) / 2
    return {
        thing.model: Pose.from_xyz_yaw(_PARKING_X, (i - middle) * _PARKING_STEP, thing.size[2] / 2)
        for i, thing in enumerate(world.objects)
    }


def placement(world: World, layout: Layout) -> dict[str, Pose]:
    """Return the pose of every object of the world: the layout's, or its parking place without one."""
    return {**parking(world), **layout.poses}


def pose_request(poses: Mapping[str, Pose]) -> str:
    """Return poses as a `gz.msgs.Pose_V` in protobuf's text format.

    >>> pose_request({"box_red": Pose(position=(0.5, 0.0, 0.42))})
    'pose {name: "box_red" position {x: 0.5 y: 0 z: 0.42} orientation {x: 0 y: 0 z: 0 w: 1}}'
    """
    return " ".join(_one(name, pose) for name, pose in poses.items())


def control_service(world: World) -> str:
    """Return the name of the service that grants physics steps."""
    return f"/world/{world.name}/control"


def watched_models(text: str, world: World) -> tuple[str, ...]:
    """Return the objects whose contacts are reported, from their names with commas; all if there is none.

    Raises InputError for one that is not in the world.
    """
    models = [thing.model for thing in world.objects]
    named = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in named if name not in models]:
        raise InputError(f"no object '{unknown[0]}'", "watched:=", one_of(unknown[0], models))
    return tuple(named or models)


def untouched(layout: Layout, pairs: Iterable[Pair], watched: Collection[str]) -> list[str]:
    """Return the layout's watched objects that touch nothing: they fly, or Gazebo's topics are silent."""
    touching = {model for p in pairs for model in p}
    return sorted(model for model in layout.poses if model in watched and model not in touching)


def _one(name: str, pose: Pose) -> str:
    px, py, pz = (f"{v + 0.0:.9g}" for v in pose.position)
    x, y, z, w = (f"{v + 0.0:.9g}" for v in pose.quaternion)
    position = f"position {{x: {px} y: {py} z: {pz}}}"
    return f'pose {{name: "{name}" {position} orientation {{x: {x} y: {y} z: {z} w: {w}}}}}'
