"""Whole runs over ROS: the simulator a process of its own, everything that thinks in this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder
from spca_testing.command import interrupted
from spca_testing.models.fallible_model import FallibleModel, changed, miswritten
from spca_testing.models.model_run import run_with_model
from spca_testing.ros import running, sim

pytestmark = [pytest.mark.ros, pytest.mark.slow]


LEVELS = {"pick_and_place_01": "shuffled", "arrange_01": "nominal"}


def test_levels_on_one_simulator(tmp_path: Path) -> None:
    """One after the other, so that none leaves anything to the next."""
    from spca.ros.graph import LOGS
    from spca.runs import Run

    with running(sim()):
        for level, preset in LEVELS.items():
            options = RunOptions.model_validate(
                {"level": level, "preset": preset, "seed": 2, "transport": "ros"}
            )
            result = Run(options, RunFolder.create(level, folder := tmp_path / level)).advance()
            assert result.success, (level, result.reason)
            for file in ("states.npz", "contacts.json", "looks/01.jpg", "events.jsonl"):
                assert (folder / file).is_file(), (level, file)
            assert not (folder / LOGS / "sim.log").exists(), f"{level} had a simulator of its own"


def test_a_model_writes_and_repairs_skills_over_ros(tmp_path: Path) -> None:
    def model() -> FallibleModel:
        return FallibleModel(
            planner=[changed("(holding cube_red)", "(holding cube_blue)")],
            coder=[
                miswritten("(ctx, cube, support)", "(ctx, cube)"),
                miswritten("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)"),
            ],
        )

    run = run_with_model("pickup_02", model(), tmp_path, transport="ros")
    assert run.result.success, run.result.reason
    assert [critic for critic, _ in run.plan_rejections()] == ["goal"]
    assert len(run.code_rejections()) == 1
    assert run.result.coder.semantic == 1
    assert run.result.skills.promoted == ("lift_cube",)


def test_an_interrupt_ends_every_process_and_the_run_can_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    step = "spca_core.run_folder:RunFolder.append", "kind='step'"
    command = ("run", "stack_04", "--ros", "--no-video", "--out", str(folder))
    resume = [sys.executable, "-m", "spca", "resume", str(folder)]
    with running(sim()):  # a simulator that stays
        done, left = interrupted(*step, *command, times=2)  # nothing is held
        assert done.returncode == 130, done.stdout + done.stderr
        assert not left
        again = subprocess.run(resume, capture_output=True, check=False, text=True)
        assert again.returncode == 0, again.stdout + again.stderr
    gone = subprocess.run(resume, capture_output=True, check=False, text=True)
    assert gone.returncode == 2 and len(gone.stderr.strip().splitlines()) == 1, gone.stderr
