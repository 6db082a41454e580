"""Parameters of nodes: typed, described, bounded; a wrong one is a single clear line."""

from collections.abc import Callable, Iterator

import pytest
import rclpy
from rclpy.context import Context
from rclpy.parameter import Parameter

from spca_core.errors import InputError
from spca_ros.domain import own_domain
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode

pytestmark = pytest.mark.ros
Make = Callable[..., SpcaNode]


@pytest.fixture
def make() -> Iterator[Make]:
    """A node that was started with parameters on its command line."""
    context, nodes = Context(), []
    with own_domain():

        def start(*given: str) -> SpcaNode:
            flags = [part for text in given for part in ("-p", text)]
            rclpy.init(args=["--ros-args", *flags], context=context)
            nodes.append(SpcaNode("some_node", Loop(context)))
            return nodes[-1]

        yield start
        for node in nodes:
            node.destroy_node()
        context.try_shutdown()


def test_only_a_live_one_is_changed_later_and_to_one_of_its_choices(make: Make) -> None:
    node = make()
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
    make: Make, given: str, default: float | str, bounds: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        make(given).parameter("it", default, "a value", **bounds)
    assert "\n" not in str(refused.value)
