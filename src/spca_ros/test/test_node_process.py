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

_WITHOUT_LOOPBACK = """
from spca_core.errors import InputError
from spca_ros.domain import own_domain
try:
    with own_domain():
        pass
except InputError as error:
    print(error)
"""


def test_a_lost_network_interface_is_named() -> None:
    alone = ["unshare", "--user", "--net"]  # a network namespace begins with all interfaces down
    if (tried := subprocess.run([*alone, "true"], capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"network namespaces are not allowed here: {tried.stderr.strip()}")
    command = [*alone, sys.executable, "-c", _WITHOUT_LOOPBACK]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("the loopback interface does not work (Network is unreachable)")


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


_PICTURES = """
import threading, psutil
from spca_ros.node import ros_session
taken = threading.Barrier(9)
def take():
    for _ in range(4):
        bytearray(6 << 20)
    taken.wait()
    taken.wait()
with ros_session("it"):
    before = psutil.Process().memory_info().rss
    for _ in range(8):
        threading.Thread(target=take).start()
    taken.wait()
    print(psutil.Process().memory_info().rss - before)
    taken.wait()
"""


def test_threads_of_a_graph_keep_no_room_for_pictures() -> None:
    """Else each of many runs in one process would leave some megabytes."""
    assert int(python("-c", _PICTURES).stdout) < 16 << 20
