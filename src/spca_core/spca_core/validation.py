"""Reads YAML files and records from outside, and reports what is wrong in one line."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from spca_core.errors import InputError, SpcaError, one_line

_Number = TypeVar("_Number", int, float)
YAML_FILES = (".yaml", ".yml")
"""Endings of the names of YAML files."""
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Loader written in C, for a tenth of the time; a PyYAML that was built without libyaml lacks it."""
_NO_MAPPING = ("model_type", "dict_type", "model_attributes_type")
"""Names that pydantic gives to input that is no mapping."""
_WORDS = {
    **dict.fromkeys(_NO_MAPPING, "should be a list of keys with values"), "extra_forbidden": "no such key",
    "list_type": "should be a list", "tuple_type": "should be a list", "missing": "is missing",
}  # fmt: skip
"""What is said in place of pydantic's words, by its types of errors."""
_DEEPEST = 100
"""Maximum depth of lists and mappings within each other."""
_MOST_VALUES = 100_000
"""Maximum number of values in a file, with those that its aliases and merge keys stand for."""
_LARGEST, _LONGEST = 1 << 28, 300  # bytes of a file, characters of a reason
MOST_COMPLAINTS = 100  # about a file or an answer, which may be wrong a million times


class _StrictLoader(_Loader):  # type: ignore[misc, valid-type]
    """YAML's plain types; a key that stands twice in a mapping is an error, where PyYAML takes the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    problem = f"the key '{key.value}' is there twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def plain(path: Path) -> Path:
    """Return a path to read. Raises OSError for a device, a pipe, a folder, and a file that is too large."""
    if path.exists() and not (path.is_file() and path.stat().st_size <= _LARGEST):
        raise OSError(f"no plain file of at most {_LARGEST >> 20} MB")
    return path


def read_yaml(path: Path, what: str) -> Any:
    """Return the content of a YAML file. Raises InputError if it cannot be read as `what` or is not YAML."""
    try:
        text = plain(path).read_text(encoding="utf-8")
        return parse_yaml(text.removesuffix("---\n"))  # with which `ros2 topic echo` ends a message
    except OSError as error:
        raise InputError(f"cannot read {what}", where=str(path), hint=error.strerror or str(error)) from error
    except Exception as error:  # of YAML, or ValueError: not UTF-8, no such date, too large a number
        raise InputError("not valid YAML", where=str(path), hint=str(error)[:_LONGEST]) from error


def parse_yaml(text: str) -> Any:
    """Return the content of a YAML text. Raises what PyYAML does, ValueError and more."""
    _check_size(text)
    return yaml.load(text, Loader=_StrictLoader)


def _check_size(text: str) -> None:
    """Raise YAMLError for lists in lists that go too deep: the loader in C would overflow its stack.

    Raise it, too, for aliases of aliases: some hundred bytes can stand for a billion values.
    """
    count, sizes = 0, dict[str, int]()
    open_: list[tuple[str | None, int]] = []  # anchors of what is open, with the count before it
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            count += sizes.get(event.anchor or "", _MOST_VALUES)  # one within its own value has no end
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            sizes[event.anchor or ""] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, count))
            count += 1
            if len(open_) > _DEEPEST:
                raise yaml.YAMLError(f"nested more than {_DEEPEST} levels deep{event.start_mark}")
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            sizes[anchor or ""] = count - before
        if count > _MOST_VALUES:
            raise yaml.YAMLError(f"it stands for more than {_MOST_VALUES} values{event.start_mark}")


def number(text: str, kind: type[_Number], where: str) -> _Number:
    """Return the number that a text says. Raises InputError where it says none."""
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"'{text}' is not a number", where) from None


@contextmanager
def expecting(what: str, where: str | Path, known: Collection[str] = ()) -> Iterator[None]:
    """Turn what reading raises within into an InputError: the libraries that read raise nearly anything.

    It says that the input is no `what`, where it came from, and what the first problem is; `known` keys may
    be misspelt, too.
    """
    try:
        yield
    except SpcaError:
        raise
    except ValidationError as error:
        raise InputError(f"not {what}", where=str(where), hint=first_problem(error, known)) from error
    except OSError as error:
        hint = error.strerror or str(error)
        raise InputError(f"cannot read {what}", where=str(where), hint=hint) from error
    except Exception as error:
        hint = f"{type(error).__name__}: {error}"[:_LONGEST]
        raise InputError(f"not {what}", where=str(where), hint=hint) from error


def first_problem(error: ValidationError, known: Collection[str] = ()) -> str:
    """Return the most telling complaint of a pydantic error as `field.path: what is wrong`, in one line."""
    count = error.error_count()
    return problems(error, known)[0] + (f" (and {count - 1} more)" if count > 1 else "")


def problems(error: ValidationError, known: Collection[str] = ()) -> list[str]:
    """Return the first complaints of a pydantic error, a line each, those of misspelt keys first."""
    found, told = [], error.errors()[:MOST_COMPLAINTS]
    for item in told:
        said = _WORDS.get(item["type"]) or item["msg"].removeprefix("Value error, ")[:_LONGEST]
        if item["type"] in _NO_MAPPING and item["input"] is None:
            said = "is empty"
        meant = item["type"] == "extra_forbidden" and meant_key(item["loc"], told, known)
        where = (".".join(map(str, item["loc"])) or "the file")[:_LONGEST]
        found.append(one_line(f"{where}: {said}" + (f"; did you mean '{meant}'?" if meant else "")))
    return sorted(found, key=lambda line: "did you mean" not in line)


def meant_key(loc: tuple[int | str, ...], told: list[Any], known: Collection[str] = ()) -> str | None:
    """Return what an unknown key was probably meant to be: a key missing beside it, or a known one."""
    missing = [i["loc"][-1] for i in told if i["type"] == "missing" and i["loc"][:-1] == loc[:-1]]
    return next(iter(get_close_matches(str(loc[-1]), [*map(str, missing), *known], 1)), None)
