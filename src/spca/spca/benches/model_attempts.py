"""The outcome of every draft and every attempt of a run, read from its folder."""

from __future__ import annotations

import re
from typing import Literal

from spca_core.model import Record
from spca_core.plan import ActResult, CodeResult, PlanResult
from spca_core.rehearsal import Rehearsed
from spca_core.run_folder import RunFolder

_STAGE = re.compile(r"(plan|code|rehearsal|act)_(\d+)\.json")


class Fate(Record):
    """One draft of a plan or of code, one rehearsal, or one try in the world.

    `fate` is `accepted`, or who refused it.
    """

    stage: Literal["plan", "code", "rehearsal", "act"]
    fate: str

    @property
    def good(self) -> bool:
        """Whether nothing was wrong with it."""
        return self.fate in ("accepted", "done")


def fates_of(run: RunFolder) -> tuple[Fate, ...]:
    """In the order in which they came: attempts are numbered through a run."""
    found: list[Fate] = []
    numbered = [(match, p) for p in run.path.glob("round_*/*.json") if (match := _STAGE.fullmatch(p.name))]
    for match, path in sorted(numbered, key=lambda pair: int(pair[0][2])):
        content, stage = path.read_bytes(), match[1]
        if stage == "plan":
            drafts = PlanResult.model_validate_json(content).drafts
            found += [
                Fate(stage="plan", fate=d.rejection.critic if d.rejection else "accepted") for d in drafts
            ]
        elif stage == "code":
            codes = CodeResult.model_validate_json(content).drafts
            found += [Fate(stage="code", fate=_kind(c.rejection) or "accepted") for c in codes]
        elif stage == "rehearsal":
            rehearsed = Rehearsed.model_validate_json(content)
            fate = f"rejected: {rehearsed.fault.kind}" if rehearsed.fault else rehearsed.status
            found.append(Fate(stage="rehearsal", fate=fate))
        else:
            found.append(Fate(stage="act", fate=_how(ActResult.model_validate_json(content))))
    return tuple(found)


def repaired_in(run: RunFolder) -> tuple[str, ...]:
    """Skills that the coder wrote after they had failed, each as often as that."""
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
