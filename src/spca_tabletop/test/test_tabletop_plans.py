"""Plans of the builtin proposer, carried out in a tiny blocks world that knows nothing of PDDL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spca_core.plan import PlanRequest, PlanResult, Step
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Fact, Observation, Scene
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.contracts.plan_proposer_contract import PlanProposerContract
from spca_testing.observations import CUBES, PLATES, scene, task


class TestBuiltinProposer(PlanProposerContract):
    @pytest.fixture
    def proposer(self) -> BuiltinProposer:
        return BuiltinProposer()

    @pytest.fixture
    def request_(self) -> PlanRequest:
        return request("Stack red on blue.", scene())


class Table:
    """Who stands on what. Every move asserts that a gripper could make it."""

    def __init__(self, on: dict[str, str], held: str = "") -> None:
        self.on = {c: on.get(c, "table") for c in CUBES if c != held}
        self.held = held

    def run(self, steps: tuple[Step, ...]) -> Table:
        for step in steps:
            getattr(self, step.action)(*step.args)
        return self

    def pick_up(self, cube: str, origin: str) -> None:
        assert not self.held and cube not in self.on.values() and self.on.pop(cube) == origin
        self.held = cube

    def _put(self, cube: str, support: str) -> None:
        assert self.held == cube and support != cube
        self.held = ""
        self.on[cube] = support

    def place_on(self, cube: str, plate: str) -> None:
        assert plate in PLATES and list(self.on.values()).count(plate) < 3
        self._put(cube, plate)

    def stack_on(self, cube: str, base: str) -> None:
        assert base in self.on and base not in self.on.values()
        self._put(cube, base)

    def place_on_table(self, cube: str) -> None:
        self._put(cube, "table")


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftingPlanner]:
    folder: Path = tmp_path_factory.mktemp("trusted")
    with DraftingPlanner("tabletop", BuiltinProposer(), TrustedDomains(folder), TabletopVocabulary()) as made:
        yield made


def request(text: str, seen: Observation, **more: object) -> PlanRequest:
    return PlanRequest(attempt="1", task=task(text), observation=seen, skills=()).model_copy(update=more)


def outcome(planner: DraftingPlanner, text: str, on: dict[str, str] | None = None, held: str = "") -> Table:
    result = planner.plan(request(text, scene(on or {}, held)))
    assert result.status == "solved", result
    assert len(result.drafts) == 1
    return Table(on or {}, held).run(result.plan.steps)


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, str], str]:
    """Any way the cubes may stand on table, plates and each other, perhaps with the topmost one held."""
    order = draw(st.permutations(CUBES))
    on: dict[str, str] = {}
    for index, cube in enumerate(order):
        bases = [c for c in order[:index] if c not in on.values()]
        on[cube] = draw(st.sampled_from(["table", *PLATES, *bases]))
    held = order[-1] if draw(st.booleans()) else ""
    return {c: s for c, s in on.items() if c != held}, held


COLOUR = {c: c.split("_")[1] for c in CUBES}


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=tables(),
    order=st.permutations(CUBES),
    height=st.integers(2, 3),
    base=st.sampled_from(["table", *PLATES]),
)
def test_any_tower_from_any_table(
    planner: DraftingPlanner, table: tuple[dict[str, str], str], order: list[str], height: int, base: str
) -> None:
    tower = order[:height]
    where = "table" if base == "table" else f"{base.split('_')[1]} plate"
    text = f"Build a tower on the {where}, from bottom to top: {', '.join(COLOUR[c] for c in tower)}."
    end = outcome(planner, text, *table)
    assert end.on[tower[0]] == base and not end.held
    assert all(end.on[above] == below for below, above in pairwise(tower))


def hiding(seen: Observation) -> Observation:
    """The same, with the lowest cube of a tower out of sight."""
    unknown = {"id": "unknown", "kind": "unknown", "colour": "unknown", "visible": False}
    things = (*seen.things, seen.things[0].model_copy(update=unknown))
    scene = Scene(stamp=0.0, objects=things, relations=seen.facts, sentences=())
    kinds = seen.objects | {"unknown": "unknown"}
    return seen.model_copy(update={"objects": kinds, "hidden": ("unknown",), "scene": scene})


TOWER = {"cube_green": "cube_blue", "cube_blue": "unknown"}
HIDDEN = hiding(scene(on=TOWER, objects=("cube_green", "cube_blue", *PLATES)))


def more(seen: Observation, *facts: str) -> Observation:
    """The same, with these facts, too."""
    told = (Fact(predicate=name, args=tuple(args)) for name, *args in map(str.split, facts))
    return seen.model_copy(update={"facts": (*seen.facts, *told)})


ACROSS = scene(on={"cube_red": "cube_blue"}, beside=[("cube_green", "cube_blue")])
BRIDGE = more(
    ACROSS.model_copy(update={"facts": [f for f in ACROSS.facts if str(f) != "clear(cube_green)"]}),
    "on cube_red cube_green",
)
STEPS = yaml.safe_load(Path(__file__).with_name("steps.yaml").read_text())


@pytest.mark.parametrize("case", STEPS, ids=[f"{k} {case['text']}" for k, case in enumerate(STEPS)])
def test_the_steps_of_a_plan(planner: DraftingPlanner, case: dict[str, Any]) -> None:
    table = dict(case)
    text, wanted, facts = table.pop("text"), table.pop("steps", None), table.pop("more", ())
    table.pop("refused", "")
    known = {"hidden": HIDDEN, "bridge": BRIDGE}.get(name := table.pop("table", ""))
    seen = known or (nominal_observation(name) if name else scene(**table))
    result = planner.plan(request(text, more(seen, *facts)))
    if wanted is None:
        assert result.status != "solved" and case["refused"] in result.message
        return
    assert result.status == "solved" and result.plan is not None, result.message
    told = [str(step) for step in result.plan.steps]
    assert [s if "(" in w else s.split("(")[0] for s, w in zip(told, wanted, strict=True)] == wanted


def test_what_is_named_and_out_of_sight_may_be_of_any_kind_that_carries() -> None:
    """And nothing is uncovered for a task that makes no sense all the same."""
    draft = BuiltinProposer().draft(request("Touch the red cuboid.", HIDDEN), None, None)
    assert draft.goals == ("clear unknown",) and draft.uncovers
    for text in ("Touch the left sphere.", "Put the red cube into the tray.", "Do something."):
        with pytest.raises((Impossible, NotUnderstood)):
            BuiltinProposer().draft(request(text, HIDDEN), None, None)


def test_what_is_named_may_be_behind_something_tall_which_is_set_down_elsewhere_once() -> None:
    seen = scene(objects=("cube_green", *PLATES))
    low, *others = seen.scene.objects
    post = low.model_copy(update={"size": (0.04, 0.04, 0.14)})
    behind = seen.model_copy(update={"scene": seen.scene.model_copy(update={"objects": (post, *others)})})
    asked = request("Put the yellow cylinder on the red plate.", behind)
    draft = BuiltinProposer().draft(asked, None, None)
    assert draft.goals == ("put_down cube_green",) and draft.uncovers
    for update in ({"previous": draft}, {"observation": seen}):
        with pytest.raises(Impossible, match="There is no yellow cylinder"):
            BuiltinProposer().draft(asked.model_copy(update=update), None, None)


def test_what_only_seems_to_touch_is_put_there_again(planner: DraftingPlanner) -> None:
    wanted = "Put the red cube next to the blue cube."
    beside = [("cube_red", "cube_blue"), ("cube_blue", "cube_red")]
    first = planner.plan(request(wanted, scene()))

    def again(failure: str) -> PlanResult:
        before = {"mode": "replan", "failure": f"referee: {failure}", "previous": first.plan.draft}
        return planner.plan(request(wanted, scene(beside=beside), attempt="2", **before))

    steps = [s.action for s in again("not so: red cube touches blue cube").plan.steps]
    assert steps == ["pick_up", "place_on_table", "pick_up", "place_next_to"]
    unrelated = again("nothing touches the lamp")
    assert unrelated.plan is not None and unrelated.plan.steps == ()


def test_words_refer_to_the_table_as_it_was_at_first(planner: DraftingPlanner) -> None:
    """When another cube has become the left one in the meantime, the task is still about the first."""
    text, before = "Pick up the left cube.", scene()
    left = next(f.args[0] for f in before.facts if f.predicate == "leftmost" and f.args[0] in CUBES)
    first = planner.plan(request(text, before))
    assert first.plan is not None and first.plan.steps[0].args[0] == left
    other, *rest = (c for c in CUBES if c != left)
    told = {"mode": "replan", "failure": "step 1 failed", "previous": first.plan.draft}
    again = request(text, scene(row=(other, left, *rest)), attempt="2", **told)
    second = planner.plan(again)
    assert second.plan is not None and second.plan.steps[0].args[0] == left
    gone = again.model_copy(update={"previous": None})
    assert planner.plan(gone).plan.steps[0].args[0] == other  # type: ignore[union-attr]


def test_a_rule_holds_on_the_way_not_only_in_the_end(planner: DraftingPlanner) -> None:
    """Three blocks of Hanoi take seven moves; without the rule they would take five."""
    tower = "Build a tower on the orange mat: red at the bottom, green in the middle, blue on top."
    rule = " Never put a larger block on a smaller one. Never put a block on the table."
    result = planner.plan(request(tower + rule, nominal_observation("hanoi_02")))
    assert result.plan is not None, result.message
    assert len([s for s in result.plan.steps if s.action in ("place_on", "stack_on")]) == 7
