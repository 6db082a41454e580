import pytest

from spca_core.contacts import ContactSample, Touch, ways_of_touching
from spca_core.geometry import Pose
from spca_core.world import load_world
from spca_sim.gazebo.contacts import ContactSampler, ModelPairs, oriented

WORLD = load_world()
PAIRS = ModelPairs(WORLD.model_names, harmless=[("left_tip_link", "right_tip_link")])


def box(name):
    return f"{name}::link::collision"


def robot(link):
    return f"cobot::{link}::{link}_collision_1"


@pytest.mark.parametrize(
    ("one", "other", "pair"),
    [
        (box("box_red"), box("table_lightgray"), ("box_red", "table_lightgray")),
        (f"tabletop::{robot('forearm_link')}", box("table_lightgray"), ("cobot", "table_lightgray")),
        (robot("forearm_link"), robot("base_link"), ("cobot", "cobot")),
        (robot("left_tip_link"), robot("right_tip_link"), None),  # the pads close on each other
        (box("somebody_else"), box("box_red"), None),
        # A link that is merged into its parent counts as itself.
        ("cobot::wrist::wrist_fixed_joint_lump__right_tip_link_collision", robot("left_tip_link"), None),
    ],
)
def test_collisions_become_models(one, other, pair):
    assert PAIRS.pair(one, other) == pair


class Log:
    def __init__(self, **options):
        self.samples: list[ContactSample] = []
        self.sampler = ContactSampler(self.samples.append, **options)

    def run(self, start, end, pairs=(), step=0.002):
        steps = round((end - start) / step)
        for i in range(1, steps + 1):
            stamp = start + i * step
            if pairs:
                self.sampler.touch(stamp, pairs)
            self.sampler.clock(stamp)


TOUCH = ("box_red", "cobot")


def test_samples_come_at_a_fixed_period_and_a_touch_begins_at_once_and_ends_by_silence():
    log = Log()
    log.run(0.0, 0.5)
    assert len(log.samples) >= 24 and all(not s.pairs for s in log.samples)
    log.run(0.5, 0.7, [TOUCH])
    log.run(0.7, 1.2)
    gaps = {round(b.stamp - a.stamp, 6) for a, b in zip(log.samples, log.samples[1:], strict=False)}
    assert gaps == {0.02}
    seen = [s.stamp for s in log.samples if TOUCH in s.pairs]
    assert 0.5 < seen[0] <= 0.53
    assert 0.78 <= seen[-1] <= 0.81  # 0.7 plus the time-out


def test_two_that_part_by_less_than_can_be_seen_touch_until_one_moves():
    poses = {name: Pose(position=(0.04 * i, 0.0, 0.42)) for i, name in enumerate(TOUCH)}
    log = Log(poses=lambda: poses)
    log.run(0.0, 0.5, [TOUCH])
    poses[TOUCH[1]] = Pose(position=(0.0403, 0.0, 0.42))
    log.run(0.5, 2.0)
    assert TOUCH in log.samples[-1].pairs
    poses[TOUCH[1]] = Pose(position=(0.041, 0.0, 0.42))
    log.run(2.0, 2.1)
    assert TOUCH not in log.samples[-1].pairs
    poses[TOUCH[1]] = Pose(position=(0.0403, 0.0, 0.42))
    log.run(2.1, 2.3)
    assert TOUCH not in log.samples[-1].pairs


def test_reports_that_arrive_late_do_not_end_a_touch():
    log = Log()
    for i in range(500):  # the clock runs 50 ms ahead of the contacts
        now = i * 0.002
        log.sampler.touch(now - 0.05, [TOUCH])
        log.sampler.clock(now)
    assert all(TOUCH in s.pairs for s in log.samples)


def test_after_a_reset_old_touches_are_gone_late_ones_too_and_a_clock_that_went_back_is_followed():
    log = Log()
    log.run(10.0, 10.5, [TOUCH])
    log.sampler.clear(since=0.0)
    log.samples.clear()
    log.sampler.touch(-0.01, [TOUCH])
    log.run(0.0, 0.5)
    assert log.samples and all(not s.pairs for s in log.samples)
    assert log.samples[0].stamp < 0.1
    log.sampler.touch(0.5, [TOUCH])
    log.run(0.5, 0.54)
    assert log.samples[-1].pairs == {TOUCH}


def at(a, b, normal, point):
    return Touch(a, b, normal, point, ("link", "link"))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_how_things_touch_is_told_whichever_way_gazebo_s_normals_point(sign):
    """Red rests on blue; green lies between blue and yellow, which is in a bowl; the robot holds red."""
    up, along = (0.0, 0.0, sign), (0.0, sign, 0.0)
    touches = [
        at("box_red", "box_blue", up, (0.5, 0.0, 0.44)),
        at("box_blue", "table_lightgray", up, (0.5, 0.0, 0.40)),
        at("table_lightgray", "box_green", up, (0.5, 0.04, 0.40)),
        at("box_green", "box_blue", along, (0.5, 0.02, 0.42)),
        at("box_green", "box_yellow", along, (0.5, 0.06, 0.42)),
        at("box_yellow", "bowl_red", up, (0.5, 0.08, 0.404)),
        at("bowl_red", "table_lightgray", up, (0.5, 0.08, 0.40)),
        at("cobot", "box_red", along, (0.5, 0.02, 0.46)),
        Touch("box_red", "cobot", along, (0.5, -0.02, 0.46), ("link", "other_link")),
    ]
    turned = oriented(touches, [["table_lightgray"], ["bowl_red"]])
    ways = ways_of_touching(turned, {"bowl_red": 0.422}, "cobot")
    assert ways == {
        ("rests_on", "box_red", "box_blue"),
        ("rests_on", "box_blue", "table_lightgray"),
        ("rests_on", "box_green", "table_lightgray"),
        ("rests_on", "bowl_red", "table_lightgray"),
        ("rests_on", "box_yellow", "bowl_red"),
        ("inside", "box_yellow", "bowl_red"),
        ("beside", "box_blue", "box_green"),
        ("beside", "box_green", "box_yellow"),
        ("between", "box_green", "box_blue", "box_yellow"),
        ("held", "box_red", "cobot"),
        ("touched_by", "box_red", "link"),
        ("touched_by", "box_red", "other_link"),
    }
