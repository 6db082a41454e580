"""Levels solved by a fallible coder whose failed attempts cannot be undone, with and without rehearsals.

Run it from the checkout:  .venv/bin/python benchmarks/rehearsal_coder.py --levels 12 --out /tmp/coder

A scripted model plans and writes skills like the built-in ones, without their checks of their own result.
Its first code on each level has one mechanical fault (`spca_benchmarks.mutants`), drawn by seed; asked to
repair a skill, it answers well. What a failed attempt has done to the world stays done. The same faults are
used with and without. Results go to `OUT/results.jsonl`; levels in it are passed over.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from pathlib import Path

import libcst as cst

from spca_benchmarks import mutants
from spca_coder.source import read
from spca_referee.level import list_levels
from spca_testing.models.behaviours import Behaviour, Say
from spca_testing.models.fallible_model import CODER, written
from spca_testing.models.grammar_model import GrammarModel
from spca_testing.models.model_run import run_with_model
from spca_testing.models.server import Seen


class FaultyCoder:
    """The grammar's model, whose first code of a run has one fault."""

    def __init__(self, seed: int) -> None:
        self._model = GrammarModel(plan_errs=False, code_errs=False)
        self._random = random.Random(seed)
        self.fault = ""

    def __call__(self, seen: Seen) -> Behaviour:
        answer = self._model(seen)
        if seen.body["model"] != CODER or not isinstance(answer, Say):
            return answer
        code = once(answer.text.strip().removeprefix("```python").removesuffix("```"))
        if self.fault:
            return written(apart(code))
        code = mutants.base(code, mutants.SILENT).code
        found = [
            (kind, site)
            for kind in mutants.RULES
            for site in range(len(mutants.sites(code, kind, mutants.CHECKED)))
        ]
        kind, site = self._random.choice(found)
        self.fault = f"{kind} {site}"
        return written(apart(mutants.mutant(code, kind, site, mutants.CHECKED)))


def once(code: str) -> str:
    """The code without what it defines again."""
    module = cst.parse_module(code)
    kept = {module.code_for_node(statement).strip(): statement for statement in module.body}
    return module.with_changes(body=list(kept.values())).code


def apart(code: str) -> str:
    """The same, each skill with helpers of its own, so that one can be repaired alone."""
    source = read(code)
    parts = list(dict.fromkeys(source.constants.values()))
    for skill in (name for name in source.functions if not name.startswith("_")):
        own, todo = [], [skill]
        while todo:
            name = todo.pop()
            own.append(name)
            todo += [
                n
                for n in source.functions
                if n in source.functions[name].uses and n[0] == "_" and n not in own
            ]
        for name in dict.fromkeys(own):
            text = source.functions[name].text
            parts.append(re.sub(r"\b(_[a-z]\w*)\b(?=\()", rf"\1_{skill}", text))
    return "\n\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, default=12)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results = options.out / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    known = {(line["level"], line["rehearse"]) for line in lines}
    names = [n for n in list_levels() if n.startswith(("pick", "stack", "touch"))]
    chosen = random.Random(0).sample(names, min(options.levels, len(names)))
    for number, level in enumerate(chosen):
        for rehearse in ("never", "auto"):
            if (level, rehearse) in known:
                continue
            model = FaultyCoder(number)
            run = run_with_model(
                level, model, Path(tempfile.mkdtemp()), preset="shuffled", seed=number,
                rewind=False, rehearse=rehearse,
            )  # fmt: skip
            result = run.result
            usage = [u for role, u in result.usage.items() if role == "coder"]
            line = {
                "level": level, "rehearse": rehearse, "fault": model.fault, "outcome": result.outcome.value,
                "attempts": result.attempts, "rejected": result.rehearsal.rejected,
                "rehearsal_s": result.rehearsal.seconds, "wall": result.wall,
                "coder_tokens": sum(u.input_tokens + u.output_tokens for u in usage), "reason": result.reason,
            }  # fmt: skip
            lines.append(line)
            with results.open("a") as stream:
                stream.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
    for rehearse in ("never", "auto"):
        own = [line for line in lines if line["rehearse"] == rehearse]
        solved = sum(line["outcome"] == "success" for line in own)
        attempts = sum(line["attempts"] for line in own)
        print(f"rehearse {rehearse}: {solved} of {len(own)} solved, {attempts} attempts")


if __name__ == "__main__":
    main()
