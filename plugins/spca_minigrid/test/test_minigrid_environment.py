"""MiniGrid as an environment: the port's contract, the ctx, how runs end."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.errors import Cancelled, MotionError, SpcaError
from spca_core.ports.environment import Environment
from spca_minigrid import primitives
from spca_minigrid.ctx import GridCtx
from spca_minigrid.ending import EpisodeEnding, ending_of
from spca_minigrid.environment import MinigridEnvironment
from spca_minigrid.levels import find_level
from spca_minigrid.mission import parse_mission
from spca_minigrid.referents import Referents
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import WorldMap
from spca_testing.contracts.environment_contract import EnvironmentContract
from spca_testing.observations import plan_of

WALK = '''def walk(ctx, thing):
    """Two turns and a step."""
    yield LEFT
    yield RIGHT
    reply = yield FORWARD
    return reply.moved
'''


class TestContract(EnvironmentContract):
    """A level with things to remember: a hidden key, doors, several rooms."""

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        with closing(MinigridEnvironment(find_level("BabyAI-KeyInBox"), seed=3)) as environment:
            yield environment

    def progress(self, environment: Environment) -> None:
        environment.act("p", plan_of("walk thing"), WALK)
        assert isinstance(environment, MinigridEnvironment) and environment.world.primitives


def ctx_of(env: str, seed: int = 0) -> GridCtx:
    world = GridWorld(env, seed)
    known = WorldMap()
    known.observe(*world.look())
    return GridCtx(world, known, Referents(known, parse_mission(world.mission)))


def call(ctx: GridCtx, method: str, *args: object) -> object:
    return ctx.call(method, args, {})


CIRCLING = '''def circle(ctx, thing):
    """Round and round."""
    while True:
        yield LEFT
'''


@pytest.mark.parametrize(
    ("level", "library", "step", "ending"),
    [
        ("MiniGrid-Empty-16x16", CIRCLING, "circle", EpisodeEnding.STUCK),
        ("MiniGrid-Empty-8x8", WALK, "walk", EpisodeEnding.GOAL_NOT_REACHED),
        ("MiniGrid-Empty-8x8", "def x(ctx, t):\n    return 1 / 0\n", "x", EpisodeEnding.RUNTIME_ERROR),
    ],
)
def test_endings(level: str, library: str, step: str, ending: EpisodeEnding) -> None:
    with closing(MinigridEnvironment(find_level(level), seed=2)) as environment:
        wanted = parse_mission(environment.task.description).nouns[0].symbol
        act = environment.act("a", plan_of(f"{step} {wanted}"), library)
        ended = ending_of(environment.settle(), act)
    assert ended.ending is ending
    assert ended.action.startswith(step) == (ending is not EpisodeEnding.GOAL_NOT_REACHED)


def test_a_checkpoint_of_another_level_is_refused() -> None:
    with closing(MinigridEnvironment(find_level("MiniGrid-Empty-5x5"))) as environment:
        refused = pytest.raises(SpcaError, match="the checkpoint is of MiniGrid-Empty-5x5")
        with closing(MinigridEnvironment(find_level("MiniGrid-Empty-6x6"))) as other, refused:
            other.restore(environment.checkpoint())


def test_lava_is_refused_and_bad_calls_are_told() -> None:
    ctx = ctx_of("MiniGrid-LavaGapS5-v0")
    for _ in range(4):  # one of the four ways leads along the lava
        while call(ctx, "look")["ahead"] == "empty":
            call(ctx, "step", primitives.FORWARD)
        if call(ctx, "look")["ahead"] == "lava":
            break
        call(ctx, "step", primitives.RIGHT)
    with pytest.raises(MotionError, match="lava ahead"):
        call(ctx, "step", primitives.FORWARD)
    ctx.stop()
    with pytest.raises(Cancelled):
        call(ctx, "look")


@given(
    st.sampled_from(["BabyAI-GoToLocal-v0", "BabyAI-PutNextLocal-v0", "MiniGrid-SimpleCrossingS9N2-v0"]),
    st.integers(0, 500),
)
def test_routes_lead_where_they_say(env: str, seed: int) -> None:
    ctx = ctx_of(env, seed)
    for thing in [t for t in call(ctx, "look")["things"] if t["kind"] != "goal"]:
        route = call(ctx, "route_to", thing["id"])
        if route is None or call(ctx, "look")["over"]:
            continue
        for primitive in route["steps"]:
            assert call(ctx, "step", primitive)["moved"] or call(ctx, "look")["over"]
        if not call(ctx, "look")["over"]:
            assert call(ctx, "look")["ahead"] == f"{thing['kind']} {thing['colour']}"
            assert call(ctx, "route_to", thing["id"])["steps"] == []


@given(
    st.sampled_from(["MiniGrid-FourRooms-v0", "BabyAI-GoToObjMaze-v0", "MiniGrid-KeyCorridorS4R3-v0"]),
    st.integers(0, 500),
)
def test_exploring_ends_when_all_that_can_be_reached_is_seen(env: str, seed: int) -> None:
    ctx = ctx_of(env, seed)
    for _ in range(400):
        route = call(ctx, "explore")
        if route is None or call(ctx, "look")["over"]:
            break
        seen = len(ctx._map.cells)
        for primitive in route["steps"]:
            call(ctx, "step", primitive)
        assert len(ctx._map.cells) > seen or call(ctx, "look")["over"]  # every route shows something new
    else:
        pytest.fail("exploring never ended")


@pytest.mark.parametrize("method", ["shown_route", "call", "_do_look", "__class__"])
def test_only_what_the_api_declares_can_be_called(method: str) -> None:
    with pytest.raises(ValueError, match="ctx has no"):
        call(ctx_of("MiniGrid-Empty-8x8"), method, "goal")
