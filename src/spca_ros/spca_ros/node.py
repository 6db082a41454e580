"""Common base of every node of the graph: a status, typed parameters, a clean end; and nodes for a while."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import numpy as np
import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.action import ActionClient, ActionServer
from rclpy.clock import Clock, ClockType
from rclpy.context import Context
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.service import Service
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from spca_interfaces.msg import NodeStatus

from spca_core.errors import EXIT_BROKEN, InputError, SpcaError, one_of
from spca_core.processes.child import leave
from spca_core.stopping import Flag
from spca_ros import names
from spca_ros.environment import DIE_WITH_PARENT
from spca_ros.loop import Loop
from spca_ros.qos import ALIVE

_END_S = 5.0  # wall seconds for the last turn of a loop
_LINGER_S = 3.0  # wall seconds that nodes go on after Ctrl-C, for a run that is being ended
_T = TypeVar("_T", str, int, float, bool)
_INT64 = np.iinfo(np.int64)
_NO_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
"""Callbacks for no event: rclpy's executor fails on one of a subscription that has gone, not on a message."""


class SpcaNode(Node):
    """A node that announces when it is ready.

    Nodes of one process share an executor; subclasses extend `close`.
    """

    def __init__(self, name: str, loop: Loop | None = None) -> None:
        self.loop = loop or Loop()
        super().__init__(name, context=self.loop.context)
        self._status = self.create_publisher(NodeStatus, names.status(name), ALIVE)
        self.at_end: list[Callable[[], None]] = []
        """What `close` calls, in this order."""
        self.loop.add(self)
        self._choices: dict[str, Sequence[str]] = {}
        self._action_clients: dict[str, ActionClient] = {}
        self.add_on_set_parameters_callback(self._allowed)

    def _allowed(self, changed: list[Parameter]) -> SetParametersResult:
        wrong = [one for one in changed if one.value not in self._choices.get(one.name, (one.value,))]
        told = [f"'{p.value}': {p.name} is one of {', '.join(self._choices[p.name])}" for p in wrong]
        return SetParametersResult(successful=not wrong, reason="; ".join(told))

    def parameter(
        self,
        name: str,
        default: _T,
        description: str,
        *,
        low: float | None = None,
        high: float | None = None,
        choices: Sequence[str] = (),
        live: bool = False,
    ) -> _T:
        """Declare a parameter with the type of its default and get its value.

        Unless it is `live`, the node reads it once, at its start, and it cannot be changed later. `low` and
        `high` are inclusive; one alone leaves the other side open. Raises InputError for a value of another
        type, out of range, or not among the choices.
        """
        descriptor = _descriptor(default, description, low, high, choices)
        descriptor.read_only = not live
        where = f"parameter {name} of the node {self.get_name()}"
        try:
            value = self.declare_parameter(name, default, descriptor).value
        except InvalidParameterTypeException as error:
            number = isinstance(default, float)
            kind = "a number with a decimal point, such as 1.0" if number else type(default).__name__
            raise InputError("a value of the wrong type", where=where, hint=f"expected {kind}") from error
        except InvalidParameterValueException as error:
            raise InputError(str(error), where=where) from error
        if choices and value not in choices:
            raise InputError(f"'{value}'", where=where, hint=one_of(str(value), choices))
        self._choices |= {name: choices} if choices else {}
        return type(default)(value)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[[Any], None], *arguments: Any, **options: Any
    ) -> Subscription:
        """Subscribe as rclpy does, but drop a message that cannot be dealt with: anybody can send one."""
        guarded = self._guarded(callback, f"a message on {topic}")
        options.setdefault("event_callbacks", _NO_EVENTS)
        return super().create_subscription(msg_type, topic, guarded, *arguments, **options)

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Service:
        """Make a service, those of parameters included, as rclpy does, but give nonsense an empty answer."""
        guarded = self._guarded(callback, f"a request to {srv_name}")
        return super().create_service(srv_type, srv_name, guarded, *arguments, **options)

    def _guarded(self, callback: Callable[..., Any], what: str) -> Callable[..., Any]:
        def guarded(message: Any, *response: Any) -> Any:
            try:
                return callback(message, *response)
            except (SpcaError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
                self.get_logger().warning(f"{what} was dropped: {error!r}", once=True)
                return response[0] if response else None

        return guarded

    def wall_timer(self, period: float, callback: Callable[[], object]) -> Timer:
        """Make a timer that goes by wall seconds, as simulated time can stand still."""
        return self.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def say(self, state: str, message: str = "") -> None:
        """Publish the node's status."""
        status = NodeStatus(node=self.get_name(), state=state, message=message)
        status.since.sec, status.since.nanosec = divmod(time.time_ns(), 1_000_000_000)
        self._status.publish(status)

    @property
    def needed(self) -> bool:
        """Somebody who ends at the same Ctrl-C still uses the node, and needs it for that."""
        return False

    def interrupt(self) -> None:
        """Take note of a signal; called in the turning thread, while others may still need the node."""

    def close(self) -> None:
        """Stop whatever runs and release everything; called in the turning thread, at the end."""
        for end in self.at_end:
            end()

    def action_client(self, kind: Any, name: str) -> ActionClient:
        """Return the node's client of an action, which stays for whoever asks for it next.

        rclpy's executor in C++ lets go of one without the interpreter's lock where news of it still wait to
        be handled, and the process crashes. So none goes before the loop is closed.
        """
        if name not in self._action_clients:
            self._action_clients[name] = ActionClient(self, kind, name)
        return self._action_clients[name]

    def destroy_node(self) -> None:
        """Destroy the node and also its actions, which rclpy leaves: they would keep it in its domain."""
        for action in [w for w in self.waitables if isinstance(w, (ActionClient, ActionServer))]:
            action.destroy()
        super().destroy_node()


def run_nodes(make: Callable[[], Sequence[SpcaNode]]) -> int:
    """Make nodes that share a loop, run them until SIGINT or SIGTERM, close them; return the exit status.

    A Ctrl-C reaches every process of a launch at once: for a few seconds, the nodes go on serving whoever
    still needs them (`SpcaNode.needed`).
    """
    if os.environ.get(DIE_WITH_PARENT):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() == 1:  # it ended before
            os.kill(os.getpid(), signal.SIGTERM)
    stop, leave_by = Flag(), 0.0
    nodes: Sequence[SpcaNode] = ()

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal leave_by
        leave_by = time.monotonic() + (_LINGER_S if number == signal.SIGINT else 0.0)
        stop.set()
        if nodes:
            nodes[0].loop.wake()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    status, closed = 0, False
    try:
        nodes = make()
        tell(nodes, NodeStatus.READY)
        while not stop.is_set():
            nodes[0].loop.turn()
        for node in nodes:
            node.interrupt()
        while time.monotonic() < leave_by and any(node.needed for node in nodes):
            nodes[0].loop.turn()
        close_nodes(nodes)  # a result under way is given before the end is told
        closed = True
    except ExternalShutdownException:
        pass
    except Exception as error:
        status = _complain(error)
        tell(nodes, NodeStatus.FAILED, str(error))
    finally:
        if not closed:
            close_nodes(nodes)
        if not nodes:
            gc.collect()  # a node whose constructor has failed must go before ROS does, else it may crash
        rclpy.try_shutdown()
    return status


def main_of(make: Callable[[], SpcaNode]) -> Callable[[], None]:
    """Return what runs a node's program: it runs the node, and ends the process with its exit status."""
    return lambda: leave(run_nodes(lambda: [make()]))


def close_nodes(nodes: Sequence[SpcaNode]) -> None:
    """Close nodes that share a loop and take them out of their domain, in the turning thread or after it."""
    for node in nodes:
        node.close()
    tell(nodes, NodeStatus.ENDING)
    if nodes:
        nodes[0].loop.close()


@contextmanager
def answering(response: Any) -> Iterator[None]:
    """Turn what goes wrong in the context into a service's answer: `success` and `message`."""
    try:
        yield
        response.success = True
    except Exception as error:  # whatever a message from outside can bring about
        if not (known := isinstance(error, (SpcaError, ValueError, OSError))):
            traceback.print_exc()
        response.success, response.message = False, str(error) if known else repr(error)


def background(target: Callable[..., Any], *arguments: Any) -> threading.Thread:
    """Start a daemon thread and return it."""
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _descriptor(
    default: object, description: str, low: float | None, high: float | None, choices: Sequence[str]
) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=description)
    if choices:
        descriptor.additional_constraints = f"one of: {', '.join(choices)}"
    if low is None and high is None:
        return descriptor
    whole = isinstance(default, int)
    least, greatest = (_INT64.min, _INT64.max) if whole else (-math.inf, math.inf)
    ends = {"from_value": least if low is None else low, "to_value": greatest if high is None else high}
    if whole:
        descriptor.integer_range = [IntegerRange(step=1, **{end: int(at) for end, at in ends.items()})]
    else:
        descriptor.floating_point_range = [FloatingPointRange(**ends)]
    return descriptor


