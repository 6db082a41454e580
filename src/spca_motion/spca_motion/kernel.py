"""The sphere kernel: compiled code that proves configurations free, sixteen at once, and searches among them.

`kernel.cpp` is compiled at first use by the compiler that is there, into the folder of the project's own
state. It proves by bounds that hold for the very geoms that MuJoCo checks: whatever it leaves open, and every
refusal, is MuJoCo's to decide.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import Interrupted
from spca_core.geometry import Array
from spca_core.paths import state_folder
from spca_core.stopping import Stop
from spca_motion.search import Tried
from spca_robot.windowless import mujoco

_FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
_TIMEOUT = 60.0
_LONGEST = 1_000  # configurations in a path that is found
_ASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
_DEEP = 4.0  # m, of the box that stands for the table
FREE = 0
"""State of a configuration that is proven free."""


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """Return the compiled kernel, compiling it if need be; None, and a line that says why, if that fails."""
    compiler = shutil.which(os.environ.get("CXX") or "c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    try:
        loaded = ctypes.CDLL(str(_built(compiler)))
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        line = said.strip().splitlines()[0]
        print(f"spca: motions are searched without the compiled kernel: {compiler}: {line}", file=sys.stderr)
        return None
    loaded.kernel_new.restype = ctypes.c_void_p
    return loaded


def _built(compiler: str) -> Path:
    """Return the library that this compiler has made of this source for this processor."""
    source, made_by, cpu = Path(__file__).with_suffix(".cpp"), os.stat(compiler), Path("/proc/cpuinfo")
    flags = re.findall("(?m)^flags.*", cpu.read_text())[:1] if cpu.is_file() else platform.processor()
    key = f"{source.read_text()}|{_FLAGS}|{compiler}|{made_by.st_size}|{made_by.st_mtime_ns}|{flags}"
    target = state_folder() / "kernel" / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.so"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            command = [compiler, *_FLAGS, str(source), "-o", f"{folder}/kernel.so"]
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT)
            os.replace(f"{folder}/kernel.so", target)
    return target


class Kernel:
    """Proofs and searches in one planning scene, with the pads at one gap."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, arm: list[int], to: ctypes.CDLL) -> None:
        """Take the geoms as they are in `data`; `arm` are the bodies of the arm's joints."""
        self._library, self._n, self._asked = to, len(arm), np.empty(len(arm))
        base = int(model.body_parentid[arm[0]])
        offsets = np.empty((self._n, 3, 4))
        for i, body in enumerate(arm):
            mujoco.mju_quat2Mat(axes := np.empty(9), model.body_quat[body])
            offsets[i, :, :3], offsets[i, :, 3] = axes.reshape(3, 3), model.body_pos[body]
        mount = data.xmat[base].reshape(3, 3)
        offsets[0] = mount @ offsets[0]
        offsets[0, :, 3] += data.xpos[base]
        links = _links(model, arm)[model.geom_bodyid]
        turns = np.concatenate([data.xmat[arm].reshape(-1, 3, 3), np.eye(3)[None]])[links].transpose(0, 2, 1)
        origins = np.concatenate([data.xpos[arm], np.zeros((1, 3))])[links]
        geoms, round_, exact, at, halves = _pieces(model, links)
        axes = (turns @ data.geom_xmat.reshape(-1, 3, 3))[geoms]
        places = (turns @ (data.geom_xpos - origins)[:, :, None])[geoms] + axes @ at[:, :, None]
        whats = np.stack([links[geoms], geoms, round_[geoms], exact[geoms]], axis=1)
        tool0, last = data.site("tool0"), data.xmat[arm[-1]].reshape(3, 3).T
        self._tool0, self._ahead = last @ (tool0.xpos - data.xpos[arm[-1]]), last @ tool0.xmat[2::3]
        frames = np.concatenate([axes, places], axis=2)
        self._kernel = ctypes.c_void_p(
            to.kernel_new(
                self._n, _at(offsets), len(whats), _at(whats.astype(np.int32)), _at(frames), _at(halves),
                model.ngeom, _at(_meeting(model)),
            )
        )  # fmt: skip

    def __del__(self) -> None:
        self._library.kernel_delete(self._kernel)

    def rule(self, least: Array, box: Array | None, reach: float) -> None:
        """Set the least distances of pairs of geoms.

        `box` (2, 3) bounds the point `reach` metres ahead of the flange.
        """
        tip = self._tool0 + reach * self._ahead
        self._library.kernel_rules(self._kernel, _at(least), None if box is None else _at(box), _at(tip))

    def states(self, path: Array) -> NDArray[np.int8]:
        """Return the states (m,) of configurations (m, n): `FREE`, 1 if open, 2 if proven barred."""
        path, states = np.ascontiguousarray(path, dtype=float), np.empty(len(path), dtype=np.int8)
        self._library.kernel_states(self._kernel, _at(path), len(path), _at(states))
        return states

    def path(
        self, start: Array, goals: Array, box: Array, tried: Tried, valid: Callable[[Array], bool], stop: Stop
    ) -> Array | None:
        """Return waypoints (m, n) from `start` to one of the valid `goals` (k, n), or None.

        `box` (2, n) bounds the search. Raises Interrupted as soon as `stop` says so.
        """
        raised: list[BaseException] = []

        def answer(what: int) -> int:
            try:
                if what == 0 and stop():
                    raise Interrupted
                return int(what == 0 or valid(self._asked))
            except BaseException as error:
                raised.append(error)
                return -1

        q, found = np.vstack([start, goals]), np.empty((_LONGEST, self._n))
        reach, step, most, tries, seed = tried
        count = self._library.kernel_path(
            self._kernel, _at(q), len(goals), _at(np.ascontiguousarray(box)), ctypes.c_double(reach),
            ctypes.c_double(step), ctypes.c_long(most), tries, ctypes.c_uint64(seed), _ASK(answer),
            _at(self._asked), _at(found), _LONGEST,
        )  # fmt: skip
        if raised:
            raise raised[0]
        return found[:count].copy() if count else None


