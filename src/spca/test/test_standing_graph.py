"""The graph that stays up between runs: one is started here, and everything is tried on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from spca_interfaces.action import RunLevel

from spca.events import Event
from spca.ros import standing
from spca.ros.daemon import diagnostics
from spca.ros.processes import Backends, parameters, processes
from spca.ros.run import run_ros
from spca.ros.run_protocol import RunOrder
from spca.ros.standing import NodeState, Standing
from spca.ros.standing_run import run_on_standing
from spca_core.ending import Ending
from spca_core.errors import EXIT_BAD_INPUT, InputError, SpcaError
from spca_core.options import RunOptions, manifest
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder
from spca_referee.level import find_level
from spca_ros import names
from spca_ros.calls import ActionCall
from spca_ros.peer import Peer
from spca_ros.qos import EVERY
from spca_ros.session import RosSession

pytestmark = pytest.mark.ros


def _standing(**fields: object) -> Standing:
    options = RunOptions(level="stack_01")
    known: dict[str, object] = {
        "pid": os.getpid(), "domain": 7, "options": options, "parameters": parameters(options),
        "sim": "mujoco", "arm": "embedded", "keys": standing.keys_fingerprint(), "logs": "", "ready": True,
        "code": standing.code_stamp(), "began": 0.0,
    }  # fmt: skip
    return Standing.model_validate(known | fields)


@pytest.mark.parametrize(
    ("fields", "options", "said"),
    [
        ({}, {"preset": "hard", "seed": 4, "camera": "gl"}, ""),
        ({"keys": "others"}, {}, ""),
        ({"keys": "others"}, {"proposer": "openai"}, "language models"),
        ({}, {"rate": 1.0}, "--rate"),
        ({}, {"view": "web"}, "--view"),
        ({"options": RunOptions(level="stack_01", view="web")}, {}, ""),
        ({}, {"level": "sign_01"}, "world"),
        ({"code": "0:0"}, {}, "older code"),
        ({"ready": False}, {}, "not ready"),
    ],
)
def test_a_run_uses_it_only_if_it_fits(
    fields: dict[str, object], options: dict[str, object], said: str
) -> None:
    wanted = RunOptions.model_validate({"level": "touch_02"} | options)
    found = _standing(**fields)
    problem = standing.misfit(found, wanted) or standing.made_otherwise(found, parameters(wanted))
    assert said in problem and bool(said) == bool(problem)


def test_its_state_is_private_and_counts_only_while_the_daemon_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert standing.find() is None
    with standing.keeping():
        standing.write(_standing())
        state, _, _ = standing.files()
        assert state.stat().st_mode & 0o777 == 0o600
        content = state.read_bytes()
        daemon = "from spca.ros import standing; f = standing.find(); print(f.domain if f else None)"
        assert _python(daemon) == "7", "from another process"
        with pytest.raises(SpcaError, match="already"), standing.keeping():
            pass
    state.write_bytes(content)  # as a killed daemon leaves it
    assert standing.find() is None
    with standing.keeping():
        assert standing.find() is None, "what the killed one said is not of the next"
        standing.write(_standing(pid=1))
        assert standing.find() is None, "nor what another process wrote"
        state.write_text("{")
        assert standing.find() is None and standing.daemon() == os.getpid()
        standing.write(_standing())
        os.utime(state, (0, 0))
        found = standing.find()
        assert found is not None and found.hangs and not found.ready
        assert "does not respond" in standing.misfit(found, RunOptions(level="touch_02"))


def test_whoever_asks_for_a_run_loads_little() -> None:
    """Half of a short run would else be the imports of the command that asks for it."""
    code = (
        "import sys, spca.run_command, spca.ros.run, spca.kits; spca.kits.kit_of('stack_01').ros(); "
        "print(*{'numpy', 'rclpy', 'mujoco', 'cv2'} & {*sys.modules})"
    )
    assert _python(code) == ""


def test_diagnostics_tell_what_is_wrong() -> None:
    nodes = (
        NodeState(name="sim", pid=1, state="ready"),
        NodeState(name="executor", pid=2, state="lost", restarts=1),
        NodeState(name="referee", pid=3, state="ready", restarts=2),
    )
    message = diagnostics(_standing(nodes=nodes, fault="was killed"), 12.5)
    assert [s.level for s in message.status] == [
        DiagnosticStatus.OK,
        DiagnosticStatus.ERROR,
        DiagnosticStatus.WARN,
    ]
    assert message.header.stamp.sec == 12
    assert {"pid", "restarts"} <= {pair.key for pair in message.status[0].values}
    assert "was killed" in message.status[2].message


def test_gazebo_and_moveit_take_the_places_of_simulator_and_arm() -> None:
    specs = processes(RunOptions(level="stack_01"), Backends(sim="gazebo", arm="moveit"))
    by_name = {spec.name: spec for spec in specs}
    assert by_name["sim"].command[:2] == ("ros2", "launch")
    assert "world:=tabletop" in by_name["sim"].command
    assert by_name["executor"].parameters["arm"] == "moveit"
    assert all(not spec.command for spec in specs if spec.name not in ("sim", "display"))


def test_a_graph_that_stays_up_shows_itself_to_the_tools_of_ros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    options = RunOptions(level="bowls_01")
    assert "display" not in {spec.name for spec in processes(options, Backends())}
    (tmp_path / "ros2").touch(0o755)
    assert "display" not in {spec.name for spec in processes(options, Backends())}
    for folder in ("share/spca", "share/ament_index/resource_index/packages"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages/spca").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    [shown] = [spec for spec in processes(options, Backends(sim="gazebo")) if spec.name == "display"]
    assert shown.command[:2] == ("ros2", "launch") and Path(shown.command[2]).is_file()
    assert shown.command[3:] == ("rviz:=false", "world:=bowls", "robot_state_publisher:=false")
    assert "display" not in {spec.name for spec in processes(options)}  # a single run is not watched


def test_what_is_not_installed_is_said_at_once() -> None:
    from spca.ros.processes import check_installed
    from spca_gazebo.requirements import missing

    if missing():
        with pytest.raises(InputError, match="not installed"):
            check_installed(Backends(sim="gazebo"))
    check_installed(Backends())


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Standing]]:
    """`spca up`, and in the end `spca down`, which leaves nothing behind."""
    runtime = tmp_path_factory.mktemp("runtime")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        assert _spca("up").returncode == 0

        def found() -> Standing:
            seen = standing.find()
            assert seen is not None
            return seen

        processes = [psutil.Process(node.pid) for node in found().nodes] + [psutil.Process(found().pid)]
        yield found
        processes += [psutil.Process(node.pid) for node in found().nodes]
        assert _spca("down").returncode == 0
        _, alive = psutil.wait_procs(set(processes), timeout=60)
        assert not alive
        assert not list((runtime / "spca").glob("*.json"))


@pytest.mark.slow
def test_runs_use_it_one_after_the_other(graph: Callable[[], Standing], tmp_path: Path) -> None:
    before = graph().nodes
    for number, (level, preset) in enumerate([("touch_02", "nominal"), ("pickup_02", "hard")]):
        folder = RunFolder(tmp_path / str(number))
        folder.path.mkdir()
        result = run_ros(RunOptions.model_validate({"level": level, "preset": preset, "seed": 3}), folder)
        assert result.success, result.reason
        assert (folder.path / "states.npz").is_file() and (folder.path / "looks" / "01.jpg").is_file()
        assert not (folder.path / "log" / "sim.log").exists(), "no nodes of its own"
    assert graph().nodes == before


@pytest.mark.slow
def test_one_run_at_a_time(graph: Callable[[], Standing], tmp_path: Path) -> None:
    refused: list[str] = []

    def second(event: Event) -> None:
        if event.kind == "stage_started" and event.stage == "act":
            refused.append(_asked(RunOptions(level="touch_02"), tmp_path / "second"))

    first = tmp_path / "first"
    first.mkdir()
    assert run_ros(RunOptions(level="touch_02"), RunFolder(first), (second,)).success
    assert refused == ["is busy with another run"]


@pytest.mark.slow
def test_paths_are_those_of_whoever_asks(graph: Callable[[], Standing], tmp_path: Path) -> None:
    """The nodes are in the folder where `spca up` was typed."""
    assert graph().ready
    (tmp_path / "mine.yaml").write_text(find_level("touch_02").read_text())
    done = _spca("run", "mine.yaml", "--out", "run", "--no-video", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not on the graph" not in done.stderr
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.slow
def test_the_graph_itself_checks_what_it_is_asked_for(graph: Callable[[], Standing], tmp_path: Path) -> None:
    """Whoever asks has loaded nothing to check it with."""
    assert graph().ready
    another = _asked(RunOptions(level="sign_01"), tmp_path / "world")
    assert another == "has the world 'tabletop', not 'tabletop_sign'"
    for options, said in (
        ({"level": "stak_01"}, "did you mean 'stack_01'"),
        ({"level": "stack_01", "preset": "shufled"}, "--preset 'shufled'"),
        ({"level": "stack_01", "engine": "fastdownward"}, "fast-downward"),
    ):
        with pytest.raises(InputError, match=said):
            _asked(RunOptions.model_validate(options), tmp_path / said)
    done = _spca("run", "stack_01", "--preset", "shufled", "--out", str(tmp_path / "run"))
    assert done.returncode == EXIT_BAD_INPUT and "--preset 'shufled'" in done.stderr
    assert not (tmp_path / "run").exists(), "nothing is left of a run that never began"


@pytest.mark.slow
def test_a_run_ends_with_whoever_asked_for_it(graph: Callable[[], Standing], tmp_path: Path) -> None:
    """A client that is killed leaves no arm moving, and the graph is free for the next run."""
    code = f"""
