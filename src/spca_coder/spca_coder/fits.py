"""Checks whether a function can carry out a planning action."""

from __future__ import annotations

from spca_coder.source import Function, read
from spca_core.plan import ActionSchema, Plan
from spca_core.skill import python_name


def expected(schema: ActionSchema) -> tuple[str, ...]:
    """Return the parameters that a new skill for this action must have: `ctx`, then the action's in order."""
    return ("ctx", *(python_name(name) for name, _ in schema.parameters))


def header(schema: ActionSchema) -> str:
    """Return the first line of a skill for this action.

    >>> header(ActionSchema(name="pick-up", parameters=(("?c", "cube"),), pddl=""))
    'def pick_up(ctx, c):'
    """
    return f"def {python_name(schema.name)}({', '.join(expected(schema))}):"


def as_present(schema: ActionSchema, library: str) -> ActionSchema:
    """Return the schema with its parameters called as in the skill that the library has for it, if any."""
    present = read(library).functions.get(python_name(schema.name))
    if present is None or not serves(present, schema):
        return schema
    kinds = (kind for _, kind in schema.parameters)
    return schema.model_copy(update={"parameters": tuple(zip(present.parameters[1:], kinds, strict=True))})


def misfit_reason(function: Function, schema: ActionSchema) -> str:
    """Explain why a newly written function does not fit this action; return "" if it does."""
    if function.parameters == expected(schema):
        return ""
    has = ", ".join(function.parameters)
    return f"{function.name}({has}) does not fit the action; it must begin `{header(schema)}`"


def serves(function: Function, schema: ActionSchema) -> bool:
    """Return whether an existing skill can be called for this action.

    The plan passes arguments by position, so that other names do; the same names in another order would mean
    something else.
    """
    wanted = expected(schema)
    if not function.is_skill or any(p.startswith("*") for p in function.parameters):
        return False
    same_names = set(function.parameters) == set(wanted)
    return len(function.parameters) == len(wanted) and (not same_names or function.parameters == wanted)


def missing(plan: Plan, library: str) -> tuple[ActionSchema, ...]:
    """Return the actions of the plan's steps that no skill of the library can carry out, in the plan's order.

    Raises InputError when the library is not Python.
    """
    functions = read(library).functions
    schemas = {s.name: s for s in plan.schemas}
    used = dict.fromkeys(step.action for step in plan.steps)
    lacking = []
    for action in used:
        schema = schemas.get(action) or _schema_of_step(plan, action)
        function = functions.get(python_name(action))
        if function is None or not serves(function, schema):
            lacking.append(schema)
    return tuple(lacking)


def _schema_of_step(plan: Plan, action: str) -> ActionSchema:
    """Return a stand-in for a schema that the plan lacks: one parameter for each argument of its step."""
    step = next(s for s in plan.steps if s.action == action)
    names = tuple((f"arg{i + 1}", "object") for i in range(len(step.args)))
    return ActionSchema(name=action, parameters=names, pddl="")
