"""The 2F-85 as MuJoCo bodies: per finger a driver, an inner knuckle parallel to it, and a fingertip.

The coupling is the real linkage's parallelogram without its loop: joint equalities keep both drivers equal,
each inner knuckle parallel to its driver and each fingertip parallel to itself. One tendon (the mean of the
drivers) carries the one motor. The boxes contain the meshes of Robotiq's own CAD.
"""

from __future__ import annotations

import itertools
import math

from spca_core.geometry import Array, Vec3
from spca_robot import gripper_2f85 as g
from spca_robot.windowless import mujoco

SIDES = ("left", "right")  # left is at +y of tool0
BODIES = ("gripper_base", *(f"{side}_{part}" for side in SIDES for part in ("driver", "inner", "tip")))
TENDON = "gripper"
BLACK = (0.16, 0.17, 0.18, 1.0)
STEEL = (0.45, 0.46, 0.48, 1.0)
RUBBER = (0.08, 0.08, 0.09, 1.0)

KP, KV = 80.0, 4.0  # of the tendon's position servo, N·m/rad and N·m·s/rad
MAX_MOMENT = 5.0  # N·m on the tendon: 46 N a pad on a 4 cm cube
_RADIUS, _HEIGHT = 0.0429, 0.0665  # radius and height of the round part, from the gripper's base
_NOSE = ((0.022, 0.0378, 0.079), (0.0155, 0.03, 0.0905))  # half widths along x and y, and top, above it
_INNER_Y, _INNER_Z = 0.0127, 0.06142  # the inner knuckle's pivot, from the gripper's base
# Of the gripper's mass; driver, inner knuckle and tip twice.
_MASS_SHARES = {"base": 0.78, "driver": 0.02, "inner": 0.01, "tip": 0.08}

# Corners (least, greatest) of boxes in the frame of the part's joint of the finger at +y: metres, y outwards.
_BACK = g.PAD_FACE - g.PAD_THICKNESS  # from the fingertip's joint inwards to the pad's back
_DRIVER = (
    ((-0.0137, -0.0077, -0.0105), (0.0137, 0.0436, 0.0113)),  # the knuckle
    ((-0.0137, 0.018, -0.0105), (0.0137, 0.0438, 0.0495)),  # the finger's outside
)
_PAD_LOW, _PAD_HIGH = g.PAD_CENTRE_Z - g.PAD_TIP, g.PAD_CENTRE_Z + g.PAD_TIP
_TIP = (
    ((-g.PAD_WIDTH / 2, -0.024, -0.0065), (g.PAD_WIDTH / 2, 0.0062, 0.0145)),  # at the joint
    ((-0.0077, -_BACK, 0.0145), (0.0077, 0.0, 0.0245)),  # the sloping back, in two steps
    ((-0.0077, -_BACK, 0.0245), (0.0077, -0.0045, 0.0405)),
    ((-g.PAD_WIDTH / 2, -_BACK, _PAD_LOW), (g.PAD_WIDTH / 2, 0.007 - _BACK, _PAD_HIGH)),  # behind the pad
)
# Parallel to the driver's link; these axes have z along it.
_INNER = (-0.0197, -0.0068, -0.0062), (0.0197, 0.0062, 0.0633)
_PAD = (-g.PAD_WIDTH / 2, -g.PAD_FACE, _PAD_LOW), (g.PAD_WIDTH / 2, -_BACK, _PAD_HIGH)


def add_gripper(spec: mujoco.MjSpec, wrist: mujoco.MjsBody, robot: str, pad_friction: float = 1.0) -> None:
    """Hang the gripper on the site `tool0` of `wrist`.

    Joints: `{left,right}_{driver,tip}`; the tendon: `gripper`.

    `pad_friction` replaces the friction of whatever touches a pad (0: frictionless, for experiments).
    """
    flange = next(site for site in wrist.sites if site.name == "tool0")
    base = wrist.add_body(name=f"{robot}/gripper_base", pos=flange.pos, quat=flange.quat, gravcomp=1)
    mass = g.MASS * _MASS_SHARES["base"]
    base.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=(0, 0, 0, 0, 0, g.ADAPTER + _HEIGHT),
        size=(_RADIUS, 0, 0),
        rgba=BLACK,
        mass=0.9 * mass,
    )
    for x, y, top in _NOSE:
        _add_box(base, (-x, -y, g.ADAPTER + _HEIGHT), (x, y, g.ADAPTER + top), BLACK, mass=0.05 * mass)
    base.add_site(name="gripper_base", pos=(0, 0, g.ADAPTER))
    for side in SIDES:
        _add_finger(base, robot, side, pad_friction)

    _couple(spec, "right_driver", "left_driver", 1.0)
    for side in SIDES:
        _couple(spec, f"{side}_inner", f"{side}_driver", 1.0)
        _couple(spec, f"{side}_tip", f"{side}_driver", -1.0)
    # The pads close on each other, the knuckles pass the base, and the linkage's joints overlap.
    for one, other in itertools.combinations(BODIES, 2):
        spec.add_exclude(bodyname1=f"{robot}/{one}", bodyname2=f"{robot}/{other}")

    tendon = spec.add_tendon(name=TENDON)
    for side in SIDES:
        tendon.wrap_joint(f"{side}_driver", 0.5)
    motor = spec.add_actuator(name=TENDON, target=TENDON, trntype=mujoco.mjtTrn.mjTRN_TENDON)
    motor.set_to_position(kp=KP, kv=KV)
    motor.forcerange = (-MAX_MOMENT, MAX_MOMENT)


