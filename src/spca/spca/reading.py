"""Readers of a run's plans and skills."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from spca_core.plan import Plan
from spca_core.ports.reading import PlanReader, SkillReader


@dataclass(frozen=True)
class Readers:
    """The readers of one environment's plans and of its skills."""

    plans: PlanReader
    skills: SkillReader

    def fingerprint(self, plan: Plan, library: str) -> str:
        """Return the same text for two plans of which nothing else can come.

        They have the same steps, their domains predict the same of them, their goals are the same, and their
        skills, with all that these stand on, mean the same.
        """
        skills = self.skills.meaning(library, {step.action for step in plan.steps})
        text = "\n".join([*map(str, plan.steps), *self.plans.predicted(plan), skills])
        return sha256(text.encode()).hexdigest()[:16]
