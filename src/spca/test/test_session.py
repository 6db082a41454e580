"""A table that stays: sentences, questions, single plans and actions, judged by a look; `spca do`."""

import contextlib
import math
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import spca
from spca.journal import Event
from spca.sessions import Session
from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_core.result import Ending
from spca_core.validation import parse_yaml
from spca_motion.manipulator import Gripper
from spca_testing.models.fallible_model import MODELS, configuration
from spca_testing.models.grammar_model import GrammarModel
from spca_testing.models.server import ModelServer
from spca_testing.processes import python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graph():
    """A simulator that stays, in a domain of its own."""
    from spca_testing.ros import running, sim

    with running(sim()):
        yield


@contextlib.contextmanager
def by_model(script: Any, folder: Path, **options: object) -> Iterator[tuple[ModelServer, Session]]:
    """A table with a model that is asked over HTTP and says what its script says, and the model's server."""
    with ModelServer(script, models=MODELS) as server:
        (folder / "llm.yaml").write_text(configuration(server.base_url))
        options |= {"proposer": "openai", "llm": str(folder / "llm.yaml"), "library": str(folder / "known")}
        with spca.session(report=False, **options) as table:
            yield server, table


@pytest.fixture(scope="module")
def table():
    """A table in one process with the built-in proposer, on which several tests go on."""
    with spca.session(report=False) as table:
        yield table


@pytest.fixture(autouse=True)
def runs_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("spca_core.run_folder.RunFolder.create.__func__.__defaults__", (None, tmp_path))


def test_each_run_of_a_session_has_its_own_time_and_tells_nothing_of_the_referee(table: Session):
    first = table.do("put the red cube on the blue plate")
    assert first.result.reason == "seen to hold: the red cube on the blue plate"
    assert "referee" not in "".join(event.text for event in first.events)
    stacked = table.do("stack the blue one on it")
    assert "the blue cube on the red cube" in stacked.result.reason and stacked.result.success
    assert stacked.result.sim < first.result.sim * 3  # its own time, not the session's
    assert table.do("what do you see?").result.reason.endswith("(Answered; nothing was moved.)")
    assert all(run.folder.exists() for run in table.runs)


@pytest.mark.ros
def test_plans_and_actions_can_be_asked_for_one_by_one(graph: None, tmp_path: Path):
    """Over ROS, with a model that is asked over HTTP."""
    with by_model(GrammarModel(code_errs=False), tmp_path, transport="ros") as (_, table):
        proposal = table.plan("put the green cube on the red plate")
        assert proposal.steps == ("pick_up(cube_green, table)", "place_on(cube_green, plate_red)")
        assert table.rehearse(proposal).status == "accepted"
        assert table.execute(proposal).result.reason == "seen to hold: the green cube on the red plate"
        assert "is not as it was" in table.execute(proposal).result.reason
        missing = table.do("touch the yellow cube").result
        assert missing.outcome is Ending.IMPOSSIBLE and "yellow" in missing.reason and missing.rounds == 1
        picked = table.act("pick_up", "cube_green", "plate_red").result
        assert picked.reason == "seen to hold: the green cube in the gripper"
        for action, said in {
            ("pick_up", "cube_blue", "table"): "(hand_empty) does not hold",
            ("pickup", "cube_blue"): "did you mean 'pick_up'",
        }.items():
            with pytest.raises(InputError, match=re.escape(said)):
                table.act(*action)


def test_a_stop_between_two_runs_of_an_order_ends_it(table: Session, monkeypatch: pytest.MonkeyPatch):
    """Such as between a look, for what "it" is, and the run that moves it. Before, it stops nothing."""
    table.stop()
    assert table.do("touch the red cube").result.success
    spelt = table._dialogue.meant
    monkeypatch.setattr(table._dialogue, "meant", lambda said: (table.stop(), spelt(said))[1])
    assert table.do("touch it again").result.outcome is Ending.CANCELLED
    monkeypatch.undo()
    assert table.look()


def test_what_a_sentence_took_is_given_back(table: Session):
    """Descriptors would else be used up by a thousand sentences; benchmarks/soak.py measures memory."""
    table.do("Touch the blue cube.")
    before = len(os.listdir("/proc/self/fd"))
    for sentence in ("Dance with the yellow banana.", "Touch the blue cube."):
        table.do(sentence)
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.ros
def test_one_program_has_a_robot(graph: None, tmp_path: Path):
    """A run beside a session on the same robot is refused in one line, and disturbs nothing."""
    with spca.session(report=False, transport="ros") as table:
        before = table.look()
        with pytest.raises(InputError, match="has a program of spca in the ROS domain"):
            spca.run("touch_02", transport="ros", out=tmp_path / "other", report=False)
        assert set(table.look().facts) == set(before.facts)


