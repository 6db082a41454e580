"""Gazebo's services through its Python bindings (simulated here) and its command-line program."""

from __future__ import annotations

import stat
import sys
import types
from pathlib import Path

import pytest

from spca_gazebo.services import GazeboServices


class Played:
    """The modules `transport` and `messages`, and protobuf's text format, as far as they are used."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        transport: str,
        messages: str,
        answers: list[tuple[bool, bool]],
    ) -> None:
        self.asked: list[tuple[str, str, str]] = []
        played = self

        class Message:
            text = ""

        class Boolean:
            def __init__(self, data: bool = False) -> None:
                self.data = data

        class Node:
            def request(self, service: str, message: Message, kind: type, reply: type, timeout_ms: int):
                assert kind is type(message) and reply is Boolean and timeout_ms > 0
                played.asked.append((service, kind.__name__, message.text))
                answered, data = answers.pop(0)
                return answered, Boolean(data)

        def parse(text: str, message: Message) -> None:
            message.text = text

        modules = {
            "gz": {},
            transport: {"Node": Node},
            messages: {},
            f"{messages}.boolean_pb2": {"Boolean": Boolean},
            f"{messages}.pose_v_pb2": {"Pose_V": type("Pose_V", (Message,), {})},
            "google": {},
            "google.protobuf": {},
            "google.protobuf.text_format": {"Parse": parse},
        }
        for name, members in modules.items():
            module = types.ModuleType(name)
            vars(module).update(members)
            monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(
    "release", [("gz.transport13", "gz.msgs10"), ("gz.transport", "gz.msgs")], ids=["harmonic", "jetty"]
)
def test_the_bindings_are_used_and_no_program_is_started(
    monkeypatch: pytest.MonkeyPatch, release: tuple[str, str]
) -> None:
    monkeypatch.setenv("PATH", "")
    gazebo = Played(monkeypatch, *release, [(True, True), (False, False), (True, True), (True, False)])
    call = GazeboServices()
    assert call.by_bindings
    assert call("/world/w/set_pose_vector", "Pose_V", "pose {}") == ""
    assert call("/world/w/set_pose_vector", "Pose_V", "pose {}") == ""  # too late at first, asked again
    assert "refuses" in call("/world/w/set_pose_vector", "Pose_V", "pose {x}")  # not asked again
    assert gazebo.asked == [
        ("/world/w/set_pose_vector", "Pose_V", "pose {}"),
        *[("/world/w/set_pose_vector", "Pose_V", "pose {}")] * 2,
        ("/world/w/set_pose_vector", "Pose_V", "pose {x}"),
    ]


def test_without_bindings_the_program_is_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "gz", None)
    program = tmp_path / "gz"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho "data: true"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    call = GazeboServices()
    assert not call.by_bindings
    assert call("/world/w/set_pose_vector", "Pose_V", "pose {}") == ""
    asked = (tmp_path / "asked").read_text()
    assert "service -s /world/w/set_pose_vector --reqtype gz.msgs.Pose_V" in asked and "pose {}" in asked
    program.unlink()
    assert "cannot be asked" in call("/world/w/set_pose_vector", "Pose_V", "pose {}")
