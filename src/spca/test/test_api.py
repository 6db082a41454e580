"""spca from Python."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import spca
from spca.runs import Run
from spca_core.errors import Cancelled, InputError
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder


def test_a_level_is_run_from_python(tmp_path: Path) -> None:
    kinds: list[str] = []
    run = spca.run(
        "pickup_02", preset="shuffled", seed=3, out=tmp_path / "run", on_event=lambda e: kinds.append(e.kind)
    )
    assert run.result.success and "success" in repr(run)
    assert kinds[0] == "run_started" and kinds[-1] == "run_ended" and "step" in kinds
    assert [event.kind for event in run.events] == kinds
    assert run.report.is_file()
    assert next(run.looks()).shape[2] == 3


@pytest.mark.parametrize(("error", "crashed"), [(Cancelled("by the user"), False), (OSError("no"), True)])
def test_only_the_unexpected_leaves_a_crash_file(
    error: Exception, crashed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To cancel a run while its nodes start is none: there is nothing to be found out."""

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("spca.proposals.open_stages", fails)
    folder = RunFolder.create("touch_01", tmp_path / "run")
    with pytest.raises(type(error)):
        Run(RunOptions(level="touch_01", transport="inproc"), folder).advance()
    assert (folder.path / "crash.txt").exists() == crashed


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: spca.run("stack_01", sed=3), "sed"),
        (lambda: spca.run("touch_02", out=7), "cannot write here"),
        (lambda: spca.run("touch_02", solver_timeout_s=math.inf), "--solver-timeout-s inf"),
        (lambda: spca.campaign([]), "--levels []"),  # it would run them all
        (lambda: spca.campaign(["touch_02"], workers=-1), "--workers -1"),  # it would wait for ever
        (lambda: spca.session().do(3), "a sentence is a text"),
        (lambda: spca.session().execute(None), "there is no plan"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line_before_anything_is_written(
    call: Callable[[], object], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spca_core.run_folder.RunFolder.create.__func__.__defaults__", (None, tmp_path))
    with pytest.raises(InputError, match=re.escape(told)) as refused:
        call()
    assert "\n" not in str(refused.value) and not [*tmp_path.rglob("state.json")]


@pytest.mark.slow
def test_a_campaign_is_a_table(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    wanted = {"presets": ["nominal"], "tables": 1, "workers": 1, "out": tmp_path / "campaign"}
    done = spca.campaign(["touch_02"], on_trial=lambda *n: told.append(n), **wanted)
    assert told[-1] == (1, 1) and not done.broken and done.success_rate == 1.0
    assert [row["level"] for row in done.table] == ["touch_02"]
    assert spca.campaign(["touch_02"], **wanted).table == done.table, "nothing is run twice"
