"""Runs as a LeRobot data set, layout v3.0: Parquet and MP4 files that `lerobot` 0.4 and later loads.

meta/info.json            features, counts, and where the files are
meta/stats.json           minimum, maximum, mean and standard deviation of each feature over all frames
meta/tasks.parquet        each task's text with its number
meta/episodes/chunk-000/file-000.parquet   each episode's tasks, length, files and statistics
data/chunk-000/file-000.parquet
videos/observation.images.workspace/chunk-000/file-000.mp4

The layout lets a file hold several episodes; here each has its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.options import Manifest
from spca_core.run_folder import MANIFEST, RunFolder
from spca_extras.episode import Episode, episode_of
from spca_sim.video import Mp4

VERSION, CHUNK = "v3.0", 1000
CAMERA = "observation.images.workspace"
_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_EPISODES = "meta/episodes/chunk-000/file-000.parquet"
_INTEGERS, _FLAGS = ("frame_index", "episode_index", "index", "task_index"), ("next.done", "next.success")
_NUMBERS = {**dict.fromkeys(_FLAGS, "bool"), "timestamp": "float32", **dict.fromkeys(_INTEGERS, "int64")}
Stats = dict[str, Any]
"""min, max, mean, std and count of a feature, as plain lists."""
_SAMPLED = 10
"""Every so many pictures one counts for the statistics."""


def write_dataset(
    runs: Sequence[Path], out: Path, fps: int = 10, on_run: Callable[[Path, bool], None] = lambda *_: None
) -> int:
    """Write runs as the episodes of a new data set; returns the number of frames.

    `observation.state` holds the joints (rad) and the gripper's opening (m); `action` is the state one frame
    later, which a position controller would be given. Time is simulated. `on_run` is called after each run,
    with whether it was written: one without states is not. Raises InputError for a folder that is not empty,
    runs of several robots, where no run has states, and where pyarrow is not installed.
    """
    if out.exists() and any(out.iterdir()):
        raise InputError("is not empty", where=str(out), hint="name a new folder with --out")
    if not runs:
        raise InputError("no runs", hint="name the folders of finished runs")
    writer = _Writer(out, fps)
    for path in runs:
        folder = RunFolder.open(path)
        episode = episode_of(folder, folder.read(MANIFEST, Manifest).options, fps)
        if episode is not None:
            writer.add(episode)
        on_run(path, episode is not None)
    if not writer.frames:
        raise InputError("no states were recorded", where=", ".join(map(str, runs)))
    writer.finish()
    return writer.frames


class _Writer:
    """Writes episode after episode, then what is said of all of them."""

    def __init__(self, out: Path, fps: int) -> None:
        try:
            from pyarrow import parquet
        except ImportError as error:
            hint = "bin/spca pip install -r scripts/requirements/data-lock.txt"
            raise InputError("a LeRobot data set needs pyarrow", hint=hint) from error
        self._write_parquet = parquet.write_table
        self._out, self._fps = out, fps
        self._tasks: dict[str, int] = {}
        self._episodes: list[dict[str, Any]] = []
        self._stats: list[dict[str, Stats]] = []
        self._features: dict[str, Any] = {}
        self._robot = ""
        self.frames = 0

    def add(self, episode: Episode) -> None:
        """One more episode."""
        number, length, robot = len(self._episodes), len(episode.joints), episode.robot
        features = _features(episode, self._fps)
        if number and (features, robot) != (self._features, self._robot):
            raise InputError("the runs are of different robots or cameras", hint="export them one by one")
        self._features, self._robot = features, robot
        task = self._tasks.setdefault(episode.task, len(self._tasks))
        columns = _columns(episode, self._fps, number, task, self.frames)
        self._parquet(columns, self._place(_DATA, number))
        stats = {name: _stats(values) for name, values in columns.items()}
        stats[CAMERA] = self._video(episode, self._place(_VIDEO, number))
        chunk, file = divmod(number, CHUNK)
        self._episodes.append({
            "episode_index": number, "tasks": [episode.task], "length": length,
            "dataset_from_index": self.frames, "dataset_to_index": self.frames + length,
            "data/chunk_index": chunk, "data/file_index": file,
            f"videos/{CAMERA}/chunk_index": chunk, f"videos/{CAMERA}/file_index": file,
            f"videos/{CAMERA}/from_timestamp": 0.0, f"videos/{CAMERA}/to_timestamp": length / self._fps,
            "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0,
            **{f"stats/{name}/{key}": of for name, found in stats.items() for key, of in found.items()},
        })  # fmt: skip
        self._stats.append(stats)
        self.frames += length

    def finish(self) -> None:
        """The folder `meta`."""
        import pyarrow

        episodes = len(self._episodes)
        meta = self._out / "meta"
        (self._out / _EPISODES).parent.mkdir(parents=True)
        info = {
            "codebase_version": VERSION, "robot_type": self._robot, "total_episodes": episodes,
            "total_frames": self.frames, "total_tasks": len(self._tasks), "chunks_size": CHUNK,
            "data_files_size_in_mb": 100, "video_files_size_in_mb": 200, "fps": self._fps,
            "splits": {"train": f"0:{episodes}"}, "data_path": _DATA, "video_path": _VIDEO,
            "features": self._features,
        }  # fmt: skip
        (meta / "info.json").write_text(json.dumps(info, indent=4))
        stats = {name: _joined([one[name] for one in self._stats]) for name in self._stats[0]}
        (meta / "stats.json").write_text(json.dumps(stats, indent=4))
        tasks = pyarrow.table({"task_index": [*self._tasks.values()], "task": [*self._tasks]})
        # LeRobot reads the texts as the index of a table of pandas, which is told so.
        columns = [
            {"name": n, "field_name": n, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
            for n, kind, numpy in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
        ]
        told = {"index_columns": ["task"], "columns": columns, "column_indexes": []}
        told_tasks = tasks.replace_schema_metadata({"pandas": json.dumps(told)})
        self._write_parquet(told_tasks, meta / "tasks.parquet")
        self._write_parquet(pyarrow.Table.from_pylist(self._episodes), self._out / _EPISODES)

    def _place(self, pattern: str, number: int) -> Path:
        chunk, file = divmod(number, CHUNK)
        path = self._out / pattern.format(chunk_index=chunk, file_index=file, video_key=CAMERA)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _parquet(self, columns: dict[str, NDArray[Any]], path: Path) -> None:
        import pyarrow

        arrays = {
            name: pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(values.ravel()), values.shape[1])
            if values.shape[1] > 1
            else pyarrow.array(values[:, 0])
            for name, values in columns.items()
        }
        self._write_parquet(pyarrow.table(arrays), path)

    def _video(self, episode: Episode, path: Path) -> Stats:
        """Write the pictures; their statistics by colour channel, 0-1."""
        sampled = []
        with Mp4(path, episode.size, self._fps) as file:
            for number, picture in enumerate(episode.images):
                file.add(picture)
                if number % _SAMPLED == 0:
                    sampled.append(picture.reshape(-1, 3) / 255)
        stats = _stats(np.concatenate(sampled))
        shaped = {k: [[[value]] for value in stats[k]] for k in ("min", "max", "mean", "std")}
        return {**shaped, "count": [len(sampled)]}


def _features(episode: Episode, fps: int) -> dict[str, Any]:
    """Return the entries of `info.json` on each column and on the video."""
    width, height = episode.size
    joints = {"dtype": "float32", "shape": [len(episode.joint_names)], "names": list(episode.joint_names)}
    video = {
        "video.height": height, "video.width": width, "video.codec": "h264", "video.pix_fmt": "yuv420p",
        "video.is_depth_map": False, "video.fps": fps, "video.channels": 3, "has_audio": False,
    }  # fmt: skip
    names = ["height", "width", "channels"]
    return {
        "action": joints,
        "observation.state": joints,
        CAMERA: {"dtype": "video", "shape": [height, width, 3], "names": names, "info": video},
        **{name: {"dtype": kind, "shape": [1], "names": None} for name, kind in _NUMBERS.items()},
    }


def _columns(episode: Episode, fps: int, number: int, task: int, first: int) -> dict[str, NDArray[Any]]:
    """The columns of an episode's table, each of shape (N, D)."""
    frames = np.arange(len(episode.joints))
    done = frames == frames[-1]
    numbers = (frames, np.full_like(frames, number), first + frames, np.full_like(frames, task))
    return {
        "action": np.concatenate([episode.joints[1:], episode.joints[-1:]]),
        "observation.state": episode.joints,
        "next.done": done[:, None],
        "next.success": (done & episode.success)[:, None],
        "timestamp": (frames / fps).astype(np.float32)[:, None],
        **{name: values.astype(np.int64)[:, None] for name, values in zip(_INTEGERS, numbers, strict=True)},
    }


def _stats(values: NDArray[Any]) -> Stats:
    """Statistics of the columns of (N, D)."""
    plain = values.astype(float)
    lists = {"min": plain.min(0), "max": plain.max(0), "mean": plain.mean(0), "std": plain.std(0)}
    return {**{name: found.tolist() for name, found in lists.items()}, "count": [len(values)]}


def _joined(parts: Sequence[Stats]) -> Stats:
    """The statistics of all frames from those of each episode."""
    counts = np.array([part["count"][0] for part in parts], float)
    stacked = {key: np.array([part[key] for part in parts]) for key in ("min", "max", "mean", "std")}
    weights = (counts / counts.sum()).reshape(-1, *[1] * (stacked["mean"].ndim - 1))
    mean = (weights * stacked["mean"]).sum(0)
    spread = (weights * (stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2)).sum(0)
    lists = {"min": stacked["min"].min(0), "max": stacked["max"].max(0), "mean": mean, "std": np.sqrt(spread)}
    return {**{name: found.tolist() for name, found in lists.items()}, "count": [int(counts.sum())]}