import os, pathlib, signal
from spca.ros.run import run_ros
from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder
kill = lambda event: event.stage == "act" and os.kill(os.getpid(), signal.SIGKILL)
run_ros(RunOptions(level="stack_01"), RunFolder(pathlib.Path({str(tmp_path)!r})), (kill,))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    _until((tmp_path / "result.json").exists, 60.0)
    assert RunFolder(tmp_path).read("result.json", RunResult).outcome is Ending.CANCELLED
    _until(lambda: graph().idle_until is not None, 60.0)
    after = tmp_path / "after"
    after.mkdir()
    assert run_ros(RunOptions(level="touch_02"), RunFolder(after)).success


@pytest.mark.slow
def test_a_run_needs_no_ros_of_its_own(graph: Callable[[], Standing], tmp_path: Path) -> None:
    """Loading ROS and finding the nodes would take longer than a level."""
    code = f"""
import pathlib, sys
from spca.ros.run import run_ros
from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder
print(run_ros(RunOptions(level="touch_02"), RunFolder(pathlib.Path({str(tmp_path)!r}))).success)
print("rclpy" in sys.modules)
"""
    assert _python(code).split() == ["True", "False"]


@pytest.mark.slow
def test_status_and_diagnostics_show_the_nodes(graph: Callable[[], Standing]) -> None:
    shown = _spca("status")
    assert shown.returncode == 0
    for words in ("sim", "executor", "referee", "supervisor", "ready", f"ROS_DOMAIN_ID={graph().domain}"):
        assert words in shown.stdout
    seen: list[DiagnosticArray] = []
    with _in_domain(graph().domain), RosSession("onlooker") as node:
        node.create_subscription(DiagnosticArray, names.DIAGNOSTICS, seen.append, EVERY)
        _until(lambda: bool(seen), 60.0)
    assert {s.name for s in seen[-1].status} >= {"spca: sim", "spca: referee"}


