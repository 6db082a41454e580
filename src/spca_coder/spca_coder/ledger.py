"""The records about trusted skills: the levels that prove them, demotions with reasons, and a history."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timezone
from typing import Literal

from spca_core.model import Record

_MOST_EVENTS = 500

EventKind = Literal["promoted", "refused", "quarantined", "released", "demoted", "restored"]


class SkillEvent(Record):
    """Something that happened to a skill, at `time` (UTC, ISO 8601)."""

    time: str
    skill: str
    kind: EventKind
    level: str = ""
    reason: str = ""


class Demoted(Record):
    """A version of a skill that is trusted no longer: its source with all that it needs, and why."""

    reason: str
    source: str
    levels: tuple[str, ...] = ()


class SkillLedger(Record):
    """The record of one library; every change returns a new one.

    `levels` are the proofs of each skill; `contested` the levels that were solved with another version, which
    was refused; `hidden` the skills that nobody may use now, with the reason: builtin ones that were demoted,
    and those in quarantine.
    """

    levels: dict[str, tuple[str, ...]] = {}
    contested: dict[str, tuple[str, ...]] = {}
    hidden: dict[str, str] = {}
    demoted: dict[str, Demoted] = {}
    history: tuple[SkillEvent, ...] = ()

    def credit(self, skills: Collection[str], level: str) -> SkillLedger:
        """A level proves these skills."""
        levels, contested = dict(self.levels), dict(self.contested)
        for skill in sorted(skills):
            levels[skill] = _joined(levels.get(skill, ()), level)
            contested[skill] = tuple(n for n in contested.get(skill, ()) if n != level)
        kept = {skill: names for skill, names in contested.items() if names}
        return self.model_copy(update={"levels": levels, "contested": kept})

    def contest(self, skills: Collection[str], level: str) -> SkillLedger:
        """A level was solved with other versions of these skills, which were refused."""
        added = {skill: _joined(self.contested.get(skill, ()), level) for skill in skills}
        return self.model_copy(update={"contested": {**self.contested, **added}})

    def without_proofs(self, lost: Collection[str]) -> SkillLedger:
        """Levels that prove nothing any more."""
        levels = {s: tuple(n for n in names if n not in lost) for s, names in self.levels.items()}
        return self.model_copy(update={"levels": levels})

    def hide(self, skills: Collection[str], reason: str) -> SkillLedger:
        """These skills must not be used."""
        return self.model_copy(update={"hidden": {**self.hidden, **dict.fromkeys(skills, reason)}})

    def show(self, skills: Collection[str]) -> SkillLedger:
        """These skills may be used again."""
        hidden = {s: reason for s, reason in self.hidden.items() if s not in skills}
        return self.model_copy(update={"hidden": hidden})

    def archive(self, skill: str, version: Demoted) -> SkillLedger:
        """Keep a version that is trusted no longer, in place of an earlier one; its proofs go with it."""
        levels = {s: names for s, names in self.levels.items() if s != skill}
        return self.model_copy(update={"demoted": {**self.demoted, skill: version}, "levels": levels})

    def take_out(self, skill: str) -> SkillLedger:
        """A demoted version is taken back into the library."""
        demoted = {s: version for s, version in self.demoted.items() if s != skill}
        return self.model_copy(update={"demoted": demoted})

    def note(
        self, skills: Collection[str], kind: EventKind, level: str = "", reason: str = ""
    ) -> SkillLedger:
        """Write an event into the history, for each skill."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        events = [
            SkillEvent(time=now, skill=skill, kind=kind, level=level, reason=reason)
            for skill in sorted(skills)
        ]
        return self.model_copy(update={"history": (*self.history, *events)[-_MOST_EVENTS:]})


def _joined(names: Collection[str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, name)))
