"""Whatever stands in a file, its reader takes it or refuses it in one clear line: nothing else is raised.

Each reader gets `--mutations` damaged versions of a file that it takes: the same ones for the same number.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import spca
from spca.kits import kit_of
from spca.learned import SolvedLevel
from spca.pages import write_index
from spca.report import write_report
from spca.state import SavedState
from spca_benchmarks.campaigns.campaign import HEAD, Head, read_head
from spca_coder.trusted import TrustedLibrary
from spca_core.arms import load_arm
from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.checkpoint import _MAGIC, pack, unpack
from spca_core.errors import EXIT_BAD_INPUT, EXIT_SUCCESS, InputError, one_line
from spca_core.geometry import Pose
from spca_core.kinds import read_kind
from spca_core.options import Manifest, RunOptions, software
from spca_core.paths import LEVELS, ROOT, WORLDS
from spca_core.plan import Plan, Task
from spca_core.ports.proposer import ModelError
from spca_core.result import SIGNALS
from spca_core.run_folder import CHECKPOINT, MANIFEST, STATE, RunFolder, read_picture, write_picture
from spca_core.skill_package import SkillPackage
from spca_core.world import load_world
from spca_extras.hand_eye_files import read_lens, read_wrist
from spca_llm.answer import answer_from, parse
from spca_llm.chat import ReplaySource
from spca_llm.config import DEFAULT_TABLE, load_config, load_prices
from spca_planner.trusted import TrustedDomains
from spca_programs.ipp.store import ProgramStore
from spca_robot import ARMS
from spca_sense.recorded_camera import load_frame, save_frame
from spca_sim.recording import SimState, load_states, save_states
from spca_testing.command import spca as command
from spca_testing.damage import damaged


@dataclass(frozen=True)
class Reader:
    """What reads a file: `read` gets a folder in which that file, or one of several, is damaged."""

    files: str
    read: Callable[[Path], object]
    """Raises InputError, or ModelError, for what it does not take."""


def answers(folder: Path) -> None:
    parse(answer_from((folder / "answer.json").read_bytes(), "").text, SolvedLevel)


def library(folder: Path) -> None:
    trusted = TrustedLibrary(folder / "library", "def lift(ctx, thing):\n    ctx.close()\n")
    trusted.source()
    for status in trusted.skills():
        trusted.history(status.name)


def unsealed(folder: Path) -> None:
    unpack(_MAGIC + zlib.compress((folder / "checkpoint").read_bytes()))


def report(folder: Path) -> None:
    write_index(folder.parent, folder.parent / "campaigns")
    write_report(RunFolder.open(folder))


REPORTED = (
    "events.jsonl run.json result.json contacts.json looks/01.json round_1/observation.json "
    "round_1/plan_1.json round_1/code_2.json round_1/act_3.json llm/0001-planner_big.json"
)
TABLETOP = load_world()
DATA = Path(__file__).with_name("data") / "files"
"""Files as readers take them, beside those that the project ships or makes."""


READERS = {
    "level": Reader("level.yaml", lambda f: kit_of(level := str(f / "level.yaml")).examine(level)),
    "world": Reader("world.yaml", lambda f: load_world(f / "world.yaml")),
    "arm": Reader("arm.yaml", lambda f: load_arm(f / "arm.yaml")),
    "kind": Reader("mug.yaml", lambda f: read_kind(f / "mug.yaml")),
    "mesh of a kind": Reader("mug.json", lambda f: read_kind(f / "mug.yaml")),
    "model configuration": Reader("llm.yaml", lambda f: load_config(f / "llm.yaml", {})),
    "prices": Reader("prices.yaml", lambda f: load_prices(f / "prices.yaml")),
    "answer": Reader("answer.json", answers),
    "replay": Reader("llm/0001-planner_big.json", lambda f: ReplaySource(f / "llm")),
    "module of a skill": Reader("library/push.py library/tap.py", library),
    "record of a skill": Reader("library/push.json library/tap.json", library),
    "domain": Reader("domains/e/g.pddl", lambda f: TrustedDomains(f / "domains").all("e")),
    "skill package": Reader("push/skill.yaml", lambda f: SkillPackage.read("push", f / "push")),
    "skill of a package": Reader("push/skill.py", lambda f: SkillPackage.read("push", f / "push")),
    "states": Reader("states.npz", lambda f: load_states(f / "states.npz")),
    "frame": Reader("frame.npz", lambda f: load_frame(f / "frame.npz")),
    "picture": Reader("seen.png", lambda f: read_picture(f / "seen.png")),
    "camera info": Reader("lens.yaml", lambda f: read_lens(f / "lens.yaml", TABLETOP.camera)),
    "joint state": Reader("joints.yaml", lambda f: read_wrist(f / "joints.yaml", TABLETOP)),
    "tool's pose": Reader("tool.yaml", lambda f: read_wrist(f / "tool.yaml", TABLETOP)),
    "state": Reader(STATE, lambda f: RunFolder(f).read(STATE, SavedState)),
    "manifest": Reader(MANIFEST, lambda f: RunFolder(f).read(MANIFEST, Manifest)),
    "checkpoint": Reader("checkpoint", unsealed),
    "campaign": Reader(HEAD, read_head),
    "report": Reader(REPORTED, report),
    "program": Reader("program.py", lambda f: ProgramStore(f).find("d", str(f / "program.py"))),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder, with a file for every other reader beside."""
    folder = tmp_path_factory.mktemp("files") / "run"
    run = spca.run("touch_02", out=folder, video=False)
    plan = json.loads((folder / "round_1" / "plan_1.json").read_text())["plan"]
    kept = SolvedLevel(options=RunOptions(level="touch_02"), plan=Plan.model_validate(plan))
    solved = kept.model_dump_json()
    for picture in (folder / "looks").glob("*.jpg"):
        picture.write_bytes(b"")  # it takes its time
    (folder / SIGNALS).unlink()  # so do these, and no reader gets them damaged
    for name in ("library", "domains/e", "llm"):
        (folder / name).mkdir(parents=True)
    for source, name in (
        (LEVELS / "stack" / "stack_01.yaml", "level.yaml"),
        (WORLDS / "tabletop.yaml", "world.yaml"),
        (ARMS / "ur5.yaml", "arm.yaml"),
        (DEFAULT_TABLE, "prices.yaml"),
        (ROOT / "examples" / "replays" / "touch_03_0001-planner_big.json", "llm/0001-planner_big.json"),
    ):
        shutil.copy(source, folder / name)
    mug = ROOT / "examples" / "mug" / "src" / "mug"
    for source in (*DATA.glob("*.*"), *mug.glob("*.*")):
        shutil.copy(source, folder)
    [declared] = (ROOT / "examples").glob("*/src/*/skill.yaml")
    shutil.copytree(declared.parent, folder / "push")
    choices = [{"message": {"content": f"```json\n{solved}\n```"}}]
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    (folder / "answer.json").write_text(json.dumps({"model": "m", "choices": choices, "usage": usage}))
    trusted = TrustedLibrary(folder / "library", "def lift(ctx, thing):\n    ctx.close()\n")
    trusted.promote((DATA / "skills.py").read_text(), ["tap", "push"], "touch_02")
    domain = (DATA / "domain.pddl").read_text()
    TrustedDomains(folder / "domains").add("e", Task(group="g", id="t", title="t", description="d"), domain)
    states = [SimState(0.1 * k, ("a", "b")[: 1 + k % 2], np.zeros(7 + k % 2)) for k in range(3)]
    save_states(states, folder / "states.npz")
    eye = CameraIntrinsics(width=4, height=3, fx=1.0, fy=1.0, cx=2.0, cy=1.0)
    colour, depth = np.zeros((3, 4, 3), np.uint8), np.ones((3, 4), np.float32)
    save_frame(RgbdFrame(colour, depth, eye, Pose(position=(0, 0, 0)), 0.5), folder / "frame.npz")
    write_picture(folder / "seen.png", colour)
    packed = pack({"qpos": np.zeros(3), "at": (1.5, None, {2})})
    (folder / "checkpoint").write_bytes(zlib.decompress(packed[len(_MAGIC) :]))
    head = Head(bench="levels", settings={"tables": 3}, identity={"a": 1}, software=software())
    (folder / HEAD).write_text(head.model_dump_json(indent=1))
    assert run.result.success
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("what", READERS)
def test_a_damaged_file_is_taken_or_refused(
    what: str,
    files: Path,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("tried", count := pytestconfig.getoption("mutations"))
    monkeypatch.setattr("os.fsync", lambda _: None)  # nobody needs the reports if the power fails
    reader, dice = READERS[what], random.Random(f"{what} {count}")
    whole = {name: (files / name).read_bytes() for name in reader.files.split()}
    reader.read(files)
    for _ in range(count):
        name = dice.choice([*whole])
        content = damaged(whole[name], dice)
        (files / name).write_bytes(content)
        try:
            reader.read(files)
        except (InputError, ModelError) as error:
            assert str(error) == one_line(str(error)) and len(str(error)) < 1500, content
        except Exception as error:
            raise AssertionError(f"{name} with {content!r}") from error
        finally:
            (files / name).write_bytes(whole[name])


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "holes": lambda path: path.touch() or os.truncate(path, 1 << 40),
}
"""What may stand where a file is to be: it cannot be read, has no end, or is larger than any memory."""


