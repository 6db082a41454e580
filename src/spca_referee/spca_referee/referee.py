"""The referee: judges a level by contacts between models and, where it asks for them, by places."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from spca_core.contacts import SAMPLE_PERIOD, ContactSample, Pair, Way, pair
from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.model import Record
from spca_core.result import NOT_AT_ONCE, NOT_IN_PLACE, Condition, Outcome, Verdict
from spca_core.world import World
from spca_referee.level import Conditions, Level, Placement, Role
from spca_referee.rules import Rules, bind_rules
from spca_referee.states import JudgedState, Region, Situation, Stillness

TTL = 0.3
"""Simulated seconds for which a contact stays active after it was last seen."""

UNBROKEN = 0.05
"""Simulated seconds within which a contact that lasts is seen again: two taps are no lasting touch."""

EPSILON = 1e-9
"""Seconds by which sums of time steps may be off."""


class ContactInterval(Record):
    """A pair of models in contact from `start` to `end`, in seconds since the level began.

    Gaps up to the TTL are bridged.
    """

    pair: Pair
    start: float
    end: float


class ContactMemory:
    """Remembers when each pair was seen. Times are simulated seconds since the level began."""

    def __init__(self) -> None:
        self._seen: dict[Pair, list[tuple[float, float]]] = {}
        self._ways_seen: dict[Way, float] = {}

    def record(self, stamp: float, sample: ContactSample) -> None:
        """Take in the contacts seen at `stamp`; stamps ascend. Pairs may come in either order."""
        for names in sample.pairs:
            times = self._seen.setdefault(pair(*names), [])
            start = times.pop()[0] if times and stamp - times[-1][1] <= TTL + EPSILON else stamp
            times.append((start, stamp))
        self._ways_seen |= dict.fromkeys(sample.ways, stamp)

    def lasting(self, stamp: float) -> tuple[frozenset[Pair], frozenset[Way]]:
        """Return the pairs that touch without a break, and how they do."""
        pairs = frozenset(p for p, times in self._seen.items() if stamp - times[-1][1] <= UNBROKEN + EPSILON)
        return pairs, frozenset(h for h, end in self._ways_seen.items() if stamp - end <= UNBROKEN + EPSILON)

    def links(self, model: str, stamp: float) -> list[str]:
        """Return the robot's links that touched a model within the TTL before `stamp`."""
        recent = (way for way, end in self._ways_seen.items() if stamp - end <= TTL + EPSILON)
        return sorted(link for how, thing, link, *_ in recent if (how, thing) == ("touched_by", model))

    def active(self, names: Pair, stamp: float) -> bool:
        """Return whether a pair was seen within the TTL before `stamp`."""
        times = self._seen.get(pair(*names))
        return times is not None and stamp - times[-1][1] <= TTL + EPSILON

    def timeline(self) -> tuple[ContactInterval, ...]:
        """Return all contacts so far, by their beginning."""
        spans = ((start, names, end) for names, times in self._seen.items() for start, end in times)
        return tuple(ContactInterval(pair=names, start=start, end=end) for start, names, end in sorted(spans))


def save_timeline(timeline: Iterable[ContactInterval], path: Path) -> None:
    """Write intervals as a JSON list."""
    path.write_text(json.dumps([interval.model_dump() for interval in timeline]))


