"""What a run's folder says is not believed when it is resumed."""

import shutil
from pathlib import Path

import pytest

import spca
from spca.run_command import follow
from spca.runs import Run
from spca.state import SavedState
from spca_core.errors import InputError
from spca_core.options import Manifest, manifest
from spca_core.result import Ending, Outcome, RunResult
from spca_core.run_folder import CHECKPOINT, MANIFEST, STATE, RunFolder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed before its result was written."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    spca.run("touch_02", out=folder, video=False, report=False)
    (folder / "result.json").unlink()
    return folder


@pytest.fixture
def ended(killed: Path, tmp_path: Path) -> RunFolder:
    """A copy of it."""
    return RunFolder.open(shutil.copytree(killed, tmp_path / "run"))


@pytest.mark.parametrize("name", [STATE, CHECKPOINT, MANIFEST])
def test_an_edited_file_is_refused(ended: RunFolder, name: str) -> None:
    content = (ended.path / name).read_bytes()
    (ended.path / name).write_bytes(content.replace(b"touch", b"tough", 1) + b" ")
    with pytest.raises(InputError, match=r"not written by this checkout|unknown level"):
        follow(Run.reopened(ended.path))


def test_the_files_of_another_run_are_refused(ended: RunFolder) -> None:
    """A success is not carried over to a level that was not solved."""
    options = ended.read(MANIFEST, Manifest).options.model_copy(update={"level": "stack_01"})
    ended.write(MANIFEST, manifest(options))
    with pytest.raises(InputError, match="not written by this checkout"):
        follow(Run.reopened(ended.path))


def test_an_end_that_the_referee_does_not_know_of_is_judged_again(ended: RunFolder) -> None:
    """The state says how it ended; the world in the checkpoint is from before the plan was carried out."""
    said = ended.read(STATE, SavedState).root
    assert said.ended is Ending.SUCCESS
    assert follow(Run.reopened(ended.path)) == 0
    result = ended.read("result.json", RunResult)
    assert result.verdict.outcome is Outcome.SUCCESS
    assert result.attempts == said.attempts + 1
