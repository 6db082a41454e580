"""Robotiq 2F-85: geometry, and where the tool centre point is. Metres, radians, newtons.

Each finger is a parallelogram linkage: a *driver* link turns about a pivot by `angle` (0 = fully open), and
the fingertip with the pad on it turns back by as much, so that the pads stay parallel while they travel on an
arc. Figures: Robotiq's instruction manual (stroke, pad, overall length, speed) and the dimensions in
Robotiq's published CAD.

Frame. The gripper hangs on `tool0` (UR5 flange) through an adapter, without any turn: z points out of the
fingers, the pads move along y (the left finger is at +y), x is along the pads' width. The *tool centre point*
(TCP) is half way between the centres of the two pads, its axes parallel to tool0's. It travels along z with
the gap: `tcp_offset(gap)`.
"""

from __future__ import annotations

import math

from spca_core.errors import InputError

STROKE = 0.085
"""Largest gap between the pads."""
ADAPTER = 0.011
"""Thickness of the coupling between tool0 and the gripper's base."""
PIVOT_Y, PIVOT_Z = 0.0306, 0.0549
"""Position of the driver's pivot, from the gripper's base."""
LINK_Y, LINK_Z = 0.0376, 0.0430
"""Offset from the driver's pivot to the fingertip's joint, fully open."""
PAD_WIDTH, PAD_LENGTH, PAD_THICKNESS = 0.022, 0.0375, 0.008
PAD_FACE = PIVOT_Y + LINK_Y - STROKE / 2
"""Distance from the fingertip's joint inwards to the pad's face."""
PAD_CENTRE_Z = 0.0323
"""Distance from the fingertip's joint to the pad's centre, along z."""
MASS = 0.9
"""Mass of the whole gripper, in kg."""
SPEED = 0.15
"""Fastest change of the gap, m/s (manual: 20 to 150 mm/s)."""

_LINK = math.hypot(LINK_Y, LINK_Z)
_OPEN_ANGLE = math.atan2(LINK_Z, LINK_Y)  # of the link, from the y axis

PAD_TIP = PAD_LENGTH / 2
"""Distance that the fingertips reach beyond the TCP."""


def driver_angle(gap: float) -> float:
    """Return the driver's angle, from fully open, at which the pads are `gap` metres apart.

    From gap/2 = PIVOT_Y + |link|·cos(φ) - PAD_FACE, φ the link's angle. Raises InputError outside 0-0.085 m.

    >>> round(driver_angle(0.085), 6), round(driver_angle(0.0), 2)
    (0.0, 0.8)
    """
    if not -1e-9 <= gap <= STROKE + 1e-9:
        raise InputError(f"gripper gap {gap:.4f} m", hint=f"0 to {STROKE} m")
    return math.acos((min(max(gap, 0.0), STROKE) / 2 + PAD_FACE - PIVOT_Y) / _LINK) - _OPEN_ANGLE


def gap_of(angle: float) -> float:
    """Return the gap between the pads in metres at a driver angle; the inverse of `driver_angle`."""
    return 2 * (PIVOT_Y + _LINK * math.cos(_OPEN_ANGLE + angle) - PAD_FACE)


def tcp_offset(gap: float) -> float:
    """Return the distance from tool0 to the TCP along tool0's z, in metres, at a gap between the pads.

    The pads swing forward while they close, by 11 mm from fully open to a 4 cm cube.

    >>> round(tcp_offset(0.085), 4), round(tcp_offset(0.04) - tcp_offset(0.085), 3)
    (0.1412, 0.012)
    """
    return ADAPTER + PIVOT_Z + _LINK * math.sin(_OPEN_ANGLE + driver_angle(gap)) + PAD_CENTRE_Z


def pad_force(moment: float, angle: float) -> float:
    """Return the force of each pad (N) at a driver angle.

    `moment` (N·m) is the tendon's, the mean of the two drivers.

    Virtual work: moment · dθ = 2 · force · dy with dy/dθ = |link|·sin(φ).
    """
    return moment / (2 * _LINK * math.sin(_OPEN_ANGLE + angle))


CLOSED_ANGLE = driver_angle(0.0)
"""Angle of the driver at which the pads touch."""
