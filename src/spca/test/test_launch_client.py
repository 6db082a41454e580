"""The launch file's client, where the supervisor is lost before its answer comes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from spca.ros import client
from spca.ros.run import ENDED, RESULT
from spca_core.ending import Ending
from spca_core.errors import SpcaError
from spca_core.flag import Flag
from spca_core.result import CoderCounts, PlannerCounts, RunResult
from spca_core.run_folder import RunFolder
from spca_core.verdict import Outcome, Verdict
from spca_ros.peer import NodeLost

pytestmark = pytest.mark.ros


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run's folder with the result of a cancelled run, whose supervisor has ended."""

    def lost(*_: Any) -> None:
        raise NodeLost("node 'supervisor' has ended")

    class Found:
        def wait_ready(self, *_: Any) -> None:
            pass

    monkeypatch.setattr(client, "RosSession", lambda name: nullcontext())
    monkeypatch.setattr(client, "Peer", lambda *_: Found())
    monkeypatch.setattr(client, "RunLevelCall", lambda *_: lost)
    run = RunFolder(tmp_path)
    result = RunResult(
        level="stack_01",
        outcome=Ending.CANCELLED,
        verdict=Verdict(outcome=Outcome.RUNNING, score=0.0, stamp=1.0, reason="not over"),
        reason="cancelled",
        rounds=1,
        steps=1,
        planner=PlannerCounts(),
        coder=CoderCounts(),
        wall=1.0,
        sim=1.0,
        stage_wall={},
    )
    run.write(RESULT, result)
    return run


def interrupted() -> Flag:
    flag = Flag()
    flag.set()
    return flag


def test_an_interrupted_run_has_its_result_though_the_supervisor_ended_before_its_answer_came(
    folder: RunFolder,
) -> None:
    assert client._run(folder, (), interrupted()).outcome is Ending.CANCELLED


def test_a_lost_supervisor_is_the_reason_where_nobody_has_interrupted_the_run(folder: RunFolder) -> None:
    with pytest.raises(NodeLost, match="supervisor"):
        client._run(folder, (), Flag())


def test_why_a_launch_has_ended_is_the_reason_though_it_interrupts_its_processes(folder: RunFolder) -> None:
    (folder.path / ENDED).write_text("sense has ended (exit code 1)")
    with pytest.raises(SpcaError, match="sense has ended"):
        client._run(folder, (), interrupted())
