"""Whole runs over ROS: verdicts, Ctrl-C, lost nodes, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.qos import qos_profile_action_status_default
from sensor_msgs.msg import JointState as JointStateMsg
from spca_interfaces.msg import Lease

from spca.events import Event
from spca.ros.run import run_ros
from spca_core.errors import InputError, SpcaError
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder
from spca_ros import names
from spca_ros.convert.time import seconds
from spca_ros.domain import own_domain
from spca_ros.peer import NodeLost
from spca_ros.qos import EVERY, SENSOR
from spca_ros.session import RosSession
from spca_tabletop.ros.environment import RosTabletop
from spca_testing.ros import executor, referee, running, sense, sim

pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> object:
    """No test leaves a process."""
    before = _family()
    yield
    _until(lambda: _family() <= before, 60.0)


def test_events_and_records_reach_the_run_folder_and_keys_the_thinking_process_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret")
    options = RunOptions(level="bowls_01", preset="shuffled", seed=11)
    told: list[Event] = []
    has_keys: dict[str, bool] = {}
    before = psutil.Process().children()  # what other tests of this process keep warm

    def look(event: Event) -> None:
        if event.kind == "stage_started" and event.stage == "sense":
            for process in psutil.Process().children():
                if process not in before:
                    has_keys[process.cmdline()[3]] = "MY_API_KEY" in process.environ()

    folder = RunFolder(tmp_path)
    result = run_ros(options, folder, (told.append, look))
    assert result.success, result.reason
    assert result.verdict.score == 1.0
    assert [e.model_dump(mode="json") for e in told] == [
        e.model_dump(mode="json") for e in folder.lines(Event)
    ]
    for file in ("run.json", "result.json", "states.npz", "contacts.json", "looks/01.jpg", "looks/01.json"):
        assert (tmp_path / file).is_file(), file
    assert has_keys == {
        "spca_sim.node": False,
        "spca_tabletop.ros.executor_node": False,
        "spca_referee.node": False,
        "spca.ros.brain": True,
    }


def test_an_unknown_level_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stack_01"):
        run_ros(RunOptions(level="stak_01"), RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_node_that_cannot_start_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(InputError, match="display"):
        run_ros(RunOptions(level="touch_02", view=True), RunFolder(tmp_path))


@pytest.mark.parametrize(
    ("victim", "name"), [("spca_tabletop.ros.executor_node", "executor"), ("spca.ros.brain", "supervisor")]
)
def test_a_lost_node_ends_the_run_at_once_and_is_named(victim: str, name: str, tmp_path: Path) -> None:
    def kill(event: Event) -> None:
        if event.kind == "stage_started" and event.stage == "act":
            [process] = [p for p in psutil.Process().children() if victim in p.cmdline()]
            threading.Timer(0.5, process.kill).start()

    began = time.monotonic()
    with pytest.raises(SpcaError, match=name):
        run_ros(RunOptions(level="stack_01", rate=1.0), RunFolder(tmp_path), (kill,))
    assert time.monotonic() - began < 60.0


def test_an_interrupt_stops_the_arm_first(tmp_path: Path) -> None:
    velocities: list[float] = []
    with own_domain() as domain, RosSession("onlooker") as node:
        node.create_subscription(
            JointStateMsg,
            names.JOINT_STATES,
            lambda m: velocities.append(max(abs(v) for v in m.velocity[:6])),
            SENSOR,
        )
        run = _spca(
            "run",
            "stack_01",
            "--transport",
            "ros",
            "--rate",
            "1",
            "--no-video",
            "--out",
            str(tmp_path / "run"),
            domain=domain,
        )
        try:
            _until(lambda: len(velocities) > 100 and velocities[-1] > 0.3, 60.0)
            run.send_signal(signal.SIGINT)
            assert run.wait(60.0) == 130
        finally:
            run.kill()
            run.wait()
    moving = [v for v in velocities if v > 0.05]
    assert moving
    assert velocities[-1] < 0.01  # the last thing seen of the arm is that it stands


@pytest.mark.parametrize(
    ("victim", "rate", "stop"),
    [  # any two of a victim, a rate and a signal meet
        (names.SUPERVISOR, 0.0, signal.SIGKILL),
        (names.SUPERVISOR, 0.25, signal.SIGSTOP),
        (names.REFEREE, 0.0, signal.SIGSTOP),
        (names.REFEREE, 0.25, signal.SIGKILL),
    ],
)
def test_the_arm_stands_soon_after_a_watcher_was_last_heard(
    victim: str, rate: float, stop: signal.Signals
) -> None:
    """In both clocks: simulated time may run many times faster than the wall's, or more slowly.

    Not as fast: the time in which a busy machine gives the executor no turn would count.
    """
    seen: list[tuple[float, float]] = []  # simulated seconds, rad/s
    nodes = (sim(rate=rate, idle_rate=1.0), sense(), executor(), referee())

    def look(message: JointStateMsg) -> None:
        seen.append((seconds(message.header.stamp), max(map(abs, message.velocity[:6]))))

    heard = 0.0  # simulated seconds that the watcher had seen when it was last heard

    def hear(lease: Lease) -> None:
        nonlocal heard
        if lease.client == victim:
            heard = seconds(lease.seen)

    with running(*nodes, name="onlooker") as (node, graph):
        node.create_subscription(JointStateMsg, names.JOINT_STATES, look, SENSOR)
        node.create_subscription(Lease, names.LEASE, hear, EVERY)
        supervisor = subprocess.Popen([sys.executable, "-c", _SUPERVISOR])
        pids = {process.spec.nodes[0]: process.pid for process in graph.processes}
        try:
            # the arm may move before the onlooker has found the watcher
            _until(lambda: heard > 0.0 and len(seen) > 0 and seen[-1][1] > 0.3, 60.0)
            os.kill(pids.get(victim, supervisor.pid), stop)
            stopped = len(seen)
            _until(lambda: max(speed for _, speed in seen[-100:]) < 0.01, 60.0)
        finally:
            supervisor.kill()
            supervisor.wait()
        moving = [stamp for stamp, speed in seen[stopped:] if speed > 0.01]
        assert max(moving) - heard < STOP_S
        assert {pid for pid in pids.values() if not psutil.pid_exists(pid)} <= {pids.get(victim)}


def test_what_is_asked_before_a_level_is_asked_again_once() -> None:
    """DDS drops an answer to a client that its server has not found yet: the server has done its part."""
    answers: list[object] = []
    with running(sim(), sense(), executor(), referee(), name=names.SUPERVISOR) as (node, _):
        tabletop = RosTabletop(node)
        restore = tabletop._load[names.EXECUTOR]

        def lossy(*request: object, **options: object) -> object:
            answers.append(restore(*request, **options))
            if len(answers) <= lost:
                raise NodeLost("no answer")
            return answers[-1]

        tabletop._load[names.EXECUTOR] = lossy
        for lost in (1, 2):
            answers.clear()
            with nullcontext() if lost == 1 else pytest.raises(NodeLost, match="no answer"):
                tabletop.begin(RunOptions(level="touch_02"), 60.0)
                assert tabletop.sense().objects
            assert len(answers) == (3 if lost == 1 else 2)


def test_the_supervisor_is_heard_while_no_joint_state_comes() -> None:
    """As while the simulator renders a picture."""
    heard: list[Lease] = []
    with own_domain(), RosSession(names.SUPERVISOR) as node:
        node.create_subscription(Lease, names.LEASE, heard.append, EVERY)
        with RosTabletop(node)._watcher.watching():
            _until(lambda: len(heard) > 2, 60.0)
    assert {lease.client for lease in heard} == {names.SUPERVISOR}


def test_the_arm_does_not_begin_to_move_for_a_supervisor_that_is_lost_already() -> None:
    """It is killed as soon as the executor has its plan, before the executor has seen it watch."""
    moved: list[float] = []  # rad/s
    goals: list[int] = []  # status of each

    def look(message: JointStateMsg) -> None:
        moved.append(max(map(abs, message.velocity[:6])))

    def note(message: GoalStatusArray) -> None:
        goals[:] = [goal.status for goal in message.status_list]
        if goals:
            supervisor.kill()

    with running(sim(rate=1.0), sense(), executor(), referee(), name="onlooker") as (node, _):
        supervisor = subprocess.Popen([sys.executable, "-c", _SUPERVISOR])
        status = f"{names.EXECUTE}/_action/status"
        node.create_subscription(GoalStatusArray, status, note, qos_profile_action_status_default)
        try:
            _until(lambda: bool(goals), 60.0)
            node.create_subscription(JointStateMsg, names.JOINT_STATES, look, SENSOR)
            _until(lambda: goals[0] >= GoalStatus.STATUS_SUCCEEDED, 60.0)
        finally:
            supervisor.kill()
            supervisor.wait()
    assert max(moved) < 0.5


STOP_S = 0.2  # simulated: 0.06 that the simulator lets pass, and the way of the brakes
_SUPERVISOR = """
from spca_core.options import RunOptions
from spca_tabletop.ros.environment import RosTabletop
from spca_testing.contracts.environment_contract import plan
from spca_ros.session import RosSession

RESTLESS = (
    "def idle(ctx, thing):\\n    while True:\\n"
    "        ctx.move_named('out_of_view')\\n        ctx.move_named('home')\\n"
)
with RosSession("supervisor") as node:
    node.say("ready")
    tabletop = RosTabletop(node)
    tabletop.begin(RunOptions(level="stack_01"), 30.0)
    tabletop.act("a", plan("idle"), RESTLESS)
"""


def _spca(*arguments: str, domain: int | None = None) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **({"SPCA_DOMAIN_ID": str(domain)} if domain is not None else {})}
    return subprocess.Popen(
        [sys.executable, "-m", "spca", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _family() -> set[int]:
    """Everything this process has started, and what that has started."""
    return {p.pid for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}


def _until(condition: Callable[[], bool], timeout: float) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.05)
