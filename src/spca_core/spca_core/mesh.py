"""The convex parts that things are made of, and meshes, which are made of such parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from spca_core.geometry import Array, Vec3
from spca_core.model import Part

_LEAST, _MOST, _OFF = 0.005, 0.5, 0.0005  # metres
_THIN = 1e-10  # m³


@dataclass(frozen=True)
class Primitive:
    """A convex part of a thing: full extents `size`, place `at` in the thing's frame (metres), `yaw` (rad).

    A cylinder stands on its axis; it and a sphere have their diameter in size[0]. A hull has `corners` around
    `at`, and `faces` between them, three corners each, counter-clockwise from outside.
    """

    shape: Literal["box", "cylinder", "sphere", "hull"]
    size: Vec3
    at: Vec3 = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    corners: tuple[Vec3, ...] = ()
    faces: tuple[tuple[int, int, int], ...] = ()

    @property
    def volume(self) -> float:
        """Volume of the part in cubic metres."""
        a, b, c = self.size
        if self.shape == "hull":
            return float(np.linalg.det(np.array(self.corners)[np.array(self.faces)]).sum()) / 6
        return {"box": a * b * c, "cylinder": math.pi / 4 * a * a * c, "sphere": math.pi / 6 * a**3}[
            self.shape
        ]


class SampledGrasp(Part):
    """Two opposite faces of a mesh between which the pads close from above.

    The tool centre point is `at` in the mesh's frame (metres), its x axis turned by `yaw` (rad); the pads end
    up `width` apart. With a gap of up to `room` the open fingers come down beside the mesh.
    """

    at: Vec3
    yaw: float
    width: float = Field(gt=0)
    room: float = Field(gt=0)


class Mesh(Part):
    """A shape as convex parts: the corners of each, around the middle of the `size` of all (metres, z up)."""

    size: Vec3
    parts: tuple[tuple[Vec3, ...], ...] = Field(min_length=1)
    grasps: tuple[SampledGrasp, ...] = ()
    """Grasps of the mesh, the best first."""

    @model_validator(mode="after")
    def _solid(self) -> Mesh:
        if not all(_LEAST <= edge <= _MOST for edge in self.size):
            raise ValueError(f"size: a thing on a table measures {_LEAST} to {_MOST} m each way")
        corners = np.array([corner for part in self.parts for corner in part])
        if abs(np.array([-corners.min(axis=0), corners.max(axis=0)]) - np.array(self.size) / 2).max() > _OFF:
            raise ValueError("parts: their corners do not lie around the middle of the size")
        if not all(part.volume > _THIN for part in self.primitives):
            raise ValueError("parts: one of them is flat")
        return self

    @cached_property
    def primitives(self) -> tuple[Primitive, ...]:
        """The parts as primitives, which things are built from."""
        return tuple(_hull(np.array(part)) for part in self.parts)

    @cached_property
    def outline(self) -> Array:
        """The convex outline seen from above, (N, 2) in metres, counter-clockwise."""
        from scipy.spatial import ConvexHull

        corners = np.array([corner[:2] for part in self.parts for corner in part])
        return corners[ConvexHull(corners).vertices]


def _hull(points: Array) -> Primitive:
    from scipy.spatial import ConvexHull

    low, high = points.min(axis=0), points.max(axis=0)
    corners = points - (low + high) / 2
    hull = ConvexHull(corners)
    outwards = np.einsum("ij,ij->i", hull.equations[:, :3], _normals(corners[hull.simplices])) > 0
    faces = np.where(outwards[:, None], hull.simplices, hull.simplices[:, ::-1])
    return Primitive(
        "hull",
        tuple((high - low).tolist()),
        tuple(((low + high) / 2).tolist()),
        corners=tuple(map(tuple, corners.tolist())),
        faces=tuple(map(tuple, faces.tolist())),
    )


def _normals(triangles: Array) -> Array:
    return np.asarray(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]))
