"""The task, drafts, plans, and the records of how a draft becomes a plan, is rehearsed and carried out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from spca_core.model import Record
from spca_core.scene import Fact, Observation
from spca_core.skill import SkillSignature, StepReport

Judge = Literal["referee", "look"]
"""Judge of whether a task is done: the referee, from contacts, or a look at the end.

The look compares what is seen with the goal as it was understood.
"""


class Task(Record):
    """A task text and the group whose planning domain it shares. No conditions: those are the referee's."""

    group: str
    id: str
    title: str
    description: str
    judge: Judge = "referee"
    conversation: tuple[str, ...] = ()
    """Conversation before the task, the oldest line first: the text may refer to it."""

    @property
    def text(self) -> str:
        """The description, and before it the title of one that is empty or goes on from it ("It is …")."""
        title, about = self.title.strip().rstrip("."), self.description.strip()
        unfinished = re.match(r"((it|they|this|that|these|those)\b|$)", about, re.IGNORECASE)
        return f"{title}. {about}".strip() if unfinished else about


Mode = Literal["fresh", "reuse", "replan", "repair"]
_SAID = re.compile(r"^[^;\n]*(\(\w[^()]*\))[) \t]*;+ *(\S.*)$", re.MULTILINE)
"""A predicate that is declared in PDDL, and the comment at the end of its line."""


class Draft(Record):
    """A proposed PDDL domain and problem, as text."""

    domain: str
    problem: str
    remark: str = ""
    """Sentence to the user, in brackets, on what was assumed or left out of the task, and by whom."""
    goals: tuple[str, ...] = ()
    """Goals that the author read from the task's text itself: the atoms of each, separated by commas.

    A task is understood once: to replan, these stay what is wanted, whatever the words would mean by then.
    """

    @property
    def uncovers(self) -> bool:
        """The goals are only to bring to light what the task may be about."""
        atoms = [atom for goal in self.goals for atom in goal.split(", ")]
        return bool(atoms) and all(atom.startswith(("clear ", "put_down ")) for atom in atoms)

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """The domain's predicates that have a comment, without types, each with it."""
        found = _SAID.findall(self.domain.partition("(:action")[0])
        return tuple((re.sub(r" +- +[\w-]+", "", form), why) for form, why in found)


class ActionSchema(Record):
    """One action of a domain: parameters as (name without `?`, type), and its complete PDDL text."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    pddl: str


Schemas = tuple[ActionSchema, ...]


class Step(Record):
    """A grounded action."""

    action: str
    args: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.action}({', '.join(self.args)})"


class Choice(Record):
    """The alternative that a skill is to be offered first when it makes that call of `ctx`.

    `values` are its numbers, by which the environment knows it again; they mean nothing elsewhere.
    """

    call: str
    args: tuple[str, ...]
    values: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.call}({', '.join(self.args)}) at {', '.join(f'{v:.3f}' for v in self.values[:3])}"


class Plan(Record):
    """A validated sequence of steps, with the draft it solves and the schemas it uses."""

    steps: tuple[Step, ...]
    schemas: tuple[ActionSchema, ...]
    draft: Draft
    choices: tuple[Choice, ...] = ()
    """Alternatives that worked better in a rehearsal than those that geometry alone puts first."""


class Execution(Record):
    """Failed execution of a plan, as input for replanning."""

    steps: tuple[str, ...]
    """Each step as it was carried out, and how it ended."""
    predicted: tuple[str, ...]
    """PDDL literals that, by the domain, these steps should have made true at the end."""
    seen: tuple[Fact, ...]
    """Facts seen at the end; empty where no look was possible."""
    rehearsed: bool = False
    """The execution was a rehearsal: the robot itself has not moved."""


class PlanRequest(Record):
    """Request to the planner; `attempt` is echoed in the answer.

    To replan, `failure` says what went wrong before, and `executed` how it went where a plan was carried out.
    """

    attempt: str
    task: Task
    observation: Observation
    skills: tuple[SkillSignature, ...]
    mode: Mode = "fresh"
    previous: Draft | None = None
    failure: str = ""
    executed: Execution | None = None


class Rejection(Record):
    """A critic's rejection: its name and one specific sentence that a proposer can act on."""

    critic: Literal["draft", "model", "parse", "scene", "goal", "solve", "validate"]
    message: str


class DraftRecord(Record):
    """One draft and its judgement; `rejection` is None for the accepted one. Seconds of wall time."""

    mode: Mode
    draft: Draft | None
    rejection: Rejection | None
    draft_seconds: float = 0.0
    parse_seconds: float = 0.0
    solve_seconds: float = 0.0
    validate_seconds: float = 0.0


class PlanResult(Record):
    """The planner's answer.

    `status`: solved; not_understood (the task text, said plainly in `message`); impossible (on this table);
    exhausted (the budget of drafts); cancelled.
    """

    attempt: str
    status: Literal["solved", "not_understood", "impossible", "exhausted", "cancelled"]
    plan: Plan | None
    drafts: tuple[DraftRecord, ...]
    message: str = ""
    proposal: str = ""
    """Sentence that the message asks about, in place of a task that was not understood."""


class CodeRequest(Record):
    """Request to the coder: provide a skill for every action of the plan.

    `failure` describes what went wrong in a step.
    """

    attempt: str
    task: Task
    observation: Observation
    plan: Plan
    library: str
    """Source text of the working library."""
    suspects: tuple[str, ...] = ()
    """Names of skills to rewrite although they exist."""
    failure: str = ""


class CodeRecord(Record):
    """One draft of code and its judgement."""

    kind: Literal["first", "semantic", "syntax"]
    code: str
    rejection: str = ""
    seconds: float = 0.0


