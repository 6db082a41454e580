"""A node in a process of its own ends with whoever started it, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from spca_core.errors import Lost
from spca_ros.node_process import NodeProcess
from spca_testing.processes import python

pytestmark = pytest.mark.ros


def test_a_node_that_somebody_has_stopped_is_lost_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "waits.py").write_text("import signal\nsignal.pause()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with NodeProcess("waits", "it", {}, tmp_path) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(Lost, match="'it' was stopped by SIGSTOP"):
            process.check()
        began = time.monotonic()
    assert time.monotonic() - began < 3.0  # it is not asked to end, which it could not hear


_INTERRUPTED = """
import os, signal, sys
from spca_ros.domain import own_domain
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, run_nodes
sent = 0
def again(frame, event, _):
    global sent
    handler = signal.getsignal(signal.SIGTERM)
    while event == "call" and frame is not None and sent < 50:
        if frame.f_code is handler.__code__:
            sent += 1
            signal.raise_signal(signal.SIGTERM)
        frame = frame.f_back
class Told(Loop):
    def turn(self, timeout=0.1):
        sys.setprofile(again)
        os.kill(os.getpid(), signal.SIGTERM)
        super().turn(timeout)
with own_domain():
    run_nodes(lambda: [SpcaNode("it", Told())])
    print(f"ended, told {sent} times", flush=True)
"""


def test_a_node_that_is_told_to_end_while_it_is_being_told_ends() -> None:
    """A launch, a dying parent and a terminal all send signals: a second one may come within the handler."""
    said = python("-c", _INTERRUPTED).stdout
    assert int(said.removeprefix("ended, told ").removesuffix(" times\n")) > 1


_STARTER = """
import sys, time
from pathlib import Path
from spca_ros.domain import own_domain
from spca_core.errors import Lost
from spca_ros.node_process import NodeProcess
with own_domain(), NodeProcess("spca_sim.node", "sim", {}, Path(sys.argv[1])) as process:
    print(process.pid, flush=True)
    time.sleep(60)
"""


def test_a_node_ends_when_its_starter_is_killed_and_leaves_no_file(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _STARTER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as starter:
        node = psutil.Process(int(starter.stdout.readline()))
        end = time.monotonic() + 60.0
        while not node.net_connections("udp"):
            assert time.monotonic() < end, "the node has not begun"
            time.sleep(0.05)
        shared = [m.path for m in node.memory_maps() if m.path.startswith("/dev/shm/fastrtps")]
        starter.kill()
    _, alive = psutil.wait_procs([node], timeout=60)
    assert not alive and not shared
