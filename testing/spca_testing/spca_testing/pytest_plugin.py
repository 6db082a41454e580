"""Settings, circles and fixtures of all tests, as a plugin of pytest (`addopts` in pyproject.toml)."""

import atexit
import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from spca_core.world import World, load_world
from spca_planner.solver.engines import import_unified_planning
from spca_sandbox.limits import SandboxReport
from spca_sandbox.process import WorkerProcess

import_unified_planning()  # as the solver's process does: else a test that needs it loads most of scipy

# What OMPL's bindings print after the summary, about leaks, concerns nobody here.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

# No test depends on how quick or busy the machine is.
# What fails is said once it is small: to explain it by further runs, each line traced, takes minutes.
UNHURRIED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile("spca", UNHURRIED, max_examples=10)
settings.register_profile("full", UNHURRIED, max_examples=200)


@pytest.fixture
def kernel_offers(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Have sandboxes find no other ways of confinement than these, as on another kernel."""
    real = WorkerProcess.wait_ready

    def offers(features: dict[str, str]) -> None:
        def wait_ready(worker: WorkerProcess) -> SandboxReport:
            real(worker)
            return SandboxReport.of(features)

        monkeypatch.setattr(WorkerProcess, "wait_ready", wait_ready)

    return offers


def pytest_addoption(parser: pytest.Parser) -> None:
    """The circles of tests, and how much those try that look for what nobody has thought of."""
    parser.addoption("--fast", action="store_true", help="leave out slow tests and those of ROS")
    parser.addoption("--full", action="store_true", help="also tests that search further, and more of each")
    parser.addoption("--mutations", type=int, help="damaged versions of a file: 50, or 1000 with --full")


def pytest_configure(config: pytest.Config) -> None:
    """Have searching tests try as much as the circle asks for, and what tests start hear a Ctrl-C."""
    # A script that starts the tests in the background has them ignore it, which every process inherits.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    full = config.getoption("full")
    settings.load_profile("full" if full else "spca")
    config.option.mutations = config.option.mutations or (1000 if full else 50)


@pytest.fixture(scope="module", autouse=True)
def ros_domain() -> Iterator[None]:
    """A ROS domain of this file of tests: a run takes the robot that it finds in its domain."""
    if find_spec("spca_interfaces") is None:  # a package of one's own is tested where ROS is not set up
        yield
        return
    from spca_ros.domain import own_domain  # which sets ROS up in this process

    with own_domain():
        yield


@pytest.fixture(scope="session")
def world() -> World:
    """The standard table."""
    return load_world()


@pytest.fixture(scope="session")
def many(pytestconfig: pytest.Config) -> Callable[[range], range]:
    """All of many seeds with `--full`, else every fifth."""
    return lambda seeds: seeds if pytestconfig.getoption("full") else seeds[::5]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[Any, Any]]]:
    """A function that starts a model's server with a script, and returns it with a chat over it.

    The first chat records in `llm-0`, the second in `llm-1`, and so on.
    """
    from spca_llm.chat import open_chat  # which most tests do without, as without a server
    from spca_llm.config import LlmConfig, ModelConfig
    from spca_testing.models.server import ModelServer

    count = 0
    with ExitStack() as opened:

        def make(script: Any) -> tuple[Any, Any]:
            nonlocal count
            server = opened.enter_context(ModelServer(script))
            config = ModelConfig(model="test-model", base_url=server.base_url, attempts=1)
            roles = LlmConfig(roles={"coder": config, "planner_big": config})
            chat = open_chat("", tmp_path / f"llm-{count}", config=roles)
            count += 1
            return server, chat

        yield make


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage, which stays to the end; look later as seldom as spca."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(100_000, 5, 5)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the circle does not ask for; put files with slow tests first, those with most before.

    So no worker begins one of those when the others are about to end.
    """
    outside = {"slow", "ros", "full"} if config.getoption("fast") else {"full"}
    if config.getoption("full"):
        outside = set()
    config.hook.pytest_deselected(items=[item for item in items if _marks(item) & outside])
    items[:] = [item for item in items if not _marks(item) & outside]
    slow, ros = (Counter(item.path for item in items if mark in _marks(item)) for mark in ("slow", "ros"))
    items.sort(key=lambda item: (-slow[item.path], item.path not in ros))


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}
