"""Decides who is to mend what failed: the coder, the planner, or nobody, which ends the run."""

from __future__ import annotations

from spca.blame import Blame, describe_failure
from spca.history import FailedAttempt
from spca.journal import Journal
from spca.stages import Stages, trusted
from spca.state import RunState
from spca_core.plan import ActResult
from spca_core.skill import python_name
from spca_core.verdict import Ending, Verdict

_TRIED = "this plan has failed before with the same skills and the same predictions"
_STANDS = "the plan failed, and its author stands by it, so look for the fault in the skills: "
_PERSISTS = "it was the same before the skill was rewritten, so the action may promise what does not happen"


class Repair:
    """Ways from a failure to the state in which the run goes on, within budgets of rounds and rewrites."""

    def __init__(self, stages: Stages, journal: Journal) -> None:
        self._budgets, self._reading, self._journal = stages.budgets, stages.readers, journal

    def next_round(self, state: RunState, failure: str) -> RunState:
        """Return the state that looks and plans again, or the run's end if no rounds are left."""
        self._journal.publish("round_failed", text=failure, data={"round": state.round})
        if state.round >= self._budgets.rounds:
            return state.ending(Ending.GAVE_UP, f"{self._budgets.rounds} rounds tried; last: {failure}")
        return state.next_round(failure)

    def without(self, state: RunState, actions: tuple[str, ...], failure: str) -> RunState:
        """Return the state that plans again with these actions' skills put back to what was there before."""
        if actions:
            library = self._reading.skills.restored(state.library, state.proven, actions)
            state = state.giving_up(actions, library)
        return self.next_round(state, failure)

    def blamed(self, state: RunState, found: Blame) -> RunState:
        """Return the state that has the skills to blame rewritten while retries are left, or plans again.

        If the same is wrong after a rewrite, the planner is asked, too: its domain may demand what cannot be.
        After an accident, the first in a round, the plan is carried out once more as it is.
        """
        assert state.plan is not None
        again = any(a.blame and a.blame.accident for a in state.history.attempts if a.round == state.round)
        persists = bool(state.code_retry) and state.history.complained(found, state.round)
        state = state.after_failure(found, self._reading.fingerprint(state.plan, state.library))
        if found.accident and not again:
            return state.coded(state.library)
        if found.suspects and not persists and state.code_retry < self._budgets.code_retries:
            return state.repairing(found.suspects, found.skill_failure)
        if persists:
            return self.next_round(state, f"{found.plan_failure}. {_PERSISTS}")
        return self.without(state, found.suspects, found.plan_failure)

    def goes_on(self, state: RunState, found: Blame) -> bool:
        """Return whether to go on where the run's second accident, to proven skills, has left the world."""
        before = [a.round for a in state.history.attempts if a.blame and a.blame.accident]
        return found.accident and trusted(state) and before == [state.round]

    def unchanged(self, state: RunState, failed: FailedAttempt) -> RunState:
        """Return the state that asks who is left to change something about a plan that failed before just so.

        Whoever hands in the same sees nothing to mend: then the other is asked, the coder for the skills that
        are to blame or have proven nothing yet, and once more when the planner stands by its plan.
        """
        plan, found = state.plan, failed.blame
        assert plan is not None and found is not None
        author = "coder" if state.suspects else "planner"
        asked = author, *failed.kept_by
        state = state.remembering(state.history.keeping(failed, author))
        suspects = found.suspects or [s.action for s in plan.steps if python_name(s.action) in state.written]
        left = asked.count("coder") < 2 and state.code_retry < self._budgets.code_retries
        if suspects and author == "planner" and left:
            told = ("" if found.suspects and "coder" not in asked else _STANDS) + found.skill_failure
            return state.repairing(tuple(dict.fromkeys(suspects)), told)
        if "planner" not in asked:
            return self.next_round(state, f"{_TRIED}: {found.plan_failure}")
        return state.ending(Ending.GAVE_UP, f"no progress: {_TRIED}: {found.plan_failure}")

    def onward(self, state: RunState, result: ActResult, verdict: Verdict) -> RunState:
        """Return the state that goes on in a world that cannot be put back, or the end of a final verdict."""
        assert state.plan is not None and state.observation is not None
        failure = describe_failure(result, verdict)
        if verdict.final:
            return state.ending(Ending.of(verdict.outcome), failure)
        history = state.history.in_vain(state.plan, state.observation, result, failure)
        return self.next_round(state.remembering(history), failure)
