"""The Code stage: gives every action of a plan a skill, by drafts that are checked before they are used.

The task's text comes from outside: a coder sees it shortened and made harmless.
"""

from __future__ import annotations

import ast
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from spca_coder.source import Function, Source, as_present, header, missing, read
from spca_core.errors import one_line
from spca_core.log import log
from spca_core.plan import PLAN_AT_FAULT, ActionSchema, CodeRecord, CodeRequest, CodeResult
from spca_core.ports.proposer import CodeProposer, ModelError, PlanAtFault
from spca_core.skill import CtxApi, python_name
from spca_core.stopping import Stop, never
from spca_sandbox.limits import Limits

BUDGET = 5
TOKEN_BUDGET = 240
HOW_TO_CONFIGURE = (
    "configure a model for the role 'coder' (in llm.yaml or SPCA_LLM_CODER_MODEL), or "
    "add the skill to the library"
)

Kind = Literal["first", "semantic", "syntax"]
CodeStatus = Literal["complete", "missing", "exhausted", "cancelled"]


_MARKS = str.maketrans({"`": "'", "<": "(", ">": ")"})  # they could end the place of a text in a prompt
_LONGEST_LINE = 300
_SENTENCES = 20
_MAIN = 3
"""Number of first sentences told of a scene whose facts say the rest: what is there and rests on what."""
_STEPS = 40