PLAN_AT_FAULT = "the coder says that the plan is wrong: "
"""Beginning of the message of a coder that blames no skill."""


class CodeResult(Record):
    """The coder's answer: the whole working library as source text."""

    attempt: str
    status: Literal["complete", "missing", "exhausted", "cancelled"]
    library: str
    written: tuple[str, ...] = ()
    drafts: tuple[CodeRecord, ...] = ()
    message: str = ""


class ActResult(Record):
    """Result of a plan's execution, step by step."""

    attempt: str
    status: Literal["done", "failed", "cancelled"]
    steps: tuple[StepReport, ...]
    message: str = ""


TREE = "plan"
_RESERVED = ("name", "ID")  # attributes that BehaviorTree.CPP keeps for itself


def behaviour_tree(steps: Sequence[Step], parameters: Mapping[str, Sequence[str]]) -> str:
    """Return a BehaviorTree.CPP file (XML): a sequence of the steps, and a model of each action with ports.

    `parameters` are the names of each action's parameters; where they are missing, they are numbered.
    """

    def ports(step: Step) -> list[str]:
        names = [f"{name}_" if name in _RESERVED else name for name in parameters.get(step.action, ())]
        return names if len(names) == len(step.args) else [f"arg{i}" for i in range(1, len(step.args) + 1)]

    from xml.etree import ElementTree

    root = ElementTree.Element("root", BTCPP_format="4", main_tree_to_execute=TREE)
    sequence = ElementTree.SubElement(ElementTree.SubElement(root, "BehaviorTree", ID=TREE), "Sequence")
    model = ElementTree.SubElement(root, "TreeNodesModel")
    known: set[str] = set()
    for step in steps:
        given = dict(zip(ports(step), step.args, strict=True))
        ElementTree.SubElement(sequence, "Action", {"ID": step.action, "name": str(step), **given})
        if step.action not in known:
            known.add(step.action)
            action = ElementTree.SubElement(model, "Action", ID=step.action)
            for name in given:
                ElementTree.SubElement(action, "input_port", name=name)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


class Perturbation(Record):
    """Deviation of one try's world from what was observed. Equal perturbations give equal worlds.

    `exact`: not at all. `drawn`: poses, friction and masses are drawn by `seed` from the measured errors of
    perception and calibration. `pessimistic`: errors that are rare, and less friction.
    """

    kind: Literal["exact", "drawn", "pessimistic"] = "exact"
    seed: int = 0


class Moment(Record):
    """The twin's world at the start, after each step, and once more when all has come to rest at the end.

    `step` is how the step ended, None at the start and at rest. The observation is exact and complete; it may
    contain facts that no camera shows, such as that something was touched.
    """

    phase: Literal["start", "step", "rest"] = "step"
    step: StepReport | None = None
    observation: Observation
    displaced: dict[str, float] = {}
    """Distance in metres that each thing has moved since the moment before; only of those that moved."""
    unsafe: tuple[str, ...] = ()
    """Events that must never happen, whatever the task: a clause for each ("the arm touches the table")."""
    lost: tuple[str, ...] = ()
    """Things that have come to lie out of reach, for example on the ground, since the moment before."""


FaultKind = Literal["status", "effect", "frame", "safety", "goal"]


class Fault(Record):
    """The first thing that went wrong in a try.

    `status`: a skill failed. `effect`: a step did not do what the planning domain declares. `frame`: it
    changed what the action does not mention. `safety`: something happened that never should. `goal`: in the
    end, at rest, the goal does not hold.
    """

    kind: FaultKind
    step: int
    """Index of the step; of the last one for the goal."""
    action: str
    """Action whose skill is to blame; empty where the plan is to blame."""
    sentence: str
    wrong: tuple[str, ...] = ()
    """Effects or parts of the goal that do not hold, or changes that the step was not about."""
    predicted: tuple[str, ...] = ()
    """PDDL literals that should hold by then because of the plan's steps, by the plan's domain."""
    seen: tuple[Fact, ...] = ()
    """Facts that hold in the twin at that time."""

    @property
    def kind_and_step(self) -> tuple[str, int]:
        """Kind and index of the step: the same for faults of one sort."""
        return self.kind, self.step


class Try(Record):
    """One performance of a plan in the twin; `seconds` of wall time, `simulated` on the twin's clock."""

    perturbation: Perturbation
    fault: Fault | None = None
    seconds: float = 0.0
    simulated: float = 0.0
    margin: float = 0.0
    """Distance in metres that anything meant to stay where it is could have moved farther without a fault."""
    result: ActResult
    """Report of the steps, as in a real attempt."""


class Rehearsed(Record):
    """Result of a rehearsal.

    `accepted`, `rejected`; `doubtful`: neither; `unfinished`: the time was up; `impossible`: such a scene
    cannot be rehearsed. `share` of the tries went well. `sentence` says why, in one line; `suspects` are the
    actions whose skills are to blame (none: the plan is). `seconds` of wall time, `simulated` on the twin's
    clock, `cpu` of processor time without the sandbox: about the cost on a machine with nothing else to do.
    """

    attempt: str
    status: Literal["accepted", "rejected", "doubtful", "unfinished", "impossible"]
    share: float = 0.0
    sentence: str = ""
    fault: Fault | None = None
    suspects: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    simulated: float = 0.0
    tries: tuple[Try, ...] = ()
    others: tuple[Try, ...] = ()
    """Tries of plans that were put, or could have been put, in the plan's place."""
    instead: Plan | None = None
    """Plan that was found to work better: another one, or the same with other choices.

    If there is one, all fields above are about it, and the sentence says what was wrong with the first.
    """
    overruled: bool = False
    """The plan was carried out although it was rejected."""
