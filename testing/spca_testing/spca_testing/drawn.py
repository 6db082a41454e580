"""Any record, drawn by Hypothesis from the annotations of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from hypothesis import strategies as st
from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Drawn:
    """What is drawn for each plain type, and for fields of certain names."""

    plain: Mapping[Any, st.SearchStrategy[Any]]
    fields: Mapping[str, st.SearchStrategy[Any]] = field(default_factory=dict)

    def values(self, kind: Any) -> st.SearchStrategy[Any]:
        """Whatever a field of that annotation may hold."""
        origin, args = get_origin(kind), get_args(kind)
        if kind in self.plain:
            return self.plain[kind]
        if origin is Annotated:
            return self.values(args[0])
        if origin is Literal:
            return st.sampled_from(args)
        if origin in (Union, UnionType):
            return st.one_of([self.values(a) for a in args])
        if origin is tuple and args[1:] == (...,):
            return st.lists(self.values(args[0]), max_size=2).map(tuple)
        if origin is tuple:
            return st.tuples(*[self.values(a) for a in args])
        if origin is dict:
            return st.dictionaries(self.values(args[0]), self.values(args[1]), max_size=2)
        if issubclass(kind, Enum):
            return st.sampled_from(list(kind))
        return st.builds(kind, **{n: self._field(n, f) for n, f in kind.model_fields.items()})

    def _field(self, name: str, info: FieldInfo) -> st.SearchStrategy[Any]:
        if name in self.fields:
            return self.fields[name]
        ends = {type(bound): bound for bound in info.metadata}
        if info.annotation is int and Le in ends:
            return st.integers(ends[Ge].ge, ends[Le].le)
        if info.annotation is float and Le in ends:
            return st.floats(1.0, ends[Le].le)

        def within(value: Any) -> bool:
            return value is None or all(
                (not isinstance(bound, Ge) or value >= bound.ge)
                and (not isinstance(bound, Gt) or value > bound.gt)
                for bound in info.metadata
            )

        return self.values(info.annotation).filter(within)
