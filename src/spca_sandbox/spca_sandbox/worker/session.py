"""The worker process: loads source text, runs its functions on request, and reports how they failed.

Values come in as read-only records and go out as plain JSON.
"""

from __future__ import annotations
import __future__

import builtins
import importlib
import math
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, GeneratorType, ModuleType
from typing import Any

from spca_core.processes.wire import Wire
from spca_sandbox.worker import confine


class Thing:
    """A record from the other side: `thing.x`, `thing["x"]`, `"x" in thing`. It cannot be changed."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "_fields")
        if name in fields:
            return fields[name]
        raise AttributeError(f"no '{name}' here; there is: {', '.join(fields) or 'nothing'}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("read-only: make a new value instead")

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return "(" + ", ".join(f"{k}={v!r}" for k, v in self._fields.items()) + ")"


def wrap(value: Any) -> Any:
    """Return JSON from the host with every object as a Thing."""
    if isinstance(value, dict):
        return Thing({k: wrap(v) for k, v in value.items()})
    return [wrap(v) for v in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return the JSON form of a value.

    Raises TypeError for what has none, ValueError for numbers that are not finite.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"numbers must be finite, not {value}")
        return value
    if isinstance(value, Thing):
        return {k: plain(v) for k, v in value._fields.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        if not all(isinstance(k, str) for k in value):
            raise TypeError("a dict needs text keys to be sent")
        return {k: plain(v) for k, v in value.items()}
    raise TypeError(f"a {type(value).__name__} cannot be sent; use numbers, text, lists and dicts")


def record_maker(name: str, fields: list[list[Any]]) -> Callable[..., Thing]:
    """Make a helper such as `pose(x, y, z, yaw=0.0)`: a function that makes a Thing of its arguments.

    `fields` lists each parameter as [name] or [name, default].
    """
    parameters = ", ".join("=".join([field[0], *map(repr, field[1:])]) for field in fields)
    made: dict[str, Any] = {}
    exec(f"def {name}({parameters}): return Thing(locals())", {"Thing": Thing}, made)
    maker: Callable[..., Thing] = made[name]
    return maker


# For quick feedback only; the kernel enforces the confinement.
_WITHOUT = (
    "open", "exec", "eval", "compile", "input", "breakpoint", "help", "exit", "quit", "globals", "vars",
)  # fmt: skip
# Type hints may name what only the documentation knows.
_NO_ANNOTATIONS = __future__.annotations.compiler_flag
SOURCE_NAME = "<skills>"
_LONGEST = 600


class WorkerSession:
    """One worker's state: the source it holds and what that source may use."""

    def __init__(self, wire: Wire, setup: dict[str, Any]) -> None:
        self._wire = wire
        self._methods: list[str] = setup["methods"]
        self._helpers: dict[str, Any] = {n: record_maker(n, f) for n, f in setup["records"].items()}
        self._helpers.update(setup["constants"])
        self._modules: list[str] = setup["modules"]
        self._log_lines: int = setup["log_lines"]
        self._line_chars: int = setup["line_chars"]
        self._code: list[tuple[str, CodeType]] = []
        self._ctx = self._make_ctx()
        names = {n: getattr(builtins, n) for n in dir(builtins) if n not in _WITHOUT}
        own = {"__import__": self._import, "print": self._print}
        self._builtins = {**names, **own, "CtxError": CtxError, "MotionError": MotionError}

    def serve(self) -> None:
        """Answer requests until the host closes the pipe."""
        while True:
            request = self._wire.receive()
            if request["op"] == "load":
                self._answer(self._load, request["modules"])
            elif request["op"] == "run":
                self._answer(self._run, request["function"], request["args"])
            elif request["op"] == "batch":
                for args in request["batch"]:
                    self._answer(self._call, request["function"], args)

    def _answer(self, work: Callable[..., Any], *args: Any) -> None:
        self._logged = 0
        try:
            self._wire.send({"op": "done", "value": work(*args)})
        except BaseException as error:
            self._wire.send({"op": "failed", **describe(error)})

    def _load(self, modules: list[tuple[str, str]]) -> dict[str, list[str]]:
        self._code = []
        code = [
            (skill, compile(source, SOURCE_NAME, "exec", flags=_NO_ANNOTATIONS, dont_inherit=True))
            for skill, source in modules
        ]
        functions = self._namespace(code)
        self._code = code
        return {
            name: _parameters(f.__code__)
            for name, f in functions.items()
            if isinstance(f, FunctionType) and f.__code__.co_filename == SOURCE_NAME
        }

    def _namespace(self, code: list[tuple[str, CodeType]]) -> dict[str, Any]:
        """Run the modules in fresh namespaces: no run can leave anything behind for the next.

        Returns what the first module has, and the skill of each other one; every module sees the others'.
        """
        if not code:
            raise RuntimeError("nothing is loaded")
        self._imported: dict[str, ModuleType] = {}
        sys.modules["skills"] = ModuleType("skills")  # where a dataclass looks for the names of its types
        if "random" in self._modules:
            sys.modules["random"].seed(0)
        spaces, offered = [], {}
        for skill, module in code:
            names = {"__builtins__": dict(self._builtins), "__name__": "skills", **self._helpers}
            exec(module, names)
            spaces.append(names)
            own = {k: v for k, v in names.items() if k not in self._helpers and not k.startswith("__")}
            offered.update({skill: own[skill]} if skill else own)
        for names in spaces:
            for name, value in offered.items():
                if not name.startswith("_"):
                    names.setdefault(name, value)
        return offered

    def _function(self, name: str) -> Callable[..., Any]:
        function = self._namespace(self._code).get(name)
        if not callable(function):
            raise NameError(f"there is no function '{name}'")
        return function

    def _run(self, name: str, args: list[str]) -> Any:
        result = self._function(name)(self._ctx, *args)
        if isinstance(result, GeneratorType):
            result = self._drive(result)
        return plain(result)

    def _call(self, name: str, args: list[Any]) -> Any:
        return plain(self._function(name)(*args))

    def _drive(self, steps: Any) -> Any:
        """Send each yielded primitive to the host as `step`, and what it answers back into the generator."""
        try:
            primitive = next(steps)
            while True:
                try:
                    reply = self._ask("step", (primitive,), {})
                except CtxError as error:
                    primitive = steps.throw(error)
                else:
                    primitive = steps.send(reply)
        except StopIteration as end:
            return end.value

    def _ask(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method == "log":
            self._print(*args, *kwargs.values())
        self._wire.send({"op": "call", "method": method, "args": plain(args), "kwargs": plain(kwargs)})
        reply = self._wire.receive()
        if "error" in reply:
            error = reply["error"]
            if error["motion"]:
                raise MotionError(error["kind"], error["message"], error["hit"])
            raise CtxError(error["kind"], error["message"])
        return wrap(reply["value"])

    def _make_ctx(self) -> Any:
        def method(name: str) -> Callable[..., Any]:
            return lambda _self, *args, **kwargs: self._ask(name, args, kwargs)

        def unknown(_self: Any, name: str) -> Any:
            raise AttributeError(f"ctx has no '{name}'; it has: {', '.join(self._methods)}")

        members: dict[str, Any] = {name: method(name) for name in self._methods}
        return type("Ctx", (), {"__slots__": (), "__getattr__": unknown, **members})()

    def _import(
        self, name: str, _globals: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        if level or (name not in self._modules and name != "__future__"):
            raise ImportError(f"'{name}' may not be imported; allowed: {', '.join(self._modules)}")
        if name not in self._imported:  # of its own: what it sets there is gone with it
            self._imported[name] = own = ModuleType(name)
            vars(own).update(vars(__import__(name)))
        return self._imported[name]

    def _print(
        self, *values: Any, sep: str = " ", end: str = "", file: Any = None, flush: bool = False
    ) -> None:
        self._logged += 1
        if self._logged <= self._log_lines:
            line = (sep or " ").join(str(v)[: self._line_chars] for v in values)
            self._wire.send({"op": "log", "line": line[: self._line_chars]})


def _parameters(code: CodeType) -> list[str]:
    """Return the names of all parameters, keyword-only ones, `*args` and `**kwargs` included."""
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars])