@pytest.mark.slow
def test_an_action_goal_from_elsewhere_runs_a_level(graph: Callable[[], Standing], tmp_path: Path) -> None:
    with _in_domain(graph().domain), RosSession("elsewhere") as node:
        peer = Peer(node, names.SUPERVISOR)
        peer.wait_ready(20.0)
        goal = RunLevel.Goal(level="touch_02", run_folder=str(tmp_path / "run"))
        result = ActionCall(node, RunLevel, names.RUN_LEVEL, peer)(goal)
    assert result.outcome == "success", result.message


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["sim", "supervisor+planner+coder+sense"])
def test_a_dead_node_ends_the_run_and_is_started_again(
    victim: str, graph: Callable[[], Standing], tmp_path: Path
) -> None:
    def kill(event: Event) -> None:
        if event.kind == "stage_started" and event.stage == "act":
            [pid] = [node.pid for node in graph().nodes if node.name == victim]
            threading.Timer(0.1, os.kill, (pid, signal.SIGKILL)).start()

    with pytest.raises(SpcaError, match=f"{victim.split('+', maxsplit=1)[0]}.*SIGKILL"):
        run_ros(RunOptions(level="stack_01"), RunFolder(tmp_path), (kill,))
    _until(lambda: graph().ready and any(n.name == victim and n.restarts for n in graph().nodes), 60.0)
    after = tmp_path / "after"
    after.mkdir()
    assert run_ros(RunOptions(level="touch_02"), RunFolder(after)).success


