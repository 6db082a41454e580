"""The benchmarks that need the supervisor, and the list of all there are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from spca_bench.bench import Bench
from spca_bench.campaign import read_head
from spca_core.errors import InputError
from spca_core.validation import expecting

BENCHES = {
    "levels": "spca.benches.levels:LevelsBench",
    "minigrid": "spca.benches.minigrid:MinigridBench",
    "models": "spca.benches.models:ModelsBench",
    "grasp": "spca_programs.grasp.bench:GraspBench",
    "ipp": "spca_programs.ipp.bench:IppBench",
    "copic": "spca_copic.bench:CopicBench",
    "pddl": "spca.benches.pddl.bench:PddlBench",
}
"""By name; where the class is."""


def bench_in(folder: Path) -> Bench[Any, Any]:
    """The bench of a campaign's folder, with its settings. InputError if there is none."""
    head = read_head(folder)
    if head.bench not in BENCHES:
        raise InputError(
            f"unknown bench '{head.bench}'", where=str(folder), hint=f"one of {', '.join(BENCHES)}"
        )
    module, _, name = BENCHES[head.bench].partition(":")
    kind: type[Bench[Any, Any]] = getattr(import_module(module), name)
    with expecting("a campaign of this version", folder):
        return kind.model_validate(head.settings)
