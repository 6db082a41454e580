"""The processes of a graph end with whoever started them, however that ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.ros

_STARTER = """
import sys, time
from pathlib import Path
from spca_ros.domain import own_domain
from spca_ros.graph import Graph
from spca_ros.process_spec import ProcessSpec
from spca_ros.session import Session
other = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep(1000)"
spec = ProcessSpec("", ("other",), command=(sys.executable, "-c", other))
with own_domain(), Session("starter") as node, Graph(node, [spec], Path(sys.argv[1])) as graph:
    time.sleep(0.5)
    print(graph.processes[0].pid, flush=True)
    time.sleep(60)
"""


def test_another_program_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _STARTER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        program = psutil.Process(int(starter.stdout.readline()))
        starter.kill()
    _, alive = psutil.wait_procs([program], timeout=10)
    assert not alive
