"""Whole runs through the real node graph: DDS, actions, one process a part."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from spca.options import RunOptions
from spca.run_folder import RunFolder

pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.mark.parametrize(
    ("level", "preset"),
    [
        ("touch_02", "shuffled"),
        ("pickup_02", "nominal"),
        ("pick_and_place_01", "shuffled"),
        ("stack_01", "nominal"),
        ("stack_11", "shuffled"),
    ],
)
def test_levels_through_the_graph(level: str, preset: str, tmp_path: Path) -> None:
    from spca.ros.run import run_ros

    options = RunOptions.model_validate({"level": level, "preset": preset, "seed": 2, "video": False})
    result = run_ros(options, RunFolder.create(level, tmp_path / "run"))
    assert result.success, result.reason
    for file in ("states.npz", "contacts.json", "looks/01.png", "events.jsonl"):
        assert (tmp_path / "run" / file).is_file(), file


def test_an_interrupt_ends_every_node_and_the_run_can_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "spca",
        "run",
        "stack_04",
        "--rate",
        "2",
        "--no-video",
        "--out",
        str(folder),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    nodes: list[psutil.Process] = []
    for _ in range(600):
        time.sleep(0.1)
        events = folder / "events.jsonl"
        if events.is_file() and '"kind":"step"' in events.read_text():
            nodes = psutil.Process(process.pid).children(recursive=True)
            break
    assert nodes
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    _, alive = psutil.wait_procs(nodes, timeout=10)
    assert not alive
    resume = [sys.executable, "-m", "spca", "resume", str(folder)]
    done = subprocess.run(resume, capture_output=True, check=False, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
