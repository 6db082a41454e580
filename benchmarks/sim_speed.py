"""How fast the embedded simulator is: physics, resets, snapshots, the camera, the video of a run. Medians.

Run it from the checkout:  .venv/bin/python benchmarks/sim_speed.py
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from spca_core.layout import nominal_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import load_world
from spca_sim.recording import StateRecorder
from spca_sim.simulator import MujocoSimulator
from spca_sim.video import render_video


def median_ms(action: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call in milliseconds, after one call to warm up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3


def swing(simulator: MujocoSimulator, goal: np.ndarray, seconds: float) -> None:
    """Move the arm to a configuration and wait until it is there."""
    ends = np.array([simulator.joint_state().position, goal])
    simulator.follow(JointTrajectory(np.array([0.0, seconds]), ends, np.zeros((2, 6))))
    simulator.step(seconds + 0.2)


def main(repeats: int) -> None:
    """Measure and print."""
    world = load_world()
    layout = nominal_layout(world)
    home, away = np.array(world.robot.home), np.array(world.robot.out_of_view)
    rows = Table("what", "median", title=f"{repeats} repeats each")

    sim = MujocoSimulator(world)
    second = median_ms(lambda: sim.step(1.0), repeats)
    rows.add_row("physics", f"{500 / second * 1e3:,.0f} steps/s = {1e3 / second:.0f} × real time")
    rows.add_row("reset", f"{median_ms(lambda: sim.reset(layout), repeats):.1f} ms")
    rows.add_row("snapshot", f"{median_ms(sim.snapshot, repeats):.2f} ms")
    saved = sim.snapshot()
    rows.add_row("restore", f"{median_ms(lambda: sim.restore(saved), repeats):.2f} ms")

    sim = MujocoSimulator(world)
    start = time.perf_counter()
    sim.capture()
    rows.add_row("camera, first frame", f"{(time.perf_counter() - start) * 1e3:.0f} ms")
    rows.add_row("camera, arm in view", f"{median_ms(sim.capture, repeats):.0f} ms")
    swing(sim, away, 2.0)
    rows.add_row("camera, arm out of view", f"{median_ms(sim.capture, repeats):.0f} ms")
    sim.close()

    sim = MujocoSimulator(world)
    recorder = StateRecorder()
    sim.on_sample(recorder.record)
    for goal in (away, home) * 9:
        swing(sim, goal, 2.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mp4"
        start = time.perf_counter()
        render_video(world, recorder.states, path)
        wall = time.perf_counter() - start
        rows.add_row(
            f"video of {sim.time:.0f} s simulated", f"{wall:.1f} s, {path.stat().st_size / 1e3:.0f} kB"
        )
    Console().print(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    main(parser.parse_args().repeats)
