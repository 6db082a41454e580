"""The trusted library of an environment: skills that have solved a level, on disk.

Each that was learned is a module, `<skill>.py`, with its record, `<skill>.json`, beside it; `source` puts
them behind the skills that come with the environment. A skill gets in when the referee says success and its
effects were seen. One that is trusted already changes only if every level that it still solves passes with
the new version. Whoever distrusts a skill removes its two files.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from spca_coder.source import Source, read, same_code
from spca_core.errors import InputError
from spca_core.log import log
from spca_core.model import Record
from spca_core.result import Promotion
from spca_core.run_folder import write_atomically
from spca_core.skill_package import joined, modules
from spca_core.validation import expecting, plain

_LOCK = ".lock"
_MOST_EVENTS = 100

Revalidate = Callable[[str, str], bool]
"""Function that says whether a level (second) passes with a library (first, source text), in lockstep."""


Happening = Literal["promoted", "refused"]


class SkillEvent(Record):
    """Something that happened to a skill, at `time` (UTC, ISO 8601)."""

    time: str
    kind: Happening
    level: str = ""
    reason: str = ""


class SkillRecord(Record):
    """What is known of a skill: the levels that prove it, and its history."""

    levels: tuple[str, ...] = ()
    history: tuple[SkillEvent, ...] = ()

    def noting(self, kind: Happening, level: str = "", reason: str = "") -> SkillRecord:
        """Return the record with an event at its end."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        event = SkillEvent(time=now, kind=kind, level=level, reason=reason)
        return self.model_copy(update={"history": (*self.history, event)[-_MOST_EVENTS:]})


class SkillStatus(Record):
    """Status of a skill: `builtin` ones come with the environment."""

    name: str
    doc: str
    status: Literal["builtin", "learned"]
    levels: tuple[str, ...] = ()