def test_a_model_is_not_asked_for_a_move_that_is_known(tmp_path: Path):
    with by_model(GrammarModel(code_errs=False), tmp_path) as (server, table):
        assert table.do("put the red cube on the blue plate").result.success
        asked = len(server.requests)
        assert asked and table.do("undo").result.reason.startswith("seen to hold: the red cube at x = ")
        assert len(server.requests) == asked


def test_what_a_stopped_task_has_done_is_taken_back():
    """Stopped by the session, and by the world, as by a service."""

    def hear(event: Event) -> None:
        if event.kind == "step" and stops:
            attrgetter(stops.pop())(table)()

    def lies() -> tuple[float, float, float]:
        return next(thing.pose.position for thing in table.look().objects if thing.id == "cube_red")

    stops: list[str] = []
    with spca.session(report=False, on_event=hear) as table:
        lay = lies()
        for who in ("stop", "environment.cancel"):
            stops.append(who)
            assert table.do("put the red cube on the blue plate").result.outcome is Ending.CANCELLED
            assert not stops and table.look().observation.holds("held", "cube_red")
            assert table.plan("continue").goal == "the red cube on the blue plate"
            assert table.do("undo").result.success
            assert math.dist(lies(), lay) < 0.01
        assert table.ask("undo") == "There is nothing to undo."


@pytest.mark.parametrize("drive, at, sign", [("close", 0.0398, -1), ("open", 0.038, 1)])
def test_what_a_stop_keeps_the_pads_from_is_finished_before_the_arm_moves(
    drive: str, at: float, sign: int, monkeypatch: pytest.MonkeyPatch
):
    """So that what they hold is known, and can go on or back; `at` is their gap at the stop, in metres."""
    driven = getattr(Gripper, drive)

    def driving(self: Gripper, gap: float) -> float | None:
        under_way.append(drive)
        return driven(self, gap)

    def hear(_: object) -> None:
        reached = sign * (arm.state().gripper_gap - at) >= 0
        if under_way and reached and (arm.held is None) and not stopped:
            stopped.append(at)
            table.stop()

    under_way: list[str] = []
    stopped: list[float] = []
    with spca.session(report=False) as table:
        (lay,) = (thing.pose.position for thing in table.look().objects if thing.id == "cube_blue")
        arm = table._table._arm
        table._table.table.on_contacts(hear)
        if drive == "open":
            assert table.do("pick up the blue cube").result.success
        monkeypatch.setattr(Gripper, drive, driving)
        assert table.do("put the blue cube on the red cube").result.outcome is Ending.CANCELLED
        seen = table.look().observation
        assert stopped and seen.holds("held", "cube_blue") is (drive == "close")
        assert seen.holds("on", "cube_blue", "cube_red") is (drive == "open")
        assert table.plan("continue").goal.startswith("the blue cube on the red cube")
        assert table.do("undo").result.success
        (now,) = (thing.pose.position for thing in table.look().objects if thing.id == "cube_blue")
        assert drive == "open" or math.dist(now, lay) < 0.01


def test_what_is_hidden_is_found_from_the_wrist_and_nothing_is_moved_for_it(tmp_path: Path) -> None:
    """A cube that a tall box hides from the camera above the table: a camera at the wrist looks behind it."""
    with spca.session(world="wrist", report=False) as table:
        assert {"cube_red", "cuboid_green"} <= {*table.look().observation.objects}
        run = table.do("put the red cube on the blue plate", out=tmp_path / "run")
        assert run.result.success, run.result.reason
        assert run.result.attempts == 1 and run.result.steps == 2, "the box stays where it is"


