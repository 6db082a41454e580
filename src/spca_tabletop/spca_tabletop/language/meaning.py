"""Meaning of a reading: claims about the table in the end, still over free choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spca_tabletop.language.entities import Discourse, Entity
from spca_tabletop.language.phrases import Slot


@dataclass(frozen=True)
class Claim:
    """An atom of the goal over entities: its predicate in the tabletop's PDDL, and its arguments."""

    predicate: str
    args: tuple[Entity, ...]


@dataclass
class Tower:
    """Description of a tower; `active` once there is one.

    `runs` are orders of some of its cubes, upwards; `barred` is what must not be where.
    """

    active: bool = False
    members: list[Entity] = field(default_factory=list)
    size: int | None = None
    base: Entity | None = None
    slots: dict[Slot, Entity] = field(default_factory=dict)
    runs: list[list[Entity]] = field(default_factory=list)
    barred: list[tuple[Slot, Entity]] = field(default_factory=list)


@dataclass
class Meaning:
    """All that a reading asks for, over the choices and constraints of `discourse`.

    `claims` must hold; `descriptions` may be about the table as it is now. `held` is what the gripper shall
    hold, `rules` are what must hold all along. `contacts` are pairs that must touch (the first put to the
    second, unless `mutual`), `apart` pairs that must not, `off` pairs of which the first must not be on the
    second in the end. `untouched` is what the robot must leave alone, `unmoved` what it may at most touch,
    `never_discarded` what must not fall. Of those `counted` only the number matters. `placeless` is what
    shall be moved without a place having been said, with what was claimed before and whether something was
    being built. `pairs` stand side by side and may carry a bridge. `cost` tells how far-fetched it is.
    """

    discourse: Discourse
    claims: list[Claim] = field(default_factory=list)
    descriptions: list[Claim] = field(default_factory=list)
    held: list[Entity] = field(default_factory=list)
    placeless: list[tuple[Entity, list[Claim], bool]] = field(default_factory=list)
    contacts: list[tuple[Entity, Entity]] = field(default_factory=list)
    mutual: list[tuple[Entity, Entity]] = field(default_factory=list)
    apart: list[tuple[Entity, Entity]] = field(default_factory=list)
    off: list[tuple[Entity, Entity]] = field(default_factory=list)
    untouched: list[Entity] = field(default_factory=list)
    unmoved: list[Entity] = field(default_factory=list)
    never_discarded: list[Entity] = field(default_factory=list)
    counted: list[Entity] = field(default_factory=list)
    tower: Tower = field(default_factory=Tower)
    rules: list[Claim] = field(default_factory=list)
    bridge: bool = False
    pairs: list[tuple[Entity, Entity]] = field(default_factory=list)
    cost: int = 0

    def claim(self, predicate: str, subjects: Sequence[Entity], *others: Entity) -> None:
        """Claim it of each subject; what was picked up before is thereby put down."""
        self.claims += [Claim(predicate, (e, *others)) for e in subjects]
        self.put_down(subjects)

    def put_down(self, entities: Sequence[Entity]) -> None:
        """They have found their place; they are not to be held in the end."""
        self.held = [e for e in self.held if e not in entities]

    def stacked(self) -> list[Claim]:
        """The claims that put a solid on a solid."""
        return [c for c in self.claims if c.predicate == "on" and self.discourse.is_solid(c.args[1])]

    def move(self, subjects: Sequence[Entity]) -> None:
        """Say that they are to be moved, to a place that is yet to be said."""
        self.placeless += [(e, list(self.claims), self.tower.active) for e in subjects]

    def concerned(self) -> set[Entity]:
        """Everything that something is asked of."""
        claims = (*self.claims, *self.descriptions, *self.rules)
        pairs = (*self.contacts, *self.mutual, *self.apart, *self.off)
        tower = self.tower
        found = {entity for claim in claims for entity in claim.args} | {e for pair in pairs for e in pair}
        return found.union(tower.members, tower.slots.values(), *tower.runs, self.untouched, self.counted)
