"""The 2F-85 as MuJoCo bodies: per finger a driver hinge and a fingertip hinge, equal and opposite.

The coupling is the real linkage's parallelogram without its loop: three joint equalities keep both drivers
equal and each fingertip parallel to itself. One tendon (the mean of the drivers) carries the one motor.
"""

from __future__ import annotations

import math

from spca_robot import gripper_2f85 as g
from spca_robot.windowless import mujoco

SIDES = ("left", "right")  # left is at +y of tool0
TENDON = "gripper"
BLACK = (0.16, 0.17, 0.18, 1.0)
STEEL = (0.45, 0.46, 0.48, 1.0)
RUBBER = (0.08, 0.08, 0.09, 1.0)

KP, KV = 80.0, 4.0  # of the tendon's position servo, N·m/rad and N·m·s/rad
MAX_MOMENT = 5.0  # N·m on the tendon: 46 N a pad on a 4 cm cube
_BASE_RADIUS = 0.0375
_BASE_TOP = 0.066  # of the housing, from the gripper's base
_MASS_SHARES = {"base": 0.78, "driver": 0.03, "tip": 0.08}  # of the gripper's mass; driver and tip twice


def add_gripper(spec: mujoco.MjSpec, wrist: mujoco.MjsBody, robot: str, pad_friction: float = 1.0) -> None:
    """Hang the gripper on the site `tool0` of `wrist`.

    Joints: `{left,right}_{driver,tip}`; the tendon: `gripper`.

    `pad_friction` replaces the friction of whatever touches a pad (0: frictionless, for experiments).
    """
    flange = next(site for site in wrist.sites if site.name == "tool0")
    base = wrist.add_body(name=f"{robot}/gripper_base", pos=flange.pos, quat=flange.quat, gravcomp=1)
    base.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=(0, 0, 0, 0, 0, g.ADAPTER + _BASE_TOP),
        size=(_BASE_RADIUS, 0, 0),
        rgba=BLACK,
        mass=g.MASS * _MASS_SHARES["base"],
    )
    base.add_site(name="gripper_base", pos=(0, 0, g.ADAPTER))
    for side in SIDES:
        _add_finger(base, robot, side, pad_friction)

    _couple(spec, "right_driver", "left_driver", 1.0)
    for side in SIDES:
        _couple(spec, f"{side}_tip", f"{side}_driver", -1.0)
    for one, other in _within_gripper():
        spec.add_exclude(bodyname1=f"{robot}/{one}", bodyname2=f"{robot}/{other}")

    tendon = spec.add_tendon(name=TENDON)
    for side in SIDES:
        tendon.wrap_joint(f"{side}_driver", 0.5)
    motor = spec.add_actuator(name=TENDON, target=TENDON, trntype=mujoco.mjtTrn.mjTRN_TENDON)
    motor.set_to_position(kp=KP, kv=KV)
    motor.forcelimited = True
    motor.forcerange = (-MAX_MOMENT, MAX_MOMENT)


def _add_finger(base: mujoco.MjsBody, robot: str, side: str, pad_friction: float) -> None:
    out = 1.0 if side == "left" else -1.0  # y towards the outside of this finger
    box = mujoco.mjtGeom.mjGEOM_BOX

    driver = base.add_body(
        name=f"{robot}/{side}_driver", pos=(0, out * g.PIVOT_Y, g.ADAPTER + g.PIVOT_Z), gravcomp=1
    )
    driver.add_joint(
        name=f"{side}_driver",
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=(out, 0, 0),
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=(0, g.CLOSED_ANGLE),
        armature=0.005,
        damping=[0.05, 0, 0],
    )
    length = math.hypot(g.LINK_Y, g.LINK_Z)
    tilt = -out * math.atan2(g.LINK_Y, g.LINK_Z)  # of the link from z, about x
    driver.add_geom(
        type=box,
        pos=(0, out * g.LINK_Y / 2, g.LINK_Z / 2),
        quat=(math.cos(tilt / 2), math.sin(tilt / 2), 0, 0),
        size=(0.0125, 0.007, length / 2),
        rgba=STEEL,
        mass=g.MASS * _MASS_SHARES["driver"],
    )

    tip = driver.add_body(name=f"{robot}/{side}_tip", pos=(0, out * g.LINK_Y, g.LINK_Z), gravcomp=1)
    tip.add_joint(
        name=f"{side}_tip",
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=(out, 0, 0),
        armature=0.001,
        damping=[0.01, 0, 0],
    )
    back = g.PAD_FACE - g.PAD_THICKNESS  # from the joint inwards to the pad's back
    tip.add_geom(  # the finger behind the pad, 7 mm thick
        type=box,
        pos=(0, -out * (back - 0.0035), g.PAD_CENTRE_Z),
        size=(g.PAD_WIDTH / 2, 0.0035, g.PAD_TIP),
        rgba=BLACK,
        mass=g.MASS * _MASS_SHARES["tip"] * 0.4,
    )
    tip.add_geom(  # the knuckle, from the joint to the finger
        type=box,
        pos=(0, -out * (back - 0.006) / 2, 0.004),
        size=(g.PAD_WIDTH / 2, (back + 0.006) / 2, 0.0105),
        rgba=BLACK,
        mass=g.MASS * _MASS_SHARES["tip"] * 0.4,
    )
    tip.add_geom(
        name=f"{side}_pad",
        type=box,
        pos=(0, -out * (g.PAD_FACE - g.PAD_THICKNESS / 2), g.PAD_CENTRE_Z),
        size=(g.PAD_WIDTH / 2, g.PAD_THICKNESS / 2, g.PAD_TIP),
        rgba=RUBBER,
        mass=g.MASS * _MASS_SHARES["tip"] * 0.2,
        friction=(pad_friction, 0.005 * pad_friction, 0.0001 * pad_friction),
        priority=1,  # the pad's friction holds, not the larger of the two
    )


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


def _within_gripper() -> list[tuple[str, str]]:
    """Pairs of gripper bodies whose mutual contact is intended.

    The pads close on each other and the knuckles pass the base.
    """
    pairs = [(f"left_{a}", f"right_{b}") for a in ("driver", "tip") for b in ("driver", "tip")]
    return pairs + [("gripper_base", f"{side}_tip") for side in SIDES]
