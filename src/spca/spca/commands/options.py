"""Command-line options made from the fields of a record, where their meaning is; and completion."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, get_args, get_type_hints

import typer

from spca.commands import WORDS, resumable
from spca_core.options import RunOptions, described

VIEW = "Open a live window (needs a display); `--view web`: a page to watch and to speak to the robot on."
OVER_ROS = "On the robot that is on the ROS graph; without one, on a simulator that ends with this."
_keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)


def takes(*names: str, of: Any = RunOptions, to: str = "wanted", **defaults: object) -> Callable[[Any], Any]:
    """Give a command these options of a record; it gets their values as a dictionary, as its parameter `to`.

    `defaults` are those of this command where they are others than of the record.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        def call(**values: Any) -> Any:
            wanted = {name: values.pop(name) for name in names}
            wanted.update((name, word) for name, word in WORDS.items() if values.pop(f"{name}_{word}", False))
            return command(**{to: wanted}, **values)

        hints = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name != to:
                parameters.append(parameter.replace(annotation=hints[parameter.name]))
                continue
            for name in names:
                parameters.append(_option(of, name, defaults))
                if word := WORDS.get(name):
                    both = Annotated[bool, typer.Option(f"--{name}-{word}", hidden=True)]
                    parameters.append(_keyword(f"{name}_{word}", annotation=both, default=False))
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        return call

    return decorate


def _option(of: Any, name: str, defaults: dict[str, object]) -> inspect.Parameter:
    """Return a field's option: repeatable if it has several values, with a negative form if it is on."""
    field = of.model_fields[name]
    kinds = {*get_args(field.annotation)} or {field.annotation}
    kind: Any = next((k for k in (bool, int, float) if k in kinds), list[str] if ... in kinds else str)
    flag = kind is bool and field.default is False and name not in defaults
    single = name.replace("ies", "y").removesuffix("s") if ... in kinds else name
    flags = [f"--{single.replace('_', '-')}"] if flag or ... in kinds else []
    values = _values(name) if of is RunOptions and kind is str else None
    option = typer.Option(*flags, autocompletion=values, help=VIEW if name == "view" else field.description)
    optional: Any = kind | None if type(None) in kinds else kind
    return _keyword(name, annotation=Annotated[optional, option], default=defaults.get(name, field.default))


def _values(name: str) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        """Return the values that the option may have, as far as they are known."""
        from spca.kits import kits
        from spca_core.extensions import installed
        from spca_core.paths import WORLDS

        known = {
            "preset": lambda: [preset for kit in kits() for preset in kit.presets],
            "world": lambda: [path.stem for path in WORLDS.glob("*.yaml")],
            "robot": lambda: installed("spca.arms"),
            "proposer": lambda: ["auto", "builtin", *installed("spca.proposers")],
            "detector": lambda: installed("spca.detectors"),
            "engine": lambda: ["fast-downward", *installed("spca.engines")],
        }
        found = known[name]() if name in known else described(name)[1]
        return sorted({value for value in found if value.startswith(incomplete)})

    return complete


def complete_level(incomplete: str) -> list[str]:
    """Return the names of levels; those of environments with a prefix once it is typed."""
    from spca.kits import PLAIN, kits

    named = [kit for kit in kits() if incomplete.startswith(f"{kit.name}:")]
    chosen = named or [kit for kit in kits() if kit.name == PLAIN]
    names = [info.name for kit in chosen for info in kit.levels()]
    prefixes = [f"{kit.name}:" for kit in kits() if kit.name != PLAIN and not named]
    return [name for name in (*names, *prefixes) if name.startswith(incomplete)]


def complete_run(incomplete: str) -> list[str]:
    """Return the folders of runs, the newest first."""
    from spca_core.paths import RUNS
    from spca_core.run_folder import MANIFEST

    files = (MANIFEST, *(command.run_file for command in resumable()))
    found = (path.parent.name for file in files for path in RUNS.glob(f"*/{file}"))
    names = sorted(found, reverse=True)
    return [name for name in names if name.startswith(incomplete)]


def a_run(help: str) -> Any:
    """Return the argument that names the folder of a run."""
    return typer.Argument(help=help, autocompletion=complete_run, show_default=False)


def a_level(help: str) -> Any:
    """Return the argument that names a level, or several."""
    return typer.Argument(help=help, autocompletion=complete_level, show_default=False)


def transport_of(ros: bool) -> str:
    """Return the way a run is carried out."""
    if ros:
        from spca.ros import require_ros

        require_ros()
    return "ros" if ros else "inproc"
