"""Builds and runs a level in one process, in lockstep: for tests, campaigns and `--transport inproc`."""

from __future__ import annotations

from contextlib import closing, nullcontext

from spca.drive import drive
from spca.events import Listener
from spca.logs import log_to
from spca.result import RunResult
from spca.stages import open_stages
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import MANIFEST, RunFolder
from spca_planner.solver.process import SolverProcess
from spca_sense.vision import VisionModel
from spca_sim.simulator import MujocoSimulator
from spca_sim.variation import SimVariation
from spca_tabletop.environment import InprocTabletop
from spca_tabletop.presets import draw_table, load_table


def build_tabletop(
    options: RunOptions, variation: SimVariation | None = None, vision: VisionModel | None = None
) -> InprocTabletop:
    """The environment that `options` ask for; `variation` in place of the preset's, for experiments.

    `vision` describes its first looks beside the detector.

    Raises InputError for an unknown level or world.
    """
    world, level = load_table(options)
    layout, drawn = draw_table(options.preset, options.seed, world, level)
    simulator = MujocoSimulator(world, options.noise, variation or drawn, options.camera)
    environment = InprocTabletop(level, world, layout, simulator, options.seed, vision)
    if options.rate is not None:
        environment.pace(options.rate)
    return environment


def run_inproc(
    options: RunOptions,
    folder: RunFolder,
    listeners: tuple[Listener, ...] = (),
    resume: bool = False,
    solver: SolverProcess | None = None,
) -> RunResult:
    """Run one level to its end, or take up an interrupted run; its folder then holds all but the report.

    `solver` is a warm process to plan with, where the caller keeps one over many runs.
    """
    log_to(folder.path)
    if not resume:
        folder.write(MANIFEST, manifest(options))
    with (
        open_stages(
            options, InprocTabletop, folder, solver
        ) as stages,  # first: its solver warms up in the background
        closing(build_tabletop(options, vision=stages.vision)) as environment,
        environment.live_view() if options.view else nullcontext(),
    ):
        try:
            return drive(environment, stages, folder, listeners, resume)
        finally:
            environment.save_recording(folder.path)
