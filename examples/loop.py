"""Sense, plan, code, act, judge: the loop in one screen, from the parts that the command line uses, too.

    .venv/bin/python examples/loop.py [LEVEL]

`spca.supervisor` is this loop with what a run needs besides: a folder, resuming, repair by blame, rehearsal.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path

from spca.kits import kit_of
from spca_coder.drafting import DraftingCoder
from spca_coder.source import LibraryReader
from spca_core.options import RunOptions
from spca_core.plan import CodeRequest, PlanRequest
from spca_core.result import Outcome, Verdict
from spca_core.skill_package import library_source
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains


def main(level: str) -> Verdict:
    """Work on a level until the referee is content, for three rounds at most. Returns its verdict."""
    options = RunOptions(level=level)
    kit = kit_of(level)  # the tabletop, MiniGrid, or an environment of your own
    library = library_source(kit.name, kit.builtin_skills)
    with tempfile.TemporaryDirectory() as known, closing(kit.build(options)) as environment:
        coder = DraftingCoder(None, kit.api)  # None: no model writes skills that are missing
        trusted = TrustedDomains(Path(known))
        with DraftingPlanner(kit.name, kit.builtin(), trusted, kit.vocabulary()) as planner:
            for attempt in "123":
                seen = environment.sense()
                print(f"sense  {len(seen.objects)} things, {len(seen.facts)} facts")
                skills = LibraryReader().signatures(library)
                task = environment.task
                request = PlanRequest(attempt=attempt, task=task, observation=seen, skills=skills)
                planned = planner.plan(request)
                if planned.plan is None:
                    print(f"plan   {planned.status}: {planned.message}")
                    break
                print("plan  ", ", ".join(map(str, planned.plan.steps)))
                plan = planned.plan
                needed = CodeRequest(attempt=attempt, task=task, observation=seen, plan=plan, library=library)
                written = coder.complete(needed)
                print(f"code   {written.status}")
                done = environment.act(attempt, plan, written.library)
                print(f"act    {done.status} {done.message}")
                verdict = environment.settle()
                print(f"judge  {verdict.outcome.value}: {verdict.reason}")
                if verdict.final:
                    break
        return environment.verdict()


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["stack_01"])).outcome is not Outcome.SUCCESS)