class TrustedLibrary:
    """One environment's trusted skills, in `folder`. Safe for several processes at a time.

    `builtin` is the source of the skills that come with the environment ("" to learn from nothing).
    """

    def __init__(self, folder: Path, builtin: str = "") -> None:
        self._folder, self._builtin = folder, builtin

    def source(self) -> str:
        """Return the trusted library as source text. Raises InputError for files that are none of its own."""
        return joined({"": self._builtin, **self._learned()})

    def levels(self, skill: str) -> tuple[str, ...]:
        """Return the levels that were solved with a skill, in the order of their first success."""
        return self._record(skill).levels

    def promote(
        self,
        working: str,
        used: Collection[str],
        level: str,
        revalidate: Revalidate | None = None,
        distrust: Mapping[str, str] | None = None,
    ) -> Promotion:
        """Learn from a success: the referee says that `level` was solved with skills `used` of `working`.

        Those of the skills and of what they call that are new become trusted, but for those in `distrust`
        (with the reason) and those that call one. What is trusted in another form changes if `revalidate`
        says of each level that was solved with it, or with what calls it, that it passes with the new form,
        or fails with the trusted one, too, and so proves nothing.
        """
        candidate = read(working)
        with self._locked():
            trusted = self.source()
            known = read(trusted)
            called = candidate.needs(used)
            refused = _calling(candidate, called, dict(distrust or {}))
            able = called - refused.keys()
            there = known.skills.keys() & able
            changed = {n for n in there if not same_code(known.module(n), candidate.module(n))}
            new = able - there | changed
            void: list[str] = []
            if changed:
                texts = {module.skill: module.text for module in modules(trusted)}
                proposed = joined({**texts, **{name: candidate.module(name) for name in sorted(new)}})
                lost, void = self._tried_again(known, changed, level, trusted, proposed, revalidate)
                if lost:
                    why = f"changes {', '.join(sorted(changed))}, and {lost}"
                    refused |= _calling(candidate, called - refused.keys(), dict.fromkeys(changed, why))
            kept = called - refused.keys()
            new &= kept
            # The skills first: should it end between the two, a level is forgotten, but none is claimed
            # falsely.
            for name in sorted(new):
                self._write(f"{name}.py", candidate.module(name))
            if not refused.keys() & changed:
                self._forget(void)
            for name in sorted(called):
                record = self._record(name)
                if name in kept and name in used:
                    levels = tuple(dict.fromkeys((*record.levels, level)))
                    record = record.model_copy(update={"levels": levels})
                if name in new:
                    record = record.noting("promoted", level)
                elif name in refused and name in known.skills:
                    record = record.noting("refused", level, refused[name])
                if record != SkillRecord():
                    self._save(name, record)
        promotion = Promotion(promoted=tuple(sorted(new)), refused=refused)
        told = {"table": level, "promoted": promotion.promoted, "refused": promotion.refused}
        log.info("promotion", told)
        return promotion

    def _tried_again(
        self,
        known: Source,
        changed: Collection[str],
        level: str,
        trusted: str,
        proposed: str,
        revalidate: Revalidate | None,
    ) -> tuple[str, list[str]]:
        """Return why the trusted skills must not change, "" if they may, and levels that prove nothing."""
        touched = [name for name in known.skills if known.needs({name}) & set(changed)]
        solved = dict.fromkeys(table for name in touched for table in self.levels(name) if table != level)
        if revalidate is None:
            return f"{', '.join(solved)} were not tried again" if solved else "", []
        failing = [table for table in solved if not revalidate(proposed, table)]
        lost = [table for table in failing if revalidate(trusted, table)]
        void = [table for table in failing if table not in lost]
        return f"{', '.join(lost)} would not pass any more" if lost else "", void

    def skills(self) -> list[SkillStatus]:
        """Return every skill that is trusted."""
        records, learned, trusted = self._records(), self._learned(), read(self.source())
        return [
            SkillStatus(
                name=name,
                doc=skill.doc,
                status="learned" if name in learned else "builtin",
                levels=records.get(name, SkillRecord()).levels,
            )
            for name, skill in trusted.skills.items()
        ]

    def history(self, skill: str) -> tuple[SkillEvent, ...]:
        """Return the events of a skill, the oldest first."""
        return self._record(skill).history

    def _learned(self) -> dict[str, str]:
        """Return the text of each learned module, by its skill."""
        found = {}
        for path in sorted(self._folder.glob("*.py")):
            with expecting("a module of a skill", path):
                text = plain(path).read_text(encoding="utf-8")
            try:
                offered = read(text).skills
            except InputError as error:
                where = f"{path} {error.where}".strip()
                raise InputError(error.what, where=where, hint="repair or remove it") from error
            if path.stem not in offered:
                raise InputError(f"has no skill '{path.stem}'", where=str(path), hint="repair or remove it")
            found[path.stem] = text
        return found

    def _records(self) -> dict[str, SkillRecord]:
        return {path.stem: self._record(path.stem) for path in sorted(self._folder.glob("*.json"))}

    def _record(self, skill: str) -> SkillRecord:
        path = self._folder / f"{skill}.json"
        if not path.is_file():
            return SkillRecord()
        with expecting("a skill's record", path):
            return SkillRecord.model_validate_json(plain(path).read_bytes())

    def _forget(self, tables: Collection[str]) -> None:
        """Take these levels out of all records, as they prove nothing any more."""
        for name, record in self._records().items() if tables else ():
            left = tuple(table for table in record.levels if table not in tables)
            if left != record.levels:
                self._save(name, record.model_copy(update={"levels": left}))

    def _save(self, skill: str, record: SkillRecord) -> None:
        self._write(f"{skill}.json", record.model_dump_json(indent=2) + "\n")

    def _write(self, name: str, text: str) -> None:
        write_atomically(self._folder / name, text.encode())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / _LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _calling(source: Source, skills: Collection[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """Return those of the skills that are, or call, one with a reason against it, each with the reason."""
    found = {}
    for name in sorted(skills):
        if bad := sorted(source.needs({name}) & reasons.keys()):
            found[name] = reasons.get(name, reasons[bad[0]])
    return found
