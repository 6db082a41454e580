"""How large each role's prompt is: by the number of skills in a library, on all levels, in a conversation.

.venv/bin/python benchmarks/prompt_size.py

Tokens are estimated from the text (3.5 characters each, rather too many than too few). The vision model's
prompt does not depend on the library: it is the task, and the camera's image.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import typer
from rich.console import Console
from rich.table import Table

import spca
from spca_coder.drafting import TOKEN_BUDGET, relevant, situation, tokens_of
from spca_coder.language import LanguageCoder
from spca_coder.source import LibraryReader, read
from spca_core.options import RunOptions
from spca_core.plan import CodeRequest, Draft, Execution, Plan, PlanRequest, Rejection, Step
from spca_core.ports.chat import Message
from spca_core.scene import Fact
from spca_core.skill_package import library_source
from spca_planner.language import messages, told_of
from spca_planner.pddl.syntax import parse_domain
from spca_planner.trusted import actions_of
from spca_referee.level import list_levels, load_level
from spca_referee.level import task as task_of
from spca_tabletop.act.ctx import TABLETOP_API
from spca_tabletop.kit import TabletopKit
from spca_tabletop.level_check import nominal_observation
from spca_testing import pddl
from spca_testing.models.fallible_model import MODELS, configuration
from spca_testing.models.grammar_model import GrammarModel
from spca_testing.models.server import ModelServer

SIZES = (0, 10, 100, 1000)
MANNERS = (
    "gently",
    "quickly",
    "twice",
    "blindly",
    "sideways",
    "again",
    "slowly",
    "firmly",
    "lightly",
    "last",
)
SAID = (
    "Put the red cube on the blue plate.",
    "Stack the green cube on it.",
    "Put it on the table.",
    "Put the blue cube to the left of the red plate.",
    "Touch the left plate.",
    "Put the red cube between the green plate and the red plate.",
    "Put every cube on a plate of its colour.",
    "Put the red cube next to the green plate.",
    "Build a tower of all cubes.",
    "Put all cubes on the table.",
)


def library(size: int, builtin: str) -> str:
    """At least `size` skills that resemble the builtin ones and each other: the hardest case for choosing."""
    names = [s.name for s in LibraryReader().signatures(builtin)]
    skills = read(builtin).functions
    parts = [builtin]
    for i in range(max(0, size - len(names))):
        name = names[i % len(names)]
        manner = f"{MANNERS[i // len(names) % 10]}_{i}"
        text = re.sub(rf"\bdef {name}\(", f"def {name}_{manner}(", skills[name].text)
        parts.append(text.replace('"""', f'"""{manner.partition("_")[0].capitalize()}: ', 1))
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def prompts(size: int) -> dict[str, int]:
    """Tokens of each kind of prompt with that many skills, for stack_01."""
    with closing(TabletopKit().build(RunOptions(level="stack_01"))) as table:
        builtin, task, seen = library_source(table.name, table.builtin_skills), table.task, table.sense()
    text = library(size, builtin) if size else ""
    kit = TabletopKit()
    vocabulary, actions = kit.vocabulary(), actions_of(kit.builtin().domains)
    asked = PlanRequest(attempt="1", task=task, observation=seen, skills=LibraryReader().signatures(text))

    def asking(request: PlanRequest, previous: Draft | None = None, no: Rejection | None = None) -> int:
        return _tokens(messages(request, previous, no, vocabulary, actions))

    draft = pddl.draft(str(messages(asked, None, None, vocabulary)[1]["content"]), task.title)
    failure = "step 2 set_on_cube(cube_red, cube_blue) failed, error: RuntimeError: it is not there"
    unsolvable = Rejection(critic="solve", message="Fast Downward proves that no plan exists")
    fell = tuple(f for f in seen.facts if f.args != ("cube_red", "table"))
    executed = Execution(
        steps=("1. lift_cube(cube_red, table): done", "2. set_on_cube(cube_red, cube_blue): failed"),
        predicted=("(on cube_red cube_blue)", "(not (on cube_red table))", "(not (clear cube_blue))"),
        seen=(*fell, Fact(predicate="on", args=("cube_red", "plate_red"))),
    )
    replan = asked.model_copy(update={"mode": "replan", "failure": failure, "executed": executed})
    schemas = tuple(a.schema for a in parse_domain(pddl.DOMAIN).actions.values())[1:4:2]
    steps = (
        Step(action="lift_cube", args=("cube_red", "table")),
        Step(action="set_on_cube", args=("cube_red", "cube_blue")),
    )
    plan = Plan(steps=steps, schemas=schemas, draft=draft)
    code = CodeRequest(attempt="2", task=task, observation=seen, plan=plan, library=text, failure=failure)
    coder = LanguageCoder(None)  # type: ignore[arg-type]
    shown = relevant(text, schemas, TOKEN_BUDGET)

    def coding(previous: str, rejection: str) -> list[Message]:
        examples = "" if previous else shown  # as the coder does
        return coder.messages(schemas, TABLETOP_API, examples, situation(code), previous, rejection)

    present = read(builtin).functions["stack_on"].text
    return {
        "library": tokens_of(text),
        "planner, fresh": asking(asked),
        "planner, reuse": asking(
            asked.model_copy(update={"mode": "reuse"}), Draft(domain=draft.domain, problem="")
        ),
        "planner, repair": asking(asked.model_copy(update={"mode": "repair"}), draft, unsolvable),
        "planner, replan": asking(replan, draft),
        "coder, first": _tokens(coding("", "")),
        "coder, repair": _tokens(coding(present, failure)),
    }


def on_levels() -> dict[str, list[int]]:
    """Tokens of the prompts that every level of the tabletop begins with; the coder writes two skills."""
    kit, text = TabletopKit(), library_source("tabletop", TabletopKit.builtin_skills)
    room = {level: kit.room(RunOptions(level=level)) for level in list_levels()}
    vocabulary, actions = kit.vocabulary(), actions_of(kit.builtin().domains)
    schemas = tuple(a.schema for a in parse_domain(pddl.DOMAIN).actions.values())[1:4:2]
    shown = relevant(text, schemas, TOKEN_BUDGET, actions=told_of(actions, vocabulary.words()))
    plan = Plan(steps=(), schemas=schemas, draft=Draft(domain="", problem=""))
    found: dict[str, list[int]] = {"planner, fresh": [], "planner, with skills": [], "coder, first": []}
    for level in list_levels():
        seen = nominal_observation(level).model_copy(update={"restated": True})
        known = {
            "attempt": "1",
            "task": task_of(load_level(level)),
            "observation": seen,
        }
        for name, skills in (
            ("planner, fresh", ()),
            ("planner, with skills", LibraryReader().signatures(text)),
        ):
            asked = PlanRequest.model_validate({**known, "skills": skills})
            found[name].append(_tokens(messages(asked, None, None, vocabulary, actions, "", room[level])))
        told = situation(CodeRequest.model_validate({**known, "plan": plan, "library": text}))
        coder = LanguageCoder(None)  # type: ignore[arg-type]
        found["coder, first"].append(_tokens(coder.messages(schemas, TABLETOP_API, shown, told, "", "")))
    return found


def in_a_conversation() -> dict[str, list[int]]:
    """Tokens of the first question for each of ten sentences, with the built-in skills.

    An example's domain is left out: that of the scripted model is most of the built-in one.
    """
    with ModelServer(GrammarModel(code_errs=False), models=MODELS) as server, TemporaryDirectory() as place:
        (llm := Path(place) / "llm.yaml").write_text(configuration(server.base_url))
        options = {"llm": str(llm), "library": str(Path(place) / "library"), "rehearse": "never"}
        with spca.session(report=False, proposer="openai", **options) as table:
            first = [(len(server.requests), table.do(s, Path(place) / s))[0] for s in SAID]
        asked = [server.requests[at].text for at in first]
    return {"planner, ten sentences": [tokens_of(re.sub(r"(?s)```pddl.*?```", "", a)) for a in asked]}


def _tokens(conversation: list[Message]) -> int:
    return sum(tokens_of(str(m["content"])) for m in conversation)


def main() -> None:
    """Measure and print."""
    columns = {size: prompts(size) for size in SIZES}
    table = Table("tokens with", *(f"{size} skills" for size in SIZES))
    for name in columns[SIZES[0]]:
        table.add_row(name, *(f"{columns[size][name]:,}" for size in SIZES))
    Console().print(table)
    table = Table("tokens on all levels", "least", "median", "most")
    for name, sizes in {**on_levels(), **in_a_conversation()}.items():
        table.add_row(name, *(f"{round(f(sizes)):,}" for f in (min, median, max)))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
