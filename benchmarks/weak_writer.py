"""What becomes of a writer that is often wrong in known ways: what is refused, whom it blames, what is kept.

Run it from the checkout:  .venv/bin/python benchmarks/weak_writer.py --share 0.4 --rehearse auto

A scripted model plans and writes skills for levels of cubes and plates, each level after the other with one
library that is empty at first. An answer is wrong by chance, drawn by seed; every way to be wrong is one that
models were seen to take. Because the right answer is known, it is known of each refusal and of each blame
whether it is just.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from spca.blame import Blame
from spca.stages import blame_of
from spca_coder.source import read, same_code
from spca_core.plan import CodeResult, Draft, DraftRecord, PlanResult, Rehearsed
from spca_core.skill import python_name
from spca_planner.pddl.syntax import parse_domain
from spca_testing.models.behaviours import Behaviour
from spca_testing.models.fallible_model import SKILLS, FallibleModel, drafted, written
from spca_testing.models.model_run import ModelRun, run_with_model
from spca_testing.models.server import Seen
from spca_testing.pddl import DOMAIN

LEVELS = (
    "touch_02", "touch_10", "pickup_02", "pickup_03", "pick_and_place_01", "pick_and_place_05",
    "pick_and_place_12", "stack_01", "stack_02", "stack_03",
)  # fmt: skip
Edit = tuple[str, str]
PLANS: dict[str, Edit] = {
    "an object that is not there": ("(:objects ", "(:objects cube_golden - cube "),
    "a fact of the start is missing": ("(hand_empty) (on", "(on"),
    "a delete effect is missing": (" (not (on ?cube ?support))", ""),
    "an effect that does not come about": (
        "(and (on ?cube ?plate)",
        "(and (on ?cube ?plate) (not (clear ?cube))",
    ),
    "nothing has to be held": (":precondition (holding ?cube)\n", ":precondition (clear ?cube)\n"),
    "another goal": ("(:goal (on cube_red", "(:goal (on cube_green"),
    "a parenthesis is missing": ("(:goal ", "(:goal"),
}
"""Ways to be wrong in a draft: a text and what stands in its place, in the domain or in the problem."""
CODE: dict[str, Edit] = {
    "no Python": ("):\n", ")\n"),
    "a forbidden import": ("def ", "import os\n\n\ndef "),
    "it stops above": ("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)"),
    "another place": (r"ctx.spots_on(plate)", "ctx.spots_on_table()"),
    "it does not close": ("        ctx.close()\n", ""),
    "it does not let go": ("        ctx.open(0.06)\n", ""),
    "an index that is not there": (
        "for grasp in ctx.grasps(cube):",
        "for grasp in ctx.grasps(cube)[99:][0]:",
    ),
}
SOUND = {name: f.text for name, f in read(SKILLS.read_text()).functions.items()}


class WeakWriter(FallibleModel):
    """Good answers, but for a `share` of them; `plans` and `codes` say of each what is wrong with it."""

    def __init__(self, share: float, seed: str) -> None:
        self._share, self._random = share, random.Random(seed)
        self.plans: list[str] = []
        self.codes: list[str] = []
        self._whole = True
        super().__init__(planner=repeat(self._plan), coder=repeat(self._code))

    def __call__(self, seen: Seen) -> Behaviour:
        """See `FallibleModel`. A domain that is reused is not sent back, so nothing in it can be wrong."""
        schema = seen.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        self._whole = "domain" in schema.get("properties", {"domain": {}})
        return super().__call__(seen)

    def _fault(self, text: str, kinds: dict[str, Edit]) -> str:
        """A way to be wrong that is possible in this text, or none by chance."""
        possible = [kind for kind, (old, _) in kinds.items() if old in text]
        return self._random.choice(possible) if possible and self._random.random() < self._share else ""

    def _plan(self, draft: Draft) -> Behaviour:
        kind = self._fault(draft.domain + draft.problem if self._whole else draft.problem, PLANS)
        self.plans.append(kind)
        if kind:
            old, new = PLANS[kind]
            texts = {"domain": draft.domain.replace(old, new), "problem": draft.problem.replace(old, new)}
            draft = draft.model_copy(update=texts)
        return drafted(draft)

    def _code(self, source: str) -> Behaviour:
        kind = self._fault(source, CODE)
        self.codes.append(kind)
        return written(source.replace(*CODE[kind], 1) if kind else source)


def history(run: ModelRun) -> Iterator[PlanResult | CodeResult | Blame]:
    """What the stages gave and who was blamed, in order."""
    paths = [p for p in run.folder.glob("round_*/*_*.json") if p.stem.rpartition("_")[2].isdigit()]
    for path in sorted(paths, key=lambda p: (int(p.stem.rpartition("_")[2]), p.stem.startswith("blame"))):
        kind, text = path.stem.rpartition("_")[0], path.read_bytes()
        if kind == "plan":
            yield PlanResult.model_validate_json(text)
        elif kind == "code":
            yield CodeResult.model_validate_json(text)
        elif kind == "blame":
            yield Blame.model_validate_json(text)
        elif kind == "rehearsal" and (rehearsed := Rehearsed.model_validate_json(text)).status == "rejected":
            yield blame_of(rehearsed)


def unsound(library: str) -> set[str]:
    """The skills of a library that are not as they should be."""
    found = read(library).functions
    return {name for name, f in found.items() if not same_code(SOUND.get(name, ""), f.text)}


def judge(run: ModelRun, model: WeakWriter, count: Counter[str], told: list[str]) -> None:
    """Count refusals and blames, just and unjust."""
    plans, codes, plan_is_wrong, library = iter(model.plans), iter(model.codes), "", ""
    for event in history(run):
        if isinstance(event, Blame):
            wrong = unsound(library) & {python_name(s) for s in event.suspects}
            just = bool(wrong) if event.suspects else bool(plan_is_wrong)
            count[f"{'skills' if event.suspects else 'plan'} blamed {'justly' if just else 'UNJUSTLY'}"] += 1
            if not just:
                told.append(f"blamed {event.suspects or 'the plan'}: {event.plan_failure}")
            continue
        part, answers = ("plan", plans) if isinstance(event, PlanResult) else ("code", codes)
        for draft in event.drafts:
            if not (draft.draft if isinstance(draft, DraftRecord) else draft.code):
                count[f"{part} not asked for, as the same was asked before"] += 1
                continue
            fault = next(answers)
            refused = draft.rejection.message if hasattr(draft.rejection, "message") else draft.rejection
            count[f"{part} {'wrong' if fault else 'right'}, {'refused' if refused else 'accepted'}"] += 1
            if refused and not fault:
                told.append(f"a right {part} was refused: {refused}")
            if not refused and isinstance(event, PlanResult):
                plan_is_wrong = fault
        if isinstance(event, CodeResult):
            library = event.library


def main(
    share: Annotated[float, typer.Option(help="Of the answers that are wrong.")] = 0.4,
    rehearse: Annotated[str, typer.Option(help="auto, always or never.")] = "auto",
    seeds: Annotated[int, typer.Option(help="Libraries that are begun.")] = 2,
) -> None:
    """Print what was solved, refused, blamed and trusted."""
    count: Counter[str] = Counter()
    told: list[str] = []
    trusted: Counter[str] = Counter()
    for seed in range(seeds):
        with TemporaryDirectory() as place:
            for level in LEVELS:
                model = WeakWriter(share, f"{seed}/{level}")
                options = {"rehearse": rehearse, "preset": "shuffled", "seed": 100 + seed}
                run = run_with_model(level, model, Path(place), **options)
                count["levels solved" if run.result.success else "levels not solved"] += 1
                count["rounds"] += run.result.rounds
                if not run.result.success:
                    told.append(f"{level} was not solved: {run.result.reason}")
                before = len(told)
                judge(run, model, count, told)
                told[before:] = [f"{level}, library {seed}: {line}" for line in told[before:]]
                for path in (Path(place) / "library" / "skills").rglob("*.py"):
                    trusted.update(f"{level} {name}" for name in unsound(path.read_text()))
                for path in (Path(place) / "library").rglob("domains/**/*.pddl"):
                    actions, right = (parse_domain(text).actions for text in (path.read_text(), DOMAIN))
                    trusted.update(
                        f"{level} {path.stem} {a.name}"
                        for a in actions.values()
                        if a.text != right[a.name].text
                    )
    console = Console(width=110, highlight=False)
    for name, number in sorted(count.items()):
        console.print(f"{number:4d}  {name}")
    console.print(f"{sum(trusted.values()):4d}  unsound, trusted after a level {dict(trusted) or ''}")
    console.print(
        f"{count['levels solved'] / (seeds * len(LEVELS)):.1%} of the levels solved within five rounds"
    )
    for line in told:
        console.print(f"- {' '.join(line.split())[:400]}")


if __name__ == "__main__":
    typer.run(main)
