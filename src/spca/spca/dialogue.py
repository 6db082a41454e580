"""Memory of a conversation: what "it", "put it back", "again" and an answer to a question refer to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from spca.order import newest_planning
from spca.runs import Run
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.kit import Kit
from spca_core.relation import resting
from spca_core.run_folder import RunFolder
from spca_core.scene import Observation
from spca_core.verdict import Ending

_CLAUSE = re.compile(r"[,.;]|\b(?:and|then)\b")
_PRONOUN = re.compile(r"\b(?:it|that one|this one)\b", re.IGNORECASE)
_BACK = re.compile(
    r"\b(?:put|move|bring|take) (the .+?) back(?: (?:to )?where it was| again)?[.!]*$", re.IGNORECASE
)
_AGAIN = re.compile(
    r"^(?:(?:now |please )*(?:do (?:it|that) )?(?:once )?(?:again|more))[.!]*$", re.IGNORECASE
)
_UNDO = re.compile(r"^(?:now |please )*undo(?: it| that)?[.!]*$", re.IGNORECASE)
_WHY = re.compile(r"(why|how|what)( not)?( happened)?( (did|didn't) (you|it)( do| fail)?( that| this| it)?)?")
_WHY_THAT = re.compile(r"why (?:did|have) you (?:\w+ )+?(the (?:\w+ )?\w+)(?: (?:up|there|first|away))?")
_SAID = re.compile(r"what (?:did|have) i (?:say|said|ask|asked|tell you)(?: (first|last|before|so far))?")
_QUOTED = re.compile(r"'([^']+)'")
_YES = re.compile(r"(?:yes|yeah|yep|ok|okay|sure|do that|please do)(?:,? please)?[.!]*", re.IGNORECASE)

HELP = (
    "Say what to do, such as: put the red cube on the blue plate · stack the blue one on it · "
    "now put it back · touch the left cube · build a tower of all cubes. "
    "Ask: what do you see? · where is the red cube? · how many cubes are there? · why? "
    "Ctrl-C stops the arm, Ctrl-D or `quit` ends."
)


@dataclass(frozen=True)
class _Done:
    """One run, and no more of it than what is said later may refer to: there may be thousands."""

    sentence: str
    run: Run
    steps: tuple[str, ...] | None
    """Of the plan, where there was one."""
    about: str
    """The symbol of the thing that its last step handled; empty where there was none."""
    proposal: str
    """The sentence that was proposed in place of this one."""
    lay: Mapping[str, str]
    """Where the things that it handled were seen before, in the words of a task."""


class Dialogue:
    """Memory of a session: what was said and done so far."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._history: list[_Done] = []
        self._said: list[str] = []

    def heard(self, sentence: str, meant: str) -> tuple[str, ...]:
        """Keep the user's words; return the conversation for a model, the oldest words first.

        The result is empty where a first sentence says all.
        """
        self._said.append(f"user: {sentence}")
        return tuple(self._said) if len(self._said) > 1 or meant != sentence else ()

    def remember(self, sentence: str, run: Run) -> None:
        """Remember the run that carried out a sentence, which has everything spelt out."""
        looks = RunFolder(run.folder).looks
        before = Observation.model_validate_json(looks[0].read_bytes()) if looks else None
        planned = newest_planning(run.folder)
        plan = planned.plan if planned else None
        handled = [step.args[0] for step in (plan.steps if plan else ()) if step.args]
        lay = {name: self._lay(name, before) for name in handled} if before else {}
        steps = tuple(map(str, plan.steps)) if plan else None
        about, proposal = handled[-1] if handled else "", planned.proposal if planned else ""
        self._history.append(_Done(sentence, run, steps, about, proposal, lay))
        told = f"robot: {run.result.outcome.value}: {run.result.reason} [{', '.join(steps or ())}]"
        places = ", ".join(f"{words_of(name)} {where}" for name, where in lay.items() if where)
        self._said.append(told.removesuffix(" []") + (f"; before it: {places}" if places else ""))

    def _lay(self, thing: str, seen: Observation) -> str:
        """Say where a thing was; empty if that was not seen."""
        support = next((f.args[1] for f in seen.facts if f.predicate == "on" and f.args[0] == thing), "")
        found = [o for o in seen.things if o.id == thing]
        spot = self._kit.spot_in_words(found[0]) if found and support == TABLE_SYMBOL else ""
        return spot or (resting(support) if support else "")

    def meant(self, sentence: str) -> str:
        """Spell out "it", "put it back", "undo", "again" and an answer, as far as that is known.

        A pronoun of the first clause is about what the last task was about; a later one is left alone, as it
        may be about a thing of this sentence.
        """
        if completed := self._completed(sentence):
            return completed
        if self._history and _AGAIN.match(sentence):
            return self._history[-1].sentence
        acted = [done for done in reversed(self._history) if done.about]
        if _UNDO.match(sentence):  # nothing has moved where a plan was refused
            acted = [done for done in acted if done.run.result.steps]
        if not acted:
            return sentence
        symbol = acted[0].about
        thing = f"the {words_of(symbol)}"
        if _UNDO.match(sentence):
            sentence = f"put {thing} back"
        clause = _CLAUSE.search(sentence)
        end = clause.start() if clause else len(sentence)
        meant = _PRONOUN.sub(thing, sentence[:end], count=1) + sentence[end:]
        back = _BACK.search(meant)
        came = next((d.lay[symbol] for d in acted if d.about == symbol and d.lay.get(symbol)), "")
        if back is None or back.group(1) != thing or not came:
            return meant
        return f"{meant[: back.start()]}put {thing} {came}"

    def told(self, question: str) -> str | None:
        """Answer a question about what was done, or a call for help; return None for anything else."""
        asked = question.strip().rstrip("?!. ").lower()
        if asked in ("help", "what can you do", "what can i say"):
            return HELP
        if said := _SAID.fullmatch(asked):
            own = [f'"{line[6:]}"' for line in self._said if line.startswith("user: ")]
            own = {"first": own[:1], "last": own[-1:]}.get(said[1], own)
            return f"You said {', then '.join(own)}." if own else "Nothing yet."
        if _UNDO.match(asked) or asked.endswith("put it back"):
            return None if any(done.about for done in self._history) else "Nothing has been moved yet."
        about = _WHY_THAT.fullmatch(asked)
        if not (about or _WHY.fullmatch(asked)):
            return None
        if not self._history:
            return "Nothing has been done yet."
        last = self._history[-1]
        moved = {f"the {words_of(name)}": was for name, was in last.lay.items()}
        if about and about[1] not in moved:
            return f"I did not move {about[1]}."
        told = [f'I took "{last.sentence}" as a task.']
        goals = [event.text for event in last.run.events if event.kind == "plan"]
        if goals:
            told.append(f"The goal as I understood it: {goals[-1]}.")
            for thing, was in moved.items() if "; or " not in goals[-1] else ():
                if thing not in goals[-1]:
                    told.append(f"It does not name {thing}, which was in the way{was and f' {was}'}.")
        if last.steps is not None:
            told.append(f"The plan: {', '.join(last.steps) or 'nothing to do'}.")
        endings = {Ending.SUCCESS: "It is done", Ending.CANCELLED: "It was stopped"}
        ending = endings.get(last.run.result.outcome, "It is not done")
        told.append(f"{ending}: {last.run.result.reason}")
        return " ".join(told)

    def _completed(self, answer: str) -> str:
        """Return the last sentence, completed by an answer to the question about it; empty if it is none.

        Asked about 'the cube', "red" makes it "the red cube"; only what names a thing is an answer. "Yes" is
        one to a sentence that was proposed.
        """
        last = self._history[-1] if self._history else None
        if last is None or last.run.result.outcome is not Ending.NOT_UNDERSTOOD:
            return ""
        if _YES.fullmatch(answer.strip()):
            return last.proposal
        quoted = _QUOTED.findall(last.run.result.reason)
        unclear = next((q for q in quoted if q.lower() in last.sentence.lower()), "")
        if not unclear:
            return ""
        noun = unclear.split()[-1]
        words = [
            w for w in answer.strip().rstrip(".!").split() if w.lower() not in ("the", "one", "a", "please")
        ]
        if noun != unclear and noun not in words:
            words.append(noun)
        thing = " ".join(words) if words[0].lower() in ("any", "all") else f"the {' '.join(words)}"
        if not self._kit.names_a_thing(thing):
            return ""
        return re.sub(re.escape(unclear), thing, last.sentence, count=1, flags=re.IGNORECASE)
