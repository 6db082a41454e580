"""The arm's joints, the gripper's opening and the moving scene of a run, for its report."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np

from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder
from spca_core.signals import SIGNALS, Plot, Signals
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import Item, WorkspaceIndex, build_model
from spca_sim.recording import load_states
from spca_tabletop.moving_scene import moving_scene
from spca_tabletop.presets import load_table
from spca_tabletop.recording import STATES

_MOST = 600  # stamps: more than a page has pixels for


def write_signals(folder: RunFolder, options: RunOptions) -> Path:
    """Write `signals.json` from the recorded states; returns its path."""
    world, _ = load_table(options)

    @cache
    def built(objects: tuple[str, ...]) -> tuple[mujoco.MjModel, mujoco.MjData, WorkspaceIndex]:
        model, found = build_model(world, [Item.of(world.object(name)) for name in objects])
        return model, mujoco.MjData(model), found

    states = load_states(folder.path / STATES)
    if not states:
        return folder.write(SIGNALS, Signals(stamps=(), plots=()))
    states = states[:: max(1, math.ceil(len(states) / _MOST))]
    rows = []
    for state in states:
        _, data, where = built(state.objects)
        data.qpos[:] = state.qpos
        rows.append([*np.degrees(data.qpos[where.arm_qpos]), 1000 * where.gap(data)])
    *joints, gap = (tuple(round(float(v), 1) for v in column) for column in zip(*rows, strict=True))
    names = (name.removesuffix("_joint").replace("_", " ") for name in world.robot.arm.joint_names)
    plots = (
        Plot(title="joints", unit="°", lines=dict(zip(names, joints, strict=True))),
        Plot(title="gripper", unit="mm", lines={"opening": gap}),
    )
    there = states[-1].objects
    scene = moving_scene(built(there)[0], [state for state in states if state.objects == there])
    stamps = tuple(round(state.stamp, 2) for state in states)
    return folder.write(SIGNALS, Signals(stamps=stamps, plots=plots, scene=scene))
