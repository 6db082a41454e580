"""Run `spca` in this process, and tell a pipe how its simulated arm moves: for `faults.py`.

.venv/bin/python benchmarks/watched.py FD run touch_02 --no-video

Each physics step writes simulated seconds, wall seconds and rad/s of the fastest joint to the descriptor FD.
In the end the world, in which no time passes any more, gets half a second: an arm that has been stopped comes
to rest in it. The signal USR1 is the Stop button: another thread calls `cancel` of the run.
"""

from __future__ import annotations

import atexit
import os
import signal
import struct
import sys
import threading
import time

import numpy as np

from spca.__main__ import main
from spca.interrupt import interrupt_between_imports
from spca.runs import Run
from spca_sim.mujoco_world import MujocoWorld

REST_S = 0.5
RECORD = struct.Struct("3d")

pipe = int(sys.argv.pop(1))
# The first is the world, any other a twin in which plans are rehearsed.
simulators: list[MujocoWorld] = []
runs: list[Run] = []
advance, carry_out = MujocoWorld._advance, Run.carry_out


def advance_and_tell(simulator: MujocoWorld) -> None:
    if not simulators:
        simulators.append(simulator)
    advance(simulator)
    if simulator is simulators[0]:
        speed = np.abs(simulator.state().velocity).max()
        os.write(pipe, RECORD.pack(simulator.time, time.monotonic(), speed))


def carry_out_known(run: Run, *arguments: object) -> object:
    runs.append(run)
    return carry_out(run, *arguments)


def stop() -> None:
    for run in runs:
        run.cancel()


def rest() -> None:
    if simulators:
        simulators[0].step(REST_S)


signal.signal(signal.SIGUSR1, lambda *_: threading.Thread(target=stop).start())
MujocoWorld._advance, Run.carry_out = advance_and_tell, carry_out_known
interrupt_between_imports()
sys.argv[0] = "spca"
atexit.register(rest)
main()
