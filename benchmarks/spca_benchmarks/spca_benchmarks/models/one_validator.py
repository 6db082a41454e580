"""A solver's process in which Unified Planning alone validates plans, without TAMER."""

from __future__ import annotations

from spca_core.ports.engine import Engine
from spca_planner.solver.judgement import Case, Judgement
from spca_planner.solver.worker import main


def judged_once(case: Case, engine: Engine) -> Judgement:
    """The judgement of all critics but TAMER; see `spca_planner.solver.worker.judged`."""
    from spca_planner.solver.judge import judge
    from spca_planner.solver.validation import simulated

    return judge(case, engine, lambda problem, steps: simulated(problem, steps)[0])


if __name__ == "__main__":
    main(judged_once)
