"""The referee's order, time-to-live, dwell, release and limits, told as short stories of contacts."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spca_core.contacts import ContactSample
from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.names import COBOT, GROUND, TABLE
from spca_core.result import Outcome, Verdict
from spca_core.world import load_world
from spca_referee.level import Level, load_level
from spca_referee.referee import Referee

WORLD = load_world()
TRUTH = nominal_layout(WORLD).poses
PERIOD = 0.02

Pairs = Iterable[tuple[str, str]]
R, G, B = "box_red", "box_green", "box_blue"
ON_TABLE = [(R, TABLE), (G, TABLE), (B, TABLE)]
R_ON_B = [(R, B), (G, TABLE), (B, TABLE)]


def referee(level: str | Level, start: float = 0.0) -> Referee:
    return Referee(load_level(level, WORLD) if isinstance(level, str) else level, WORLD, TRUTH, start)


def changed(name: str, **changes: object) -> Level:
    return Level.model_validate({**load_level(name, WORLD).model_dump(), **changes})


def sample(stamp: float, pairs: Pairs) -> ContactSample:
    """Contacts as a story writes them: the robot holds; else the first of two rests on the second."""
    pairs = frozenset(pairs)
    ways = {("held", b, a) for a, b in pairs if a == COBOT}
    ways |= {(way, a, b) for a, b in pairs if a != COBOT for way in ("rests_on", "inside")}
    ways |= {("beside", *sorted(names)) for names in pairs if COBOT not in names}
    return ContactSample(stamp, pairs, frozenset(ways))


def play(judge: Referee, *story: tuple[float, Pairs]) -> Verdict:
    """Feed (seconds, contacts) one after another, sampled every 20 ms."""
    steps, start = round(judge._now / PERIOD), judge._start
    for seconds, pairs in story:
        for _ in range(round(seconds / PERIOD)):
            steps += 1
            judge.consume(sample(start + steps * PERIOD, pairs))
    return judge.verdict


SHORT = {"C": COBOT, "T": TABLE, "X": GROUND, "R": R, "G": G, "B": B, "pR": "plate_red", "pG": "plate_green"}
STORIES = yaml.safe_load(Path(__file__).with_name("stories.yaml").read_text())


def told(story: str) -> Iterable[tuple[float, Pairs]]:
    for part in story.split("; "):
        seconds, *contacts = part.replace("ON_TABLE", "R-T G-T B-T").replace("R_ON_B", "R-B G-T B-T").split()
        yield float(seconds), [(SHORT[a], SHORT[b]) for a, b in (pair.split("-") for pair in contacts)]


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str):
    level, story, outcome, when, *more = STORIES[name]
    changes, reason = more or ({}, "")
    verdict = play(referee(changed(level, **changes)), *told(story))
    assert verdict.outcome.value == outcome, verdict
    assert (verdict.score == 1.0) == (outcome == "success")
    assert verdict.reason and reason in verdict.reason
    if when is not None:
        assert verdict.stamp == pytest.approx(when, abs=2 * PERIOD)


def test_a_touch_by_the_forearm_is_said_and_is_none_by_the_gripper():
    def ended(level: Level, thing: str, link: str) -> Verdict:
        judge = referee(level)
        for step in range(1, 51):
            ways = frozenset({("touched_by", thing, link)})
            judge.consume(ContactSample((50 + step) * PERIOD, frozenset({(thing, COBOT)}), ways))
        return judge.verdict

    plain = load_level("touch_02", WORLD)
    assert "blue cube touched by forearm_link, not the gripper" in ended(plain, B, "forearm_link").reason
    assert "touched by" not in ended(plain, B, "left_tip").reason
    assert "cobot touched table with its forearm_link" in ended(plain, TABLE, "forearm_link").reason
    asked = changed("touch_02", success={"states": [{"thing": B, "touched_by_gripper": True}]})
    assert ended(asked, B, "left_tip_link").outcome is Outcome.SUCCESS
    assert ended(asked, B, "forearm_link").outcome is Outcome.RUNNING


def test_a_final_verdict_stays_and_says_where_nothing_had_to_be_done():
    judge = referee("touch_02")
    won = play(judge, (1, [(COBOT, B)]))
    assert won.outcome is Outcome.SUCCESS and "nothing had to be done" in won.reason
    assert play(judge, (100, [(COBOT, TABLE)])) == won
    assert "nothing had" not in play(referee("touch_02"), (1, []), (1, [(COBOT, B)])).reason


def test_the_score_is_the_share_of_conditions_and_each_has_a_reason():
    judge = referee("stack_01")
    assert judge.verdict.score == 0.0
    verdict = play(judge, (1, ON_TABLE))
    assert [(c.text, c.holds) for c in verdict.conditions] == [
        ("red cube does not touch table", False),
        ("red cube rests on blue cube", False),
        ("blue cube rests on table", True),
        ("the robot has let go", False),
        ("all of it for 0.5 s", False),
    ]
    assert all(c.holds != bool(c.reason) for c in verdict.conditions) and not judge.holding
    held = play(judge, (1, [(COBOT, R), *R_ON_B]))
    assert (held.score, held.reason) == (pytest.approx(3 / 5), "the robot still touches the red cube")
    play(judge, (0.4, []), (0.4, R_ON_B))
    assert judge.holding, "waiting is worth it"


def test_flicker_shorter_than_the_ttl_does_not_matter_and_real_gaps_do():
    """Where a level names pairs; the other order of a pair is the same contact."""
    judge = referee(changed("touch_03", success={"collisions_true": [[COBOT, R]]}, dwell_s=0.35))
    play(judge, (0.1, [(COBOT, B)]), (0.2, []), (0.1, [(B, COBOT)]), (1, []), (0.1, [(COBOT, B)]))
    spans = [(i.start, i.end) for i in judge.contacts.timeline()]
    assert spans == [pytest.approx((0.02, 0.4)), pytest.approx((1.42, 1.5))]
    assert play(judge, (0.1, [(COBOT, R)]), (0.2, []), (0.1, [(COBOT, R)])).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("stamp", [0.5, float("nan")])
def test_a_clock_that_runs_backwards_is_an_error(stamp: float):
    judge = referee("touch_02")
    play(judge, (1, []))
    with pytest.raises(SpcaError, match="clock"):
        judge.consume(ContactSample(stamp=stamp, pairs=frozenset()))


def test_nobody_watching_is_not_holding():
    """Two glimpses far apart prove nothing about the time between them."""
    judge = referee("touch_02")
    for stamp in (1.0, 2.0, 3.0):
        assert judge.consume(sample(stamp, {(COBOT, B)})).outcome is Outcome.RUNNING


@given(st.lists(st.sets(st.sampled_from([*R_ON_B, (R, TABLE), (COBOT, R), (COBOT, B)])), max_size=120))
def test_whatever_happens_nothing_held_is_ever_a_placed_stack(history: list[set[tuple[str, str]]]):
    """As long as the robot touches a cube of the stack at least every 0.3 s there is no success."""
    judge = referee("stack_01")
    for i, pairs in enumerate(history):
        held = {(COBOT, R)} if i % 15 == 0 else set()
        verdict = judge.consume(sample(i * PERIOD, pairs | held))
        assert verdict.outcome is not Outcome.SUCCESS
        assert 0 <= verdict.score < 1


def lying(x: float, y: float, yaw: float = 0.0) -> Pose:
    return Pose.from_xyz_yaw(x, y, WORLD.table.top + 0.02, yaw)


def judged(state: dict[str, object], red: Pose, block: str = "success") -> tuple[Outcome, str]:
    """The verdict after a second of the red cube at rest there, the green one at (0.5, 0)."""
    blocks = {"success": {"collisions_true": [[COBOT, B]]}, "fail": {}, block: {"states": [state]}}
    judge, poses = referee(changed("touch_02", **blocks)), {**TRUTH, R: red, G: lying(0.5, 0.0)}
    for step in range(1, 51):
        judge.consume(ContactSample(stamp=step * PERIOD, pairs=frozenset(ON_TABLE)), poses)
    return judge.verdict.outcome, judge.verdict.reason


@pytest.mark.parametrize(
    ("state", "there", "elsewhere"),
    [
        ({"thing": R, "at": [0.4, 0.1], "within": 0.02}, lying(0.41, 0.11), lying(0.43, 0.1)),
        ({"thing": R, "region": {"y": [-0.3, 0.0]}}, lying(0.6, -0.1), lying(0.6, 0.01)),
        ({"thing": R, "left_of": G, "by": 0.05}, lying(0.3, 0.06), lying(0.3, 0.04)),
        ({"thing": R, "behind": G}, lying(0.6, 0.2), lying(0.4, 0.2)),
        ({"thing": R, "near": G, "within": 0.06}, lying(0.45, 0.0), lying(0.43, 0.0)),
        ({"thing": R, "far_from": G, "by": 0.1}, lying(0.6, 0.1), lying(0.5, 0.09)),
        ({"thing": R, "yaw": 0.7}, lying(0.5, 0.1, 0.7 + 1.5708), lying(0.5, 0.1, 0.7 + 0.3)),
        ({"group": [R, G], "within": 0.1}, lying(0.5, 0.09), lying(0.5, 0.11)),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_states_are_judged_from_where_things_are(state, there: Pose, elsewhere: Pose) -> None:
    assert judged(state, there)[0] is Outcome.SUCCESS
    outcome, reason = judged(state, elsewhere)
    assert outcome is Outcome.RUNNING and "red cube" in reason
    outcome, reason = judged(state, there, "fail")
    assert outcome is Outcome.FAIL and "red cube" in reason


def test_what_moves_is_not_at_rest() -> None:
    level = changed("touch_02", success={"states": [{"thing": R, "at_rest": True}]}, dwell_s=0)
    judge = referee(level)
    for step in range(1, 100):
        judge.consume(ContactSample(step * PERIOD, frozenset()), {R: lying(0.3 + min(step, 50) * 0.002, 0)})
        if judge.verdict.final:
            break
    assert judge.verdict.stamp == pytest.approx(50 * PERIOD + 0.3, abs=PERIOD)


def test_places_that_nobody_tells_are_an_error() -> None:
    level = changed("touch_02", success={"states": [{"thing": R, "at": [0.4, 0.0]}]})
    with pytest.raises(SpcaError, match="judged by places"):
        referee(level).consume(ContactSample(0.02, frozenset()))
