"""Runs as a LeRobot data set, read back by the published layout v3.0."""

import json
import shutil
from pathlib import Path

import av
import numpy as np
import pytest
from pyarrow import parquet

import spca
from spca_core.arms import load_arm
from spca_core.errors import InputError
from spca_extras.lerobot import CAMERA, write_dataset
from spca_sim.recording import STATES
from spca_testing.command import spca as command

FPS = 5


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    made = spca.run("touch_02", out=folder, report=False, preset="shuffled", seed=1)
    assert made.result.success
    return made.folder


@pytest.mark.slow
def test_runs_become_a_data_set_in_the_published_layout(run: Path, tmp_path: Path) -> None:
    runs, out = [run, run], tmp_path / "demos"
    frames = write_dataset(runs, out, FPS)

    info = json.loads((out / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"], info["robot_type"]) == ("v3.0", FPS, "ur5_2f85")
    assert (info["total_episodes"], info["total_tasks"], info["total_frames"]) == (2, 1, frames)
    assert info["features"]["action"]["names"] == [*load_arm("ur5").joint_names, "gripper_gap"]
    tasks = parquet.read_table(out / "meta/tasks.parquet")
    episodes = parquet.read_table(out / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert sum(e["length"] for e in episodes) == frames
    seen = 0
    for number, episode in enumerate(episodes):
        length = episode["length"]
        assert (episode["episode_index"], episode["dataset_from_index"]) == (number, seen)
        where = {"chunk_index": episode["data/chunk_index"], "file_index": episode["data/file_index"]}
        where["video_key"] = CAMERA
        table = parquet.read_table(out / info["data_path"].format(**where))
        assert set(table.column_names) == {n for n, f in info["features"].items() if f["dtype"] != "video"}
        columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}
        assert columns["index"].tolist() == list(range(seen, seen + length))
        assert set(columns["task_index"]) == {0} and tasks["task"].to_pylist() == episode["tasks"]
        np.testing.assert_allclose(columns["timestamp"], np.arange(length) / FPS, atol=1e-4)
        state, action = columns["observation.state"], columns["action"]
        np.testing.assert_array_equal(action[:-1], state[1:])
        assert np.ptp(state[:, 0]) > 0.05  # the arm has moved
        assert columns["next.success"].tolist() == [False] * (length - 1) + [True]
        np.testing.assert_allclose(episode["stats/action/mean"], action.mean(0), atol=1e-5)
        with av.open(str(out / info["video_path"].format(**where))) as video:
            pictures = [f.to_ndarray(format="rgb24") for f in video.decode(video=0)]
        assert len(pictures) == length
        assert list(pictures[0].shape) == info["features"][CAMERA]["shape"]
        seen += length
    stats = json.loads((out / "meta/stats.json").read_text())
    np.testing.assert_allclose(stats["action"]["mean"], action.mean(0), atol=1e-5)  # both episodes are alike
    with pytest.raises(InputError, match="is not empty"):
        write_dataset(runs, out)


@pytest.mark.slow
def test_a_run_without_states_is_named_and_left_out(run: Path, tmp_path: Path) -> None:
    bare = shutil.copytree(run, tmp_path / "bare")
    (bare / STATES).unlink()
    done = command("dataset", str(bare), str(run), str(bare), "--out", str(tmp_path / "demos"))
    assert done.returncode == 0 and ": 1 episode," in done.stdout
    assert done.stderr.count(f"left out, no states: {bare}\n") == 2
    alone = command("dataset", str(bare), "--out", str(tmp_path / "none"))
    assert alone.returncode == 2 and f"no states were recorded ({bare})" in alone.stderr
