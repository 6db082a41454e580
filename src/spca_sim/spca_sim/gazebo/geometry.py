"""SDF elements for shapes, poses and surfaces."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import numpy.typing as npt

from spca_core.geometry import Array, Pose, Vec3
from spca_core.mesh import Primitive
from spca_robot.description.xml import Element, add, numbers, xyz_rpy


def add_pose(parent: Element, pose: Array) -> None:
    """Add a `<pose>` that a 4×4 matrix describes."""
    xyz, rpy = xyz_rpy(pose)
    add(parent, "pose", f"{xyz} {rpy}")


def add_box(parent: Element, size: Vec3) -> None:
    """Add a box geometry with these edges (m)."""
    add(add(add(parent, "geometry"), "box"), "size", size)


def add_cylinder(parent: Element, radius: float, length: float) -> None:
    """Add a cylinder geometry along z (m)."""
    cylinder = add(add(parent, "geometry"), "cylinder")
    add(cylinder, "radius", radius)
    add(cylinder, "length", length)


def add_primitive(parent: Element, part: Primitive) -> None:
    """Add the geometry of a convex part of a thing, at its place in the thing's frame."""
    if part.at != (0.0, 0.0, 0.0) or part.yaw:
        add_pose(parent, Pose.from_xyz_yaw(*part.at, part.yaw).matrix())
    if part.shape == "box":
        add_box(parent, part.size)
    elif part.shape == "cylinder":
        add_cylinder(parent, part.size[0] / 2, part.size[2])
    elif part.shape == "sphere":
        add(add(add(parent, "geometry"), "sphere"), "radius", part.size[0] / 2)
    else:
        add(add(add(parent, "geometry"), "mesh"), "uri", mesh_file(part))


def mesh_file(hull: Primitive) -> str:
    """Return the name of a hull's file, in the folder of the world."""
    return f"hull_{crc32(repr(hull.corners).encode()):08x}.obj"


def mesh_text(hull: Primitive) -> str:
    """Return a hull as a text in Wavefront's OBJ."""
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in hull.corners]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.faces]
    return "\n".join(lines) + "\n"


def add_ground(parent: Element, size: float) -> None:
    """Add a horizontal plane geometry, drawn `size` metres wide (it has no end for the physics)."""
    plane = add(add(parent, "geometry"), "plane")
    add(plane, "normal", (0, 0, 1))
    add(plane, "size", (size, size))


def linear(shown: npt.ArrayLike) -> Array:
    """Return linear light (0 to 1) of sRGB-encoded brightnesses, by the transfer curve of IEC 61966-2-1.

    Gazebo takes colours for shares of light and puts its pictures through the inverse of this curve.

    >>> linear([0.0, 0.5, 1.0]).round(3).tolist()
    [0.0, 0.214, 1.0]
    """
    value = np.asarray(shown, dtype=float)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def add_colour(visual: Element, colour: Vec3) -> None:
    """Add a matt surface that a picture shows in that colour (RGB, 0 to 1) when it is fully lit."""
    material = add(visual, "material")
    for kind in ("ambient", "diffuse"):
        add(material, kind, numbers((*linear(colour), 1.0)))
    add(material, "specular", numbers((0.05, 0.05, 0.05, 1.0)))


def add_friction(collision: Element, mu: float) -> None:
    """Add Coulomb friction; where two surfaces meet, DART takes the smaller of the two."""
    ode = add(add(add(collision, "surface"), "friction"), "ode")
    add(ode, "mu", mu)
    add(ode, "mu2", mu)


def add_inertia(link: Element, mass: float, size: Vec3, round_: bool) -> None:
    """Add mass (kg) and inertia of a solid box or cylinder.

    A cylinder has diameter size[0] and height size[2].
    """
    a, b, c = size
    if round_:
        across = mass * (3 * (a / 2) ** 2 + c**2) / 12
        moments = (across, across, mass * (a / 2) ** 2 / 2)
    else:
        moments = (mass * (b**2 + c**2) / 12, mass * (a**2 + c**2) / 12, mass * (a**2 + b**2) / 12)
    inertial = add(link, "inertial")
    add(inertial, "mass", mass)
    inertia = add(inertial, "inertia")
    for name, value in zip(("ixx", "iyy", "izz"), moments, strict=True):
        add(inertia, name, value)
    for name in ("ixy", "ixz", "iyz"):
        add(inertia, name, 0.0)
