"""Faulty skills, plans and domains, made mechanically from good ones: what a rehearsal ought to catch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import libcst as cst
import libcst.matchers as m

from spca_core.plan import Plan, Step
from spca_core.scene import Observation

Node = cst.CSTNode
Rule = Callable[[Node, Sequence[str]], "Node | cst.RemovalSentinel | cst.FlattenSentinel[Node] | None"]
"""The changed node, or None where the rule does not apply; it is told the parameters of the function."""

CHECKED, SILENT = "", "silent"
"""Whether a skill still checks its own result with what it sees."""


def _call(*names: str) -> m.Call:
    return m.Call(func=m.Attribute(value=m.Name("ctx"), attr=m.OneOf(*(m.Name(n) for n in names))))


def _statement(call: m.Call) -> m.SimpleStatementLine:
    return m.SimpleStatementLine(body=[m.Expr(value=call)])


def _removing(pattern: m.SimpleStatementLine) -> Rule:
    return lambda node, _: cst.RemoveFromParent() if m.matches(node, pattern) else None


def _instead(pattern: m.Call, value: str) -> Rule:
    """The first argument, a name, replaced by an expression of it (`{0}`)."""

    def rule(node: Node, _: Sequence[str]) -> Node | None:
        if not isinstance(node, cst.Call) or not m.matches(node, pattern):
            return None
        name = cst.ensure_type(node.args[0].value, cst.Name).value
        first = node.args[0].with_changes(value=cst.parse_expression(value.format(name)))
        return node.with_changes(args=[first, *node.args[1:]])

    return rule


def _argument(of: Callable[[str, Sequence[str]], str | None]) -> Rule:
    """The last argument of a call on `ctx`, a parameter, replaced by something else."""

    def rule(node: Node, parameters: Sequence[str]) -> Node | None:
        if not isinstance(node, cst.Call) or not m.matches(node.func, m.Attribute(value=m.Name("ctx"))):
            return None
        last = node.args[-1].value if node.args else None
        if not isinstance(last, cst.Name) or last.value not in parameters:
            return None
        new = of(last.value, parameters)
        if new is None:
            return None
        changed = node.args[-1].with_changes(value=cst.parse_expression(new))
        return node.with_changes(args=[*node.args[:-1], changed])

    return rule


def _before(pattern: m.BaseMatcherNode, code: str) -> Rule:
    """A statement put before another."""

    def rule(node: Node, _: Sequence[str]) -> cst.FlattenSentinel[Node] | None:
        if not isinstance(node, cst.SimpleStatementLine) or not m.matches(node, pattern):
            return None
        return cst.FlattenSentinel([cst.parse_statement(code), node])

    return rule


def _idle(node: Node, parameters: Sequence[str]) -> Node | None:
    if not isinstance(node, cst.FunctionDef) or node.name.value.startswith("_"):
        return None
    return node.with_changes(body=cst.IndentedBlock([cst.parse_statement("return")]))


def _constant(name: str, value: str) -> Rule:
    pattern = m.Assign(targets=[m.AssignTarget(target=m.Name(name))])

    def rule(node: Node, _: Sequence[str]) -> Node | None:
        if not isinstance(node, cst.Assign) or not m.matches(node, pattern):
            return None
        return node.with_changes(value=cst.parse_expression(value))

    return rule


_MOVE = m.Call(func=_call("move_linear").func, args=[m.Arg(value=m.Name()), m.ZeroOrMore()])
_RAISED = m.Call(
    func=_call("move_linear").func, args=[m.Arg(value=m.Call(func=m.Name("_raised"))), m.ZeroOrMore()]
)
_APPROACH = m.SimpleStatementLine(
    body=[m.Assign(value=m.Call(func=m.Name("_approach"))) | m.Expr(value=m.Call(func=m.Name("_approach")))]
)
RULES: Mapping[str, Rule] = {
    "too high": _instead(_MOVE, "pose({0}.x, {0}.y, {0}.z + 0.03, {0}.yaw)"),
    "too low": _instead(_MOVE, "pose({0}.x, {0}.y, {0}.z - 0.012, {0}.yaw)"),
    "beside": _instead(_MOVE, "pose({0}.x + 0.03, {0}.y, {0}.z, {0}.yaw)"),
    "yaw 45 degrees": _instead(_MOVE, "pose({0}.x, {0}.y, {0}.z, {0}.yaw + 0.785)"),
    "no lift": _removing(_statement(_RAISED)),
    "no descent": _removing(_statement(_MOVE)),
    "no opening": _removing(_statement(_call("open"))),
    "no closing": _removing(_statement(_call("close"))),
    "opens too little": lambda node, _: (
        node.with_changes(args=[cst.Arg(cst.Float("0.03"))])
        if isinstance(node, cst.Call) and m.matches(node, _call("open"))
        else None
    ),
    "early release": _before(_APPROACH | _statement(_MOVE), "ctx.open()"),
    "swapped arguments": _argument(lambda name, of: next((p for p in of if p not in ("ctx", name)), None)),
    "wrong object": _argument(lambda name, _: '"cube_green"'),
    "low transfer": _constant("ABOVE", "0.005"),
    "does nothing": _idle,
}  # fmt: skip
"""By kind of fault. A rule applies at several places of a library: each is a mutant."""


class _Edit(cst.CSTTransformer):
    """Applies a rule at its `site`-th place, or at none."""

    def __init__(self, rule: Rule, site: int = -1) -> None:
        super().__init__()
        self._rule, self._site = rule, site
        self._functions: list[cst.FunctionDef] = []
        self.sites: list[str] = []
        """The function of each place where the rule applies; empty outside of functions."""

    def on_visit(self, node: Node) -> bool:
        if isinstance(node, cst.FunctionDef):
            self._functions.append(node)
        return True

    def on_leave(self, original_node: Node, updated_node: Node) -> Node:  # type: ignore[override]
        parameters = [p.name.value for p in self._functions[-1].params.params] if self._functions else []
        changed = self._rule(updated_node, parameters)
        if changed is not None:
            self.sites.append(self._functions[-1].name.value if self._functions else "")
        if isinstance(original_node, cst.FunctionDef):
            self._functions.pop()
        here = changed is not None and len(self.sites) - 1 == self._site
        return changed if here else updated_node  # type: ignore[return-value]


def _unchecked(node: Node, _: Sequence[str]) -> Node | cst.RemovalSentinel | None:
    """A skill's check of its own result is left out."""
    if not isinstance(node, cst.If):
        return None
    test = node.test
    if m.findall(test, _call("holds")):
        return cst.RemoveFromParent()
    if m.matches(test, _call("is_holding")):
        return cst.FlattenSentinel(node.body.body)  # type: ignore[return-value]
    return None


