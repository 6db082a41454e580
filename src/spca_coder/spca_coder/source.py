"""Reading a library: its modules, their functions, the text of these and what they use.

Skills are source text here, never imported.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from spca_core.errors import InputError
from spca_core.plan import ActionSchema, Plan
from spca_core.skill import SkillSignature, python_name
from spca_core.skill_package import joined, modules


@dataclass(frozen=True)
class Function:
    """A top-level function: `parameters` include `ctx`; `text` is its source with the comments just above it.

    `uses` are the names it mentions, for finding helpers and constants that belong to it.
    """

    name: str
    parameters: tuple[str, ...]
    doc: str
    line: int
    text: str
    uses: frozenset[str]

    @property
    def is_skill(self) -> bool:
        """A planner may use the function: it is public (helpers begin with `_`) and takes `ctx` first."""
        return self.parameters[:1] == ("ctx",) and not self.name.startswith("_")


@dataclass(frozen=True)
class Source:
    """A parsed library, or one module: functions by name in their order, the text of constants by name.

    `modules` are those of a library by their skills. Of two skills of one name the later is meant; names that
    are none of a skill's are of all modules, for who looks for what a library has.
    """

    functions: dict[str, Function]
    constants: dict[str, str]
    imports: tuple[str, ...]
    modules: dict[str, Source] = field(default_factory=dict)

    @property
    def skills(self) -> dict[str, Function]:
        """The functions that a planner may use."""
        return {name: function for name, function in self.functions.items() if function.is_skill}

    def home(self, skill: str) -> Source:
        """Return the module that offers a skill."""
        return self.modules.get(skill) or self.modules.get("", self)

    def with_helpers(self, names: Collection[str], beside: Collection[str] = ()) -> tuple[set[str], set[str]]:
        """Return the functions of those names and all that they need: (function names, constant names).

        What is `beside` is not needed, as others offer it.
        """
        functions: set[str] = set()
        used: set[str] = set()
        todo = [n for n in names if n in self.functions]
        while todo:
            name = todo.pop()
            if name in functions:
                continue
            functions.add(name)
            used |= self.functions[name].uses
            todo += [n for n in self.functions[name].uses if n in self.functions and n not in beside]
        constants: set[str] = set()
        for name in reversed(self.constants):
            if name in used or name in names:
                constants.add(name)
                used |= names_in(self.constants[name])
        return functions, constants

    def excerpt(self, functions: Collection[str], constants: Collection[str]) -> str:
        """Return those functions and constants as source text, in the library's order."""
        parts = ["\n".join(dict.fromkeys(t for n, t in self.constants.items() if n in constants))]
        parts += [f.text for n, f in self.functions.items() if n in functions]
        return "\n\n\n".join(p for p in parts if p)

    @property
    def code(self) -> str:
        """The whole source as text that stands on its own."""
        body = self.excerpt(self.functions, self.constants)
        parts = ("\n".join(self.imports), body)
        return "\n\n\n".join(part for part in parts if part) + "\n" if body else ""

    def part(self, names: Collection[str], beside: Collection[str]) -> Source:
        """Return what those names stand for, with all that it needs but what is `beside`."""
        functions, constants = self.with_helpers(names, beside)
        part = Source(
            {n: f for n, f in self.functions.items() if n in functions},
            {n: text for n, text in self.constants.items() if n in constants},
            (),
        )
        used = names_in(part.code)
        return replace(part, imports=tuple(t for t in self.imports if used & set(imported(t))))

    def with_more(self, other: Source) -> Source:
        """Return both sources as one; names that both have mean what they mean here."""
        return Source(
            {**self.functions, **{n: f for n, f in other.functions.items() if n not in self.functions}},
            {**other.constants, **self.constants},
            tuple(dict.fromkeys((*self.imports, *other.imports))),
        )

    def module(self, skill: str) -> str:
        """Return the text of a skill with all that it needs but other skills."""
        home = self.home(skill)
        beside = () if home is self.modules.get(skill) else set(home.skills) - {skill}
        return home.part({skill}, beside).code

    def needs(self, skills: Collection[str]) -> set[str]:
        """Return those skills and the ones that they call, directly or not."""
        known, found, todo = self.skills, set[str](), list(skills)
        while todo:
            if (skill := todo.pop()) in known and skill not in found:
                found.add(skill)
                todo += names_in(self.module(skill)) & set(known)
        return found


