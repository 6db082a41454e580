"""A language model that is competent but fallible: it reads its requests, and errs where the script says so.

Serve it with `spca_testing.models.server.ModelServer(FallibleModel(...), models=MODELS)`; `configuration` is
what a run needs to ask it. The faults of a role are used up one request after the other; after them, its
answers are good.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Union

from spca_coder.source import read
from spca_core.plan import Draft
from spca_referee.level import list_levels, load_level
from spca_testing import pddl
from spca_testing.models.behaviours import Behaviour, Say, say_json
from spca_testing.models.server import Seen

BIG, SMALL, CODER, EYES = "test-big", "test-small", "test-coder", "test-eyes"
MODELS = (BIG, SMALL, CODER, EYES)
SKILLS = Path(__file__).with_name("skills.py")

PlannerFault = Union[Behaviour, Callable[[Draft], Behaviour]]  # noqa: UP007 - evaluated
"""Something else than the good draft, or made from it."""
CoderFault = Union[Behaviour, Callable[[str], Behaviour]]  # noqa: UP007
"""Something else than the good source text, or made from it."""


def configuration(base_url: str, **settings: object) -> str:
    """A model configuration (YAML) for all roles; `settings` as in `spca_llm.config.ModelConfig`."""
    defaults = {"base_url": base_url, "attempts": 3, "wait_s": 0.01, **settings}
    budget = defaults.pop("budget", {})
    models = zip(("planner_big", "planner_small", "coder", "vision"), MODELS, strict=True)
    roles = {role: {"model": model} for role, model in models}
    return json.dumps({"defaults": defaults, "roles": roles, "budget": budget})  # JSON is YAML


class FallibleModel:
    """A script for a `ModelServer`. `planner`, `coder` and `vision` are what goes wrong first."""

    def __init__(
        self,
        planner: Iterable[PlannerFault] = (),
        coder: Iterable[CoderFault] = (),
        vision: Iterable[Behaviour] = (),
    ) -> None:
        self._planner, self._coder, self._vision = iter(planner), iter(coder), iter(vision)
        self._skills = read(SKILLS.read_text())

    def __call__(self, seen: Seen) -> Behaviour:
        """The answer to one request."""
        model = seen.body["model"]
        if model in (BIG, SMALL):
            good = self._draft(seen.text)
            fault = next(self._planner, drafted)
            return only_asked(fault(good) if callable(fault) else fault, seen)
        if model == CODER:
            source = self._source(seen.text)
            wrong = next(self._coder, written)
            return wrong(source) if callable(wrong) else wrong
        return next(self._vision, say_json({"sentences": ["The table is clean."]}))

    def _draft(self, text: str) -> Draft:
        titles = [title for title, about in _titles() if title in text or about in text]
        return pddl.draft(text, max(titles, key=len))  # "Touch the red cube" is part of longer ones

    def _source(self, text: str) -> str:
        """The skills that the request asks for by their first lines."""
        wanted = re.findall(r"^`def (\w+)\(", text, re.MULTILINE)
        return self._skills.excerpt({name for name in wanted if name in self._skills.functions}, set())


@cache
def _titles() -> list[tuple[str, str]]:
    return [(level.title, level.description) for level in map(load_level, list_levels())]


def only_asked(behaviour: Behaviour, seen: Seen) -> Behaviour:
    """A good answer without the parts for which the request's schema has no field.

    For example, a settled domain is not sent back.
    """
    if not isinstance(behaviour, Say) or not behaviour.text.startswith("{"):
        return behaviour
    schema = seen.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    try:
        answer = {
            k: v for k, v in json.loads(behaviour.text).items() if k in schema.get("properties", {k: v})
        }
    except (ValueError, RecursionError):
        return behaviour
    return replace(behaviour, text=json.dumps(answer))


def drafted(draft: Draft) -> Behaviour:
    """A draft as the answer to a planner's request."""
    return say_json({"domain": draft.domain, "problem": draft.problem, "remark": ""}, usage=(1000, 400))


def written(source: str) -> Behaviour:
    """Source text as the answer to a coder's request."""
    return Say(f"```python\n{source}\n```\n", usage=(800, 300))


def changed(old: str, new: str, where: str = "problem") -> Callable[[Draft], Behaviour]:
    """A planner's fault: its good draft, with one text in place of another."""

    def fault(draft: Draft) -> Behaviour:
        text = getattr(draft, where)
        if old not in text:
            raise ValueError(f"{old!r} is not in the {where}: {text}")
        return drafted(draft.model_copy(update={where: text.replace(old, new)}))

    return fault


def miswritten(old: str, new: str) -> Callable[[str], Behaviour]:
    """A coder's fault: its good source, with one text in place of another."""

    def fault(source: str) -> Behaviour:
        if old not in source:
            raise ValueError(f"{old!r} is not in the source: {source}")
        return written(source.replace(old, new))

    return fault