def tell(nodes: Sequence[SpcaNode], state: str, message: str = "") -> None:
    """Have every node publish its status."""
    for node in nodes:
        node.say(state, message)


def _complain(error: Exception) -> int:
    if isinstance(error, InputError):
        print(f"spca: {error}", file=sys.stderr)
    else:
        traceback.print_exc()
    return getattr(error, "exit_status", EXIT_BROKEN)


QUIET = ("--ros-args", "--disable-external-lib-logs")
"""Arguments of a program that is no node of its own: no log files in the home folder."""


@contextmanager
def taking_part(arguments: Sequence[str] = QUIET) -> Iterator[Loop]:
    """Take part in the domain that ROS_DOMAIN_ID names, with nodes on a loop, while the context lasts."""
    context = Context()
    rclpy.init(args=[*arguments], context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield Loop(context)
    finally:
        context.try_shutdown()


@contextmanager
def spinning(loop: Loop) -> Iterator[None]:
    """Have another thread turn a loop, as long as the context lasts."""
    ended = False

    def spin() -> None:
        while not ended and loop.context.ok():
            loop.turn()

    thread = background(spin)
    try:
        yield
    finally:
        ended = True
        loop.wake()
        thread.join(_END_S)
        if loop.context.ok():  # from here on this thread turns it
            loop.turn(0.0)


@contextmanager
def ros_session(name: str) -> Iterator[SpcaNode]:
    """Have a node of that name, which is spun, as long as the context lasts."""
    with taking_part() as loop:
        node = SpcaNode(name, loop)
        try:
            with spinning(loop):
                yield node
        finally:
            loop.close()
