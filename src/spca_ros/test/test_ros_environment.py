"""What a process that uses ROS finds set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spca_ros.domain import own_domain
from spca_ros.environment import OPENED_BY

_PROFILES = "FASTRTPS_DEFAULT_PROFILES_FILE"
_OPEN_A_SESSION = f"""
import os
from spca_ros.node import ros_session
with ros_session("probe"):
    print(os.environ[{_PROFILES!r}])
"""


def _open_a_session(**environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != _PROFILES}
    with own_domain() as domain:
        return subprocess.run(
            [sys.executable, "-c", _OPEN_A_SESSION],
            check=False,
            env={**inherited, "ROS_DOMAIN_ID": str(domain), **environment},
            capture_output=True,
            text=True,
        )


def test_dds_takes_the_profile_without_complaint() -> None:
    opened = _open_a_session()
    assert (opened.returncode, opened.stderr) == (0, "")
    profile = ElementTree.parse(Path(opened.stdout.strip())).getroot()
    space = {"dds": "http://www.eprosima.com"}
    assert profile.findtext(".//dds:initialAnnouncements/dds:count", namespaces=space) == "100"


@pytest.mark.skipif("fastrtps" not in os.environ["RMW_IMPLEMENTATION"], reason="not Fast DDS")
def test_dds_reads_it_at_all(tmp_path: Path) -> None:
    """Fast DDS passes over a variable that it does not know, but complains of a file that makes no sense."""
    broken = tmp_path / "broken.xml"
    broken.write_text(
        "<dds><profiles><participant is_default_profile='true'><nonsense/></participant></profiles></dds>"
    )
    opened = _open_a_session(**{OPENED_BY: str(broken)})
    assert opened.stdout.rstrip().endswith(str(broken)), "who opens a graph brings the profile"
    assert "XMLPARSER" in opened.stdout + opened.stderr
