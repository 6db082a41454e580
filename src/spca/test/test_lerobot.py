"""Runs as a LeRobot data set: read back by the layout that is published as v2.1."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest
from pyarrow import parquet

import spca
from spca.lerobot import CAMERA, write_dataset
from spca_core.errors import InputError
from spca_core.trajectory import JOINT_NAMES

FPS = 5


@pytest.mark.slow
def test_runs_become_a_data_set_in_the_published_layout(tmp_path: Path) -> None:
    run = spca.run("touch_02", out=tmp_path / "run", report=False, preset="shuffled", seed=1)
    assert run.result.success
    runs = [run.folder, run.folder]
    out = tmp_path / "demos"
    frames = write_dataset(runs, out, FPS)

    info = json.loads((out / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"], info["robot_type"]) == ("v2.1", FPS, "ur5_2f85")
    assert (info["total_episodes"], info["total_videos"], info["total_chunks"]) == (2, 2, 1)
    assert info["total_frames"] == frames and info["splits"] == {"train": "0:2"}
    assert info["features"]["action"]["names"] == [*JOINT_NAMES, "gripper_gap"]

    def lines(name: str) -> list[dict]:
        return [json.loads(line) for line in (out / "meta" / name).read_text().splitlines()]

    tasks, episodes, stats = lines("tasks.jsonl"), lines("episodes.jsonl"), lines("episodes_stats.jsonl")
    assert [t["task_index"] for t in tasks] == [0] and "blue cube" in tasks[0]["task"]
    assert sum(e["length"] for e in episodes) == frames
    seen = 0
    for number, episode in enumerate(episodes):
        where = {"episode_chunk": 0, "episode_index": number, "video_key": CAMERA}
        table = parquet.read_table(out / info["data_path"].format(**where))
        assert set(table.column_names) == {n for n, f in info["features"].items() if f["dtype"] != "video"}
        columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}
        length = episode["length"]
        assert columns["frame_index"].tolist() == list(range(length))
        assert columns["index"].tolist() == list(range(seen, seen + length))
        assert set(columns["task_index"]) == {0} and [tasks[0]["task"]] == episode["tasks"]
        np.testing.assert_allclose(columns["timestamp"], np.arange(length) / FPS, atol=1e-4)
        state, action = columns["observation.state"], columns["action"]
        assert state.shape == (length, 7) and np.abs(state[:, :6]).max() < 2 * np.pi
        np.testing.assert_array_equal(action[:-1], state[1:])
        assert np.ptp(state[:, 0]) > 0.05  # the arm has moved
        assert columns["next.success"].tolist() == [False] * (length - 1) + [True]
        np.testing.assert_allclose(stats[number]["stats"]["action"]["mean"], action.mean(0), atol=1e-5)
        assert np.shape(stats[number]["stats"][CAMERA]["mean"]) == (3, 1, 1)
        with av.open(str(out / info["video_path"].format(**where))) as video:
            pictures = [f.to_ndarray(format="rgb24") for f in video.decode(video=0)]
        assert len(pictures) == length
        assert list(pictures[0].shape) == info["features"][CAMERA]["shape"]
        assert np.abs(pictures[0].astype(int) - pictures[length // 2].astype(int)).max() > 60  # the arm again
        seen += length

    with pytest.raises(InputError, match="is not empty"):
        write_dataset(runs, out)


def test_what_cannot_be_exported_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no runs"):
        write_dataset([], tmp_path / "out")
    with pytest.raises(InputError, match="not a run folder"):
        write_dataset([tmp_path], tmp_path / "out")
