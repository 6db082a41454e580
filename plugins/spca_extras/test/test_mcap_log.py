"""The MCAP log of a run, read back by the mcap library; Foxglove's layout shows topics that it has."""

import re
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from spca.runs import Run
from spca_core.options import RunOptions
from spca_core.paths import share
from spca_core.run_folder import RunFolder
from spca_extras.mcap_log import write_mcap
from spca_extras.message_definitions import standard_messages
from spca_tabletop.presets import load_table

LAYOUT = Path(__file__).resolve().parents[3] / "launch" / "rviz" / "foxglove.json"
OPTIONS = RunOptions(level="touch_02", transport="inproc", video=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with its log."""
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    assert Run(OPTIONS, folder).advance().success
    write_mcap(folder, OPTIONS)
    return folder.path


@pytest.fixture(scope="module")
def log(run: Path) -> dict[str, list[tuple[float, Any]]]:
    """Topic → (log time in seconds, decoded message)."""
    found: dict[str, list[tuple[float, Any]]] = {}
    with (run / "run.mcap").open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time / 1e9, decoded))
    return found


def test_the_raw_frames_are_what_the_camera_delivered(run: Path, log: dict[str, Any]) -> None:
    world, _ = load_table(OPTIONS)
    camera = world.camera.intrinsics
    [(stamp, colour)], [(_, depth)] = log["/camera/color/image_raw"], log["/camera/depth/image_raw"]
    shape = (camera.height, camera.width)
    pixels = np.frombuffer(colour.data, np.uint8).reshape(*shape, 3)
    saved = cv2.cvtColor(cv2.imread(str(run / "looks" / "01_colour.png")), cv2.COLOR_BGR2RGB)
    assert colour.encoding == "rgb8" and np.array_equal(pixels, saved)
    metres = np.frombuffer(depth.data, "<u2").reshape(shape) / 1000
    seen = metres[metres > 0]
    assert depth.encoding == "16UC1" and len(seen) > 0.9 * metres.size
    assert world.camera.near <= np.median(seen) <= world.camera.far
    [(_, info)] = log["/camera/color/camera_info"]
    assert (info.k[0], info.k[2], info.width) == (camera.fx, camera.cx, camera.width)
    assert stamp == pytest.approx(log["/scene"][0][0])


def test_scene_plan_steps_and_verdict_are_in_the_log_in_that_order(log: dict[str, Any]) -> None:
    [(seen, scene)], [(planned, plan)] = log["/scene"], log["/plan"]
    [(done, step)], [(judged, verdict)] = log["/steps"], log["/verdict"]
    assert seen <= planned < done and judged > planned
    assert {o.id for o in scene.objects} >= {"cube_blue", "plate_red"}
    assert [(s.action, s.args) for s in plan.steps] == [(step.action, step.args)]
    assert plan.schemas[0].parameters[0].type and "define" in plan.draft.problem
    assert verdict.outcome == "success" and verdict.conditions


def test_foxglove_is_shown_topics_that_are_there(log: dict[str, Any]) -> None:
    named = set(re.findall(r'"(/[a-z][\w/]+)', LAYOUT.read_text()))
    assert len(named) > 8 and named <= set(log), named - set(log)


def test_the_messages_that_spca_brings_are_those_of_ros() -> None:
    """Where ROS is installed, its own definitions count: the fields must be the same."""
    for datatype, text in standard_messages().items():
        installed = share(datatype.split("/", maxsplit=1)[0])
        if installed is None:
            continue
        lines = (installed / "msg" / f"{datatype.split('/')[1]}.msg").read_text().splitlines()
        own = [" ".join(line.split("#")[0].split()) for line in lines]
        assert [line for line in own if line] == text.splitlines(), datatype
