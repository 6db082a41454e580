"""The critic of a try: it knows what the plan declares, and nothing of the task, the level or the referee."""

from __future__ import annotations

from collections.abc import Iterable

from spca_core.observation import Observation
from spca_core.plan import Plan
from spca_core.ports.vocabulary import Vocabulary
from spca_core.rehearsal import Fault, Moment
from spca_core.scene import Fact
from spca_planner.pddl.formula import Atom, atoms, evaluate, ground
from spca_planner.pddl.sexpr import PddlError
from spca_planner.prediction import Look, Prediction, predict

FRAME_M = 0.01
"""Metres that a thing may move in a step that does not mention it."""
_SUPPORT = "on"
"""The relation that things keep unless a step mentions them; all others follow from where things are."""
_MOST_FACTS = 6


class Critic:
    """Judges the moments of one try, in order; the first fault is the try's (see docs/rehearsal.md).

    `frame`: whether what a step does not mention has to stay as it was.
    """

    def __init__(self, plan: Plan, vocabulary: Vocabulary, frame: bool = True) -> None:
        self._plan, self._vocabulary, self._frame = plan, vocabulary, frame
        self._before: Observation | None = None
        self.margin = FRAME_M
        """Metres by which what moved most without being mentioned stayed below the limit so far."""
        self._prediction: Prediction | None
        try:
            self._prediction = predict(plan)
        except (PddlError, KeyError, ValueError):  # a plan that no validator has seen
            self._prediction = None

    def judge(self, moment: Moment) -> Fault | None:
        """The first fault of that moment, or None."""
        judges = {"start": lambda _: None, "step": self._after, "rest": self._at_rest}
        fault: Fault | None = judges[moment.phase](moment)
        self._before = moment.observation
        return fault

    def _after(self, moment: Moment) -> Fault | None:
        assert moment.step is not None
        index, step = moment.step.index, self._plan.steps[moment.step.index]
        where = f"step {index + 1} {step}"

        def fault(kind: str, text: str) -> Fault:
            return Fault.model_validate(
                {"kind": kind, "step": index, "action": step.action, "sentence": f"{where}: {text}"}
            )

        if moment.unsafe:
            return fault("safety", "; ".join(moment.unsafe))
        if moment.step.status == "failed":
            why = moment.step.failure
            return fault(
                "status", f"{why.kind}: {why.message}" if why else moment.step.message or "it failed"
            )
        if moment.step.status == "cancelled":
            return None
        if wrong := self._contradicted(index, moment.observation):
            shown = _shown(moment.observation, {a for literal in wrong for a in literal[0][1:]})
            return fault("effect", f"expected {_listed(wrong)}; what it comes to is {shown}")
        if lost := [o for o in moment.lost if o not in step.args]:
            return fault("frame", f"{', '.join(lost)} is then out of reach, and the step is not about it")
        if self._frame and (text := self._disturbed(index, moment)):
            return fault("frame", text)
        return None

    def _contradicted(self, index: int, observation: Observation) -> list[tuple[Atom, bool]]:
        """The declared effects of a step that the observation shows not to have come about."""
        if self._prediction is None:
            return []
        look = Look(observation, self._prediction.domain, self._vocabulary)
        effects = self._prediction.effects[index]
        return [(a, wanted) for a, wanted in effects.items() if look.truth(a) not in (wanted, None)]

    def _disturbed(self, index: int, moment: Moment) -> str:
        """What the step changed of things that neither its arguments nor its effects mention."""
        mentioned = set(self._plan.steps[index].args)
        if self._prediction is not None:
            mentioned |= {arg for atom in self._prediction.effects[index] for arg in atom[1:]}
        for thing, metres in moment.displaced.items():
            if thing.lower() in {m.lower() for m in mentioned}:
                continue
            self.margin = min(self.margin, FRAME_M - metres)
            if metres > FRAME_M:
                return f"{thing} moves by {metres * 100:.0f} cm, and the step is not about it"
        before, now = (
            _supports(o, mentioned) for o in (self._before or moment.observation, moment.observation)
        )
        if changed := sorted(map(str, before ^ now)):
            return f"{changed[0]} changes, and the step is not about it"
        return ""

    def _at_rest(self, moment: Moment) -> Fault | None:
        if self._prediction is None:
            return None
        prediction, last = self._prediction, len(self._plan.steps) - 1
        look = Look(moment.observation, prediction.domain, self._vocabulary)
        goal = prediction.problem.goal
        text = "; ".join(moment.unsafe)
        if not text and evaluate(goal, look.truth, prediction.domain, prediction.problem) is False:
            wrong = [(ground(a, {}), True) for a in atoms(goal) if look.truth(ground(a, {})) is False]
            shown = _shown(moment.observation, {arg for atom, _ in wrong for arg in atom[1:]})
            text = f"the goal {_listed(wrong) or goal} does not hold; what it comes to is {shown}"
        if not text:
            return None
        kind = "safety" if moment.unsafe else "goal"
        if last < 0:
            return Fault(kind=kind, step=0, action="", sentence=f"without any step: {text}")
        return Fault(
            kind=kind,
            step=last,
            action=self._plan.steps[last].action if self.promises else "",
            sentence=f"at rest after step {last + 1} {self._plan.steps[last]}: {text}",
        )

    @property
    def promises(self) -> bool:
        """Whether by its own domain the plan reaches its goal; if not, no skill is to blame."""
        if self._prediction is None or not self._prediction.states:
            return False
        p, final = self._prediction, self._prediction.states[-1]
        return bool(evaluate(p.problem.goal, lambda atom: atom in final, p.domain, p.problem))


def _supports(observation: Observation, mentioned: Iterable[str]) -> set[Fact]:
    """What rests on what, among things that are not mentioned."""
    names = {m.lower() for m in mentioned}
    return {f for f in observation.facts if f.predicate == _SUPPORT and f.args[0].lower() not in names}


def _listed(literals: Iterable[tuple[Atom, bool]]) -> str:
    return ", ".join(f"({' '.join(a)})" if holds else f"(not ({' '.join(a)}))" for a, holds in literals)


def _shown(observation: Observation, things: set[str]) -> str:
    facts = [f for f in observation.facts if f.args and f.args[0].lower() in {t.lower() for t in things}]
    return ", ".join(map(str, facts[:_MOST_FACTS])) or "nothing of these"
