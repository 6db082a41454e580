"""Whole runs in a world that does not keep still, one for each kind of disturbance."""

from pathlib import Path

import pytest

from spca.report import write_report
from spca.runs import Run
from spca_core.options import RunOptions
from spca_core.plan import ActResult
from spca_core.run_folder import RunFolder
from spca_sim.variation import KINDS, Happened

LEVELS = {"pull_out": ("pick_and_place_04", 1), "target": ("stack_01", 2)}
EACH = {*LEVELS, "hand"}
"""One of those that move what is held, what is on the table, and of those that hide it: tried each time."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.full] * (kind not in EACH)) for kind in KINDS]
)
def test_a_level_is_solved_whatever_happens(kind: str, tmp_path: Path) -> None:
    level, seed = LEVELS.get(kind, ("stack_01", 3))
    folder = RunFolder.create("run", tmp_path / "run")
    options = RunOptions(level=level, preset=f"disturbed-{kind}", seed=seed, video=False)
    result = Run(options, folder).advance()
    records = [Happened.model_validate_json(f.read_text()) for f in tmp_path.glob("run/disturbances/*.json")]
    assert result.success, result.reason
    assert {h.kind for h in records} == {kind}
    assert len(list(tmp_path.glob("run/disturbances/*.jpg"))) == len(records)
    assert records[0].text in write_report(folder).read_text()
    acts = [ActResult.model_validate_json(f.read_text()) for f in sorted(tmp_path.glob("run/round_*/act_*"))]
    if kind == "pull_out":  # lost on the way: the step ends at once, and the rest is planned again
        assert [a.status for a in acts] == ["failed", "done"]
        assert acts[0].steps[-1].failure is not None and acts[0].steps[-1].failure.kind == "lost"
    if kind == "target":
        assert [a.status for a in acts] == ["failed", "done"]
