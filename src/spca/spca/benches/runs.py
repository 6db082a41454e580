"""Whole runs as trials of a benchmark, in one process or on a node graph, and summed up."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from spca.benches.remedies import disturbances_in, remedies_in
from spca.runs import Run
from spca_bench.runs import RunSummary
from spca_core.options import Manifest, RunOptions
from spca_core.plan import ActResult
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder
from spca_core.verdict import Ending


class SupervisedRuns:
    """See `spca_bench.runs.LevelRuns`: runs by the supervisor."""

    def run(self, options: RunOptions, campaign: Path, name: str) -> tuple[RunSummary, RunFolder]:
        """See `LevelRuns.run`."""
        path = campaign / "runs" / name
        shutil.rmtree(path, ignore_errors=True)
        folder = RunFolder.create(name, path)
        result = Run(options, folder).advance()
        if result.outcome is Ending.CANCELLED:
            raise KeyboardInterrupt
        carried_out = folder.results("act", ActResult)
        summary = RunSummary(
            **dict(result),
            digest=_digest(result, carried_out),
            disturbed=disturbances_in(path, result.verdict.stamp),
            remedies=remedies_in(path, carried_out),
            run="" if result.success else str(path.relative_to(campaign)),
            thumbnail=_thumbnail(path),
        )
        return summary, folder

    def keep_failed(self, summary: RunSummary, folder: RunFolder) -> None:
        """See `LevelRuns.keep_failed`."""
        if summary.success:
            shutil.rmtree(folder.path, ignore_errors=True)
        else:
            Run(folder.read(MANIFEST, Manifest).options, folder).document()


def _digest(result: RunResult, acts: list[ActResult]) -> str:
    """A hash of everything that must repeat exactly: the verdict and each step's simulated times.

    Wall times are left out.
    """
    steps = [[s.action, s.args, s.status, s.started, s.ended] for act in acts for s in act.steps]
    content = json.dumps([result.verdict.model_dump(mode="json"), steps], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _thumbnail(path: Path) -> str:
    from spca.report.page import picture

    looks = sorted((path / "looks").glob("*.jpg"))
    return picture(looks[-1], 160) if looks else ""