@pytest.mark.parametrize("what", [name for name in READERS if name not in ("answer", "checkpoint")])
def test_what_is_no_plain_file_is_not_waited_for(what: str, files: Path) -> None:
    reader = READERS[what]
    for name in reader.files.split():
        (files / name).rename(kept := files / "kept")
        for stands, make in NO_FILES.items():
            make(files / name)
            previous = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it is waited for"))
            signal.alarm(20)
            try:
                with suppress(InputError, ModelError):
                    reader.read(files)
            except BaseException as error:
                raise AssertionError(f"{name} is {stands}") from error
            finally:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, previous)
                (files / name).rmdir() if stands == "a folder" else (files / name).unlink()
        kept.rename(files / name)


def test_no_name_in_a_run_s_folder_breaks_its_report(files: Path) -> None:
    """OpenCV once took the process with it at one that is not UTF-8."""
    names = "disturbances/x.jpg", "looks/\udcff.jpg", "looks/\x1b[2J.jpg", "round_1/plan_x.json"
    for name in (*names, "round_x/observation.json"):
        (files / name).parent.mkdir(exist_ok=True)
        (files / name).write_bytes(b"x")
        report(files)
        assert RunFolder(files).looks and RunFolder(files).files("plan")
        (files / name).unlink()


COMMANDS = {
    "check": (["check", "level.yaml"], "level.yaml"),
    "run": (["run", "touch_02", "--proposer", "openai", "--llm", "replay:llm"], "llm/0001-planner_big.json"),
    "library": (["library", "show", "--library", "."], "skills/tabletop/push.json"),
    "report": (["report", "."], MANIFEST),
    "resume": (["resume", "again"], f"again/{MANIFEST}"),
    "resume the state": (["resume", "again"], f"again/{STATE}"),
    "resume the world": (["resume", "again"], f"again/{CHECKPOINT}"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_no_file_ends_a_command_with_status_3(
    what: str,
    files: Path,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    """That is for faults of the machine."""
    arguments, name = COMMANDS[what]
    if not (files / "skills").exists():
        shutil.copytree(files / "library", files / "skills" / "tabletop")
        shutil.copytree(files, files / "again", ignore=lambda *_: ["again", "result.json"])
    monkeypatch.chdir(files)
    whole = (files / name).read_bytes()
    record_property("tried", count := max(2, pytestconfig.getoption("mutations") // 125))
    dice = random.Random(f"{what} {count}")
    for _ in range(count):
        content = damaged(whole, dice)
        while content == whole:
            content = damaged(whole, dice)
        (files / name).write_bytes(content)
        done = command(*arguments)
        (files / name).write_bytes(whole)
        assert done.returncode in (EXIT_SUCCESS, EXIT_BAD_INPUT), (content, done)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["events.jsonl", "report.html", "log/spca.log"])
def test_what_stands_where_a_run_writes_is_named(name: str, files: Path, tmp_path: Path) -> None:
    shutil.copytree(files, tmp_path / "again", ignore=lambda *_: ["again", "skills", "result.json", name])
    (tmp_path / "again" / name).unlink(missing_ok=True)
    (tmp_path / "again" / name).mkdir(parents=True)
    done = command("resume", str(tmp_path / "again"))
    assert done.returncode == EXIT_BAD_INPUT and name in done.stderr, done.stderr