def test_the_command_converses_and_survives_a_ctrl_c():
    """In a terminal: the question is answered, a Ctrl-C stops the arm, and the session goes on."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "spca", "do", "--rate", "1"]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    shown = b""

    for text, answer in (
        (b"say> ", b"touch the cube\n"),
        (b"answer, or say something else> ", b"the red one\n"),
        (b"plan  ", None),
        (b"cancelled", b""),
        (b"say> ", b"what do you see?\n"),
        (b"There is a blue cube", b""),
        (b"say> ", b"quit\n"),
    ):
        while text not in shown:
            shown += os.read(master, 4096)
        shown = shown.partition(text)[2]
        if answer is None:
            process.send_signal(signal.SIGINT)
        else:
            os.write(master, answer)
    assert process.wait(60) == 1


def test_the_conversation_in_the_readme_works_line_by_line(tmp_path: Path):
    """Typed into a fresh `spca do`: every task succeeds, every question is answered."""
    said = re.findall(r"^say> (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    done = python("-m", "spca", "do", input="\n".join(said), env=_elsewhere(tmp_path))
    answers = re.split(r"^say> .*\n", done.stdout, flags=re.MULTILINE)[1:]
    assert done.returncode == 0 and len(said) == len(answers) + 1 >= 6, done.stderr
    for sentence, answer in zip(said, answers, strict=False):
        tasks = answer.startswith("success")
        assert tasks is not sentence.endswith("?") and (not tasks or "report" in answer), (sentence, answer)


def _elsewhere(folder: Path) -> dict[str, str]:
    """An environment in which runs are left in that folder."""
    for name in ("worlds", "levels"):
        (folder / name).symlink_to(ROOT / name)
    return {**os.environ, "SPCA_ROOT": str(folder)}


def test_a_session_does_one_thing_at_a_time_while_it_is_open() -> None:
    """Two runs at once, of a listener or of another thread, would move one arm."""
    refused: list[str] = []

    def hear(event: Event) -> None:
        if event.kind == "plan":
            for ask in (lambda: table.do("touch the green cube"), table.look):
                with pytest.raises(InputError, match="the session is at work") as told:
                    ask()
                refused.append(str(told.value))

    session = spca.session(report=False, on_event=hear)
    for closed in (False, True):
        for order in (lambda: session.do("touch the green cube"), session.look):
            with pytest.raises(InputError, match="the session is not open"):
                order()
        if not closed:
            with session as table:
                assert table.do("put the red cube on the blue plate").result.success
                scratch = table._scratch
            assert len(refused) == 2 and not scratch.exists()
    assert not scratch.exists()


FORKED = """
import os, sys
import spca
from spca_core.errors import InputError

def ended(work):
    child = os.fork()
    return os.waitpid(child, 0)[1] if child else sys.exit(work())

def refused():
    try:
        table.do("Touch the red cube.")
    except InputError as error:
        return 7 * ("in the process that opened it" in str(error))

def runs(name):
    return 0 if spca.run("touch_02", report=False, out=name).result.success else 1

with spca.session(report=False) as table:
    assert table.do("Touch the blue cube.").result.success
    assert os.waitstatus_to_exitcode(ended(refused)) == 7
    assert table.do("Touch the red cube.").result.success
assert ended(lambda: runs("child")) == 0 == runs("parent")
"""


def test_what_is_forked_off_has_a_solver_of_its_own_and_ends_nothing_of_its_parent_s(tmp_path: Path) -> None:
    """It would answer the other's questions, and take its folders along."""
    environment = {**_elsewhere(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = python("-c", FORKED, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr


# --- conversations ------------------------------------------------------------------------------------------

CONVERSATIONS = parse_yaml(Path(__file__).with_name("conversations.yaml").read_text())
ENDINGS = {"not understood": Ending.NOT_UNDERSTOOD, "impossible": Ending.IMPOSSIBLE}


def fits(said: str, wanted: str) -> bool:
    """Whether that was said: as a whole, begun so, among other words, or `not: ` at all."""
    if wanted.startswith("not: "):
        return wanted.removeprefix("not: ") not in said
    if wanted.startswith("…"):
        return wanted[1:] in said
    return said.startswith(wanted[:-1]) if wanted.endswith("…") else said == wanted


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation(name: str):
    """By `conversations.yaml`: what is said, and what comes back."""
    world = re.findall(r"\((\w+)\)$", name)
    with spca.session(report=False, **({"world": world[0]} if world else {})) as table:
        start = {thing.id: thing.pose.position for thing in table.look().objects}
        for how, *words in CONVERSATIONS[name]:
            said, sentence = "", words[0] if words else ""
            match how:
                case "ask":
                    said = table.ask(sentence) or ""
                case "plan":
                    said = table.plan(sentence).goal
                case "refuses to do" | "refuses to plan":
                    with pytest.raises(InputError, match=re.escape(words.pop())):
                        getattr(table, how.split()[-1])(sentence)
                case "asks" | "asks nothing":
                    assert table.asks is (how == "asks")
                case "as at first":
                    for thing in table.look().objects:
                        assert math.dist(thing.pose.position, start[thing.id]) < 0.01, thing.id
                case _:
                    result = table.do(sentence).result
                    said = result.reason
                    assert result.success is (how == "do"), (sentence, said)
                    assert how not in ENDINGS or result.outcome is ENDINGS[how], sentence
            assert all(fits(said, wanted) for wanted in words[1:]), (sentence, said)