@lru_cache(maxsize=64)
def read(library: str) -> Source:
    """Parse a library, or one module. Raises InputError when it is not Python."""
    parts = {module.skill: _module(module.text, module.before) for module in modules(library)}
    own = parts[""]
    if len(parts) == 1:
        return own
    functions, constants = dict(own.functions), dict(own.constants)
    for skill, module in parts.items():
        helpers = {n: f for n, f in module.functions.items() if n.startswith("_")}
        functions = {**helpers, **functions, **{n: f for n, f in module.functions.items() if n == skill}}
        constants = {**module.constants, **constants}
    return Source(functions, constants, tuple(t for module in parts.values() for t in module.imports), parts)


def _module(text: str, before: int) -> Source:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {before + line}" if line else ""
        raise InputError(f"the skill library is not Python: {error}", where=where) from error
    lines = lines_of(text)
    functions, constants, imports = {}, {}, []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = _function(node, lines)
            continue
        segment = ast.get_source_segment("\n".join(lines), node) or ""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(segment)
        else:
            constants.update(dict.fromkeys(_bound(node), segment))
    return Source(functions, constants, tuple(imports))


def lines_of(source: str) -> list[str]:
    """Split source into lines as Python counts them (a form feed, for one, ends none)."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@lru_cache(maxsize=1024)
def names_in(text: str) -> frozenset[str]:
    """Return the names that a piece of source mentions."""
    return frozenset(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))


def imported(text: str) -> Iterator[str]:
    """Yield the names that an import binds."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]


def same_code(a: str, b: str) -> bool:
    """Return whether two pieces of source mean the same to Python: comments and layout apart."""
    return ast.dump(ast.parse(a)) == ast.dump(ast.parse(b))


def parameters_of(node: ast.FunctionDef) -> tuple[str, ...]:
    """Return all parameters by name, stars included in the names of collecting ones."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    names += [f"*{a.vararg.arg}"] if a.vararg else []
    names += [p.arg for p in a.kwonlyargs]
    names += [f"**{a.kwarg.arg}"] if a.kwarg else []
    return tuple(names)


def _function(node: ast.FunctionDef, lines: list[str]) -> Function:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    while first > 0 and lines[first - 1].startswith("#"):
        first -= 1
    return Function(
        name=node.name,
        parameters=parameters_of(node),
        doc=ast.get_docstring(node) or "",
        line=node.lineno,
        text="\n".join(lines[first : node.end_lineno]),
        uses=frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)),
    )


def _bound(node: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


class _WithoutDocs(ast.NodeTransformer):
    """Takes docstrings out of a tree: they change nothing of what a function does."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)


def without(library: str, skills: Collection[str]) -> str:
    """Return a library without some skills, and without the skills that call them."""
    source = read(library)
    gone = {name for name in source.skills if source.needs({name}) & set(skills)}
    texts = {module.skill: module.text for module in modules(library) if module.skill not in gone}
    first = source.home("")
    if gone & set(first.skills):
        texts[""] = first.part(set(first.skills) - gone, beside=gone).code
    return joined(texts)


class LibraryReader:
    """A `SkillReader` for libraries in Python."""

    def signatures(self, library: str) -> tuple[SkillSignature, ...]:
        """See `SkillReader`."""
        return tuple(
            SkillSignature(name=f.name, parameters=f.parameters[1:], doc=f.doc)
            for f in read(library).skills.values()
        )

    def meaning(self, library: str, actions: Collection[str]) -> str:
        """See `SkillReader`: comments, layout and docstrings do not count, helpers and constants do."""
        source = read(library)
        skills = source.needs([python_name(action) for action in actions])
        code = (ast.parse(source.module(skill)) for skill in sorted(skills))
        return "\n".join(ast.dump(_WithoutDocs().visit(tree)) for tree in code)

    def restored(self, library: str, proven: str, actions: Collection[str]) -> str:
        """See `SkillReader`."""
        names, known = {python_name(action) for action in actions}, set(read(proven).skills)
        texts = {m.skill: m.text for m in modules(library) if m.skill not in names & known}
        texts |= {m.skill: m.text for m in modules(proven) if m.skill in names}
        return without(joined(texts), names - known)


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