def _at(array: NDArray[Any]) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)  # which keeps the array


def _links(model: mujoco.MjModel, arm: list[int]) -> Array:
    """Return for each body the joint of the arm that it moves with, -1 for none."""
    links = np.full(model.nbody, -1)
    for body in range(1, model.nbody):
        links[body] = arm.index(body) if body in arm else links[model.body_parentid[body]]
    return links


def _pieces(model: mujoco.MjModel, links: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Cut the geoms, those of `links` (g,) short. Other shapes than boxes and cylinders become boxes around.

    Returns each piece's geom (p,), whether a geom is round and whether exact (g,), each piece's place in its
    geom's frame and its half sizes (p, 3).
    """
    kinds, sizes, shape = model.geom_type, model.geom_size, mujoco.mjtGeom
    plane, round_ = kinds == shape.mjGEOM_PLANE, kinds == shape.mjGEOM_CYLINDER
    at, halves = model.geom_aabb[:, :3].copy(), model.geom_aabb[:, 3:].copy()
    at[plane], halves[plane] = (0, 0, -_DEEP), _DEEP
    halves[round_] = sizes[round_][:, [0, 0, 1]]
    short = round_ & (links >= 0)
    counts = np.where(short, np.ceil(halves[:, 2] / halves[:, 0].clip(min=1e-6)), 1).astype(int)
    geoms = np.repeat(np.arange(model.ngeom), counts)
    number = np.arange(len(geoms)) - np.repeat(np.cumsum(counts) - counts, counts)
    at, halves, long = at[geoms], halves[geoms], halves[geoms, 2]
    halves[:, 2] /= counts[geoms]
    at[:, 2] += halves[:, 2] * (2 * number + 1) - long
    return geoms, round_, round_ | plane | (kinds == shape.mjGEOM_BOX), at, halves


def _meeting(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Return which pairs of geoms MuJoCo checks (g, g): its rules for bits, parents and exclusions."""
    weld = model.body_weldid
    parent = weld[model.body_parentid[weld]]
    apart = weld[:, None] != weld
    hang = (weld[:, None] == parent) & (weld[:, None] != 0) & (weld != 0)
    bodies = apart & ~(hang | hang.T)
    for signature in model.exclude_signature:
        one, two = signature >> 16, signature & 0xFFFF
        bodies[one, two] = bodies[two, one] = False
    bits = (model.geom_contype[:, None] & model.geom_conaffinity) != 0
    of = model.geom_bodyid
    return np.asarray(bodies[np.ix_(of, of)] & (bits | bits.T))
