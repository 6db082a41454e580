"""The outcome of every draft and every attempt of a run, read from its folder."""

from __future__ import annotations

import re
from typing import Literal

from spca_core.model import Record
from spca_core.plan import ActResult, CodeResult, PlanResult
from spca_core.run_folder import RunFolder


class Fate(Record):
    """One draft of a plan or of code, or one try in the world; `fate` is `accepted`, or who refused it."""

    stage: Literal["plan", "code", "act"]
    fate: str

    @property
    def good(self) -> bool:
        """Whether nothing was wrong with it."""
        return self.fate in ("accepted", "done")


def fates_of(run: RunFolder) -> tuple[Fate, ...]:
    """In the order in which they came: attempts are numbered through a run."""
    found: list[Fate] = []
    for path in sorted(run.path.glob("round_*/*_*.json"), key=lambda p: int(p.stem.rpartition("_")[2])):
        content, stage = path.read_bytes(), path.stem.partition("_")[0]
        if stage == "plan":
            drafts = PlanResult.model_validate_json(content).drafts
            found += [
                Fate(stage="plan", fate=d.rejection.critic if d.rejection else "accepted") for d in drafts
            ]
        elif stage == "code":
            codes = CodeResult.model_validate_json(content).drafts
            found += [Fate(stage="code", fate=_kind(c.rejection) or "accepted") for c in codes]
        elif stage == "act":
            found.append(Fate(stage="act", fate=_how(ActResult.model_validate_json(content))))
    return tuple(found)


def repaired_in(run: RunFolder) -> tuple[str, ...]:
    """Skills that the coder wrote after they had failed in the world, each as often as that."""
    codes = [
        CodeResult.model_validate_json(p.read_bytes()) for p in sorted(run.path.glob("round_*/code_*.json"))
    ]
    return tuple(name for c in codes if c.drafts and c.drafts[0].kind == "semantic" for name in c.written)


def _how(act: ActResult) -> str:
    failed = next((s for s in act.steps if s.status == "failed"), None)
    if failed is None:
        return act.status
    return failed.failure.kind if failed.failure else "failed"


def _kind(rejection: str) -> str:
    """The beginning of a coder's rejection, without names and numbers.

    Similar rejections are counted together by it.
    """
    words = re.sub(r"^line \d+, `.*?`: ", "", rejection)
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "…", words).partition(": ")[0].partition(";")[0][:60]
