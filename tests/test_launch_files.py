"""The launch files as `ros2 launch` reads them. Skipped, and said so, where `launch` is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("launch.actions", reason="ROS 2's launch is not installed")
pytest.importorskip("launch_ros", reason="ROS 2's launch_ros is not installed")
from launch import LaunchContext, LaunchDescription, LaunchService
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from spca_gazebo.requirements import missing

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))


def arguments(file: Path) -> dict[str, DeclareLaunchArgument]:
    description = PythonLaunchDescriptionSource(str(file)).get_launch_description(LaunchContext())
    return {a.name: a for a in description.get_launch_arguments()}


def run(file: str, *given: tuple[str, str]) -> int:
    """The exit status that `ros2 launch` would have."""
    service = LaunchService()
    source = PythonLaunchDescriptionSource(str(LAUNCH / file))
    service.include_launch_description(
        LaunchDescription([IncludeLaunchDescription(source, launch_arguments=list(given))])
    )
    return service.run()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_argument_has_a_default_and_words(file: Path) -> None:
    declared = arguments(file)
    assert declared
    for name, argument in declared.items():
        assert argument.default_value is not None and argument.description, name


def test_bringup_offers_what_the_documents_promise() -> None:
    declared = arguments(LAUNCH / "bringup.launch.py")
    assert {"level", "headless", "rviz", "proposer", "layout_seed", "record", "robot"} <= set(declared)
    assert set(declared["sim"].choices) == {"gazebo", "mujoco"}
    assert set(declared["arm"].choices) == {"moveit", "embedded"}
    assert set(declared["robot"].choices) == {"generated", "vendor", "none"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"level": "stak_01"}, "stack_01"),
        ({"rate": "fast"}, "rate:="),
    ],
)
def test_bad_arguments_are_one_clear_line(
    given: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    embedded = {"sim": "mujoco", "arm": "embedded"} | given
    assert run("bringup.launch.py", *embedded.items()) != 0
    assert said in caplog.text


@pytest.mark.skipif(not missing(), reason="Gazebo is installed")
def test_a_missing_gazebo_is_named_and_ends_the_launch(caplog: pytest.LogCaptureFixture) -> None:
    assert run("gazebo.launch.py") != 0
    assert "ros_gz_sim" in caplog.text


@pytest.mark.slow
@pytest.mark.ros
def test_the_embedded_graph_by_launch_ends_with_the_verdict() -> None:
    assert run("bringup.launch.py", ("level", "touch_02"), ("sim", "mujoco"), ("arm", "embedded")) == 0
