"""The processes of a graph end with whoever started them, however that ends."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import psutil
import pytest

from spca_core.errors import SpcaError
from spca_ros.domain import own_domain
from spca_ros.graph import Graph, NodeProcess
from spca_ros.process_spec import ProcessSpec
from spca_ros.session import RosSession

pytestmark = pytest.mark.ros

_WITHOUT_LOOPBACK = """
from spca_core.errors import SpcaError
from spca_ros.domain import own_domain
try:
    with own_domain():
        pass
except SpcaError as error:
    print(error)
"""


def test_a_lost_network_interface_is_named() -> None:
    alone = ["unshare", "--user", "--net"]  # a network namespace begins with all interfaces down
    if (tried := subprocess.run([*alone, "true"], capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"network namespaces are not allowed here: {tried.stderr.strip()}")
    command = [*alone, sys.executable, "-c", _WITHOUT_LOOPBACK]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("the loopback interface does not work (Network is unreachable)")


def test_the_last_words_of_a_process_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "it.log").write_text("of an older one\n")
    spec = ProcessSpec("", ("it",), command=(sys.executable, "-c", "raise SystemExit(3)"))
    process = NodeProcess(spec, tmp_path)
    complaint = str(process.complaint(process.wait()))
    assert "'it' exited with status 3: it said nothing" in complaint


def test_a_node_is_known_to_be_lost_before_anybody_is_told(tmp_path: Path) -> None:
    """Who is told may say "started again", and must not say "ready" beside it of the one that has died."""
    spec = ProcessSpec("", ("it",), command=(sys.executable, "-c", "raise SystemExit(3)"))
    lost: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def on_lost(process: NodeProcess, reason: SpcaError) -> bool:
        lost.put(graph.peers["it"].lost)
        return False

    with own_domain(), RosSession("starter") as node:
        busy = threading.Event()
        node.loop.soon(partial(busy.wait, 60.0))
        with Graph(node, [spec], tmp_path, on_lost) as graph:
            graph.processes[0].wait()
            threading.Timer(0.5, busy.set).start()
            assert lost.get(timeout=60.0)


_INTERRUPTED = """
import os, signal, sys
from spca_ros.domain import own_domain
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
class Told(SpcaNode):
    def turn(self):
        sys.setprofile(again)
        os.kill(os.getpid(), signal.SIGTERM)
        super().turn()
with own_domain():
    run_nodes(lambda: [Told("it")])
    print(f"ended, told {sent} times", flush=True)
"""


def test_a_node_that_is_told_to_end_while_it_is_being_told_ends() -> None:
    """A launch, a dying parent and a terminal all send signals: a second one may come within the handler."""
    node = [sys.executable, "-c", _INTERRUPTED]
    said = subprocess.run(node, capture_output=True, text=True, check=True, timeout=60).stdout
    assert int(said.removeprefix("ended, told ").removesuffix(" times\n")) > 1


_STARTER = """
import sys, time
from pathlib import Path
from spca_ros.domain import own_domain
from spca_ros.graph import Graph
from spca_ros.process_spec import ProcessSpec
from spca_ros.session import RosSession
other = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep(1000)"
spec = ProcessSpec("", ("other",), command=(sys.executable, "-c", other))
with own_domain(), RosSession("starter") as node, Graph(node, [spec], Path(sys.argv[1])) as graph:
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
    _, alive = psutil.wait_procs([program], timeout=60)
    assert not alive
