import io
import os
import stat
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from rich.console import Console

from spca.commands.doctor import show
from spca.doctor import CHECKS, Check, Finding, examine, examine_plugins, runs, unsourced, ways
from spca_core import extensions
from spca_testing.processes import python


def program(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def ros_package(prefix, name, version):
    folder = prefix / "share" / name
    folder.mkdir(parents=True)
    (folder / "package.xml").write_text(f"<package><name>{name}</name><version>{version}</version></package>")


def look_for(what: str) -> Finding:
    (finding,) = examine(check for check in CHECKS if check.what == what)
    return finding


def test_this_machine_can_be_examined_and_what_the_suite_uses_is_ready():
    findings = {f.what: f for f in examine()}
    assert list(findings) == [check.what for check in CHECKS]
    for what in ("Python", "embedded run"):
        assert findings[what].state == "ready", findings[what]
    for finding in findings.values():
        assert finding.found
        assert finding.state == "ready" or finding.remedy, finding
    assert "mujoco" in findings["embedded run"].found


def test_a_ros_that_is_installed_and_not_sourced_is_to_be_sourced(monkeypatch, tmp_path):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    assert unsourced(tmp_path) == ""
    (tmp_path / "jazzy").mkdir()
    (tmp_path / "jazzy" / "setup.bash").touch()
    assert unsourced(tmp_path).startswith(f"source {tmp_path}/jazzy/setup.bash")
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    assert unsourced(tmp_path) == ""


def test_an_editable_package_is_found_where_a_launch_has_the_packages_on_its_path(tmp_path):
    """Python reads the .pth files of no folder of PYTHONPATH by itself."""
    there, source = tmp_path / "site-packages", tmp_path / "source"
    (information := there / "nudge-1.dist-info").mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: nudge\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[spca.engines]\nnudge = nudge:it\n")
    (there / "__editable__.nudge.pth").write_text(f"{source}\n")
    source.mkdir()
    (source / "nudge.py").write_text("it = 'found'\n")
    script = "from spca_core.extensions import installed; print(installed('spca.engines')['nudge'].load())"
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(there)])
    said = python("-c", script, env={**os.environ, "PYTHONPATH": path})
    assert said.stdout == "found\n", said.stderr


def test_a_check_that_breaks_is_reported_and_ends_nothing():
    def broken():
        raise OSError("disk on fire")

    (finding,) = examine([Check("thing", broken, "")])
    assert finding.state == "missing" and "disk on fire" in finding.found


@pytest.mark.parametrize(("version", "state"), [("", "missing"), ("8.9.0", "ready"), ("9.1.0", "partly")])
def test_gazebo_is_ready_only_as_harmonic_with_its_ros_packages(monkeypatch, tmp_path, version, state):
    """Where there is none, it says what to install."""
    for name in ("ros_gz_sim", "ros_gz_bridge", "ros_gz_interfaces", "gz_ros2_control",
                 "controller_manager", "joint_trajectory_controller"):  # fmt: skip
        ros_package(tmp_path, name, "1.0.7" if name != "ros_gz_bridge" else "1.0.5")
    if version:
        program(tmp_path, "gz", f"echo {version}")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin" if version else str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path) if version else "")
    finding = look_for("Gazebo Harmonic")
    assert finding.state == state
    if version:
        assert version in finding.found and "ros_gz_sim 1.0.7 (tried: 1.0.5)" in finding.found
        assert "ros_gz_bridge 1.0.5," in finding.found
    else:
        assert "gz" in finding.found and "ros-jazzy-ros-gz" in finding.remedy


def test_an_unreachable_model_server_is_named(monkeypatch):
    monkeypatch.setenv("SPCA_LLM_MODEL", "some-model")
    monkeypatch.setenv("SPCA_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    finding = look_for("model server")
    assert finding.state == "missing" and "127.0.0.1:9" in finding.found


def test_what_does_not_load_says_why_in_a_sentence():
    code = "from spca_core.errors import SpcaError; raise SpcaError('rclpy is not installed: source a ROS')"
    finding = Check("spca_interfaces", runs(code, "they load"), "source one").finding()
    assert (finding.state, finding.found) == ("missing", "rclpy is not installed: source a ROS")


def test_each_way_to_run_says_what_it_lacks(monkeypatch):
    ready = [Finding(what, "ready", "x") for what in ("Python", "embedded run", "ROS 2")]
    open_ways = dict(ways(ready))
    assert open_ways["spca run LEVEL"] == []
    assert open_ways["spca run LEVEL --ros"] == ["spca_interfaces"]
    monkeypatch.setenv("SPCA_LAUNCHER", "spca")
    out = io.StringIO()
    show(
        [*ready, Finding("Docker", "missing", "no docker program", "install it")],
        Console(file=out, width=200),
    )
    text = out.getvalue()
    assert "yes  spca run LEVEL" in text and "lacks spca_interfaces" in text
    assert "install it" in text


def test_another_build_of_opencv_will_do_and_pip_is_not_sent_to_a_checkout(tmp_path):
    """As in an environment made by pip or conda: the module counts, not who packed it."""
    script = (
        "import sys; from importlib import metadata; kept = metadata.version\n"
        "def version(name):\n"
        "    if name == 'opencv-python-headless': raise metadata.PackageNotFoundError(name)\n"
        "    return kept(name)\n"
        "metadata.version = version\n"
        "import spca_core.paths; spca_core.paths.CHECKOUT = None\n"
        "from spca.doctor import CHECKS, examine\n"
        "for f in examine(CHECKS): print(f.what, f.state, f.remedy)\n"
        "print(*(c.remedy for c in CHECKS))"
    )
    said = python("-c", script).stdout
    assert "embedded run ready" in said and "bin/spca" not in said


def test_extensions_are_listed_with_the_package_that_brings_them(monkeypatch, tmp_path):
    """One that cannot be loaded is a line there: off where it lacks another's package, missing otherwise."""
    (tmp_path / "spca_far_away.py").write_text("import libcst_of_nobody.matchers")
    (tmp_path / "spca_far.py").write_text(
        "from spca_benchmarks.campaigns.command import BenchCommand\n"
        "STARS = BenchCommand('spca_far_away:Stars', print, '')\n"
        "VOID = BenchCommand('spca_far:Void', print, '')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    broken = EntryPoints(
        [
            EntryPoint("moon", "moon.kit:MoonKit", "spca.environments"),
            EntryPoint("sky", "spca_far_away:Sky", "spca.environments"),
            EntryPoint("stars", "spca_far:STARS", "spca.benches"),
            EntryPoint("void", "spca_far:VOID", "spca.benches"),
        ]
    )
    declared = extensions._declared
    monkeypatch.setattr(extensions, "_declared", lambda g: (*declared(g), *broken.select(group=g)))
    found = {finding.what: finding for finding in examine_plugins()}
    assert (
        found["environment tabletop"].state == "ready"
        and "spca_tabletop" in found["environment tabletop"].found
    )
    assert found["environment moon"].state == "missing" and "moon" in found["environment moon"].found
    for away in ("environment sky", "bench stars"):
        assert found[away] == Finding(away, "off", "lacks libcst_of_nobody")
    assert found["bench void"].state == "missing" and "no attribute 'Void'" in found["bench void"].found
