"""Runs a level of any environment in one process, in lockstep.

It is used by tests, by campaigns, and by `--transport inproc`.
"""

from __future__ import annotations

from spca.assembly import open_stages
from spca.drive import drive
from spca.events import Listener
from spca.kits import kit_of
from spca.logs import log_to
from spca_core.options import RunOptions, manifest
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder


def run_inproc(
    options: RunOptions,
    folder: RunFolder,
    listeners: tuple[Listener, ...] = (),
    resume: bool = False,
) -> RunResult:
    """Run one level to its end, or take up an interrupted run; its folder then holds all but the report."""
    kit = kit_of(options.level)
    if not resume:
        folder.write(MANIFEST, manifest(options))
    log_to(folder.path)
    with (
        open_stages(options, kit, folder) as stages,  # first: its solver warms up in the background
        kit.session(options, folder, stages.vision) as environment,
    ):
        return drive(environment, stages, folder, listeners, resume)