class CtxError(Exception):
    """A call through `ctx` failed; `kind` says why in one word."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message or kind)
        self.kind = kind


class MotionError(CtxError):
    """A motion was refused or stopped; `hit` is the name of the thing that would be hit, if one would."""

    def __init__(self, kind: str, message: str = "", hit: str = "") -> None:
        super().__init__(kind, message)
        self.hit = hit


def describe(error: BaseException) -> dict[str, Any]:
    """Return `kind`, `message` and `line` (in the skill's source) of an exception that nobody caught."""
    kind = "refused" if isinstance(error, PermissionError) else "error"
    kind = str(error.kind)[:40] if isinstance(error, CtxError) else kind
    return {"kind": kind, "message": _message(error), "line": _line(error)}


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "(an exception without a readable message)"
    if isinstance(error, CtxError):
        return text[:_LONGEST]
    return f"{type(error).__name__}: {text}"[:_LONGEST]


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        code: CodeType = trace.tb_frame.f_code
        if code.co_filename == SOURCE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def main() -> None:
    """Read the set-up, import what the code may need, lock the door, then serve.

    `argv[1]` is the lifeline's fd.
    """
    lifeline = int(sys.argv[1])
    wire = Wire()
    setup = wire.receive()
    wire.max_bytes = setup["message_bytes"]
    for name in setup["modules"]:
        importlib.import_module(name)
    session = WorkerSession(wire, setup)
    features = confine.enter(setup, lifeline)
    wire.send({"op": "ready", "features": features})
    session.serve()
