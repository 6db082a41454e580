"""Mutants are what they are called, and the bench holds a rehearsal against the real run."""

import ast
from pathlib import Path

import pytest

from spca.kits import kit_named
from spca_benchmarks import mutants
from spca_benchmarks.rehearsal import RehearsalBench, RehearsalTrial
from spca_core.skill_package import library_source

KIT = kit_named("tabletop")
LIBRARY = library_source(KIT.name, KIT.builtin_skills)


@pytest.mark.parametrize("kind", mutants.RULES)
def test_every_rule_makes_libraries_that_differ_in_one_place(kind: str) -> None:
    variant = mutants.SILENT
    good = mutants.base(LIBRARY, variant).code
    places = mutants.sites(LIBRARY, kind, variant)
    made = [mutants.mutant(LIBRARY, kind, i, variant) for i in range(len(places))]
    assert made and good not in made and len(set(made)) == len(made)
    for source in made:
        ast.parse(source)
        assert len(set(source.splitlines()) - set(good.splitlines())) <= 1


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
