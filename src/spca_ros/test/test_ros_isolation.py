"""Who takes part in a graph: nobody from another machine, unless it was opened on purpose, by its profile."""

import os
import subprocess
from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_ros.domain import own_domain, silent
from spca_ros.environment import OPENED_BY
from spca_testing.processes import python

_BOUND = """
import os
from pathlib import Path
from spca_ros.node import ros_session
with ros_session("inside"):
    links = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    mine = {link[8:-1] for link in links if link.startswith("socket:[")}
    for kind in ("udp", "udp6", "tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{kind}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in mine:
                print(fields[1].partition(":")[0])
"""


def _environment(**extra: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != OPENED_BY}
    return {**inherited, **extra}


def test_every_socket_of_a_node_is_bound_to_the_loopback_interface() -> None:
    """The variables of the terminal do not decide."""
    environment = _environment(ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET", FASTRTPS_DEFAULT_PROFILES_FILE="")
    with own_domain() as domain:
        bound = python("-c", _BOUND, env={**environment, "ROS_DOMAIN_ID": str(domain)})
    assert set(bound.stdout.split()) == {"0100007F"}


@pytest.mark.ros
def test_a_session_that_has_ended_is_in_its_domain_no_more() -> None:
    """Also while somebody still holds an action of it, as tests and notebooks do."""
    from rclpy.action import ActionClient, ActionServer
    from spca_interfaces.action import RunLevel

    from spca_ros.node import ros_session

    with own_domain() as domain:
        with ros_session("ended") as node:
            held = ActionClient(node, RunLevel, "a"), ActionServer(node, RunLevel, "b", lambda goal: goal)
            assert not silent(domain)
        assert silent(domain), held


def test_where_no_domain_is_free_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPCA_DOMAIN_ID", raising=False)
    with own_domain() as domain:
        monkeypatch.setattr("spca_ros.domain._DOMAINS", range(domain, domain + 1))
        with pytest.raises(InputError, match="every DDS domain of this machine is in use"), own_domain():
            pass


_OPEN_A_SESSION = """
import os
from spca_ros.node import ros_session
with ros_session("probe"):
    print(os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"])
"""


def _open_a_session(**extra: str) -> subprocess.CompletedProcess[str]:
    environment = _environment(**extra)
    environment.pop("FASTRTPS_DEFAULT_PROFILES_FILE", None)
    with own_domain() as domain:
        return python("-c", _OPEN_A_SESSION, env={**environment, "ROS_DOMAIN_ID": str(domain)})


def test_dds_takes_the_profile_without_complaint() -> None:
    opened = _open_a_session()
    assert (opened.returncode, opened.stderr) == (0, "")
    assert "initialAnnouncements><count>100<" in "".join(Path(opened.stdout.strip()).read_text().split())


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
