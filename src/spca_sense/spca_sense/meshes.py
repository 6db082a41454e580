"""Things of a kind with a mesh: found by their profile from above, in any turn, at the mesh's own size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from spca_core.geometry import Array, Pose, about_z
from spca_core.kinds import MESHES
from spca_sense.explanations import Silhouette
from spca_sense.outline import fit_shape, numerical
from spca_sense.view import JOINT, NOISE, TOLERANCE, HeightView, Mask, Patch, Window

_CELL = TOLERANCE  # metres between the points at which distances are known
_TURNS = 12  # from which a fit begins
_TRIED = 2  # of them, the best ones
_FEW, _ENOUGH = 100, 400  # points for a rough fit, and for a good one
_LEAST, _MOST = 0.3, 1.5  # times what it covers from above: what shows less or more is nothing of that kind


def fitted(kind: str, view: HeightView, window: Window, mask: Mask) -> Iterator[tuple[Pose, Silhouette]]:
    """Yield poses in which a thing of that kind may show where a window's `mask` is, and where each shows.

    Its `face` is what must show it, its `whole` what is near its surface.
    """
    heights = view.heights[window][mask].astype(float)
    points = np.column_stack((view.to_plane(Patch(window, mask).pixels, heights), heights))
    profile = _profile(kind)
    cells = np.unique(np.round(points[:, :2] / _CELL), axis=0)
    if not _LEAST < len(cells) / profile.cells < _MOST:
        return

    def fit(start: Array, count: int) -> tuple[float, Array]:
        own = points[:: max(1, len(points) // count)]
        parameters = fit_shape(numerical(lambda p: profile.distances(own, p)), start).parameters
        off = np.abs(profile.distances(own, parameters))
        return float(np.minimum(off, 4 * TOLERANCE).mean()), parameters

    z = float(np.percentile(heights, 95)) - MESHES[kind].size[2] / 2
    middle = cells.mean(axis=0) * _CELL
    yaws = np.arange(_TURNS) * 2 * np.pi / _TURNS
    starts = (np.array([*(middle - about_z(yaw)[:2, :2] @ profile.middle), yaw, z]) for yaw in yaws)
    rough = (fit(start, _FEW) for start in starts)
    for _, start in sorted(rough, key=lambda way: way[0])[:_TRIED]:
        parameters = fit(start, _ENOUGH)[1]
        x, y, yaw, z = parameters
        shown = mask.copy()
        shown[mask] = np.abs(profile.distances(points, parameters)) < NOISE
        pose = Pose.from_xyz_yaw(float(x), float(y), float(z), float(yaw))
        yield pose, Silhouette(_outline(kind, view, pose, window), Patch(window, shown))


def _outline(kind: str, view: HeightView, pose: Pose, window: Window) -> Patch:
    """Return all pixels in which a thing shows (`pose`: its centre, by its height above the table)."""
    mask = np.zeros([w.stop - w.start for w in window], bool)
    turn, at = pose.matrix()[:3, :3], np.array(pose.position)
    for part in MESHES[kind].parts:
        mask |= view.patch(np.array(part) @ turn.T + at).within(window)
    return Patch(window, mask)


class _Profile:
    """Distances of points from the surface of a mesh, negative within."""

    def __init__(self, kind: str) -> None:
        from scipy.spatial import ConvexHull

        mesh = MESHES[kind]
        self._corner = -np.array(mesh.size) / 2 - 2 * JOINT
        axes = [np.arange(low, -low + _CELL, _CELL) for low in self._corner]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        self._distances = np.full(grid.shape[:3], np.inf)
        for part in mesh.parts:
            own = np.full(grid.shape[:3], -np.inf)
            for *normal, offset in ConvexHull(np.array(part)).equations:
                np.maximum(own, grid @ normal + offset, out=own)
            np.minimum(self._distances, own, out=self._distances)
        covered = self._distances.min(axis=2) < 0
        self.middle: Array = np.array([grid[covered][:, 0, k].mean() for k in (0, 1)])
        """Middle (x, y) of what the mesh covers from above, in metres."""
        self.cells = int(covered.sum())
        """Number of squares of the grid that the mesh covers from above."""

    def distances(self, points: Array, parameters: Array) -> Array:
        """Return the distances of points (N, 3) from the surface of the mesh at (x, y, yaw, z)."""
        from scipy.ndimage import map_coordinates

        x, y, yaw, z = parameters
        own = np.column_stack(((points[:, :2] - (x, y)) @ about_z(yaw)[:2, :2], points[:, 2] - z))
        cells = ((own - self._corner) / _CELL).T
        return np.asarray(map_coordinates(self._distances, cells, order=1, mode="nearest"))


_profile = cache(_Profile)
