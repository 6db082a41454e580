"""Programs on disk, for reuse and comparison.

Their files are `<folder>/<domain>/<id>/program.py` and `development.json`.
"""

from __future__ import annotations

from pathlib import Path

from spca_core.errors import InputError
from spca_core.validation import expecting, plain
from spca_programs.ipp.develop import Development
from spca_programs.ipp.program import Program
from spca_programs.options import PROGRAMS

_RECORD = "development.json"


class ProgramStore:
    """The programs of all domains under one folder."""

    def __init__(self, folder: Path = PROGRAMS) -> None:
        self.folder = folder

    def save(self, development: Development) -> Path:
        """Keep a program with its history; returns its folder, which equal programs share."""
        place = self.folder / development.domain / development.program.id
        place.mkdir(parents=True, exist_ok=True)
        (place / "program.py").write_text(development.program.source, encoding="utf-8")
        (place / _RECORD).write_text(development.model_dump_json(indent=1) + "\n", encoding="utf-8")
        return place

    def all(self, domain: str) -> list[Development]:
        """Every program of a domain with its record, the best on its own test first."""
        records = sorted((self.folder / domain).glob(f"*/{_RECORD}"))
        found = []
        for path in records:
            with expecting("the record of a program", path):
                found.append(Development.model_validate_json(plain(path).read_bytes()))
        return sorted(found, key=lambda d: -d.test.mean)

    def find(self, domain: str, name: str) -> Program:
        """A program by the beginning of its id, or from a Python file. Raises InputError."""
        path = Path(name)
        if path.suffix == ".py":
            with expecting("a program", name):
                return Program(source=plain(path).read_text(encoding="utf-8"))
        known = {d.program.id: d.program for d in self.all(domain)}
        found = [program for id_, program in known.items() if id_.startswith(name)]
        if len(found) != 1:
            which = "no" if not found else f"{len(found)}"
            raise InputError(
                f"{which} program '{name}' for {domain}",
                str(self.folder),
                f"known: {', '.join(known) or 'none'}",
            )
        return found[0]
