"""Parameters of nodes: typed, described, bounded; a wrong one is a single clear line."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rclpy.parameter import Parameter

from spca_core.errors import InputError
from spca_ros.domain import own_domain
from spca_ros.node import SpcaNode, taking_part

pytestmark = pytest.mark.ros


@contextmanager
def started(*flags: str) -> Iterator[SpcaNode]:
    """A node that was started with parameters on its command line."""
    with own_domain(), taking_part(["--ros-args", *flags]) as loop:
        node = SpcaNode("some_node", loop)
        yield node
        node.destroy_node()


def test_only_a_live_one_is_changed_later_and_to_one_of_its_choices() -> None:
    with started() as node:
        node.parameter("rate", 1.0, "how fast")
        node.parameter("preset", "nominal", "the table", choices=("nominal", "hard"), live=True)
        [answer] = node.set_parameters([Parameter("rate", value=2.0)])
        assert not answer.successful and "read-only" in answer.reason
        [refused] = node.set_parameters([Parameter("preset", value="foo")])
        assert not refused.successful and refused.reason == "'foo': preset is one of nominal, hard"
        assert node.set_parameters([Parameter("preset", value="hard")])[0].successful


@pytest.mark.parametrize(
    ("given", "default", "bounds", "said"),
    [
        ("it:=-1.0", 0.0, {"low": 0.0}, "it of the node some_node"),
        ("it:=1", 0.0, {}, "decimal point"),
        ("it:=embeded", "embedded", {"choices": ("embedded", "moveit")}, "did you mean 'embedded'"),
    ],
)
def test_a_wrong_value_is_one_line(
    given: str, default: float | str, bounds: dict[str, object], said: str
) -> None:
    with started("-p", given) as node, pytest.raises(InputError, match=said) as refused:
        node.parameter("it", default, "a value", **bounds)
    assert "\n" not in str(refused.value)