@pytest.mark.slow
def test_a_killed_and_a_stopped_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert _spca("up").returncode == 0
    first = standing.daemon()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    _until(lambda: standing.daemon() is None, 60.0)
    assert "up in" in _spca("up").stderr
    second = standing.find()
    assert second is not None and second.pid != first
    os.kill(second.pid, signal.SIGSTOP)
    _until(standing.silent, 60.0)
    for command in ("up", "status"):
        assert "does not respond" in _spca(command).stderr
    assert _spca("down").returncode == 0
    assert standing.daemon() is None
    _until(lambda: not any(psutil.pid_exists(node.pid) for node in second.nodes), 60.0)


@pytest.mark.slow
def test_a_run_whose_daemon_is_stopped_ends_with_the_graph_and_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert _spca("up", "--rate", "0.2").returncode == 0
    up = standing.find()
    assert up is not None
    folder = RunFolder.create("touch_02", tmp_path / "run")

    def stop(event: Event) -> None:
        if event.kind == "stage_started" and event.stage == "sense":
            os.kill(up.pid, signal.SIGSTOP)

    with pytest.raises(SpcaError, match="did not respond"):
        run_ros(RunOptions(level="touch_02", rate=0.2), folder, (stop,))
    assert standing.daemon() is None
    _until(lambda: not any(psutil.pid_exists(node.pid) for node in up.nodes), 60.0)
    assert run_ros(RunOptions(level="touch_02"), folder, resume=True).success


@pytest.mark.slow
def test_it_ends_with_its_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    leader, follower = os.openpty()
    up = [sys.executable, "-m", "spca", "up"]
    assert subprocess.run(up, stdin=follower, capture_output=True, check=False, timeout=120).returncode == 0
    os.close(follower)
    time.sleep(0.5)
    assert standing.find() is not None
    os.close(leader)
    _until(lambda: standing.find() is None, 60.0)
    assert "terminal" in standing.last_words()


def _asked(options: RunOptions, folder: Path) -> str:
    """What the graph says to a run that is asked for."""
    folder.mkdir()
    RunFolder(folder).write(MANIFEST, manifest(options))
    return run_on_standing(RunOrder(run_folder=str(folder)), print)


@contextmanager
def _in_domain(domain: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        yield


def _spca(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`spca` with the code of this process, which under `colcon test` is found by the working folder."""
    start = "import os, sys, spca.cli; os.chdir(sys.argv.pop(1)); spca.cli.main()"
    return subprocess.run(
        [sys.executable, "-c", start, str(folder or Path.cwd()), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _until(condition: Callable[[], bool], timeout: float) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
