"""Drafts written by a language model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from spca_core.observation import Observation
from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.chat import ChatModel, Message, Role
from spca_core.ports.proposer import Misfit, ModelError
from spca_core.ports.vocabulary import ObservableWord
from spca_core.skill import SkillSignature

_MOST_SKILLS = 40
_MOST_SCHEMAS = 6000
"""Characters of PDDL schemas of skills in one prompt."""
_MOST_FACTS = 200
_MOST_SENTENCES = 12
_MOST_STEPS = 40
_LONGEST = {"pddl": 16_000, "failure": 1500, "rejection": 800, "sentence": 300, "doc": 240, "task": 2000}
"""Characters of each part of a prompt: it stays bounded whatever the library, the scene and the history."""

_FENCE = re.compile(r"^\s*```[\w-]*\n(.*?)\n?```\s*$", re.DOTALL)


_PDDL: dict[str, JsonValue] = {"format": "pddl"}
"""For servers that enforce a grammar."""


class WholeDraft(BaseModel):
    """What a model is asked for: both files as text."""

    model_config = ConfigDict(extra="forbid")
    domain: str = Field(
        description="the whole PDDL domain, from (define (domain …) to the last parenthesis",
        json_schema_extra=_PDDL,
    )
    problem: str = Field(description="the whole PDDL problem", json_schema_extra=_PDDL)
    remark: str = Field(default="", description="one sentence on what you changed or assumed")


class ProblemDraft(BaseModel):
    """The same where the domain is settled, unless it cannot express the task."""

    model_config = ConfigDict(extra="forbid")
    problem: str = Field(
        default="",
        description="the whole PDDL problem; empty if the domain does not fit",
        json_schema_extra=_PDDL,
    )
    this_domain_does_not_fit_because: str = Field(
        default="", description="empty, or what the task needs that the domain cannot express"
    )
    remark: str = Field(default="", description="one sentence on what you assumed")


class LanguageProposer:
    """A `PlanProposer` that asks a chat model in a given role.

    The modes are those of the specification of the Plan stage.

    `words` is the vocabulary of the environment's observations; `schemas` gives the PDDL of known actions by
    name.
    """

    def __init__(
        self,
        chat: ChatModel,
        role: Role = "planner_big",
        words: Sequence[ObservableWord] = (),
        schemas: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._chat, self._role = chat, role
        self._words, self._schemas = words, schemas
        self.name = f"openai:{role}"

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """The model's draft; in mode `reuse` with the domain of `previous`, untouched.

        Raises ModelError and Misfit.
        """
        reuse = request.mode == "reuse" and previous is not None
        schema: type[BaseModel] = ProblemDraft if reuse else WholeDraft
        asked = messages(request, previous, rejection, self._words, self._schemas())
        answer = self._chat.complete(self._role, asked, schema).parsed
        if isinstance(answer, ProblemDraft) and previous is not None:
            if why := answer.this_domain_does_not_fit_because.strip():
                raise Misfit(_clip(" ".join(why.split()), "rejection"))
            return Draft(domain=previous.domain, problem=_bare(answer.problem), remark=answer.remark)
        if isinstance(answer, WholeDraft):
            return Draft(domain=_bare(answer.domain), problem=_bare(answer.problem), remark=answer.remark)
        raise ModelError("the model gave no draft", kind="invalid")


def messages(
    request: PlanRequest,
    previous: Draft | None,
    rejection: Rejection | None,
    words: Sequence[ObservableWord] = (),
    schemas: Mapping[str, str] | None = None,
) -> list[Message]:
    """The conversation that is sent: rules, then one request with everything in it."""
    skills = relevant_skills(request, previous)
    question = _templates().get_template("planner_request.j2")
    return [
        {"role": "system", "content": _templates().get_template("planner_system.j2").render()},
        {
            "role": "user",
            "content": question.render(
                mode=request.mode if previous is not None else "fresh",
                task=_clip(request.task.text, "task"),
                objects=request.observation.objects,
                facts=_facts(request.observation),
                sentences=[_clip(s, "sentence") for s in request.observation.sentences[:_MOST_SENTENCES]],
                words=words,
                skills=list(_described(skills, schemas or {})),
                hidden=len(request.skills) - len(skills),
                domain=_clip(previous.domain, "pddl") if previous else "",
                problem=_clip(previous.problem, "pddl") if previous else "",
                failure=_clip(request.failure, "failure"),
                executed=_executed(request),
                critic=rejection.critic if rejection else "",
                rejection=_clip(rejection.message, "rejection") if rejection else "",
            ),
        },
    ]


def _described(skills: Sequence[SkillSignature], schemas: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """Each skill for a prompt, with the PDDL of its action as long as there is room."""
    room = _MOST_SCHEMAS
    for skill in skills:
        schema = schemas.get(skill.name.lower(), "")
        pddl = schema if len(schema) <= room else ""
        room -= len(pddl)
        yield {**skill.model_dump(), "doc": _clip(" ".join(skill.doc.split()), "doc"), "pddl": pddl}


def _executed(request: PlanRequest) -> dict[str, list[str]]:
    """How the last plan went: the steps, what they should have brought about, what was seen."""
    executed = request.executed
    if executed is None:
        return {}
    return {
        "steps": [_clip(s, "sentence") for s in executed.steps[:_MOST_STEPS]],
        "predicted": list(executed.predicted[:_MOST_FACTS]),
        "seen": [str(fact) for fact in executed.seen[:_MOST_FACTS]],
    }


def relevant_skills(request: PlanRequest, previous: Draft | None) -> list[SkillSignature]:
    """The skills to list: those of the last domain, then those that share most words with the task."""
    if len(request.skills) <= _MOST_SKILLS:
        return list(request.skills)
    task = _stems(request.task.text)
    used = previous.domain.lower() if previous else ""

    def weight(skill: SkillSignature) -> tuple[bool, int]:
        return f"(:action {skill.name.lower()}" in used, len(task & _stems(f"{skill.name} {skill.doc}"))

    chosen = sorted(request.skills, key=weight, reverse=True)[:_MOST_SKILLS]
    return [s for s in request.skills if s in chosen]


def _stems(text: str) -> set[str]:
    """Words cut to five letters, so that "stacked" meets "stack"."""
    return {word[:5] for word in re.findall(r"[a-z]{3,}", text.lower().replace("_", " "))}


def _facts(observation: Observation) -> Sequence[str]:
    atoms = [f"({' '.join((f.predicate, *f.args))})" for f in observation.facts]
    more = [f"and {len(atoms) - _MOST_FACTS} more"] if len(atoms) > _MOST_FACTS else []
    return atoms[:_MOST_FACTS] + more


def _bare(text: str) -> str:
    """PDDL without a Markdown fence around it."""
    fenced = _FENCE.match(text)
    return (fenced.group(1) if fenced else text).strip() + "\n"


def _clip(text: str, part: str) -> str:
    limit = _LONGEST[part]
    return text if len(text) <= limit else text[:limit] + " (shortened)"


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quoted"] = _quoted
    return environment


def _quoted(value: object) -> str:
    """Data as JSON, in which no text can close the block that marks it as data."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
