"""Whole runs over ROS: verdicts, Ctrl-C, what dies, who else is on the graph, and what is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from sensor_msgs.msg import JointState as JointStateMsg
from spca_interfaces.action import Do, MakePlan, RunLevel
from spca_interfaces.msg import Verdict as VerdictMsg
from spca_interfaces.srv import Judge

from spca.interrupt import stopping_on_interrupt
from spca.journal import Event
from spca.kits import kits
from spca.ros.graph import SIMULATOR, robot_is_there
from spca.ros.program import Program, program
from spca.runs import CRASH, Run
from spca_core.options import RunOptions
from spca_core.result import SIGNALS, Ending, Signals
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import warm_solver
from spca_ros import names
from spca_ros.action_server import LongAction
from spca_ros.calls import ActionCall, ServiceCall
from spca_ros.domain import claim, own_domain
from spca_ros.node import SpcaNode, ros_session
from spca_ros.qos import SENSOR, STATE
from spca_testing.command import interrupted
from spca_testing.processes import outliving, python
from spca_testing.ros import ask, running, sim

pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No test leaves a process, or anything in the memory that processes share."""
    warm_solver()
    before = _family()
    yield
    assert not outliving(_family() - before)


def test_events_and_records_reach_the_run_folder_and_no_keys_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RunOptions(level="bowls_01", preset="shuffled", seed=11, transport="ros")
    told: list[Event] = []
    folder = RunFolder(tmp_path)
    monkeypatch.setenv("MY_API_KEY", "secret")
    has_keys: list[bool] = []

    def look(event: Event) -> None:
        if event.kind == "run_started":
            [simulator] = _simulators()
            has_keys.append("MY_API_KEY" in simulator.environ())

    result = Run(options, folder).advance(told.append, look)
    assert has_keys == [False]
    assert result.success, result.reason
    assert result.verdict.score == 1.0
    assert [e.model_dump(mode="json") for e in told] == [
        e.model_dump(mode="json") for e in folder.read_log(Event)
    ]
    for file in ("result.json", "states.npz", "contacts.json", "looks/01.jpg"):
        assert (tmp_path / file).is_file(), file


def test_a_simulator_that_dies_ends_the_run_and_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def kill(event: Event) -> None:
        if event.kind == "stage_started" and event.stage == "act":
            [simulator] = _simulators()
            threading.Timer(0.5, simulator.kill).start()

    options = RunOptions(level="stack_01", rate=1.0, transport="ros")
    result = Run(options, RunFolder(tmp_path)).advance(kill)
    assert result.outcome is Ending.LOST and result.exit_status == 1
    assert "'sim' was killed by SIGKILL" in result.reason
    assert not (tmp_path / CRASH).exists()
    assert "no answer from" not in capfd.readouterr().err  # nobody waits for what is dead


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_arm_stands_at_the_end_and_nothing_is_left(how: signal.Signals, tmp_path: Path) -> None:
    """Of a Ctrl-C the arm is stopped first; a program that is killed can no longer let time pass."""
    velocities: list[float] = []
    moving = threading.Event()

    def seen(message: JointStateMsg) -> None:
        velocities.append(max(abs(v) for v in message.velocity[:6]))
        if len(velocities) > 10 and velocities[-1] > 0.3:
            moving.set()

    with own_domain() as domain, ros_session("onlooker") as node:
        node.create_subscription(JointStateMsg, names.JOINT_STATES, seen, SENSOR)
        command = ("run", "stack_01", "--ros", "--rate", "1", "--no-video", "--out", str(tmp_path / "run"))
        environment = {**os.environ, "SPCA_DOMAIN_ID": str(domain)}
        environment.pop("ROS_DOMAIN_ID", None)
        silent = {"stdout": subprocess.DEVNULL, "start_new_session": True}
        run = subprocess.Popen([sys.executable, "-m", "spca", *command], env=environment, **silent)
        try:
            assert moving.wait(60.0), "the arm never moved"
            family = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
            shared = [path for p in family for path in _mapped(p) if "/dev/shm/fastrtps" in path]
            run.send_signal(how)
            assert run.wait(60.0) == (130 if how is signal.SIGINT else -signal.SIGKILL)
            _, alive = psutil.wait_procs(family, timeout=60.0)
            assert not alive and not shared
        finally:
            run.kill()
            run.wait()
    assert max(velocities) > 0.3
    if how is signal.SIGINT:
        assert velocities[-1] < 0.01  # the last thing seen of the arm is that it stands
    assert (tmp_path / "run" / "events.jsonl").is_file()


