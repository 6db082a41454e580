"""`spca bench planbench`: plans in words, asked for or published, judged by the stack's validators."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import expecting, plain
from spca_planbench.asking import Verdict, Written, WrittenBench
from spca_planner.solver.judgement import Words
from spca_planner.solver.reading import read
from spca_planner.solver.validation import why_invalid

DOMAINS = ("blocksworld", "mystery_blocksworld")
_TASK = "task_1_plan_generation"
_CHECKOUT = "a checkout of github karthikv792/LLMs-Planning"
_ANALYSIS = "llm_planning_analysis"
"""The checkout's folder of configurations, instances and published answers."""
_ONE_SHOT = "_one_shot"
_UNMET = "after the last step"
"""How the validators begin where every step can be done, and the goal does not hold."""


class PlanTrial(Record):
    """A question by its number, or (number 0) all published answers of `by` to a kind of `prompt`."""

    domain: str
    by: str
    prompt: str
    number: int = 0

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.domain}/{self.number or f'{self.by}{self.prompt}'}"


class PlanBench(WrittenBench[PlanTrial]):
    """`count` of the answers of each published file; or, with `llm`, of the questions of each domain."""

    name = "planbench"
    grouped = ("domain", "by")

    repository: Path
    domains: tuple[str, ...] = DOMAINS

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        if not self.trials():
            raise InputError("holds no answers", where=str(self.repository), hint=_CHECKOUT)

    def trials(self) -> list[PlanTrial]:
        """See `Bench`."""
        if not self.llm:
            return published(self.repository)
        found = []
        for domain in self.domains:
            numbers = self.some(list(questions(self.repository, domain)))
            found += [PlanTrial(domain=domain, by="the model", prompt=_ONE_SHOT, number=n) for n in numbers]
        return found

    def group(self, trial: PlanTrial) -> tuple[str, ...]:
        """See `WrittenBench`."""
        return trial.domain, "the model asked" if trial.number else "all published"

    def report(self, done: Sequence[Done[PlanTrial, Written]], page: Page) -> None:
        """See `Bench`: each model and kind of prompt by itself, and where the verdicts differ."""
        page.heading("By model")
        table = self.table_by(
            done, ("domain", "by", "prompt"), lambda t: (t.domain, t.by, t.prompt[1:].replace("_", " "))
        )
        page.table(table.heads, table.rows)
        page.heading("Other verdicts")
        page.table(
            ("answers", "instance: here"), [(d.trial.key, why) for d in done for why in d.result.differ]
        )

    def run_trial(self, trial: PlanTrial, folder: Path) -> Written:
        """See `Bench`."""
        language = Language.of(self.repository, trial.domain)
        if not trial.number:
            return judged_again(language, self.some(_answers(self.repository, trial)))
        question = questions(self.repository, trial.domain)[trial.number]
        return self.ask(trial, folder, question, lambda answer: language.judge(answer, trial.number))


