"""The port across the border of a judge's process, here and there; which judges are used."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from spca.runs import Run
from spca_core.errors import InputError, SpcaError
from spca_core.options import RunOptions
from spca_core.ports.table import Robot
from spca_core.result import Outcome
from spca_core.run_folder import RunFolder
from spca_core.world import load_world
from spca_judges.catalogue import JUDGES, Judge, find
from spca_judges.contract import EpisodeContract
from spca_judges.environment import JudgedTabletop
from spca_judges.port import Episode
from spca_judges.remote import RemoteEpisode
from spca_judges.robot import EpisodeRobot
from spca_testing.contracts.robot_contract import RobotContract
from spca_testing.processes import outliving

EXACT = math.inf  # the stiffness of a controller that needs no lead
SERVER = Path(__file__).with_name("embedded.py")
SILENT = "import sys; sys.stdin.buffer.read(8); sys.exit(7)"
OLD = """import sys; sys.path.insert(0, sys.argv[1])
import messages, serve
messages.PROTOCOL = 0
serve.serve(messages, type("Old", (), {"text": "", "period": 1.0}), "old")"""


@pytest.fixture(scope="module")
def embedded() -> Iterator[Episode]:
    sys.path.insert(0, str(SERVER.parent))
    try:
        from embedded import EmbeddedEpisode
    finally:
        sys.path.remove(str(SERVER.parent))
    found = EmbeddedEpisode()
    yield found
    found.close()


class TestEmbedded(EpisodeContract):
    @pytest.fixture
    def episode(self, embedded: Episode) -> Episode:
        return embedded


class TestBehindABorder(EpisodeContract):
    @pytest.fixture(scope="class")
    def episode(self) -> Iterator[Episode]:
        found = RemoteEpisode(sys.executable, SERVER, [])
        yield found
        found.close()
        found.close()


class TestEpisodeRobot(RobotContract):
    @pytest.fixture
    def robot(self, embedded: Episode) -> Robot:
        embedded.reset(1)
        return EpisodeRobot(embedded, EXACT)


def test_the_stack_solves_an_episode_from_its_pictures_and_the_judge_says_so(
    embedded: Episode, tmp_path: Path
) -> None:
    embedded.reset(1)
    folder, options = (
        RunFolder.create("run", tmp_path / "run"),
        RunOptions(level="judged", transport="inproc"),
    )
    judged = JudgedTabletop("judged", embedded, load_world(), EXACT, limit_s=60.0)
    with closing(judged) as environment:
        assert environment.verdict().outcome is Outcome.RUNNING
        result = Run(options, folder).advance(environment=environment)
        assert result.success and embedded.success()
        assert result.verdict.stamp == pytest.approx(embedded.feel().stamp)
        for frame, _ in environment.looks:  # no more than the work area is looked at
            assert frame.colour.shape[:2] == (frame.intrinsics.height, frame.intrinsics.width)
            assert frame.intrinsics.width < 640
        assert not environment.checkpoint()  # the judge's world cannot be put back


def test_an_episode_ends_when_its_time_is_over(embedded: Episode) -> None:
    embedded.reset(1)
    with closing(JudgedTabletop("judged", embedded, load_world(), EXACT, limit_s=0.9)) as environment:
        assert environment.settle().outcome is Outcome.TIMEOUT


def test_faults_of_the_other_side_are_one_clear_line(tmp_path: Path) -> None:
    for name, text, words in (
        ("silent", SILENT, "silent gives no answer to 'hello'"),
        ("old", OLD, "old speaks protocol 0, this is 1"),
    ):
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        with pytest.raises(SpcaError, match=words):
            RemoteEpisode(sys.executable, file, [])
    episode = RemoteEpisode(sys.executable, SERVER, [])
    with pytest.raises(SpcaError, match="embedded, act: "):
        episode.act(np.zeros(4), 1.0)
    episode.reset(1)
    [server] = [p for p in psutil.Process().children() if str(SERVER) in p.cmdline()]
    server.kill()
    server.wait()
    with pytest.raises(SpcaError, match="embedded gives no answer to 'look'"):
        episode.look()
    episode.close()


def test_the_judge_ends_with_whoever_started_it() -> None:
    code = (
        "import sys; from pathlib import Path; from spca_judges.remote import RemoteEpisode\n"
        f"RemoteEpisode(sys.executable, Path({str(SERVER)!r}), [])\n"
        "print('up', flush=True); sys.stdin.read()"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert owner.stdout is not None and owner.stdout.readline() == b"up\n"
    [server] = psutil.Process(owner.pid).children()
    assert os.getpgid(server.pid) == server.pid, "Ctrl-C in the terminal does not reach it"
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    assert not outliving([server.pid])


def test_a_judge_of_another_version_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Judge, "folder", tmp_path)
    find("robosuite").stamp.write_text("something else")
    with pytest.raises(InputError, match="another version"):
        find("robosuite").check()


def test_locks_are_pinned_and_hashed() -> None:
    for judge in JUDGES.values():
        if judge.package:
            lines = [line for line in judge.lock.read_text().splitlines() if not line.startswith("#")]
            assert judge.package in " ".join(lines)
            assert all("==" in line and "--hash=sha256:" in line for line in lines)
