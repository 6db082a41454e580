"""Whole runs as trials of a benchmark, in one process or on a node graph, and summed up."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from pathlib import Path

from spca.benches.remedies import disturbances_in, remedies_in
from spca_bench.runs import RunSummary, acts
from spca_core.ending import Ending
from spca_core.options import RunOptions
from spca_core.plan import ActResult
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder


class SupervisedRuns:
    """See `spca_bench.runs.LevelRuns`: runs by the supervisor."""

    def run(self, options: RunOptions, campaign: Path, name: str) -> tuple[RunSummary, RunFolder]:
        """See `LevelRuns.run`."""
        path = campaign / "runs" / name
        shutil.rmtree(path, ignore_errors=True)
        folder = RunFolder.create(name, path)
        result = _run(options, folder)
        if result.outcome is Ending.CANCELLED:
            raise KeyboardInterrupt
        carried_out = acts(folder)
        summary = RunSummary(
            **dict(result),
            digest=_digest(result, carried_out),
            disturbed=disturbances_in(path, result.verdict.stamp),
            remedies=remedies_in(path, carried_out),
            run="" if result.success else str(path.relative_to(campaign)),
            thumbnail="" if result.success else _thumbnail(path),
        )
        return summary, folder

    def keep_failed(self, summary: RunSummary, folder: RunFolder) -> None:
        """See `LevelRuns.keep_failed`."""
        from spca.report import write_report

        if summary.success:
            shutil.rmtree(folder.path, ignore_errors=True)
        else:
            write_report(folder)


def _run(options: RunOptions, folder: RunFolder) -> RunResult:
    if options.transport == "ros":
        from spca.ros.run import run_ros  # heavy, as the other: imported where the work is done

        return run_ros(options, folder)
    from spca.inproc import run_inproc, warm_solver

    return run_inproc(options, folder, solver=warm_solver())


def _digest(result: RunResult, acts: list[ActResult]) -> str:
    """A hash of everything that must repeat exactly: the verdict and each step's simulated times.

    Wall times are left out.
    """
    steps = [[s.action, s.args, s.status, s.started, s.ended] for act in acts for s in act.steps]
    content = json.dumps([result.verdict.model_dump(mode="json"), steps], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _thumbnail(path: Path) -> str:
    import cv2

    looks = sorted((path / "looks").glob("*.jpg"))
    image = cv2.imread(str(looks[-1])) if looks else None
    if image is None:
        return ""
    small = cv2.resize(image, (160, 120), interpolation=cv2.INTER_AREA)
    return "data:image/jpeg;base64," + base64.b64encode(cv2.imencode(".jpg", small)[1].tobytes()).decode()