@dataclass(frozen=True)
class Language:
    """A domain, and how PlanBench tells it: actions and facts as sentences with gaps, things as phrases."""

    rules: str
    instances: Path
    actions: Mapping[str, str]
    facts: Mapping[str, str]
    things: Mapping[str, str]

    @staticmethod
    @lru_cache(maxsize=16)
    def of(repository: Path, domain: str) -> Language:
        """Read the description of a domain from the checkout. Raises InputError."""
        path = repository / _ANALYSIS / "configs" / f"{domain}.yaml"
        with expecting("the description of a domain", path):
            told = yaml.safe_load(plain(path).read_bytes())
            folder = repository / _ANALYSIS / "instances"
            rules = plain(folder / told["domain_file"]).read_text(encoding="utf-8")
            words = [told.get(name) or {} for name in ("actions", "predicates", "encoded_objects")]
            instances = folder / told["instance_dir"]
        return Language(rules, instances, *words)

    @property
    def has_words(self) -> bool:
        """True if plans in words can be read: every thing has a phrase of its own."""
        return bool(self.actions and self.things) and not any("{}" in p for p in self.things.values())

    def judge(self, answer: str, number: int) -> Verdict:
        """The verdict on a plan in words; what the critics say is in the words of the question."""
        steps = self.steps(answer)
        if not steps:
            return Verdict(0, "there is no step of a plan in it")
        why = self.why_wrong(steps, number)
        return Verdict(level(steps, why), self.in_words(why))

    def why_wrong(self, steps: tuple[Words, ...], number: int) -> str:
        """Return the validators' objection to a plan; empty if both accept it."""
        with expecting("a problem", path := self.instances / f"instance-{number}.pddl"):
            problem = path.read_text(encoding="utf-8")
        return why_invalid(read(self.rules, problem), steps)

    def steps(self, answer: str) -> tuple[Words, ...]:
        """The plan in an answer: the first action that each line names, after `[PLAN]` where that stands."""
        text = re.sub("[*`]", "", answer.lower()).rpartition("[plan]")[2].partition("[plan end]")[0]
        found = []
        for line in text.splitlines():
            matches = [
                (m.start(), name, m.groups()) for name, p in self._patterns.items() if (m := p.search(line))
            ]
            if matches:
                _, name, phrases = min(matches)
                found.append((name, *(self._names[" ".join(phrase.split())] for phrase in phrases)))
        return tuple(found)

    def in_words(self, text: str) -> str:
        """The validators' sentence with its actions and facts as the questions tell them."""

        def told(match: re.Match[str]) -> str:
            sentence = {**self.facts, **self.actions}.get(match[1], "{}{}{}{}")
            names = [name.strip() for name in (match[2] or "").split(",") if name.strip()]
            if sentence.count("{}") != len(names):
                return match[0]
            return f"\u201c{sentence.format(*(self.things.get(name, name) for name in names))}\u201d"

        return re.sub(r"([\w-]+)(?:\(([^()]*)\))?", told, text)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Things by their phrases, and by these without the words that all of them have."""
        common = set.intersection(*(set(phrase.split()) for phrase in self.things.values()))
        short = {
            " ".join(w for w in phrase.split() if w not in common): name
            for name, phrase in self.things.items()
        }
        return {**short, **{phrase: name for name, phrase in self.things.items()}}

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        """An action is its verb and its things, with a few small words between them."""
        phrases = (r"\s+".join(map(re.escape, p.split())) for p in sorted(self._names, key=len, reverse=True))
        thing = rf"\s+(?:the\s+)?({'|'.join(phrases)})\b"
        found = {}
        for name, sentence in self.actions.items():
            verb = r"[\s-]+".join(re.escape(w) for w in sentence.partition("{}")[0].split() if w != "the")
            between = r"(?:\s+\w+){0,5}?"
            found[name] = re.compile(rf"\b{verb}{thing}" + (between + thing) * (sentence.count("{}") - 1))
        return found


def level(steps: tuple[Words, ...], why: str) -> int:
    """Return the level that a plan reached (see `LEVELS`), by what the validators say of it."""
    if not why:
        return 3
    return 0 if not steps else 2 if why.startswith(_UNMET) else 1


def judged_again(language: Language, answers: list[dict[str, Any]]) -> Written:
    """Published plans by the stack's validators, beside the published verdicts."""
    reached, differ, reread = [], [], 0
    for answer in answers:
        steps = tuple(tuple(s.split()) for s in re.findall(r"\(([^()]+)\)", answer["extracted_llm_plan"]))
        why = language.why_wrong(steps, answer["instance_id"])
        reached.append(Verdict(level(steps, why)).reached)
        raw = answer.get("llm_raw_response") or ""
        marked = language.steps(raw) if language.has_words and "[PLAN]" in raw else ()
        again = language.why_wrong(marked, answer["instance_id"]) if marked and marked != steps else why
        reread += not again
        if bool(why) == answer["llm_correct"]:
            differ.append(f"{answer['instance_id']}: {why or 'valid'}")
    levels = tuple(map(sum, zip(*reached, strict=True)))
    return Written(
        answers=len(answers), first=levels, last=levels, published=sum(a["llm_correct"] for a in answers),
        reread=reread if language.has_words else None, differ=tuple(differ),
    )  # fmt: skip


@lru_cache(maxsize=1)
def published(repository: Path) -> list[PlanTrial]:
    """The files of answers that have plans and verdicts, but for those whose right answer is no plan."""
    found = []
    for path in sorted((repository / _ANALYSIS / "results").glob(f"*/*/{_TASK}*.json")):
        domain, by = path.parent.parent.name, path.parent.name
        trial = PlanTrial(domain=domain, by=by, prompt=path.stem.removeprefix(_TASK) or _ONE_SHOT)
        told = repository / _ANALYSIS / "configs" / f"{domain}.yaml"
        if told.is_file() and not domain.startswith("unsolvable") and _answers(repository, trial):
            found.append(trial)
    return found


def _answers(repository: Path, trial: PlanTrial) -> list[dict[str, Any]]:
    name = _TASK + trial.prompt.removeprefix(_ONE_SHOT)
    path = repository / _ANALYSIS / "results" / trial.domain / trial.by / f"{name}.json"
    needed = {"llm_correct", "extracted_llm_plan"}
    with expecting("a file of answers", path):
        found = [a for a in json.loads(plain(path).read_bytes())["instances"] if needed <= a.keys()]
    return found


@lru_cache(maxsize=4)
def questions(repository: Path, domain: str) -> Mapping[int, str]:
    """The questions of a domain by their numbers, each with one solved example. Raises InputError."""
    path = repository / "plan-bench" / "prompts" / domain / f"{_TASK}.json"
    if not path.is_file() or not Language.of(repository, domain).has_words:
        raise InputError(f"no questions in words for '{domain}'", str(path), hint=" or ".join(DOMAINS))
    with expecting("a file of questions", path):
        found = {a["instance_id"]: a["query"] for a in json.loads(plain(path).read_bytes())["instances"]}
    return found
