"""The world `build_order`: so many units of each kind, before the time is up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from spca_core.errors import InputError, SpcaError
from spca_core.model import Record
from spca_core.validation import expecting
from spca_programs.plan_world import (
    ActionKind,
    ActionSequence,
    Briefing,
    Case,
    Remark,
    Situation,
    Split,
    Transition,
    require_task,
)
from spca_standins.build_order.simulator import Base, reached, surplus
from spca_standins.build_order.units import ENTRIES, ORDERS, SCV, UNITS

WAIT = "WAIT"
_WAIT_S = 20
TASKS: dict[str, tuple[str, ...]] = {
    "easy": (SCV, "BattleCruiser"),
    "medium": (SCV, "Thor", "Banshee", "Raven"),
    "hard": (SCV, "SiegeTank", "Medivac", "VikingFighter", "Ghost"),
    "superhard": UNITS,
}
_MOST = {"easy": 4, "medium": 4, "hard": 4, "superhard": 2}
"""At most so many of each kind but SCV, of which 14 to 20 are wanted (easy: up to 36)."""
_SLACK = {"easy": 0.85, "medium": 1.0, "hard": 0.98, "superhard": 1.12}
"""Factor on `time_limit`: about a sixth above the best of some hundred programs, too little for most."""
_PROGRAMS = {"superhard": 5}  # as published
_HELD_OUT = {"easy": 25}  # it has not many more different cases
_DECISIONS = 110


class _Checkpoint(Record):
    """State that `BuildOrderWorld.checkpoint` keeps."""

    base: Base
    wanted: dict[str, int]
    limit: int
    decisions: int
    over: bool


class BuildOrderWorld:
    """See `spca_programs.ports.plan_world.PlanWorld`.

    Reward: the share of wanted units that came to exist, less surplus.
    """

    name = "build_order"
    tasks = tuple(TASKS)
    cases = 20
    returns = True

    def __init__(self) -> None:
        self._base = Base()
        self._wanted: dict[str, int] = {}
        self._limit = 0
        self._decisions = 0
        self._over = True

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """Different wanted counts in every case.

        The test's cases depend on no training seed but are never trained on.
        """
        require_task(task, TASKS, self.name)
        rng = Random(f"{task}/{seed}")
        drawn: dict[tuple[int, ...], None] = {}
        total = train + seen + unseen
        for _ in range(200 * total):
            if len(drawn) == total:
                break
            drawn[tuple(_count(task, unit, rng) for unit in TASKS[task])] = None
        if len(drawn) < total:
            raise InputError(
                f"'{task}' has no {total} different cases", self.name, f"ask for at most {len(drawn)}"
            )
        cases = [
            Case(
                task=task,
                name="-".join(map(str, counts)),
                detail={"wanted": dict(zip(TASKS[task], counts, strict=True))},
            )
            for counts in drawn
        ]
        return Split.of(cases, train, seen)

    def briefing(self, task: str) -> Briefing:
        """The rules of the game, and a program for a simpler wish."""
        require_task(task, TASKS, self.name)
        units = ", ".join(TASKS[task])
        goal = (
            f"Have at least the wanted number of each of these units before the time limit: {units}. "
            "Every unit beyond the wanted number costs as much as a wanted one brings."
        )
        return Briefing.read(
            Path(__file__).parent, world=self.name, task=task, goal=goal,
            example_task="Have 14 SCV and 6 Marine.", programs=_PROGRAMS.get(task, 3),
            held_out=_HELD_OUT.get(task, 60),
        )  # fmt: skip

    def reset(self, case: Case) -> Situation:
        """A new base with twelve workers."""
        wanted = case.detail.get("wanted")
        if case.task not in TASKS or not isinstance(wanted, dict) or not set(wanted) <= set(UNITS):
            raise InputError(f"no case of {self.name}: {case.task}/{case.name}")
        self._base, self._wanted = Base(), dict(wanted)
        self._limit = time_limit(self._wanted, _SLACK[case.task])
        self._decisions, self._over = 0, False
        return self._situation()

    def step(self, plan: ActionSequence) -> Transition:
        """Give the orders one after the other; each waits for a while for what it lacks."""
        if self._over:
            raise SpcaError("the episode is over: reset first")
        before = self._worth()
        remarks: list[Remark] = []
        for action in plan:
            if self._complete() or self._base.time >= self._limit:
                break
            if remark := self._give(action):
                remarks.append(remark)
        self._decisions += 1
        success = self._complete()
        late = self._base.time >= self._limit or self._decisions >= _DECISIONS
        if late and not success:
            remarks.append(Remark(kind="step_limit", text="the time is up"))
        if (more := surplus(self._base, self._wanted)) > 0:
            remarks.append(Remark(kind="violation", text=f"{more} units more than wanted"))
        self._over = success or late
        reward = self._worth() - before + float(success)
        return Transition(
            situation=self._situation(),
            reward=reward,
            success=success,
            done=self._over,
            remarks=tuple(remarks),
        )

    def checkpoint(self) -> bytes:
        """The base, as JSON."""
        saved = _Checkpoint(
            base=self._base, wanted=self._wanted, limit=self._limit, decisions=self._decisions,
            over=self._over,
        )  # fmt: skip
        return saved.model_dump_json().encode()

    def restore(self, checkpoint: bytes) -> Situation:
        """Back to a checkpoint. Raises InputError for anything else."""
        with expecting("a checkpoint", self.name):
            saved = _Checkpoint.model_validate_json(checkpoint)
        self._base, self._wanted, self._limit = saved.base, saved.wanted, saved.limit
        self._decisions, self._over = saved.decisions, saved.over
        return self._situation()

    def close(self) -> None:
        """Nothing to release."""

    def _give(self, action: str) -> Remark | None:
        if action == WAIT:
            due = min((at for _, at in self._base.work), default=self._base.time + _WAIT_S)
            for _ in range(min(due - self._base.time, _WAIT_S, self._limit - self._base.time)):
                self._base.tick()
            return None
        entry = ORDERS.get(action)
        if entry is None:
            self._base.tick()
            return Remark(kind="not_found", text=f"there is no action '{action[:60]}'")
        return self._base.order(entry, self._limit)

    def _complete(self) -> bool:
        return reached(self._base, self._wanted) == sum(self._wanted.values())

    def _worth(self) -> float:
        """Wanted units less surplus ones, as a share of what is wanted."""
        return (reached(self._base, self._wanted) - surplus(self._base, self._wanted)) / sum(
            self._wanted.values()
        )

    def _situation(self) -> Situation:
        base = self._base
        makers = {entry.maker for entry in ENTRIES.values()} - {SCV}
        observation: dict[str, Any] = {
            "time": base.time,
            "time_limit": self._limit,
            "minerals": int(base.minerals),
            "gas": int(base.gas),
            "supply_used": base.supply_used,
            "supply_cap": base.supply_cap,
            "wanted": dict(self._wanted),
            "have": {name: count for name, count in base.done.items() if count},
            "underway": dict(base.underway),
            "idle": {maker: base.idle(maker) for maker in sorted(makers) if base.done[maker]},
        }
        return Situation(
            instruction=f"Have {_listed(self._wanted)} within {self._limit} seconds.",
            observation=observation,
            actions=_ACTIONS,
            text=f"After {base.time} s: {int(base.minerals)} minerals, {int(base.gas)} gas, supply "
            f"{base.supply_used}/{base.supply_cap}. There are {_listed(observation['have'])}. "
            f"Under way: {_listed(observation['underway']) or 'nothing'}.",
        )


class MinimalExample(BuildOrderWorld):
    """With the simplest example of a program (published: E.13)."""

    def briefing(self, task: str) -> Briefing:
        """The rules of the game, and a program that trains workers."""
        example = 'def plan(observation, actions, task):\n    return ["TRAIN SCV"]\n'
        update = {"example": example, "example_task": "Have 14 SCV."}
        return super().briefing(task).model_copy(update=update)


def time_limit(wanted: dict[str, int], slack: float) -> int:
    """Seconds to gather the prices of everything needed and to build the longest chain, times `slack`.

    The income assumed is that of the first workers' mean over a game with one base and two refineries.
    """
    needed: Counter[str] = Counter()
    for unit, count in wanted.items():
        needed[unit] += count - (12 if unit == SCV else 0)
        for structure in _needs(unit):
            needed[structure] = max(needed[structure], 1)
    supply = sum(ENTRIES[n].supply * c for n, c in needed.items())
    needed["SupplyDepot"] += max(0, -(-(supply - 3) // 8))
    needed["Refinery"] += 2
    minerals = sum(ENTRIES[n].minerals * c for n, c in needed.items()) - 50
    gas = sum(ENTRIES[n].gas * c for n, c in needed.items())
    chain = max(_chain(unit) for unit in wanted)
    busiest = max(
        sum(ENTRIES[n].seconds * c for n, c in needed.items() if ENTRIES[n].maker == maker)
        for maker in {ENTRIES[n].maker for n in needed if ENTRIES[n].maker != SCV}
    )
    return int(slack * (chain + max(minerals / 11, gas / 5, busiest)))


def _needs(name: str) -> list[str]:
    entry = ENTRIES[name]
    found: list[str] = []
    for need in (entry.maker, *entry.needs):
        if need not in (SCV, "CommandCenter"):
            found += [*_needs(need), need]
    return list(dict.fromkeys(found))


def _chain(name: str) -> int:
    """Seconds of the longest chain of structures up to a unit, the unit included."""
    entry = ENTRIES[name]
    needs = [n for n in (entry.maker, *entry.needs) if n not in (SCV, "CommandCenter")]
    return entry.seconds + max((_chain(n) for n in needs), default=0)


def _count(task: str, unit: str, rng: Random) -> int:
    return rng.randint(14, 36 if task == "easy" else 20) if unit == SCV else rng.randint(1, _MOST[task])


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


_ACTIONS = (
    *(
        ActionKind(name=entry.order, detail={**entry._asdict(), "needs": list(entry.needs)})
        for entry in ENTRIES.values()
    ),
    ActionKind(name=WAIT, about=f"let time pass until something is done, at most {_WAIT_S} s"),
)
