"""Makes the shape of this package: `pip install trimesh coacd manifold3d rtree`, then `python make.py`.

It becomes a file beside its kind: convex parts, which all of spca builds it from, and grasps from above,
sampled on its surface. Metres; z is up; the origin ends up in the middle of its extents.
"""

from __future__ import annotations

import json
from pathlib import Path

import coacd
import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.creation import revolve
from trimesh.transformations import rotation_matrix

from spca_robot import gripper_2f85 as gripper
from spca_tabletop.act.grasps import COVERED, GAPS, PLAY, TIP_CLEARANCE, WIDEST

HERE = Path(__file__).parent / "src" / "mug"
DETAIL = 0.06  # of coacd: the largest concavity that is left, as a share of the extents
PAIRS, KEPT = 6000, 16  # grasps that are tried, and that are kept
SQUARE = np.cos(np.radians(10))  # the pads meet the surface at a right angle, within 10°
FINGER = 0.016  # m: how thick a finger is behind its pad's face
CLEAR = 0.004  # m between the fingers and the rest of a thing, at least: its pose is seen to some 3 mm
PALM = 0.040  # m above the tool centre point, from where on the gripper is wider than its fingers
Array = NDArray[np.float64]


def mug() -> trimesh.Trimesh:
    """A mug with a handle, its walls widening upwards."""
    outside = revolve(np.array([(0, 0), (0.026, 0), (0.030, 0.055), (0, 0.055)]), sections=48)
    inside = revolve(np.array([(0, 0.006), (0.021, 0.006), (0.026, 0.060), (0, 0.060)]), sections=48)
    ring = trimesh.creation.torus(0.015, 0.004, major_sections=32, minor_sections=12)
    ring.apply_transform(rotation_matrix(np.pi / 2, (1, 0, 0)))
    ring.apply_translation((0.032, 0, 0.028))
    return outside.union(ring).difference(inside)


def write(name: str, shape: trimesh.Trimesh) -> None:
    """Write a shape's file."""
    shape.apply_translation(-shape.bounds.mean(axis=0))
    parts = coacd.run_coacd(coacd.Mesh(shape.vertices, shape.faces), threshold=DETAIL, seed=1)
    hulls = [trimesh.Trimesh(*part).convex_hull for part in parts]
    corners = np.vstack([hull.vertices for hull in hulls])
    content = {
        "size": _listed(np.ptp(corners, axis=0)),
        "parts": [_listed(hull.vertices - (corners.max(axis=0) + corners.min(axis=0)) / 2) for hull in hulls],
        "grasps": grasps(shape),
    }
    lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in content.items())
    (HERE / f"{name}.json").write_text("{" + lines.replace("], [[", "],\n[[") + "}\n")
    print(name, len(hulls), "parts,", len(content["grasps"]), "grasps,", content["size"], "m")


def grasps(shape: trimesh.Trimesh) -> list[dict[str, object]]:
    """Pairs of opposite points between which the pads close from above, the clearest first."""
    points, faces = trimesh.sample.sample_surface(shape, PAIRS, seed=0)
    surface, _ = trimesh.sample.sample_surface(shape, 4 * PAIRS, seed=1)
    inwards = -shape.face_normals[faces]
    level = np.abs(inwards[:, 2]) < 0.15
    points, inwards = points[level], inwards[level] * (1, 1, 0)
    inwards /= np.linalg.norm(inwards, axis=1)[:, None]
    hits, rays, opposite = shape.ray.intersects_location(points + 1e-5 * inwards, inwards)
    found = []
    for hit, ray, face in zip(hits, rays, opposite, strict=True):
        width = float(np.linalg.norm(hit - points[ray]))
        if shape.face_normals[face] @ inwards[ray] < SQUARE or width > WIDEST:
            continue
        middle = (hit + points[ray]) / 2
        lowest = shape.bounds[0, 2] + TIP_CLEARANCE + gripper.PAD_TIP
        middle[2] = max(middle[2], lowest)
        yaw = float(np.arctan2(inwards[ray][1], inwards[ray][0]) - np.pi / 2)  # the pads close along y
        room, clear = clearance(surface, middle, yaw, width)
        if clear > 0:
            found.append((room, clear, float(np.linalg.norm(middle - shape.center_mass)), middle, yaw, width))
    # Where the open fingers have most room first, and of those the ones near the centre of mass.
    found.sort(key=lambda g: (-g[0], -round(min(g[1], 0.010), 3), g[2]))
    kept: list[tuple] = []
    for one in found:
        if all(np.linalg.norm(one[3] - k[3]) > 0.006 or abs(np.sin(one[4] - k[4])) > 0.25 for k in kept):
            kept.append(one)
    return [
        {"at": _listed(at), "yaw": round(yaw, 3), "width": round(width, 4), "room": room}
        for room, _, _, at, yaw, width in kept[:KEPT]
    ]


def clearance(surface: Array, middle: Array, yaw: float, width: float) -> tuple[float, float]:
    """The widest gap with which the fingers come down beside a thing, and how far off it they are (m)."""
    c, s = np.cos(yaw), np.sin(yaw)
    local = (surface - middle) @ np.array([(c, -s, 0), (s, c, 0), (0, 0, 1)])
    along, across, up = local.T
    beside, low = np.abs(across), up > -gripper.PAD_TIP - 0.002
    held = low & (np.abs(along) < gripper.PAD_WIDTH / 2) & (beside <= width / 2 + 0.001)
    if not held.any() or np.ptp(up[held]) < COVERED or surface[:, 2].max() - middle[2] > PALM:
        return 0.0, 0.0
    other = low & (beside > width / 2 + 0.001)  # what the fingers could meet, open or while they close
    off_along = np.maximum(np.abs(along[other]) - gripper.PAD_WIDTH / 2, 0)
    for gap in GAPS:
        off_across = np.maximum(beside[other] - gap / 2 - FINGER, 0)
        clear = min([gap / 2 - width / 2, *np.hypot(off_along, off_across)])
        if gap >= width + PLAY and clear >= CLEAR:
            return gap, clear
    return 0.0, 0.0


def _listed(values: Array) -> list:
    return np.round(values, 5).tolist()


if __name__ == "__main__":
    write("mug", mug())
