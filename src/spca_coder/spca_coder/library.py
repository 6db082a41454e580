"""What libraries of skills say, and libraries without some of their skills."""

from __future__ import annotations

from collections.abc import Collection

from spca_coder.source import meaning, read, signatures
from spca_core.library import joined, modules
from spca_core.skill import SkillSignature, python_name


def without(library: str, skills: Collection[str]) -> str:
    """A library without some skills, and without the skills that call them."""
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
        return signatures(library)

    def meaning(self, library: str, actions: Collection[str]) -> str:
        """See `SkillReader`: comments, layout and docstrings do not count, helpers and constants do."""
        source = read(library)
        skills = source.needs([python_name(action) for action in actions])
        return "\n".join(meaning(source.module(skill)) for skill in sorted(skills))

    def restored(self, library: str, proven: str, actions: Collection[str]) -> str:
        """See `SkillReader`."""
        names, known = {python_name(action) for action in actions}, set(read(proven).skills)
        texts = {m.skill: m.text for m in modules(library) if m.skill not in names & known}
        texts |= {m.skill: m.text for m in modules(proven) if m.skill in names}
        return without(joined(texts), names - known)
