"""How fast a lost grasp is noticed, and how fast the arm moves meanwhile: cubes pulled out on their way.

.venv/bin/python benchmarks/lost_grasp.py --tables 15
"""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import numpy as np
import typer

from spca_core.contacts import SAMPLE_PERIOD, ContactSample
from spca_core.options import RunOptions
from spca_core.plan import Draft, Plan, Step
from spca_core.skill_package import library_source
from spca_motion.limits import EMPTY
from spca_sim.recording import SimState
from spca_tabletop.kit import TabletopKit

STEPS = (
    Step(action="pick_up", args=("cube_red", "table")),
    Step(action="place_on", args=("cube_red", "plate_blue")),
)


def main(tables: Annotated[int, typer.Option(help="Tables, each with one pull.")] = 15) -> None:
    """Carry a cube on every table, have it pulled out, and print simulated seconds from pads to stop."""
    reactions, fastest = [], 0.0
    for seed in range(tables):
        reaction, speed = _measure(seed)
        fastest = max(fastest, speed)
        if reaction is not None:
            reactions.append(reaction)
    print(f"{len(reactions)} cubes lost on the way, on {tables} tables")
    print(
        f"from the last contact with the pads to the command to stop: "
        f"median {np.median(reactions):.2f} s, worst {max(reactions):.2f} s (simulated)"
    )
    print(
        f"fastest joint {fastest:.2f} rad/s; limit of the motions {EMPTY.velocity.max():.1f}, of a UR5 3.14"
    )


def _measure(seed: int) -> tuple[float | None, float]:
    options = RunOptions(level="pick_and_place_04", preset="disturbed-pull_out", seed=seed)
    with closing(TabletopKit().build(options)) as environment:
        simulator = environment.table
        pulled: list[float] = []
        touched: list[float] = []
        stopped: list[float] = []
        simulator.disturber.listener = lambda happened: pulled.append(happened.stamp)

        def watch(sample: ContactSample) -> None:
            if pulled and not stopped and ("box_red", "cobot") in {tuple(sorted(p)) for p in sample.pairs}:
                touched.append(sample.stamp)

        hold = simulator.hold

        def hold_and_note() -> None:
            stopped.append(simulator.time)
            hold()

        simulator.on_contacts(watch)
        simulator.hold = hold_and_note  # type: ignore[method-assign]
        environment.sense()
        stopped.clear()
        library = library_source(environment.name, environment.builtin_skills)
        plan = Plan(steps=STEPS, schemas=(), draft=Draft(domain="", problem=""))
        result = environment.act("lost", plan, library)
        speed = _fastest(environment.table.states)
        lost = any(s.failure is not None and s.failure.kind == "lost" for s in result.steps)
        after = [t for t in stopped if pulled and t > pulled[0]]
        return (after[0] - touched[-1] if lost and after and touched else None), speed


def _fastest(states: list[SimState]) -> float:
    """The highest joint speed (rad/s) between two samples."""
    stamps = np.array([s.stamp for s in states])
    joints = np.array([s.qpos[:6] for s in states])
    steps = np.diff(stamps)
    even = steps > 0.9 * SAMPLE_PERIOD
    return float((np.abs(np.diff(joints, axis=0))[even] / steps[even, None]).max())


if __name__ == "__main__":
    typer.run(main)
