"""A base that gathers, builds and trains, second by second. No map, no enemy: only economy and technology."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from spca_programs.plan_world import Remark
from spca_standins.build_order.units import COMMAND_CENTER, ENTRIES, REFINERY, SCV, Entry

# A worker on a mineral patch with one companion brings about 56 minerals a minute, a refinery with three
# workers about 160 gas a minute (figures of the game's faster speed); workers beyond two a patch bring
# nothing.
MINERALS_A_SECOND = 0.93
GAS_A_SECOND = 0.9
WORKERS_ON_MINERALS = 16  # a command centre
WORKERS_ON_GAS = 3  # a refinery
MOST_SUPPLY = 200
PATIENCE_S = 45
"""How long an order waits for what it lacks."""
REFUSED_S = 4
"""Time that an order costs which cannot be carried out."""


@dataclass
class Base:
    """The state. `done` counts what stands, `work` what is under way: (name, second when it is done)."""

    time: int = 0
    minerals: float = 50.0
    gas: float = 0.0
    done: Counter[str] = field(default_factory=lambda: Counter({SCV: 12, COMMAND_CENTER: 1}))
    work: list[tuple[str, int]] = field(default_factory=list)

    @property
    def supply_cap(self) -> int:
        """Supply that the standing structures provide."""
        provided = sum(ENTRIES[name].provides * count for name, count in self.done.items())
        return min(provided, MOST_SUPPLY)

    @property
    def supply_used(self) -> int:
        """Supply that units take up, those in training included."""
        return sum(ENTRIES[name].supply * count for name, count in self.have.items())

    @property
    def have(self) -> Counter[str]:
        """Counts of what stands or is under way."""
        return self.done + self.underway

    @property
    def underway(self) -> Counter[str]:
        """Counts of what is under way."""
        return Counter(name for name, _ in self.work)

    def idle(self, maker: str) -> int:
        """Return how many of a kind of structure have nothing to make now."""
        return self.done[maker] - sum(ENTRIES[name].maker == maker for name, _ in self.work)

    def tick(self) -> None:
        """One second: gather, and finish what is due."""
        workers = max(0, self.done[SCV] - sum(ENTRIES[name].maker == SCV for name, _ in self.work))
        on_gas = min(workers // 2, WORKERS_ON_GAS * self.done[REFINERY])
        on_minerals = min(workers - on_gas, WORKERS_ON_MINERALS * self.done[COMMAND_CENTER])
        self.gas += GAS_A_SECOND * on_gas
        self.minerals += MINERALS_A_SECOND * on_minerals
        self.time += 1
        for name, due in self.work:
            if due <= self.time:
                self.done[name] += 1
        self.work = [(name, due) for name, due in self.work if due > self.time]

    def order(self, entry: Entry, time_limit: int) -> Remark | None:
        """Begin something, waiting up to PATIENCE_S for what it lacks; the remark says why it failed.

        What lacks and is not under way is refused at once.
        """
        until = min(self.time + PATIENCE_S, time_limit)
        while True:
            lacking = self._lacking(entry)
            if lacking is None:
                self.minerals -= entry.minerals
                self.gas -= entry.gas
                self.work.append((entry.name, self.time + entry.seconds))
                return None
            remark, hopeless = lacking
            if hopeless or self.time >= until:
                for _ in range(min(REFUSED_S, max(0, time_limit - self.time)) if hopeless else 0):
                    self.tick()
                return remark
            self.tick()

    def _lacking(self, entry: Entry) -> tuple[Remark, bool] | None:
        """The first thing that an order lacks now, and whether waiting is of no use."""
        for need in (entry.maker, *entry.needs):
            if not self.done[need]:
                return _remark("precondition", entry, f"it needs a {need}"), not self.underway[need]
        if (
            entry.kind == "addon"
            and self.done[entry.name] + self.underway[entry.name] >= self.done[entry.maker]
        ):
            return _remark("precondition", entry, f"every {entry.maker} has one"), True
        if entry.supply and self.supply_used + entry.supply > self.supply_cap:
            coming = any(ENTRIES[name].provides for name, _ in self.work)
            return _remark("no_effect", entry, "there is no supply left"), not coming
        if self.minerals < entry.minerals:
            return _remark("no_effect", entry, "there are not enough minerals"), not self.done[SCV]
        if self.gas < entry.gas:
            return _remark("no_effect", entry, "there is not enough gas"), not self.have[REFINERY]
        if entry.maker != SCV and self.idle(entry.maker) < 1:
            return _remark("no_effect", entry, f"every {entry.maker} is busy"), False
        return None


def surplus(base: Base, wanted: Mapping[str, int]) -> int:
    """Units that exist beyond what is wanted."""
    return sum(
        max(0, base.done[name] - wanted.get(name, 0)) for name, e in ENTRIES.items() if e.kind == "unit"
    )


def reached(base: Base, wanted: Mapping[str, int]) -> int:
    """Wanted units that exist, each kind counted up to what is wanted of it."""
    return sum(min(base.done[name], count) for name, count in wanted.items())


def _remark(kind: str, entry: Entry, why: str) -> Remark:
    return Remark.model_validate({"kind": kind, "text": f"{entry.order}: {why}"})
