"""The critic of a try: it knows what the plan declares, and nothing of the task, the level or the referee."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spca_core.plan import Fault, FaultKind, Moment, Plan
from spca_core.ports.reading import Literal
from spca_core.ports.vocabulary import Vocabulary
from spca_core.scene import Fact, Observation
from spca_core.skill import StepReport, fault_of_plan
from spca_planner.critics import meant
from spca_planner.pddl.formula import evaluate, unmet
from spca_planner.pddl.sexpr import PddlError
from spca_planner.prediction import FRAME_M, ObservedAtoms, Prediction, allowance, mentioned, moved, predict

_SUPPORT = "on"
"""Relation that things keep unless a step mentions them; all others follow from where things are."""
_MOST_FACTS = 6


class Critic:
    """Judges the moments of one try, in order; the first fault is the try's (see docs/rehearsal.md).

    `checks_unmentioned`: what a step does not mention has to stay as it was.
    """

    def __init__(self, plan: Plan, vocabulary: Vocabulary, checks_unmentioned: bool = True) -> None:
        self._plan, self._vocabulary = plan, vocabulary
        self._checks_unmentioned = checks_unmentioned
        self._before: Observation | None = None
        self._ever_held = False
        self.margin = FRAME_M
        """Distance in metres by which the largest unmentioned motion stayed below the limit so far."""
        self._prediction: Prediction | None
        try:
            self._prediction = predict(plan)
        except (PddlError, KeyError, ValueError):  # a plan that no validator has seen
            self._prediction = None

    def judge(self, moment: Moment) -> Fault | None:
        """Return the first fault of that moment, with what the plan predicts up to then; None without one."""
        judges = {"start": lambda _: None, "step": self._after, "rest": self._at_rest}
        fault: Fault | None = judges[moment.phase](moment)
        self._before = moment.observation
        self._ever_held |= any(f.predicate == "held" for f in moment.observation.facts)
        if fault is None:
            return None
        predicted = self._prediction.after(fault.step + 1) if self._prediction is not None else ()
        told = {"predicted": tuple(map(str, predicted)), "seen": moment.observation.facts}
        return fault.model_copy(update=told)

    def _after(self, moment: Moment) -> Fault | None:
        assert moment.step is not None
        index, step = moment.step.index, self._plan.steps[moment.step.index]
        where = f"step {index + 1} {step}"

        def fault(kind: FaultKind, text: str, *wrong: str) -> Fault:
            return Fault(kind=kind, step=index, action=step.action, sentence=f"{where}: {text}", wrong=wrong)

        if moment.unsafe:
            return fault("safety", "; ".join(moment.unsafe))
        if moment.step.status == "failed":
            return self._failed(moment.step, where)
        if moment.step.status == "cancelled":
            return None
        if wrong := self._contradicted(index, moment.observation):
            text = f"expected {_listed(wrong)}; what it comes to is {_shown(moment.observation, wrong)}"
            return fault("effect", text, *map(str, wrong))
        if lost := [o for o in moment.lost if o not in step.args]:
            return fault(
                "frame", f"{', '.join(lost)} is then out of reach, and the step is not about it", *lost
            )
        if self._checks_unmentioned and (text := self._disturbed(index, moment)):
            return fault("frame", text, text.partition(" ")[0])
        return None

    def _failed(self, report: StepReport, where: str) -> Fault:
        """Return the fault of a failed step: its skill's, unless nothing is held, or there is no room."""
        why, action = report.failure, self._plan.steps[report.index].action
        text = f"{why.kind}: {why.message}" if why else report.message or "it failed"
        if fault := fault_of_plan(report, self._ever_held):
            action, text = "", f"{text}; {fault}"
        return Fault(kind="status", step=report.index, action=action, sentence=f"{where}: {text}")

    def _contradicted(self, index: int, observation: Observation) -> list[Literal]:
        """Return the declared effects of a step that the observation shows not to have come about.

        What it puts somewhere shall rest on nothing else than what the plan says: a plate's edge is no plate.
        """
        if self._prediction is None:
            return []
        look = ObservedAtoms(observation, self._prediction.domain, self._vocabulary)
        effects, state = self._prediction.effects[index], self._prediction.states[index]
        words = [word for word in self._vocabulary.words() if word.name == _SUPPORT]
        put = [atom for atom, wanted in effects.items() if wanted and meant(atom[0], words)]
        beside = {other for atom in put for other in look.alike(atom) if other not in state}
        wrong = {a: wanted for a, wanted in effects.items() if look.truth(a) not in (wanted, None)}
        wrong |= {a: False for a in sorted(beside) if a not in effects and self._prediction.says(a)}
        return [Literal(atom=atom, holds=holds) for atom, holds in wrong.items()]

    def _disturbed(self, index: int, moment: Moment) -> str:
        """Describe a change of things that neither the step's arguments nor effects mention; "" if none."""
        effects = self._prediction.effects[index] if self._prediction is not None else {}
        about = mentioned(self._plan.steps[index], effects)
        for thing, metres in moment.displaced.items():
            allowed = allowance(thing, self._plan.steps[index], effects)
            if allowed == FRAME_M:
                self.margin = min(self.margin, FRAME_M - metres)
            if metres > allowed:
                return moved(thing, metres)
        before, now = (_supports(o, about) for o in (self._before or moment.observation, moment.observation))
        if changed := sorted(map(str, before ^ now)):
            return f"{changed[0]} changes, and the step is not about it"
        return ""

    def _at_rest(self, moment: Moment) -> Fault | None:
        """Return the fault that the goal does not hold in the end, or None.

        All steps have done what they declare. So the last one is to blame for what it brought about and what
        did not last; for anything else the domain or the goal is.
        """
        if self._prediction is None:
            return None
        prediction, last = self._prediction, len(self._plan.steps) - 1
        look = ObservedAtoms(moment.observation, prediction.domain, self._vocabulary)
        goal = prediction.problem.goal
        text = "; ".join(moment.unsafe)
        wrong: Sequence[Literal] = ()
        if not text and evaluate(goal, look.truth, prediction.domain, prediction.problem) is False:
            wrong = unmet(goal, look.truth)
            shown = _shown(moment.observation, wrong)
            text = f"the goal {_listed(wrong) or goal} does not hold; what it comes to is {shown}"
        if not text:
            return None
        kind: FaultKind = "safety" if moment.unsafe else "goal"
        names = tuple(map(str, wrong))
        if last < 0:
            return Fault(kind=kind, step=0, action="", sentence=f"without any step: {text}", wrong=names)
        sentence = f"at rest after step {last + 1} {self._plan.steps[last]}: {text}"
        blamed = moment.unsafe or any(prediction.effects[last].get(one.atom) == one.holds for one in wrong)
        action = self._plan.steps[last].action if blamed else ""
        if not blamed:
            sentence += "; every step did what its action declares"
        return Fault(kind=kind, step=last, action=action, sentence=sentence, wrong=names)


def _supports(observation: Observation, meant: set[str]) -> set[Fact]:
    """Return the support facts of things that the step is not about."""
    return {f for f in observation.facts if f.predicate == _SUPPORT and f.args[0].lower() not in meant}


def _listed(literals: Iterable[Literal]) -> str:
    return ", ".join(map(str, literals))


def _shown(observation: Observation, literals: Iterable[Literal]) -> str:
    about = {thing.lower() for literal in literals for thing in literal.atom[1:]}
    facts = [f for f in observation.told if f.args and f.args[0].lower() in about]
    return " ".join(f.pddl for f in facts[:_MOST_FACTS]) or "nothing of these"
