"""The world `build_order`: so many units of each kind, before the time is up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pydantic import TypeAdapter

from spca_core.errors import InputError, SpcaError
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


@dataclass
class _Game:
    """What `BuildOrderWorld.checkpoint` keeps."""

    base: Base = field(default_factory=Base)
    wanted: dict[str, int] = field(default_factory=dict)
    limit: int = 0
    decisions: int = 0
    over: bool = True

    @property
    def complete(self) -> bool:
        """Whether all that is wanted exists."""
        return reached(self.base, self.wanted) == sum(self.wanted.values())

    @property
    def worth(self) -> float:
        """Wanted units less surplus ones, as a share of what is wanted."""
        more = surplus(self.base, self.wanted)
        return (reached(self.base, self.wanted) - more) / sum(self.wanted.values())


_CHECKPOINT = TypeAdapter(_Game)


class BuildOrderWorld:
    """See `spca_programs.ports.plan_world.PlanWorld`.

    Reward: the share of wanted units that came to exist, less surplus.
    """

    name = "build_order"
    tasks = tuple(TASKS)
    cases = 20
    returns = True

    def __init__(self) -> None:
        self._game = _Game()

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
        cases = []
        for counts in drawn:
            wanted = dict(zip(TASKS[task], counts, strict=True))
            cases.append(Case(task=task, name="-".join(map(str, counts)), detail={"wanted": wanted}))
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
        self._game = _Game(wanted=dict(wanted), limit=time_limit(wanted, _SLACK[case.task]), over=False)
        return self._situation()

    def step(self, plan: ActionSequence) -> Transition:
        """Give the orders one after the other; each waits for a while for what it lacks."""
        game = self._game
        if game.over:
            raise SpcaError("the episode is over: reset first")
        before = game.worth
        remarks: list[Remark] = []
        for action in plan:
            if game.complete or game.base.time >= game.limit:
                break
            if remark := self._give(action):
                remarks.append(remark)
        game.decisions += 1
        late = game.base.time >= game.limit or game.decisions >= _DECISIONS
        if late and not game.complete:
            remarks.append(Remark(kind="step_limit", text="the time is up"))
        if (more := surplus(game.base, game.wanted)) > 0:
            remarks.append(Remark(kind="violation", text=f"{more} units more than wanted"))
        game.over = game.complete or late
        return Transition(
            situation=self._situation(),
            reward=game.worth - before + float(game.complete),
            success=game.complete,
            done=game.over,
            remarks=tuple(remarks),
        )

    def checkpoint(self) -> bytes:
        """The base, as JSON."""
        return _CHECKPOINT.dump_json(self._game)

    def restore(self, checkpoint: bytes) -> Situation:
        """Back to a checkpoint. Raises InputError for anything else."""
        with expecting("a checkpoint", self.name):
            self._game = _CHECKPOINT.validate_json(checkpoint)
        return self._situation()

    def close(self) -> None:
        """Nothing to release."""

    def _give(self, action: str) -> Remark | None:
        base, limit = self._game.base, self._game.limit
        if action == WAIT:
            due = min((at for _, at in base.work), default=base.time + _WAIT_S)
            for _ in range(min(due, base.time + _WAIT_S, limit) - base.time):
                base.tick()
            return None
        entry = ORDERS.get(action)
        if entry is None:
            base.tick()
            return Remark(kind="not_found", text=f"there is no action '{action[:60]}'")
        return base.order(entry, limit)

    def _situation(self) -> Situation:
        base, wanted, limit = self._game.base, self._game.wanted, self._game.limit
        makers = {entry.maker for entry in ENTRIES.values()} - {SCV}
        observation: dict[str, Any] = {
            "time": base.time,
            "time_limit": limit,
            "minerals": int(base.minerals),
            "gas": int(base.gas),
            "supply_used": base.supply_used,
            "supply_cap": base.supply_cap,
            "wanted": dict(wanted),
            "have": {name: count for name, count in base.done.items() if count},
            "underway": dict(base.underway),
            "idle": {maker: base.idle(maker) for maker in sorted(makers) if base.done[maker]},
        }
        return Situation(
            instruction=f"Have {_listed(wanted)} within {limit} seconds.",
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