class Referee:
    """Judges one attempt at a level; feed it every contact sample, empty ones too, for they are its clock.

    On each sample, in this order: failure, success, timeout, running. A contact counts as long as it was seen
    within the TTL (0.3 s); success must hold for the level's dwell; all times are simulated seconds since
    `start`. Where a level can be won in several ways (any cube), a failure ends only the ways it belongs to,
    and the level fails with the last of them. A final verdict stays. `copy.deepcopy` keeps a referee's state
    for a later rewind.

    >>> referee = Referee(level, world, layout.poses, start=simulator.time)  # doctest: +SKIP
    >>> simulator.on_contacts(referee.consume)  # doctest: +SKIP
    """

    def __init__(
        self, level: Level, world: World, truth: Mapping[str, Pose], start: float | None = 0.0
    ) -> None:
        """Judge on the table `truth`: poses of the objects by model name when the level begins.

        `start` is when that is by the simulator's clock; None: just before the first sample.
        Raises InputError (see `bind_rules`).
        """
        self.level = level
        self._robot, self._arm = world.robot.model, world.robot.arm_links
        self._start = start
        self._now = 0.0
        self.contacts = ContactMemory()
        """Every contact so far, in seconds since the level began."""
        self._stillness = Stillness()
        self._kinds = {o.model: str(o.kind) for o in world.objects}
        self._ways = [_Way(rules) for rules in bind_rules(level, world, truth)]
        unseen = tuple(
            Condition(text=text, holds=False, reason="nothing seen yet")
            for text in self._texts(self._ways[0].rules)
        )
        self.verdict = Verdict(
            outcome=Outcome.RUNNING,
            score=0.0,
            stamp=0.0,
            reason="the level has just begun",
            conditions=unseen,
        )
        """Judgement so far."""

    @property
    def holding(self) -> bool:
        """Everything but the dwell is fulfilled now: waiting longer may make it a success."""
        return any(way.since is not None and not way.failure for way in self._ways)

    def consume(self, sample: ContactSample, poses: Mapping[str, Pose] | None = None) -> Verdict:
        """Take in a sample and judge.

        `poses` are where things are now, for a level that `needs_poses`. Raises SpcaError when they are
        missing, or the clock runs backwards.
        """
        if self._start is None:
            self._start = max(sample.stamp - SAMPLE_PERIOD, 0.0)
        now = sample.stamp - self._start
        if not math.isfinite(now) or now < self._now - EPSILON:
            raise SpcaError(
                f"contact sample at {sample.stamp:g} s after one at {self._start + self._now:g} s: "
                "the clock must not run backwards; begin a new referee after a reset"
            )
        blind = now - self._now > TTL + EPSILON
        self._now = now
        self.contacts.record(now, sample)
        if poses is None and self.level.needs_poses:
            raise SpcaError(f"level '{self.level.name}' is judged by places, which nobody tells")
        if not self.verdict.final:
            self.verdict = self._judge(blind, self._situation(poses or {}))
        return self.verdict

    def _situation(self, poses: Mapping[str, Pose]) -> Situation:
        """Return the situation that the level's states are judged by."""
        touching, ways = self.contacts.lasting(self._now)
        still = self._stillness.record(self._now, poses)
        return Situation(poses, touching, ways, still, self._kinds, self._robot, self._arm)

    def _judge(self, blind: bool, situation: Situation) -> Verdict:
        for way in self._ways:
            if not way.failure:
                way.failure = self._violation(way.rules, situation) or _out_of_order(way, situation)
            way.holds = self._holds(way, situation)
            if not all(way.holds) or not way.holds:  # a level without conditions is for others to judge
                way.since = None
            elif way.since is None or blind:  # There were no samples in between, so the dwell starts again.
                way.since = self._now
        alive = [way for way in self._ways if not way.failure]
        best = max(alive or self._ways, key=lambda way: (sum(way.holds), way.since is not None))
        if not alive:
            return self._state(Outcome.FAIL, best, best.failure)
        done = next((way for way in alive if self._dwelt(way)), None)
        if done is not None:
            idle = ", from the start: nothing had to be done" * ((done.since or 0.0) < TTL)
            held = f"all conditions held for {self.level.dwell_s:g} s{idle}"
            return self._state(Outcome.SUCCESS, done, held + self._by_the_arm(done.rules))
        if self._now >= self.level.time_limit_s - EPSILON:
            over = f"{self.level.time_limit_s:g} s of simulated time are over"
            return self._state(Outcome.TIMEOUT, best, over)
        return self._state(Outcome.RUNNING, best, "")

    def _violation(self, rules: Rules, situation: Situation) -> str:
        for names in rules.fail.collisions_true:
            if self._active(names):
                a, b = rules.pair_words(names)
                links = ", ".join(self._links(names))
                with_it = f" with its {links}" if links else ""
                return "the robot touched itself" if a == b else f"{a} touched {b}{with_it}"
        for names in rules.fail.collisions_false:  # such a pair counts as seen at the start
            if not self._active(names) and self._now > TTL + EPSILON:
                a, b = rules.pair_words(names)
                return f"{a} no longer touches {b}"
        return next((rules.state_words(s) for s in rules.fail.states if s.holds(situation)), "")

    def _links(self, names: Pair) -> list[str]:
        """Return the robot's links with which it touched the other one of a pair."""
        of_robot = names if self._robot in names else ()
        return [link for name in of_robot for link in self.contacts.links(name, self._now)]

    def _by_the_arm(self, rules: Rules) -> str:
        """Say so where what the robot was to touch was touched by its arm alone."""
        for names in rules.contacts:
            if (links := self._links(names)) and self._arm.issuperset(links):
                thing = rules.pair_words(names)[1]
                return f"; {thing} touched by {', '.join(links)}, not the gripper"
        return ""

    def _active(self, names: Pair) -> bool:
        return self.contacts.active(names, self._now)

    def _holds(self, way: _Way, situation: Situation) -> tuple[bool, ...]:
        """Return whether each condition holds, in the order of `_texts`."""
        rules = way.rules
        in_place = (
            *(self._active(names) for names in rules.success.collisions_true),
            *(not self._active(names) for names in rules.success.collisions_false),
            *(state.holds(situation) for state in rules.success.states),
            *(k < way.reached for k in range(len(rules.order))),
        )
        if not rules.released:
            return in_place
        # A robot that has not moved yet holds nothing either; that alone earns no score.
        return (*in_place, all(in_place) and not any(self._active(names) for names in rules.released))

    def _dwelt(self, way: _Way) -> bool:
        return way.since is not None and self._now - way.since >= self.level.dwell_s - EPSILON

    def _state(self, outcome: Outcome, way: _Way, reason: str) -> Verdict:
        conditions = self._conditions(way, outcome is Outcome.FAIL, self._dwelt(way))
        unmet = next((c.reason for c in conditions if not c.holds), "")
        if outcome in (Outcome.RUNNING, Outcome.TIMEOUT):
            reason = f"{reason}: {unmet}" if reason else unmet
        return Verdict(
            outcome=outcome,
            score=sum(c.holds for c in conditions) / len(conditions),
            stamp=self._now,
            reason=reason,
            conditions=conditions,
        )

    def _conditions(self, way: _Way, failed: bool, dwelt: bool) -> tuple[Condition, ...]:
        rules = way.rules
        held = tuple(names for names in rules.released if self._active(names))
        key = (way.holds, failed, dwelt, held)
        if key in way.told:  # samples are many and changes few
            return way.told[key]
        texts = self._texts(rules)
        reasons = [f"not so: {text}" for text in texts]
        if rules.released:
            touched = ", the ".join(rules.pair_words(names)[1] for names in held)
            reasons[-2] = f"the robot still touches the {touched}" if held else NOT_IN_PLACE
        holds = (*way.holds, dwelt)
        reasons[-1] = "not long enough" if all(way.holds) else NOT_AT_ONCE
        told = [
            Condition(text=text, holds=ok, reason="" if ok else reason)
            for text, ok, reason in zip(texts, holds, reasons, strict=True)
        ]
        if failed:
            told.append(Condition(text="no rule is broken", holds=False, reason=way.failure))
        way.told[key] = tuple(told)
        return way.told[key]

    def _texts(self, rules: Rules) -> list[str]:
        texts = ["{} touches {}".format(*rules.pair_words(names)) for names in rules.success.collisions_true]
        texts += [
            "{} does not touch {}".format(*rules.pair_words(two)) for two in rules.success.collisions_false
        ]
        texts += [rules.state_words(state) for state in rules.success.states]
        texts += [f"{rules.state_words(state)}, as number {k}" for k, state in enumerate(rules.order, 1)]
        if rules.released:
            texts.append("the robot has let go")
        return [*texts, f"all of it for {self.level.dwell_s:g} s"]


class _Way:
    """One way to win, and how far it has come."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.failure = ""
        self.since: float | None = None
        self.reached = 0
        self.holds: tuple[bool, ...] = ()
        self.told: dict[tuple[tuple[bool, ...], bool, bool, tuple[Pair, ...]], tuple[Condition, ...]] = {}


def _out_of_order(way: _Way, situation: Situation) -> str:
    """Advance along the level's order, and return what came true too early, or nothing."""
    order = way.rules.order
    if way.reached < len(order) and order[way.reached].holds(situation):
        way.reached += 1
        if way.reached < len(order) and order[way.reached].holds(situation):
            return f"{way.rules.state_words(order[way.reached])} at once with what comes before it"
    early = next((state for state in order[way.reached + 1 :] if state.holds(situation)), None)
    if early is None:
        return ""
    return f"{way.rules.state_words(early)} before {way.rules.state_words(order[way.reached])}"


CHECKPOINT_KINDS = (
    Referee, _Way, Rules, Level, Conditions, JudgedState, Region, Stillness, Role, Placement,
    ContactMemory, Verdict, Condition, Outcome,
)  # fmt: skip
"""Classes of which a referee consists, for `spca_core.checkpoint`."""
