"""Gazebo's services by its program; that a busy Gazebo is asked again, test_gazebo_node.py shows."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from spca_sim.gazebo.reset import ask


def test_the_program_is_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "gz"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho "data: true"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert ask("/world/w/set_pose_vector", "Pose_V", "pose {}") == ""
    asked = (tmp_path / "asked").read_text()
    assert "service -s /world/w/set_pose_vector --reqtype gz.msgs.Pose_V" in asked and "pose {}" in asked
    program.unlink()
    assert "cannot be asked" in ask("/world/w/set_pose_vector", "Pose_V", "pose {}")
