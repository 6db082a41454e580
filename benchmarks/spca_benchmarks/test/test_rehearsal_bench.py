"""The bench holds a rehearsal of what is faulty against the real run."""

from pathlib import Path

import pytest

from spca_benchmarks import mutants
from spca_benchmarks.rehearsal import RehearsalBench, RehearsalTrial


@pytest.mark.slow
def test_a_fault_is_held_against_the_real_run(tmp_path: Path) -> None:
    bench = RehearsalBench(levels=("stack_01",), presets=("nominal",))
    wanted = ("skill", "does nothing"), ("plan", "steps exchanged"), ("skill", "wrong object")
    found = {
        t.kind: bench.run_trial(t, tmp_path)
        for t in bench.trials()
        if (t.origin, t.kind) in wanted and t.site == 0 and t.variant == mutants.CHECKED
    }
    assert [found[kind].applies for kind in ("wrong object", "does nothing")] == [False, False]
    exchanged = found["steps exchanged"]
    assert not exchanged.solved and exchanged.status == "rejected" and exchanged.first == "rejected"
    sound = bench.run_trial(RehearsalTrial(level="stack_01", preset="nominal", seed=0), tmp_path)
    assert sound.solved and sound.status == "accepted" and sound.share == 1.0
