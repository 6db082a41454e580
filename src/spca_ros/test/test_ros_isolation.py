"""Who takes part in a graph: nobody from another machine, unless it was opened on purpose, by its profile."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spca_core.errors import InputError
from spca_ros.domain import own_domain, silent
from spca_ros.environment import OPENED_BY
from spca_testing.processes import python

_NODE = """
import sys
from spca_ros.node import ros_session
with ros_session("inside"):
    print("up", flush=True)
    sys.stdin.read()
"""
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
# A participant as another machine's user would start it, with all transports.
_STRANGER = """
import time
import rclpy
rclpy.init()
node = rclpy.create_node("stranger")
end = time.monotonic() + float(SECONDS)
while "inside" not in node.get_node_names() and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
print("found" if "inside" in node.get_node_names() else "alone")
"""
# Two machines on one cable: the graph's, and a nested network namespace.
_CABLE = """
set -e
ip link set lo up
mkfifo "$1/ready" "$1/hold" "$1/up"
unshare -n sh -c 'echo ready; exec sleep 300' > "$1/ready" & other=$!
trap 'kill $other' EXIT
read -r said < "$1/ready"
ip link add here type veth peer name there
ip link set there netns $other
ip address add 10.77.0.1/24 dev here
ip link set here up
nsenter -t $other -n sh -c 'ip link set lo up; ip address add 10.77.0.2/24 dev there; ip link set there up'
[ "$2" = cable ] && exit
"$2" -c "$3" < "$1/hold" > "$1/up" & graph=$!
exec 3> "$1/hold"
read -r said < "$1/up"
env -u FASTRTPS_DEFAULT_PROFILES_FILE -u FASTDDS_DEFAULT_PROFILES_FILE ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET \
    ROS_STATIC_PEERS=10.77.0.1 nsenter -t $other -n "$2" -c "$4"
exec 3>&-
wait $graph
"""
_OPEN = """<dds><profiles><participant profile_name="open" is_default_profile="true"/></profiles></dds>"""


def _environment(**extra: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != OPENED_BY}
    return {**inherited, **extra}


def _in_own_network(folder: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "-r", "-n", "sh", "-c", _CABLE, "sh", str(folder), *arguments],
        check=False,
        env=_environment(**extra),
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("range_", ["LOCALHOST", "SUBNET", ""])
def test_every_socket_of_a_node_is_bound_to_the_loopback_interface(range_: str) -> None:
    """The variables of the terminal do not decide."""
    environment = _environment(ROS_AUTOMATIC_DISCOVERY_RANGE=range_, FASTRTPS_DEFAULT_PROFILES_FILE="")
    with own_domain() as domain:
        bound = python("-c", _BOUND, env={**environment, "ROS_DOMAIN_ID": str(domain)})
    assert set(bound.stdout.split()) == {"0100007F"}


@pytest.mark.parametrize(("opened", "expected"), [(False, "alone"), (True, "found")])
def test_another_machine_finds_the_graph_only_if_it_was_opened(
    tmp_path: Path, opened: bool, expected: str
) -> None:
    tried = _in_own_network(tmp_path, "cable")
    if tried.returncode != 0:
        pytest.skip(f"network namespaces are not allowed here: {tried.stderr.strip()}")
    (folder := tmp_path / "run").mkdir()
    (profile := tmp_path / "open.xml").write_text(_OPEN)
    stranger = _STRANGER.replace("SECONDS", "60" if opened else "5")
    extra = {OPENED_BY: str(profile)} if opened else {}
    with own_domain() as domain:
        extra["ROS_DOMAIN_ID"] = str(domain)
        found = _in_own_network(folder, sys.executable, _NODE, stranger, **extra)
    assert (found.stdout.strip(), found.stderr) == (expected, "")


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
        return python("-c", _OPEN_A_SESSION, env={**inherited, "ROS_DOMAIN_ID": str(domain), **environment})


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
