"""The benches of planning programs and of GRASP, with a scripted model behind a server."""

import json
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import write_report
from spca_programs.grasp.bench import GraspBench
from spca_programs.grasp.policies import example as grasp_example
from spca_programs.ipp.bench import WAYS, IppBench
from spca_programs.minigrid.policies import example as minigrid_example
from spca_programs.options import Slice
from spca_testing.models.behaviours import Behaviour, Say
from spca_testing.models.server import ModelServer, Seen

GRASP_HEAD = "def solve(grid, start_pos, carry_limit, cost_per_step, is_diagonals_allowed, max_actions):\n"
SOURCES = {
    "solve(grid, start_pos": (grasp_example, GRASP_HEAD + "    return []\n"),
    "solve(grid, start_direction": (minigrid_example, "def solve(grid, start_direction):\n    return []\n"),
}


def writer(seen: Seen) -> Behaviour:
    """A model that writes an idle program, refines it to a good one, then sees nothing to improve."""
    if "in brackets" in seen.text:  # the published form of an answer
        return Say("[UP, TAKE, DOWN, DROP]", usage=(100, 10))
    if "ACTIONS:" in seen.text:
        return Say("ACTIONS: UP TAKE DOWN DROP", usage=(100, 10))
    module, idle = next(sources for head, sources in SOURCES.items() if head in seen.text)
    good = Path(str(module.__file__)).read_text()
    if "This is the best program so far" not in seen.text:
        return Say(f"```python\n{idle}```", usage=(200, 50))
    improved = good.strip() in seen.text
    return Say("NOTHING TO IMPROVE" if improved else f"```python\n{good}```", usage=(300, 90))


def model_file(folder: Path, server: ModelServer) -> Path:
    role = {"model": "test-model", "base_url": server.base_url, "attempts": 1, "temperature": 0.7}
    (folder / "prices.yaml").write_text(json.dumps({"test-model": {"input": 10.0, "output": 10.0}}))
    path = folder / "m.yaml"
    path.write_text(json.dumps({"roles": {"coder": role, "planner_big": role}, "prices": "prices.yaml"}))
    return path


@pytest.mark.slow
def test_all_ways_are_compared_on_the_same_cases_with_curves_and_published_figures(tmp_path: Path) -> None:
    ways, programs = ("steps+refine", "zero-shot", "two-step"), ("greedy",)
    assert set(ways) < set(WAYS)
    with ModelServer(writer) as server:
        bench = IppBench(
            tasks=("grasp", "minigrid-unlock"), programs=programs, ways=ways, train=4, test=8,
            models=(model_file(tmp_path, server),),
        )  # fmt: skip
        campaign = run_campaign(bench, tmp_path / "c", workers=1)
    assert not campaign.broken and len(campaign.done) == 2 * len([*ways, *programs])
    by_name = {(d.trial.task, d.trial.name): d.result for d in campaign.done}
    steps = by_name["grasp", "m:steps+refine"]
    assert [p.step for p in steps.curve] == [*(f"steps {n}" for n in range(1, 6)), "refinement 1"]
    assert steps.curve[-1].test == pytest.approx(steps.evaluation.mean) and steps.curve[0].test == 0
    for task in bench.tasks:
        assert len({tuple(c.case for c in r.cases) for (t, _), r in by_name.items() if t == task}) == 1
    table = bench.table(campaign.done)
    cells = [dict(zip(table.heads, row, strict=True)) for row in table.shown()]
    completed = {(c["task"], c["contestant"]): c["completed %"] for c in cells}
    assert completed["minigrid-unlock", "m:steps+refine"] == "100.00"
    for cell in cells:  # as Table 3 has it
        assert float(cell["USD a case"]) == pytest.approx(float(cell["USD"]) / 8, abs=1e-4), cell
    recorded = {"llm": f"replay:{tmp_path / 'c'}", "tasks": ("minigrid-unlock",), "models": ()}
    replay = bench.model_copy(update=recorded)
    (tmp_path / "m.yaml").unlink()
    for d in run_campaign(replay, tmp_path / "again", workers=1).done:
        assert d.result.cases == campaign.results[d.trial.key].cases, d.trial.key
    assert "Gemini-2.5-Pro, without obstacles" in write_report(campaign).read_text()


@pytest.mark.slow
def test_grasp_asks_a_model_as_published_and_repeats_from_its_records(tmp_path: Path) -> None:
    part = Slice(energy="random", start="inner", obstacles=False, count=2)
    with ModelServer(writer) as server:
        bench = GraspBench(policy=str(model_file(tmp_path, server)), part=part)
        campaign = run_campaign(bench, tmp_path / "c", workers=1)
        asked = [request.body for request in server.requests]
    assert len(asked) == 2 * 8 and {body["temperature"] for body in asked} == {0.0}
    answers = [a for d in campaign.done for a in d.result.answers]
    assert {a.plan for a in answers} == {("UP", "TAKE", "DOWN", "DROP")}
    assert bench.table(campaign.done).rows[-1][4] == 4.0  # mean number of actions
    assert "1600 + 160 tokens, 0.0176 US dollars" in write_report(campaign).read_text()
    again = run_campaign(
        bench.model_copy(update={"policy": f"replay:{tmp_path / 'c'}"}), tmp_path / "again", workers=1
    )
    assert [a.score for d in again.done for a in d.result.answers] == [a.score for a in answers]
