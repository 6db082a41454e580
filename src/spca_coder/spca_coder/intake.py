"""Takes drafts into a library: what was asked for becomes modules of their own, and nothing else changes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from spca_coder.source import Source, read, same_code
from spca_coder.undefined import lacking
from spca_core.errors import InputError
from spca_core.library import joined, modules


class Clash(InputError):
    """The draft calls something of the library that needs a name which the draft has for something else."""


@dataclass(frozen=True)
class Taken:
    """The library with the draft in it, and the skills that are new or changed."""

    library: str
    written: tuple[str, ...]


def take_in(
    library: str, draft: str, asked: Collection[str], importable: Collection[str] = ("math",)
) -> Taken:
    """The library in which each skill of the draft that was `asked` for has a module of its own.

    Helpers and constants that the draft mentions and does not define are copied from the skill's present
    version, else from the library; what is `importable` is imported. A skill that the library has in the same
    form is passed over. Raises Clash, and InputError for what is not Python.
    """
    present, new = read(library), read(draft)
    texts = {module.skill: module.text for module in modules(library)}
    written = []
    for skill in (name for name in new.functions if name in asked):
        text = _module(skill, new, present, {*asked, *present.skills} - {skill}, importable)
        if skill not in present.skills or not same_code(text, present.module(skill)):
            texts[skill] = text
            written.append(skill)
    return Taken(joined(texts), tuple(written))


def _module(skill: str, draft: Source, present: Source, others: set[str], importable: Collection[str]) -> str:
    own = draft.part({skill}, beside=others)
    homes = (present.home(skill), *(present.modules.values() or [present]))
    while names := lacking(own.code, others):
        found = ((n, h) for n in names for h in homes if n in h.functions or n in h.constants)
        name, home = next(found, ("", Source({}, {}, tuple(f"import {n}" for n in names if n in importable))))
        more = home.part({name}, beside=others) if name else home
        if not name and not more.imports:
            break
        for common in own.functions.keys() & more.functions.keys():
            if not same_code(own.functions[common].text, more.functions[common].text):
                raise Clash(f"'{name}' needs another '{common}' than yours: give yours another name")
        for common in own.constants.keys() & more.constants.keys():
            if own.constants[common] != more.constants[common]:
                raise Clash(f"'{name}' needs another value of '{common}': give yours another name")
        own = own.with_more(more)
    return own.code
