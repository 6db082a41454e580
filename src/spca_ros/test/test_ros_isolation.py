"""Who takes part in a graph: nobody from another machine, unless it was opened on purpose."""

import os

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


def test_every_socket_of_a_node_is_bound_to_the_loopback_interface() -> None:
    """The variables of the terminal do not decide."""
    environment = {name: value for name, value in os.environ.items() if name != OPENED_BY}
    environment |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "FASTRTPS_DEFAULT_PROFILES_FILE": ""}
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