class DraftingCoder:
    """Implements the port `Coder`.

    Only missing skills and the request's suspects are written, nothing else changes.

    `proposer` writes the drafts (None: there is no model); `budget` bounds the drafts of a request,
    `token_budget` the existing skills shown to the proposer. `actions` says what each skill's action needs
    and brings, as far as that is known.
    """

    def __init__(
        self,
        proposer: CodeProposer | None,
        api: CtxApi,
        budget: int = BUDGET,
        limits: Limits | None = None,
        token_budget: float = TOKEN_BUDGET,
        actions: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._proposer, self._api = proposer, api
        self._budget, self._token_budget = budget, token_budget
        self._limits, self._actions = limits or Limits(), actions

    def complete(self, request: CodeRequest, cancelled: Stop = never) -> CodeResult:
        """Return the library with a skill for every action; unchanged unless the status is `complete`.

        Raises BudgetExhausted when the model's budget of the level is used up, InputError for a library that
        is not Python or a sandbox below the level asked for.
        """
        lacking = missing(request.plan, request.library)
        wanted = (*lacking, *self._suspects(request, lacking))
        if not wanted:
            return self._result(request, "complete")
        if self._proposer is None:
            return self._result(request, "missing", message=_no_proposer(lacking, wanted, request.failure))
        return self._draft(self._proposer, wanted, request, cancelled)

    def _suspects(self, request: CodeRequest, lacking: Sequence[ActionSchema]) -> list[ActionSchema]:
        known = {s.name for s in lacking}
        names = {python_name(n) for n in request.suspects}
        found = [s for s in request.plan.schemas if s.name not in known and python_name(s.name) in names]
        return [as_present(schema, request.library) for schema in found]

    def _draft(
        self, proposer: CodeProposer, wanted: tuple[ActionSchema, ...], request: CodeRequest, cancelled: Stop
    ) -> CodeResult:
        from spca_coder.critic import CodeCritic  # a run whose skills are all there drafts none

        names = {python_name(s.name) for s in wanted}
        source = read(request.library)  # what failed is, as it is, the first draft, so to say
        present = "\n\n".join(source.module(name) for name in source.skills if name in names)
        known = set(read(present).functions)
        most = 0 if names <= known else self._token_budget  # what is to be rewritten is its own example
        shown = relevant(request.library, wanted, most, names, known, self._actions())
        told = situation(request)
        # What is called like its kind (the table) is there on every table: a skill may name it.
        objects = [name for name, kind in request.observation.objects.items() if name != kind]
        drafts: list[CodeRecord] = []
        code, rejection = present, request.failure
        kind: Kind = "semantic" if request.failure else "first"
        with CodeCritic(self._api, self._limits) as critic:
            while len(drafts) < self._budget:
                if cancelled():
                    return self._result(request, "cancelled", drafts=tuple(drafts), message="cancelled")
                began = time.monotonic()
                judged = None
                try:
                    code = proposer.write(wanted, self._api, shown, told, code, rejection)
                    judged = critic.judge(code, wanted, request.library, objects)
                    rejection = judged.rejection
                    record = CodeRecord(kind=kind, code=code, rejection=rejection)
                except PlanAtFault as error:
                    message = f"{PLAN_AT_FAULT}{error}"
                    drafts.append(CodeRecord(kind=kind, code="", rejection=message))
                    return self._result(request, "exhausted", drafts=tuple(drafts), message=message)
                except ModelError as error:
                    record = CodeRecord(kind=kind, code="", rejection=f"the model: {error}")
                    if error.answered:  # the same request would get the same answer
                        rejection = f"{request.failure}\nThe last answer was of no use: {error}".strip()
                drafts.append(record.model_copy(update={"seconds": time.monotonic() - began}))
                draft = {"number": len(drafts), "kind": kind, "rejection": record.rejection}
                log.info("code draft", draft)
                if judged is not None and not judged.rejection:
                    return self._result(
                        request,
                        "complete",
                        library=judged.library,
                        written=judged.written,
                        drafts=tuple(drafts),
                    )
                if judged is not None:
                    kind = "syntax"
        last = drafts[-1].rejection if drafts else "no draft was allowed"
        message = f"no usable code for {_names(wanted)} after {len(drafts)} drafts; the last: {last}"
        return self._result(request, "exhausted", drafts=tuple(drafts), message=message)

    @staticmethod
    def _result(request: CodeRequest, status: CodeStatus, **values: Any) -> CodeResult:
        return CodeResult(attempt=request.attempt, status=status, **{"library": request.library, **values})


def _no_proposer(lacking: Sequence[ActionSchema], wanted: Sequence[ActionSchema], failure: str) -> str:
    if lacking:
        return f"no skill for {_names(lacking)}, and no model to write one: {HOW_TO_CONFIGURE}"
    return f"{_names(wanted)} failed ({failure}), and there is no model to repair it: {HOW_TO_CONFIGURE}"


def _names(schemas: Sequence[ActionSchema]) -> str:
    return ", ".join(f"`{header(s).removeprefix('def ').removesuffix(':')}`" for s in schemas)


def situation(request: CodeRequest) -> str:
    """Return task, scene and plan in plain lines, bounded in length. Nothing in it is an instruction."""
    steps = request.plan.steps
    lines = [f"Task: {_line(request.task.text)}", "Scene:"]
    seen = request.observation
    said = seen.sentences[: _MAIN if seen.restated else _SENTENCES]
    lines += [f"- {_line(s)}" for s in dict.fromkeys((*said, *seen.remarks[:_SENTENCES]))]
    lines.append("Plan:")
    lines += [f"{i + 1}. {step}" for i, step in enumerate(steps[:_STEPS])]
    lines += [f"and {len(steps) - _STEPS} more steps"] * (len(steps) > _STEPS)
    used = "".join(schema.pddl for schema in request.plan.schemas)
    own = [(form, why) for form, why in request.plan.draft.said if form.split()[0] in used]
    lines += [f"In the plan, {_line(f'{form}: {why}')}" for form, why in own[:_STEPS]]
    return "\n".join(lines)


def _line(text: str) -> str:
    """Return the text as one line of bounded length that ends no part of a prompt."""
    line = one_line(text).translate(_MARKS)
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"


CHARACTERS_PER_TOKEN = 3.5
"""Number of characters per token, a cautious one for code: the common tokenisers need 3.5-4.5."""
_NAME_WEIGHT, _LITERAL_WEIGHT = 3.0, 2.0
_LOGIC = ("and", "or", "not", "imply", "forall", "exists", "when", "increase")
_SPARE_WORDS = frozenset((
    "a", "an", "and", "are", "at", "be", "by", "for", "from", "if", "in", "is", "it", "its", "of", "on", "or",
    "that", "the", "to", "with", "action", "define",
))  # fmt: skip


def tokens_of(text: str) -> int:
    """Estimate how many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def relevant(
    library: str,
    schemas: Sequence[ActionSchema],
    token_budget: float,
    without: Collection[str] = (),
    known: Collection[str] = (),
    actions: Mapping[str, str] | None = None,
) -> str:
    """Return the source of the skills most like the wanted actions, with the constants that they use.

    Of the helpers that they call, which a new skill may call as well, only the first lines are shown. Never
    longer than the budget. The skills named in `without` are left out, and what is in `known`, which the
    proposer sees anyway. The likeness is that of words (of names, documentation and PDDL) and of what is
    needed and changed, where `actions` says it of a skill; what is rare in the library counts more (inverse
    document frequency).
    """
    source = read(library)
    chosen: set[str] = set()
    shown = ""
    for name in _ranked(source, schemas, without, actions or {}):
        longer = _shown(source, {*chosen, name} - set(known), set(known))
        if tokens_of(longer) <= token_budget:
            chosen.add(name)
            shown = longer
    return shown


def _shown(source: Source, skills: set[str], known: set[str]) -> str:
    """Return the skills as they are, and above them the helpers and the constants that they use."""
    parts = dict[str, None]()
    patterns = []
    for home in (source.modules or {"": source}).values():
        own = {name for name in skills if source.home(name) is home}
        used = {name for skill in own for name in home.functions[skill].uses}
        parts[home.excerpt(set(), used & set(home.constants))] = None
        helpers = [f for n, f in home.functions.items() if n in used - skills - known and not f.is_skill]
        parts |= dict.fromkeys(map(_first_line, helpers))
        patterns.append(home.excerpt(own, set()))
    return "\n".join(part for part in (*parts, *patterns) if part)


def _first_line(helper: Function) -> str:
    taken = ast.unparse(ast.parse(helper.text).body[0].args)  # type: ignore[attr-defined]
    return f"def {helper.name}({taken}): {json.dumps(' '.join(helper.doc.split())) if helper.doc else '...'}"


def _ranked(
    source: Source, schemas: Sequence[ActionSchema], without: Collection[str], actions: Mapping[str, str]
) -> list[str]:
    skills = [f for f in source.functions.values() if f.is_skill and f.name not in without]
    words = {f.name: _skill_words(f, actions.get(f.name, "")) for f in skills}
    frequency = Counter(word for bag in words.values() for word in bag)
    wish = Counter(word for s in schemas for word in _schema_words(s))

    def score(function: Function) -> float:
        bag = words[function.name]
        rare = {w: math.log(1 + len(skills) / frequency[w]) for w in bag if w in wish}
        shared = sum(wish[w] * bag[w] * weight for w, weight in rare.items())
        return shared / (1 + math.log(1 + len(bag)))

    scores = {f.name: score(f) for f in skills}
    return sorted((n for n, s in scores.items() if s > 0), key=lambda n: (-scores[n], n))


def _skill_words(function: Function, action: str) -> dict[str, float]:
    bag = dict.fromkeys(_words(" ".join((function.doc, *function.parameters[1:]))), 1.0)
    bag |= dict.fromkeys(_words(function.name), _NAME_WEIGHT)
    things = f"{len(function.parameters) - 1} things"
    return bag | dict.fromkeys((*_literals(action), things), _LITERAL_WEIGHT)


def _schema_words(schema: ActionSchema) -> set[str]:
    words = _words(f"{schema.name} {schema.pddl}")
    return {*words, *_literals(schema.pddl), f"{len(schema.parameters)} things"} if words else set()


def _literals(action: str) -> list[str]:
    """Return what an action needs and brings, by predicates, from its PDDL or from what is told of it."""
    needs, *brings = re.split(r":effect|\bbrings\b", action.lower(), maxsplit=1)
    return [
        f"{part} {'not ' * bool(no)}{name}"
        for part, text in (("needs", needs), *(("brings", b) for b in brings))
        for no, name in re.findall(r"(\(not\s*)?\(([a-z][\w-]*)", text)
        if name not in _LOGIC
    ]


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"[a-z]+", text.lower()) if len(w) > 1 and w not in _SPARE_WORDS]