def _add_finger(base: mujoco.MjsBody, robot: str, side: str, pad_friction: float) -> None:
    out = 1.0 if side == "left" else -1.0  # y towards the outside of this finger
    driver = _add_part(base, robot, f"{side}_driver", (0, out * g.PIVOT_Y, g.ADAPTER + g.PIVOT_Z), out)
    inner = _add_part(base, robot, f"{side}_inner", (0, out * _INNER_Y, g.ADAPTER + _INNER_Z), out)
    tip = _add_part(driver, robot, f"{side}_tip", (0, out * g.LINK_Y, g.LINK_Z), out)
    for low, high in _DRIVER:
        _add_box(driver, low, high, STEEL, g.MASS * _MASS_SHARES["driver"] / len(_DRIVER), out)
    knuckle = _add_box(inner, *_INNER, BLACK, g.MASS * _MASS_SHARES["inner"], out)
    knuckle.pos, knuckle.quat = _turned(knuckle.pos, -out * math.atan2(g.LINK_Y, g.LINK_Z))
    for low, high in _TIP:
        _add_box(tip, low, high, BLACK, g.MASS * _MASS_SHARES["tip"] * 0.8 / len(_TIP), out)
    pad = _add_box(tip, *_PAD, RUBBER, g.MASS * _MASS_SHARES["tip"] * 0.2, out)
    pad.name = f"{side}_pad"
    pad.friction = (pad_friction, 0.005 * pad_friction, 0.0001 * pad_friction)
    pad.priority = 1  # the pad's friction holds, not the larger of the two


def _add_part(parent: mujoco.MjsBody, robot: str, name: str, at: Vec3, out: float) -> mujoco.MjsBody:
    """Add a body that turns about x, towards the other finger at a positive angle, and return it."""
    body = parent.add_body(name=f"{robot}/{name}", pos=at, gravcomp=1)
    driver = name.endswith("_driver")
    body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=(out, 0, 0),
        range=(0, g.CLOSED_ANGLE) if driver else (0, 0),
        armature=0.005 if driver else 0.001,
        damping=[0.05 if driver else 0.01, 0, 0],
    )
    return body


def _add_box(
    body: mujoco.MjsBody,
    low: Vec3,
    high: Vec3,
    colour: tuple[float, float, float, float],
    mass: float,
    out: float = 1.0,
) -> mujoco.MjsGeom:
    """Add a box between two corners and return it; `out` = -1 mirrors it, for the finger at -y."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    return body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=((x0 + x1) / 2, out * (y0 + y1) / 2, (z0 + z1) / 2),
        size=((x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2),
        rgba=colour,
        mass=mass,
    )


def _turned(at: Array, angle: float) -> tuple[Vec3, tuple[float, float, float, float]]:
    """Return a point turned about x by `angle` (rad), and the quaternion (wxyz) of the turn."""
    c, s = math.cos(angle), math.sin(angle)
    turn = (math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0)
    return (float(at[0]), float(c * at[1] - s * at[2]), float(s * at[1] + c * at[2])), turn


def _couple(spec: mujoco.MjSpec, follower: str, leader: str, ratio: float) -> None:
    coupling = spec.add_equality(
        name=f"{follower}_coupling",
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=follower,
        name2=leader,
        solref=(0.004, 1),
        solimp=(0.95, 0.99, 0.001, 0.5, 2),
    )
    coupling.data[:2] = 0, ratio  # follower = 0 + ratio · leader
