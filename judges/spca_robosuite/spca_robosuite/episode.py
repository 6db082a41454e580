"""An episode of robosuite, in its own process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spca_judges.catalogue import find
from spca_judges.remote import RemoteEpisode

TASKS = ("Lift", "Stack")
"""What is tried; robosuite has more."""
CAMERAS = ("frontview", "agentview")


def open_episode(
    task: str, robot: str = "UR5e", cameras: Sequence[str] = CAMERAS, log: Path | None = None
) -> RemoteEpisode:
    """Start it; `reset` it first. Raises InputError where robosuite is missing, SpcaError if it fails."""
    judge = find("robosuite")
    judge.check()
    server = Path(__file__).with_name("server.py")
    return RemoteEpisode(judge.python, server, [task, robot, ",".join(cameras)], log)
