"""The skill solves its level, which nothing else may: the cube is pushed, never lifted."""

from __future__ import annotations

from pathlib import Path

import spca

LEVEL = Path(__file__).parents[1] / "levels" / "push_01.yaml"


def test_the_skill_solves_its_level(tmp_path) -> None:
    run = spca.run(str(LEVEL), transport="inproc", video=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason
    assert run.result.steps == 1
    [goal] = [event.text for event in run.events if event.kind == "plan"]
    assert goal.endswith(" the green cube against the blue cube")
