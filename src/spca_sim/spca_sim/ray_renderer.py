"""Renders by casting rays with MuJoCo, without any graphics library.

What never moves (table, ground, the robot's base) is cast once per view and light, and kept for the next
renderer with the same, as most levels have. After that, rays go only to the pixels inside the outlines of
the moving geoms. Surfaces reflect diffusely. Shadows on table and ground are the outlines projected along
the light, which is exact because every geom is convex; shadows on moving geoms come from rays towards the
lamp. A blur softens both. (A part of the robot's base that the arm shades stays bright: only moving geoms
and floors are tested.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from threading import Lock

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import FIXED_GROUP, MOVING_GROUP
from spca_sim.physics_model import prints, reflectance
from spca_sim.variation import Lighting
from spca_sim.view import CameraView

Image = NDArray[np.float32]
Indices = NDArray[np.intp]

_FAR = 100.0  # m; rays are cut there
_NEAR = 0.02  # m from the camera; what is nearer has no outline
_LAMP_DISTANCE = 50.0  # m: far enough for parallel rays, near enough for exact ones
_SHADOW_BIAS = 1e-3 / _LAMP_DISTANCE  # a surface does not shade what lies within 1 mm below it
_SKY_LOW = np.array([0.80, 0.83, 0.86], np.float32)
_SKY_HIGH = np.array([0.62, 0.70, 0.79], np.float32)
_LENS_BLUR = 0.55  # px
_SHADOW_BLUR = 1.6  # px
_REACH = 10  # px; more than both blurs carry


@dataclass(frozen=True)
class _Backdrop:
    """Backdrop of one view: all that never moves."""

    rays: Array
    """Ray of each pixel (H·W, 3), see `CameraView.rays`."""
    image: NDArray[np.uint8]
    """Picture of the backdrop with its shadows, (H, W, 3)."""
    depth: Image
    """Depths (H·W) in metres, infinity where nothing is."""
    indirect: Image
    """Light from all around, (H, W, 3)."""
    direct: Image
    """Light from the lamp, without shadows, (H, W, 3)."""
    floors: list[tuple[float, NDArray[np.uint8]]]
    """Heights (m) of the upward faces in sight (the table's top, the ground), and their pixels (H, W)."""
    shadow: NDArray[np.uint8]
    """Pixels (H, W) of the floors that are in shadow."""


_KEPT = 4  # backdrops of 18 MB each
_backdrops: dict[tuple[object, ...], _Backdrop] = {}
_keeping = Lock()  # the threads that draw a video share them


class RayRenderer:
    """An ideal camera: no noise. Colours and light as MuJoCo's geoms and `lighting` have them."""

    def __init__(self, model: mujoco.MjModel, view: CameraView, lighting: Lighting) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._view, self._light = view, lighting
        self._shape = (view.intrinsics.height, view.intrinsics.width)
        self._eye = np.array(view.pose.position)
        self._moving: Indices = np.flatnonzero(model.geom_group == MOVING_GROUP)
        self._albedo = model.geom_rgba[:, :3].astype(np.float32)
        self._prints = prints(model)
        self._outlines = np.array([_outline(model, g) for g in range(model.ngeom)])
        mujoco.mj_kinematics(self._model, self._data)
        self._fixed: Indices = np.flatnonzero(model.geom_group == FIXED_GROUP)
        self._backdrop = self._kept_backdrop()

    def render(self, qpos: NDArray[np.floating]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return colours (H, W, 3) and depths (H, W) in metres, 0 where nothing is, of these positions."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        outlines = self._outlines_in_world(self._moving)
        covered = cv2.dilate(self._inside(outlines, everywhere=True), np.ones((3, 3), np.uint8))
        fallen = self._shadow_on_floors(outlines, self._backdrop.floors)
        image, depth = self._backdrop.image.copy(), self._backdrop.depth.copy()
        x, y, width, height = cv2.boundingRect(np.maximum(covered, fallen))
        if width and height:
            self._draw(np.flatnonzero(covered), fallen, (x, y, x + width, y + height), image, depth)
        depth[np.isinf(depth)] = 0
        return image, depth.reshape(self._shape)

    def _draw(
        self, pixels: Indices, fallen: NDArray[np.uint8], box: tuple[int, int, int, int],
        image: NDArray[np.uint8], depth: Image,
    ) -> None:  # fmt: skip
        """Draw the moving geoms, seen at most at these `pixels`, and the shadows `fallen` from them.

        `box` (left, top, right, bottom) contains all of it. Only there, and as far around it as the blurs
        reach, `image` changes; for the blurs themselves a wider window is developed.
        """
        inner, window = self._window(box, _REACH), self._window(box, 2 * _REACH)
        indirect, direct = self._backdrop.indirect[window].copy(), self._backdrop.direct[window].copy()
        shadow = np.maximum(self._backdrop.shadow[window], fallen[window], dtype=np.float32)

        geom, distance, normal = self._cast(self._eye, self._backdrop.rays[pixels], MOVING_GROUP)
        nearer = (geom >= 0) & (distance < depth[pixels])
        seen, normal = pixels[nearer], normal[nearer]
        depth[seen] = distance[nearer]
        points = self._eye + self._backdrop.rays[seen] * depth[seen, None]
        row, column = np.divmod(seen, self._shape[1])
        row, column = row - window[0].start, column - window[1].start
        albedo = self._printed(geom[nearer], points)
        indirect[row, column], direct[row, column] = self._shade(albedo, normal)
        shadow[row, column] = 0
        lit = normal @ self._light.direction < 0
        shadow[row[lit], column[lit]] = self._shaded(points[lit])
        top, left = inner[0].start - window[0].start, inner[1].start - window[1].start
        part = image[inner]
        part[:] = self._develop(indirect, direct, shadow)[top:, left:][: part.shape[0], : part.shape[1]]

    def _window(self, box: tuple[int, int, int, int], margin: int) -> tuple[slice, slice]:
        """Return rows and columns of a box (left, top, right, bottom) with a margin, as far as they exist."""
        height, width = self._shape
        return (
            slice(max(box[1] - margin, 0), min(box[3] + margin, height)),
            slice(max(box[0] - margin, 0), min(box[2] + margin, width)),
        )

    def _kept_backdrop(self) -> _Backdrop:
        """Return the backdrop, drawn anew unless one of the same geoms, view and light is there."""
        model, light, view = self._model, self._light, self._view
        geoms = (model.geom_type, model.geom_size, model.geom_dataid, model.geom_aabb, model.geom_rgba)
        places = (self._data.geom_xpos, self._data.geom_xmat)
        key = (
            *(values[self._fixed].tobytes() for values in (*geoms, *places)),
            *(light.direction.tobytes(), light.ambient, light.diffuse),
            *(view.pose, view.intrinsics),
        )
        with _keeping:
            if key not in _backdrops:
                while len(_backdrops) >= _KEPT:
                    _backdrops.pop(next(iter(_backdrops)))
                _backdrops[key] = self._draw_backdrop()
            return _backdrops[key]

    def _draw_backdrop(self) -> _Backdrop:
        rays = self._view.rays()
        geom, distance, normal = self._cast(self._eye, rays, FIXED_GROUP)
        there = np.flatnonzero(geom >= 0)
        depth: Image = np.full(len(rays), np.inf, np.float32)
        depth[there] = distance[there]
        points = self._eye + rays[there] * distance[there, None]

        indirect: Image = np.zeros((len(rays), 3), np.float32)
        direct: Image = np.zeros_like(indirect)
        sky = rays[geom < 0]
        up = sky[:, 2] / np.linalg.norm(sky, axis=1)
        blend = np.clip(up * 3, 0, 1)[:, None].astype(np.float32)
        indirect[geom < 0] = _SKY_LOW * (1 - blend) + _SKY_HIGH * blend
        albedo = self._albedo[geom[there]] * _grain(points)[:, None]
        indirect[there], direct[there] = self._shade(albedo, normal[there])

        floors: list[tuple[float, NDArray[np.uint8]]] = []
        upward = normal[there, 2] > 0.99
        for height in np.unique(points[upward, 2].round(4)).tolist():
            floor = np.zeros(self._shape, np.uint8)
            floor.ravel()[there[upward & (np.abs(points[:, 2] - height) < 1e-3)]] = 1
            floors.append((height, floor))
        convex = self._model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
        outlines = self._outlines_in_world(self._fixed[convex[self._fixed]])
        shadow = self._shadow_on_floors(outlines, floors)
        indirect, direct = (light.reshape(*self._shape, 3) for light in (indirect, direct))
        image = self._develop(indirect, direct.copy(), shadow.astype(np.float32))
        return _Backdrop(rays, image, depth, indirect, direct, floors, shadow)

    def _cast(self, origin: Array, rays: Array, group: int | None) -> tuple[NDArray[np.int32], Array, Array]:
        """Return what rays hit: geom ids (-1: nothing), distances along the ray, unit normals."""
        n = len(rays)
        geom, distance, normal = np.full(n, -1, np.int32), np.zeros(n), np.zeros((n, 3))
        if n:
            groups = None if group is None else np.eye(6, dtype=np.uint8)[group]
            mujoco.mj_multiRay(
                self._model, self._data, origin, rays.ravel(), groups, True, -1,
                geom, distance, normal.ravel(), n, _FAR,
            )  # fmt: skip
        return geom, distance, normal

    def _printed(self, geoms: NDArray[np.int32], points: Array) -> Image:
        """Return the reflectance (N, 3) of these geoms at `points`, with what is printed on them."""
        albedo = self._albedo[geoms]
        for geom, image in self._prints.items():
            at = np.flatnonzero(geoms == geom)
            turn = self._data.geom_xmat[geom].reshape(3, 3)
            local = (points[at] - self._data.geom_xpos[geom]) @ turn
            albedo[at] = reflectance(image, self._model.geom_size[geom], local)
        return albedo

    def _shaded(self, points: Array) -> Image:
        """Return 1 where anything is between the lamp and the point, else 0."""
        centre = points.mean(axis=0) if len(points) else self._eye
        lamp = centre - _LAMP_DISTANCE * self._light.direction
        geom, distance, _ = self._cast(lamp, np.ascontiguousarray(points - lamp), None)
        return ((geom >= 0) & (distance < 1 - _SHADOW_BIAS)).astype(np.float32)

    def _shade(self, albedo: Image, normal: Array) -> tuple[Image, Image]:
        """Return the light that a surface sends from all around, and from the lamp if it is not shaded."""
        facing = np.maximum(0.0, -(normal @ self._light.direction))
        sky = self._light.ambient * (0.8 + 0.2 * normal[:, 2])
        lamp = self._light.diffuse * facing
        return albedo * sky.astype(np.float32)[:, None], albedo * lamp.astype(np.float32)[:, None]

    def _develop(self, indirect: Image, direct: Image, shadow: Image) -> NDArray[np.uint8]:
        """Return the picture (H, W, 3); `direct` is overwritten."""
        shadow = np.asarray(cv2.GaussianBlur(shadow, (0, 0), _SHADOW_BLUR), dtype=np.float32)
        direct *= 1 - shadow[..., None]
        direct += indirect
        image = cv2.convertScaleAbs(direct, alpha=255)
        return np.asarray(cv2.GaussianBlur(image, (3, 3), _LENS_BLUR))

    def _outlines_in_world(self, geoms: Indices) -> Array:
        """Return points (G, K, 3) in `world` whose convex hulls are the geoms."""
        turn = self._data.geom_xmat[geoms].reshape(-1, 3, 3)
        turned = np.einsum("gij,gkj->gki", turn, self._outlines[geoms])
        return np.asarray(turned + self._data.geom_xpos[geoms, None])

    def _shadow_on_floors(
        self, outlines: Array, floors: list[tuple[float, NDArray[np.uint8]]]
    ) -> NDArray[np.uint8]:
        """Return 1 where the outlines, moved along the light down to a floor, cover it, else 0."""
        shadow = np.zeros(self._shape, np.uint8)
        slope = self._light.direction / -self._light.direction[2]
        for height, floor in floors:
            above = np.maximum(outlines[..., 2:] - height, 0.0)
            fallen = (outlines + above * slope)[above.max(axis=(1, 2)) > 1e-6]
            shadow |= self._inside(fallen, everywhere=False) & floor
        return shadow

    def _inside(self, outlines: Array, everywhere: bool) -> NDArray[np.uint8]:
        """Return an image that is 1 inside the projected outlines.

        One that is partly behind the camera counts as covering `everywhere`, or nothing.
        """
        mask = np.zeros(self._shape, np.uint8)
        spots = self._view.project(outlines)
        in_front = spots[..., 2] > _NEAR
        whole = in_front.all(axis=1)
        if everywhere and (in_front.any(axis=1) & ~whole).any():
            return np.ones(self._shape, np.uint8)
        for points in np.clip(np.rint(spots[whole, :, :2]), -8000, 8000).astype(np.int32):
            cv2.fillConvexPoly(mask, cv2.convexHull(points), 1)
        return mask


def _outline(model: mujoco.MjModel, geom: int) -> Array:
    """Return 32 points in the geom's frame whose convex hull tightly contains it.

    The hull is a prism around a cylinder, nearly round for a sphere, and the box around anything else.
    """
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        radius, half = model.geom_size[geom, :2]
        angle = np.arange(16) * np.pi / 8
        ring = radius / np.cos(np.pi / 16) * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.vstack([np.column_stack([ring, np.full(16, z)]) for z in (-half, half)])
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE:
        height, turn = np.linspace(-1, 1, 32), np.arange(32) * 2.4  # a spiral from pole to pole
        flat = np.sqrt(1 - height**2)
        around = 1.05 * model.geom_size[geom, 0]
        return np.asarray(around * np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height]))
    centre, half_sizes = model.geom_aabb[geom].reshape(2, 3)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.asarray(np.tile(centre + corners * half_sizes, (4, 1)))


def _grain(points: Array) -> Image:
    """Return a fixed speckle at points: factors near 1 that give table and ground a texture."""
    texture, cell = _speckle(), 0.0025  # metres; beyond 2.5 m it goes on mirrored
    size = len(texture)  # a power of two, so that a mask is the remainder
    column, row = (np.floor(points[:, axis] / cell).astype(np.int32) & (2 * size - 1) for axis in (0, 1))
    return np.asarray(texture[np.minimum(row, 2 * size - 1 - row), np.minimum(column, 2 * size - 1 - column)])


@cache
def _speckle() -> Image:
    rng, size = np.random.default_rng(7), 1024
    texture = np.ones((size, size), np.float32)
    for grain, strength in ((1, 0.015), (2, 0.01), (32, 0.018)):  # cells; standard deviation of the factor
        noise = rng.standard_normal((size // grain, size // grain), dtype=np.float32) * strength
        texture += cv2.resize(noise, (size, size), interpolation=cv2.INTER_CUBIC)
    return texture