# --- a program that waits for goals, and who else is on its graph -------------------------------------------


@contextmanager
def waiting() -> Iterator[tuple[SpcaNode, Program]]:
    """A program on a simulator that is left running, and a node of somebody else's."""
    with running(sim(), name="stranger") as (node, _), program(kits()[0]) as made:
        yield node, made


def test_goals_are_carried_out_on_a_table_that_stays_in_one_conversation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A question and a refused sentence leave no folder; a level that is laid anew ends what was said."""
    monkeypatch.setattr("spca_core.run_folder.RunFolder.create.__func__.__defaults__", (None, tmp_path))
    with waiting() as (node, _):
        run_level, do = ActionCall(node, RunLevel, names.RUN_LEVEL), ActionCall(node, Do, names.DO)
        told: list[str] = []

        def hear(feedback: Do.Feedback) -> None:
            told.append(feedback.event.kind)

        def say(sentence: str) -> Do.Result:
            return do(Do.Goal(sentence=sentence), hear)

        goal = RunLevel.Goal(attempt="a", level="stack_01", run_folder=str(tmp_path / "level"))
        result = run_level(goal, hear)
        assert result.outcome == "success", result.message
        assert result.run_folder == str(tmp_path / "level") and told[-1] == "run_ended"
        told.clear()
        done = say("put the red cube on the red plate")
        assert done.outcome == "success" and told[-1] == "run_ended", done.message
        said = ask(ServiceCall(node, Judge, names.JUDGE), Judge.Request()).verdict  # what the look has shown
        assert (said.outcome, said.reason) == (VerdictMsg.SUCCESS, done.message)
        seen = (Path(done.run_folder) / "round_1" / "observation.json").read_text()
        assert "the red cube is on the blue cube" in seen
        asked = say("where is the red cube?")
        assert (asked.outcome, asked.run_folder) == ("success", "") and "on the red plate" in asked.message
        refused = say("fly to the moon")
        assert (refused.outcome, refused.run_folder) == ("not_understood", "") and refused.message
        assert "the red cube touched" in say("touch it").message
        assert "touch(cube_red)" in say("why?").message
        assert run_level(RunLevel.Goal(level="bowls_01")).outcome == "success"
        undone = say("undo")
        assert undone.message.startswith("seen to hold: the red cube at x = ")
        last = Run.of(Path(undone.run_folder))
        assert last.options.world == "bowls" and last.files.read(SIGNALS, Signals).stamps
        result = run_level(RunLevel.Goal(level="stak_01"))
        assert result.input_error and "stack_01" in result.message
        assert do(Do.Goal(sentence=" ")).input_error
        told.clear()
        goal = RunLevel.Goal(level="hanoi_01", run_folder=str(tmp_path / "stopped"))
        result = run_level(goal, hear, cancelled=lambda: told.count("step") > 1)
        assert result.outcome == "cancelled"
    shown = capfd.readouterr()
    assert "success  " in shown.out and "plan  pick_up(cube_red, " in shown.err
    assert "unknown level 'stak_01'" in shown.err and "Traceback" not in shown.err


def test_a_foreign_node_decides_nothing(tmp_path: Path) -> None:
    """A verdict is for watchers only; the referee's node tells what the program's referee says."""
    outcomes: list[str] = []
    with waiting() as (node, made):
        forged = node.create_publisher(VerdictMsg, names.VERDICT, STATE)
        timer = node.wall_timer(
            0.02, lambda: forged.publish(VerdictMsg(outcome=VerdictMsg.SUCCESS, score=1.0, stamp=5.0))
        )
        judge = ServiceCall(node, Judge, names.JUDGE)

        def look(event: Event) -> None:
            if event.kind == "stage_started":
                outcomes.append(ask(judge, Judge.Request()).verdict.outcome)

        options = RunOptions(level="stack_01", transport="ros", proposer="builtin")
        result = made.conduct(Run(options, RunFolder(tmp_path)), (look,))
        node.loop.run(lambda: node.destroy_timer(timer))
    assert result.success and result.rounds == 1
    assert set(outcomes) == {VerdictMsg.RUNNING}


def test_a_planner_of_somebody_elses_takes_the_place_of_the_planner(tmp_path: Path) -> None:
    """By its node's name."""
    asked: list[str] = []

    def refuse(job) -> MakePlan.Result:  # type: ignore[no-untyped-def]
        asked.append(job.goal.request.task.title)
        return MakePlan.Result(budget_exhausted="my planner has no ideas")

    arguments = ("--ros-args", "-p", "supervisor:planner:=/my_planner")
    with running(sim(), name="somebody") as (node, _):
        LongAction(node, MakePlan, "my_planner/make_plan", refuse)
        with program(kits()[0], arguments=arguments) as made:
            result = made.conduct(Run(RunOptions(level="stack_01"), RunFolder(tmp_path)))
    assert asked == ["Stack the red cube on the blue cube"]
    assert not result.success and result.reason == "my planner has no ideas"