@lru_cache(maxsize=4)
def base(library: str, variant: str) -> cst.Module:
    """The library that mutants are made of."""
    module = cst.parse_module(library)
    if variant == SILENT:
        for _ in range(20):
            edit = _Edit(_unchecked, 0)
            module = module.visit(edit)
            if not edit.sites:
                break
    return module


@lru_cache(maxsize=512)
def sites(library: str, kind: str, variant: str) -> tuple[str, ...]:
    """The function that each mutant of a kind changes."""
    edit = _Edit(RULES[kind])
    base(library, variant).visit(edit)
    return tuple(edit.sites)


def mutant(library: str, kind: str, site: int, variant: str) -> str:
    """The library with one fault in it."""
    return base(library, variant).visit(_Edit(RULES[kind], site)).code


def _drop(steps: list[Step], i: int, _: Observation) -> list[Step]:
    return steps[:i] + steps[i + 1 :]


def _exchange(steps: list[Step], i: int, _: Observation) -> list[Step]:
    return steps[:i] + steps[i : i + 2][::-1] + steps[i + 2 :]


def _swap(steps: list[Step], i: int, _: Observation) -> list[Step]:
    args = steps[i].args
    return [*steps[:i], steps[i].model_copy(update={"args": args[::-1]}), *steps[i + 1 :]]


def _replace(steps: list[Step], i: int, observation: Observation) -> list[Step]:
    *head, last = steps[i].args
    kind = observation.objects.get(last)
    others = sorted(o for o, k in observation.objects.items() if k == kind and o not in steps[i].args)
    changed = steps[i].model_copy(update={"args": (*head, others[0] if others else last)})
    return [*steps[:i], changed, *steps[i + 1 :]]


PLAN_RULES: Mapping[str, Callable[[list[Step], int, Observation], list[Step]]] = {
    "step left out": _drop,
    "steps exchanged": _exchange,
    "arguments swapped": _swap,
    "another object": _replace,
}


def mutant_plan(plan: Plan, kind: str, site: int, observation: Observation) -> Plan | None:
    """The plan with one fault in it; None where there is no such step, or nothing changes."""
    if site >= len(plan.steps):
        return None
    steps = tuple(PLAN_RULES[kind](list(plan.steps), site, observation))
    return None if steps == plan.steps else plan.model_copy(update={"steps": steps})


_PRECONDITION = re.compile(r":precondition\s*(.*?):effect", re.DOTALL)
_LITERAL = re.compile(r"\((?:clear|hand_empty|holding|on|next_to)(?: [?\w]+)*\)")


def mutant_domain(domain: str, site: int) -> str:
    """A domain that forgets one of its preconditions; empty where there is no such one."""
    found = [
        (part.start(1) + literal.start(), part.start(1) + literal.end())
        for part in _PRECONDITION.finditer(domain)
        for literal in _LITERAL.finditer(part[1])
    ]
    if site >= len(found):
        return ""
    start, end = found[site]
    kept = domain[:start] + domain[end:]
    return re.sub(r":precondition\s+:effect", ":precondition (and) :effect", kept)
