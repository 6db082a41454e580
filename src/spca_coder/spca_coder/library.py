"""Libraries laid over each other, and without some of their skills; all are source text."""

from __future__ import annotations

from collections.abc import Collection

from spca_coder.revalidation import stands_on
from spca_coder.source import Source, meaning, read, signatures
from spca_core.skill import SkillSignature, python_name


def overlay(base: str, excerpt: str, origin: str) -> str:
    """`base` with an excerpt of `origin` laid over it: its functions win, its imports come along."""
    from spca_coder.merge import merge  # LibCST: slow to import, seldom needed

    imports = "\n".join(read(origin).imports)
    text = f"{imports}\n{excerpt}\n" if imports else f"{excerpt}\n"
    return merge(base, text, set(read(excerpt).functions)).library


def with_imports(source: Source, body: str) -> str:
    """An excerpt of `source` as a text that stands on its own."""
    imports = "\n".join(source.imports)
    return "\n\n\n".join(part for part in (imports, body) if part) + "\n" if body else ""


def without(library: str, skills: Collection[str]) -> str:
    """A library without some skills, the skills that call them, and helpers that nothing else needs."""
    source = read(library)
    gone = {n for n, f in source.functions.items() if f.is_skill and stands_on(source, n, skills)}
    kept = {n for n, f in source.functions.items() if f.is_skill and n not in gone}
    return with_imports(source, source.excerpt(*source.with_helpers(kept)))


class LibraryReader:
    """A `SkillReader` for libraries in Python."""

    def signatures(self, library: str) -> tuple[SkillSignature, ...]:
        """See `SkillReader`."""
        return signatures(library)

    def meaning(self, library: str, actions: Collection[str]) -> str:
        """See `SkillReader`: comments, layout and docstrings do not count, helpers and constants do."""
        source = read(library)
        skills = {python_name(action) for action in actions}
        return meaning(source.excerpt(*source.with_helpers(skills & set(source.functions))))

    def restored(self, library: str, proven: str, actions: Collection[str]) -> str:
        """See `SkillReader`."""
        names = {python_name(action) for action in actions} & set(read(library).functions)
        source = read(proven)
        kept = names & set(source.functions)
        library = without(library, names - kept) if names - kept else library
        return overlay(library, source.excerpt(*source.with_helpers(kept)), proven) if kept else library