def test_signals_stop_the_arm_once_and_from_a_thread() -> None:
    """What one interrupts may hold a lock that stopping needs; a launch sends several."""
    from_main: list[bool] = []
    stopped, further = threading.Event(), []

    def cancel() -> None:
        from_main.append(threading.current_thread() is threading.main_thread())
        stopped.set()

    with stopping_on_interrupt(cancel, again=lambda: further.append(1)):
        signal.raise_signal(signal.SIGINT)
        assert stopped.wait(60)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert (from_main, further) == ([False], [1, 1])


def test_an_interrupt_ends_every_process_and_the_run_can_go_on(tmp_path: Path) -> None:
    """It comes with a cube in the gripper."""
    folder = tmp_path / "run"
    step = "spca_core.run_folder:RunFolder.append", "kind='step'"
    command = ("run", "stack_04", "--ros", "--no-video", "--out", str(folder))
    resume = ("-m", "spca", "resume", str(folder))
    with running(sim()):  # a simulator that stays
        done, left = interrupted(*step, *command)
        assert done.returncode == 130, done.stdout + done.stderr
        assert not left
        again = python(*resume)
        assert again.returncode == 0, again.stdout + again.stderr
    gone = python(*resume)
    assert gone.returncode == 2 and len(gone.stderr.strip().splitlines()) == 1, gone.stderr


def test_a_simulator_that_is_still_coming_up_has_claimed_its_domain() -> None:
    """A second one is refused at once, without a look at the graph."""
    with own_domain() as domain, claim(domain, SIMULATOR):
        assert robot_is_there()
        command = [sys.executable, "-m", "spca", "sim"]
        second = subprocess.run(command, capture_output=True, check=False, text=True)
    assert second.returncode == 2 and "there is a robot in the ROS domain" in second.stderr, second.stderr


def _simulators() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "spca_sim.node" in p.cmdline()]


def _mapped(process: psutil.Process) -> list[str]:
    """Files that a process has mapped; none of one that has ended meanwhile."""
    try:
        return [m.path for m in process.memory_maps()]
    except psutil.NoSuchProcess:  # ZombieProcess is one
        return []


def _family() -> set[int]:
    """Everything this process has started, and what that has started."""
    return {p.pid for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}


def test_goals_that_come_at_once_are_of_one_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would open a page of its own."""

    @contextmanager
    def slow(made: Program, _: object) -> Iterator[SimpleNamespace]:
        opened.append(made)
        time.sleep(0.2)
        yield SimpleNamespace(program=made, page=None)

    opened: list[Program] = []
    monkeypatch.setattr("spca.ros.program.session_of", slow)
    made = object.__new__(Program)
    made.talk, made._opened, made._making = None, ExitStack(), threading.Lock()
    with made._opened, ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: made.conversation(), range(2))
    assert first is second and len(opened) == 1
