"""A scripted language model that knows all levels.

It reads requests as a model does, and understands tasks by the built-in grammar.

Its planner's answers are the built-in proposer's drafts for what the request says was observed; its coder's
answers are the skills that come with the tabletop, under the names that are asked for. It errs now and then,
each time in another way, and mends what a critic or the world has to say about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import cycle

from spca.kits import kit_named
from spca_coder.source import Source, read
from spca_core.plan import Draft, PlanRequest, Task
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Fact, Observation
from spca_core.skill_package import library_source
from spca_referee.level import list_levels, load_level, task
from spca_testing.models.behaviours import Behaviour, Say, say_json
from spca_testing.models.fallible_model import BIG, CODER, SMALL, drafted, only_asked, written
from spca_testing.models.server import Seen
from spca_testing.observations import scene
from spca_testing.pddl import facts_in, kinds_in, said

PLANNER_ERRS_EVERY = 3
"""The first draft of every so many fresh plans is faulty."""

_PLAN_FAULTS: tuple[Callable[[Draft], Behaviour], ...] = (
    lambda draft: Say("I would move the cube."),
    lambda draft: drafted(draft.model_copy(update={"problem": draft.problem.replace("(:goal", "(:goal (")})),
    lambda draft: drafted(draft.model_copy(update={"problem": draft.problem.replace("(hand_empty)", "", 1)})),
    lambda draft: drafted(
        draft.model_copy(update={"problem": draft.problem.replace(" - cube", " cube_gold - cube")})
    ),
)  # fmt: skip
_CODE_FAULTS: tuple[Callable[[str], str], ...] = (
    lambda code: code.replace(":\n", "\n", 1),  # a syntax error
    lambda code: code.replace(
        "ctx.move_linear(tool)", "ctx.move_linear(_raised(tool))", 1
    ),  # never goes down
    lambda code: code.replace("(ctx, ", "(ctx, ctx.robot, ", 1),
    lambda code: code.replace("tool.x", "tool.position.x", 1),  # no such attribute
    lambda code: re.sub(r'("""\n)', r"\1    assert ctx.is_ready()\n", code, count=1),  # no such call
)


class GrammarModel:
    """A script for a `ModelServer`.

    Use one for a whole sequence of runs, so that it makes different mistakes in each.
    """

    def __init__(self, plan_errs: bool = True, code_errs: bool = True) -> None:
        kit = kit_named("tabletop")
        self._proposer = kit.builtin()
        self._skills = read(library_source(kit.name, kit.builtin_skills))
        self._tasks = [task(load_level(name)) for name in list_levels()]
        self._plan_faults: Iterator[Callable[[Draft], Behaviour]] = cycle(_PLAN_FAULTS if plan_errs else ())
        self._code_faults: Iterator[Callable[[str], str]] = cycle(_CODE_FAULTS if code_errs else ())
        self._fresh = 0

    def __call__(self, seen: Seen) -> Behaviour:
        """The answer to one request."""
        model = seen.body["model"]
        if model in (BIG, SMALL):
            return only_asked(self._plan(seen.text), seen)
        if model == CODER:
            return self._code(seen.text)
        return say_json({"sentences": ["The table is clean."]})

    def _plan(self, text: str) -> Behaviour:
        observation = observation_in(text)
        request = PlanRequest(attempt="", task=self._task_in(text), observation=observation, skills=())
        try:
            draft = self._proposer.draft(request, None, None)
        except NotUnderstood as error:
            return say_json({"question": str(error), "proposal": error.proposal})
        except Impossible as error:
            return say_json({"impossible_because": str(error)})
        if "was rejected by" in text or "What went wrong in the world" in text:
            return drafted(draft)
        self._fresh += 1
        fault = next(self._plan_faults, None) if self._fresh % PLANNER_ERRS_EVERY == 1 else None
        return fault(draft) if fault else drafted(draft)

    def _code(self, text: str) -> Behaviour:
        code = "\n\n\n".join(self._skill(name, args) for name, args in _headers(text))
        fault = None if "<report>" in text else next(self._code_faults, None)
        return written(fault(code) if fault else code)

    def _skill(self, name: str, args: list[str]) -> str:
        """The skill of that name, its arguments called as asked, and the helpers that it needs."""
        functions, constants = self._skills.with_helpers({name})
        helpers = {f for f in functions if f.startswith("_")}
        return _renamed(self._skills, name, args) + "\n\n\n" + self._skills.excerpt(helpers, constants)

    def _task_in(self, text: str) -> Task:
        wanted = said(text, "Task, in the user's words: ")
        title = wanted.rstrip(".")
        own = Task(group="sentence", id="sentence_01", title=title, description=wanted, judge="look")
        return next((t for t in self._tasks if t.text == wanted), own)


def observation_in(text: str) -> Observation:
    """Return the observation that a planner's request states."""
    atoms, objects = facts_in(text), kinds_in(text)
    below = {words[1]: words[2] for words in atoms if words[0] == "on"}
    held = next((words[1] for words in atoms if words[0] == "held"), "")
    coloured = [symbol for symbol in objects if symbol.startswith(("cube_", "plate_"))]
    return Observation(
        stamp=0.0,
        objects=objects,
        facts=tuple(Fact(predicate=words[0], args=tuple(words[1:])) for words in atoms if words[1:]),
        sentences=(),
        scene=scene(below, held, objects=coloured).scene,
    )


def _headers(text: str) -> list[tuple[str, list[str]]]:
    found = re.findall(r"^`def (\w+)\(ctx, ?(.*?)\):`", text, re.MULTILINE)
    return [(name, [a.strip() for a in args.split(",") if a.strip()]) for name, args in found]


def _renamed(skills: Source, name: str, args: list[str]) -> str:
    code = skills.functions[name].text
    for i, old in enumerate(skills.functions[name].parameters[1:]):
        code = re.sub(rf"\b{old}\b", f"\0{i}\0", code)
    for i, new in enumerate(args):
        code = code.replace(f"\0{i}\0", new)
    return code
