"""The trusted library of an environment: skills that have solved a level, on disk.

Only what was learned is stored; `source` lays it over the skills that come with the environment. A skill gets
in when the referee says success and its effects were seen. One that is trusted already changes only if the
levels solved with it still pass, or if more levels speak for the new version than for the old. Trust can be
withdrawn: a demoted skill is kept apart, and can be restored.
"""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import structlog

from spca_coder.ledger import Demoted, SkillEvent, SkillLedger
from spca_coder.library import overlay, with_imports, without
from spca_coder.revalidation import Revalidate, Revalidation, stands_on
from spca_coder.source import Source, read, same_code
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.result import Promotion
from spca_core.run_folder import write_atomically
from spca_core.validation import expecting

log = structlog.get_logger(__name__)

SKILLS, RECORD, LOCK = "skills.py", "solved.json", ".lock"


class SkillStatus(Record):
    """Status of a skill: `builtin` ones come with the environment, `hidden` ones may not be used."""

    name: str
    doc: str
    status: Literal["builtin", "learned", "hidden", "demoted"]
    levels: tuple[str, ...] = ()
    reason: str = ""


class TrustedLibrary:
    """One environment's trusted skills, in `folder`. Safe for several processes at a time.

    `builtin` is the source of the skills that come with the environment ("" to learn from nothing).
    """

    def __init__(self, folder: Path, builtin: str = "") -> None:
        self._folder, self._builtin = folder, builtin
        read(builtin)

    def source(self) -> str:
        """The trusted library as source text. Raises InputError when the file on disk is not Python."""
        hidden = self._ledger().hidden
        whole = self._over_builtin(self._learned())
        return without(whole, hidden) if hidden else whole

    def levels(self, skill: str) -> tuple[str, ...]:
        """The levels that were solved with a skill, in the order of their first success."""
        return self._ledger().levels.get(skill, ())

    def promote(
        self,
        working: str,
        used: Collection[str],
        level: str,
        revalidate: Revalidate | None = None,
        distrust: Mapping[str, str] | None = None,
    ) -> Promotion:
        """The referee said success: `level` was solved with the skills `used` out of the library `working`.

        New skills become trusted, with the helpers and constants they need, but for those in `distrust` (with
        the reason) and what stands on them. A skill that is trusted in another form, and any that stands on
        one, becomes so only if `revalidate` says of each level it solved that it still passes. If one does
        not, the trusted form is in quarantine while it is tried on the same levels, and the form that passes
        more of them is trusted; otherwise everything that stands on the change is refused and the trusted
        library stays as it was.
        """
        candidate = read(working)
        functions, _ = candidate.with_helpers(set(used))
        with self._locked():
            learned, ledger = self._learned(), self._ledger()
            revalidation = Revalidation(self._over_builtin(learned), working, level, ledger)
            refused: dict[str, str] = {}
            for name, why in (distrust or {}).items():
                refused |= revalidation.standing_on({name}, functions, why)
            refused |= revalidation.clashes(functions - set(refused))
            more, ledger = self._contest(
                revalidation, functions - set(refused), working, level, ledger, revalidate
            )
            refused |= more
            kept, needed = candidate.with_helpers(set(used) - set(refused))
            new = {n for n in kept if n not in revalidation.trusted.functions} | revalidation.changed(kept)
            if new:
                learned = self._without_builtin(overlay(learned, candidate.excerpt(kept, needed), working))
                self._write(SKILLS, learned)
            # The skills first: should it end between the two, a level is forgotten, but none is claimed
            # falsely.
            ledger = ledger.credit([n for n in used if n in kept], level).show(kept)
            ledger = ledger.note(new, "promoted", level)
            for name, why in refused.items():
                ledger = ledger.note([name], "refused", level, why)
            self._save(ledger)
        promotion = Promotion(promoted=tuple(sorted(new)), refused=refused)
        log.info("promotion", level=level, promoted=promotion.promoted, refused=promotion.refused)
        return promotion

    def _contest(
        self,
        revalidation: Revalidation,
        functions: set[str],
        working: str,
        level: str,
        ledger: SkillLedger,
        revalidate: Revalidate | None,
    ) -> tuple[dict[str, str], SkillLedger]:
        """The functions refused because of what they change, and the record after the levels have voted."""
        changed = revalidation.changed(functions)
        if not changed:
            return {}, ledger
        what = f"changes {', '.join(sorted(changed))}, and"
        witnesses = revalidation.witnesses(changed)
        if witnesses and revalidate is None:
            why = f"{what} {', '.join(witnesses)} were not tried again"
            return revalidation.standing_on(changed, functions, why), ledger
        if revalidate is None:
            return {}, ledger
        candidate = revalidation.candidate
        proposed = overlay(
            self._over_builtin(self._learned()),
            candidate.excerpt(*candidate.with_helpers(functions)),
            working,
        )
        self._save(
            ledger.hide(changed, f"in quarantine: {level} was solved with another version").note(
                changed, "quarantined", level
            )
        )
        try:
            ballot = revalidation.vote(changed, proposed, revalidate)
        except BaseException:
            self._save(ledger)
            raise
        if not ballot.contested:
            return {}, ledger
        reason = f"{what} {ballot}"
        ledger = ledger.note(changed, "quarantined", level)
        if not ballot.won:
            ledger = ledger.contest(changed, level).note(changed, "released", level, reason)
            return revalidation.standing_on(changed, functions, reason), ledger
        trusted = revalidation.trusted
        for name in sorted(changed):
            source = with_imports(trusted, trusted.excerpt(*trusted.with_helpers({name})))
            version = Demoted(reason=str(ballot), source=source, levels=ledger.levels.get(name, ()))
            proofs = tuple(n for n in ledger.levels.get(name, ()) if n in ballot.for_new)
            ledger = ledger.archive(name, version).model_copy(
                update={"levels": {**ledger.levels, name: proofs}}
            )
        lost = [n for n in ballot.levels if n not in ballot.for_new]
        return {}, ledger.without_proofs(lost).note(changed, "demoted", level, str(ballot))

    # -- by hand ---------------------------------------------------------------------------------------------

    def skills(self) -> list[SkillStatus]:
        """Every skill that is known, trusted or not."""
        ledger, learned = self._ledger(), read(self._learned())
        found = []
        for name, function in read(self._over_builtin(self._learned())).functions.items():
            if not function.is_skill:
                continue
            status: Literal["builtin", "learned", "hidden"] = (
                "learned" if name in learned.functions else "builtin"
            )
            status = "hidden" if name in ledger.hidden else status
            found.append(
                SkillStatus(
                    name=name,
                    doc=function.doc,
                    status=status,
                    levels=ledger.levels.get(name, ()),
                    reason=ledger.hidden.get(name, ""),
                )
            )
        for name, version in ledger.demoted.items():
            archived = read(version.source).functions.get(name)
            found.append(
                SkillStatus(
                    name=name,
                    doc=archived.doc if archived else "",
                    status="demoted",
                    levels=version.levels,
                    reason=version.reason,
                )
            )
        return found

    def history(self, skill: str) -> tuple[SkillEvent, ...]:
        """Return the events of a skill, the oldest first."""
        return tuple(event for event in self._ledger().history if event.skill == skill)

    def excerpt(self, skill: str) -> str:
        """A skill's source with all that it needs: the trusted version, else the demoted.

        InputError if unknown.
        """
        source = read(self._over_builtin(self._learned()))
        if skill in source.functions:
            return with_imports(source, source.excerpt(*source.with_helpers({skill})))
        if version := self._ledger().demoted.get(skill):
            return version.source
        raise _unknown(skill, source)

    def demote(self, skill: str, reason: str) -> tuple[str, ...]:
        """Withdraw trust from a skill, and from the learned ones that stand on it; returns them.

        A learned version makes way for the builtin one, if there is one; a builtin skill is hidden.
        """
        with self._locked():
            text, ledger = self._learned(), self._ledger()
            learned, whole = read(text), read(self._over_builtin(text))
            if skill not in whole.functions:
                raise _unknown(skill, whole)
            if skill not in learned.functions:
                self._save(ledger.hide([skill], reason).note([skill], "demoted", reason=reason))
                return (skill,)
            fallen = [n for n, f in learned.functions.items() if f.is_skill and stands_on(whole, n, {skill})]
            for name in fallen:
                source = with_imports(whole, whole.excerpt(*whole.with_helpers({name})))
                version = Demoted(reason=reason, source=source, levels=ledger.levels.get(name, ()))
                ledger = ledger.archive(name, version)
            self._write(SKILLS, without(text, fallen))
            self._save(ledger.note(fallen, "demoted", reason=reason))
            return tuple(fallen)

    def restore(self, skill: str) -> None:
        """Trust a demoted or hidden skill again, in place of the version that is trusted now."""
        with self._locked():
            text, ledger = self._learned(), self._ledger()
            if skill in ledger.hidden:
                self._save(ledger.show([skill]).note([skill], "restored"))
                return
            version = ledger.demoted.get(skill)
            if version is None:
                known = ", ".join((*ledger.hidden, *ledger.demoted)) or "none"
                raise InputError(f"'{skill}' is not demoted", hint=f"demoted are: {known}")
            learned = read(text)
            ledger = ledger.take_out(skill)
            if skill in learned.functions:
                source = with_imports(learned, learned.excerpt(*learned.with_helpers({skill})))
                present = Demoted(
                    reason="another version was restored", source=source, levels=ledger.levels.get(skill, ())
                )
                ledger = ledger.archive(skill, present)
            self._write(SKILLS, self._without_builtin(overlay(text, version.source, version.source)))
            ledger = ledger.model_copy(update={"levels": {**ledger.levels, skill: version.levels}})
            self._save(ledger.note([skill], "restored"))

    # -- on disk ---------------------------------------------------------------------------------------------

    def _learned(self) -> str:
        path = self._folder / SKILLS
        with expecting("a library of skills", path):
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
        try:
            read(text)
        except InputError as error:
            raise InputError(
                error.what, where=f"{path} {error.where}".strip(), hint="repair or remove it"
            ) from error
        return text

    def _ledger(self) -> SkillLedger:
        path = self._folder / RECORD
        if not path.is_file():
            return SkillLedger()
        with expecting("a record of solved levels", path):
            return SkillLedger.model_validate_json(path.read_bytes())

    def _save(self, ledger: SkillLedger) -> None:
        self._write(RECORD, ledger.model_dump_json(indent=2) + "\n")

    def _write(self, name: str, text: str) -> None:
        write_atomically(self._folder / name, text.encode())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # -- builtin and learned ---------------------------------------------------------------------------------

    def _over_builtin(self, learned: str) -> str:
        return overlay(self._builtin, learned, learned) if learned.strip() else self._builtin

    def _without_builtin(self, learned: str) -> str:
        """Only what the builtin skills do not have in the same form."""
        builtin, source = read(self._builtin), read(learned)
        functions = {
            n
            for n, f in source.functions.items()
            if n not in builtin.functions or not same_code(f.text, builtin.functions[n].text)
        }
        constants = {n for n, text in source.constants.items() if builtin.constants.get(n) != text}
        return with_imports(source, source.excerpt(functions, constants))


def _unknown(skill: str, source: Source) -> InputError:
    known = ", ".join(n for n, f in source.functions.items() if f.is_skill) or "none"
    return InputError(f"unknown skill '{skill}'", hint=f"the library has: {known}")
