"""A table that stays: sentences, questions, single plans and actions, judged by a look; `spca do`."""

import contextlib
import io
import json
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
from rich.console import Console

import spca
from spca.console import Progress
from spca.conversation import Conversation
from spca.journal import Event
from spca.sessions import Session
from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_core.result import Ending
from spca_motion.manipulator import Gripper
from spca_testing.models.behaviours import Say
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


def test_a_conversation_refers_to_what_was_done(table: Session):
    with pytest.raises(InputError, match="Nothing has been done yet"):
        table.do("why?")
    first = table.do("put the red cube on the blue plate")
    assert table.look()._repr_jpeg_()[:2] == b"\xff\xd8"
    assert first.result.reason == "seen to hold: the red cube on the blue plate"
    assert "referee" not in "".join(event.text for event in first.events)
    kinds = [event.kind for event in first.events]
    assert kinds.index("plan") < kinds.index("step")
    stacked = table.do("stack the blue one on it")
    assert "the blue cube on the red cube" in stacked.result.reason and stacked.result.success
    assert stacked.result.sim < first.result.sim * 3  # its own time, not the session's
    assert table.do("put the red cube on the red plate").result.success
    assert "pick_up(cube_blue, cube_red)" in (table.ask("what did you do?") or "")
    assert table.ask("why did you move the green cube?") == "I did not move the green cube."
    why = table.ask("Why did you move the blue cube?") or ""
    assert "It does not name the blue cube, which was in the way on the red cube." in why
    assert "red cube, which was in the way" not in why
    assert table.do("fly to the moon").result.outcome is Ending.NOT_UNDERSTOOD
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
        assert picked.reason == "seen to hold: the green cube in the gripper", "of the plate nothing is said"
        for action, said in {
            ("pick_up", "cube_blue", "table"): "(hand_empty) does not hold",
            ("pick_up", "cube_blu", "table"): "no solid is called 'cube_blu': did you mean 'cube_blue'",
            ("pickup", "cube_blue"): "did you mean 'pick_up'",
            ("place_on", "cube_red"): "1 of 2 arguments: place_on(c: solid, p: support)",
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


def test_a_question_that_was_answered_is_no_failure(table: Session, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("spca.conversation.write_report", lambda folder: folder)
    for said, done in (
        ("touch the cube\nthe red one\nquit\n", True),
        ("touch the cube\nwhat do you see?\ntouch the red cube\n", False),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        assert Conversation(table, Progress(Console(quiet=True))).in_terminal() is done, said


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
    for option, value in {"rate": 3.0, "world": "mats"}.items():
        with pytest.raises(InputError, match=f"--{option}"), spca.session(transport="ros", **{option: value}):
            pass


def test_a_model_is_not_asked_for_a_move_that_is_known(tmp_path: Path):
    with by_model(GrammarModel(code_errs=False), tmp_path) as (server, table):
        assert table.do("put the red cube on the blue plate").result.success
        asked = len(server.requests)
        assert asked and table.do("undo").result.reason.startswith("seen to hold: the red cube at x = ")
        assert len(server.requests) == asked
        table.plan("put the red cube on the green plate")
        assert len(server.requests) > asked
        refused = table.do("fly to the moon")
        assert refused.result.refused and [*(refused.folder / "llm").iterdir()]
        assert refused.folder.parent == tmp_path, "so that what a model was asked can be replayed"


def test_a_model_answers_and_what_it_asks_is_answered_word_by_word(tmp_path: Path):
    """What "it" is, the model knows that has asked; a task of its own is spelt out for it."""
    said = ({"answer": "The red plate, I think."}, {"question": "Which side?"}, {"question": "How far?"})
    progress = Progress(Console(quiet=True))
    with by_model([Say(json.dumps(one)) for one in said], tmp_path, on_event=progress) as (server, table):
        assert Conversation(table, progress).carry_out("Which plate would you like best?")
        assert not table.asks and table.ask("why?") is None, "the model is asked for its reason"
        assert table.ask("what did you do?") == "Nothing has been done yet."
        with pytest.raises(InputError, match="nothing to do again"):
            table.do("again")
        assert table.ask("where is the green cube?")
        table.do("Shift it aside")
        table.do("The side of it that faces the window")
    _, second, third = (seen.text.partition("\n<observation>")[0] for seen in server.requests)
    assert 'words: "Shift the green cube aside"' in second
    assert 'words: "The side of it that faces the window"' in third


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


@pytest.mark.parametrize(
    "drive, at, sign",
    [
        pytest.param("close", 0.085, -1, marks=pytest.mark.full),
        pytest.param("close", 0.06, -1, marks=pytest.mark.full),
        ("close", 0.0398, -1),
        ("open", 0.038, 1),
    ],
)
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

    def until(text: str) -> None:
        nonlocal shown
        while text.encode() not in shown:
            shown += os.read(master, 4096)
        shown = shown.partition(text.encode())[2]

    until("say> ")
    os.write(master, b"touch the cube\n")
    until("Say which")
    until("answer, or say something else> ")
    os.write(master, b"the red one\n")
    until("plan  ")
    process.send_signal(signal.SIGINT)
    until("cancelled")
    until("say> ")
    os.write(master, b"what do you see?\n")
    until("There is a blue cube")
    until("say> ")
    os.write(master, b"quit\n")
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
