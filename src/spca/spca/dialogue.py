"""Dialogue of a person with a session: tasks that refer to earlier ones, questions and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from spca.order import newest_plan
from spca.runs import Run
from spca.sessions import Session
from spca_core.ending import Ending
from spca_core.names import words_of
from spca_core.observation import Observation
from spca_core.plan import Plan

_CLAUSE = re.compile(r"[,.;]|\b(?:and|then)\b")
_PRONOUN = re.compile(r"\b(?:it|that one|this one)\b", re.IGNORECASE)
_BACK = re.compile(
    r"\b(?:put|move|bring|take) (the .+?) back(?: (?:to )?where it was| again)?[.!]*$", re.IGNORECASE
)
_AGAIN = re.compile(
    r"^(?:(?:now |please )*(?:do (?:it|that) )?(?:once )?(?:again|more))[.!]*$", re.IGNORECASE
)
_UNDO = re.compile(r"^(?:now |please )*undo(?: it| that)?[.!]*$", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']+)'")
_MOST_WORDS = 4
"""Words of an answer that may be a part of the sentence it was asked about, and no sentence of its own."""

HELP = (
    "Say what to do, such as: put the red cube on the blue plate · stack the blue one on it · "
    "now put it back · touch the left cube · build a tower of all cubes. "
    "Ask: what do you see? · where is the red cube? · why? · what did you do? "
    "Ctrl-C stops the arm, Ctrl-D or `quit` ends."
)


@dataclass(frozen=True)
class _Done:
    """The last run: what was said, what it was about, and what was seen before."""

    sentence: str
    run: Run
    plan: Plan | None
    before: Observation | None

    @property
    def about(self) -> str:
        """The symbol of the thing that the last step of the plan handled; empty where there was none."""
        steps = self.plan.steps if self.plan else ()
        named = [step.args[0] for step in steps if step.args]
        return named[-1] if named else ""

    def support(self, thing: str) -> str:
        """Return what a thing rested on before; empty if that was not seen."""
        facts = self.before.facts if self.before else ()
        return next((f.args[1] for f in facts if f.predicate == "on" and f.args[0] == thing), "")


class Dialogue:
    """A conversation over a session: tasks, which may refer to earlier ones, and questions."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._history: list[_Done] = []
        self._said: list[str] = []

    def do(self, sentence: str, out: Path | None = None) -> Run:
        """Have a sentence carried out; what it refers to is found in what was done before."""
        meant = self.task(sentence)
        if not self._said or self._said[-1].startswith("robot: "):
            self._said.append(f"user: {sentence}")
        told = len(self._said) > 1 or meant != sentence
        run = self._session.do(meant, out, tuple(self._said) if told else ())
        plan = newest_plan(run.folder)
        steps = ", ".join(map(str, plan.steps if plan else ()))
        self._said.append(f"robot: {run.result.outcome.value}: {run.result.reason} [{steps}]")
        looks = sorted(run.folder.glob("round_*/observation.json"))
        before = Observation.model_validate_json(looks[0].read_bytes()) if looks else None
        self._history.append(_Done(meant, run, plan, before))
        return run

    def task(self, sentence: str) -> str:
        """The sentence with "it", "put it back", "undo" and "again" spelt out, as far as that is known.

        A pronoun of the first clause is about what the last task was about; a later one is left alone, as it
        may be about a thing of this sentence.
        """
        if self._history and _AGAIN.match(sentence):
            return self._history[-1].sentence
        acted = [done for done in reversed(self._history) if done.about]
        if not acted:
            return sentence
        last = acted[0]
        thing = f"the {words_of(last.about)}"
        if _UNDO.match(sentence):
            sentence = f"put {thing} back"
        clause = _CLAUSE.search(sentence)
        end = clause.start() if clause else len(sentence)
        meant = _PRONOUN.sub(thing, sentence[:end], count=1) + sentence[end:]
        back = _BACK.search(meant)
        support = next(
            (s for done in acted if done.about == last.about and (s := done.support(last.about))), ""
        )
        if back and back.group(1) == thing and support:
            meant = f"{meant[: back.start()]}put {thing} on the {words_of(support)}"
        return meant

    def completed(self, sentence: str, question: str, answer: str) -> str:
        """The sentence with the answer to a question about it put in: 'the cube' and "red" is "the red cube".

        An answer that is no part of the sentence stands for itself.
        """
        self._said.append(f"user: {answer}")
        answer = answer.strip().rstrip(".!")
        unclear = next((q for q in _QUOTED.findall(question) if q.lower() in sentence.lower()), "")
        if not unclear or len(answer.split()) > _MOST_WORDS:
            return answer
        noun = unclear.split()[-1]
        words = [w for w in answer.split() if w.lower() not in ("the", "one", "a", "please")]
        if noun != unclear and noun not in words:
            words.append(noun)
        thing = " ".join(words) if words and words[0].lower() in ("any", "all") else f"the {' '.join(words)}"
        return re.sub(re.escape(unclear), thing, sentence, count=1, flags=re.IGNORECASE)

    def answer(self, text: str) -> str | None:
        """The answer to a question; None for what is none."""
        asked = text.strip().rstrip("?!. ").lower()
        if asked in ("help", "what can you do", "what can i say"):
            return HELP
        if asked in ("what do you see", "look", "what is there", "what is on the table"):
            return " ".join(self._session.look().sentences)
        if found := re.fullmatch(r"where(?: is|'s) (.+)", asked):
            return self._where(found.group(1))
        if asked in ("why", "why not", "what happened", "what did you do", "how"):
            return self._told()
        return None

    def _where(self, words: str) -> str:
        wanted = self.task(words)
        seen = self._session.look()
        names = {f"the {words_of(symbol)}": symbol for symbol in seen.observation.objects}
        symbol = names.get(wanted if wanted.startswith("the ") else f"the {wanted}")
        if symbol is None:
            return f"I see no such thing; there are: {', '.join(sorted(names))}."
        found = [
            f for f in seen.facts if f.args[:1] == (symbol,) and f.predicate in ("on", "held", "next_to")
        ]
        places = [
            "in the gripper"
            if f.predicate == "held"
            else f"{f.predicate.replace('_', ' ')} the {words_of(f.args[1])}"
            for f in found
        ]
        return f"The {words_of(symbol)} is {' and '.join(places) or 'somewhere I cannot tell'}."

    def _told(self) -> str:
        if not self._history:
            return "Nothing has been done yet."
        last = self._history[-1]
        result, plan = last.run.result, last.plan
        told = [f'I took "{last.sentence}" as a task.']
        goals = [event.text for event in last.run.events if event.kind == "plan"]
        if goals:
            told.append(f"The goal as I understood it: {goals[-1]}.")
        if plan:
            told.append(f"The plan: {', '.join(map(str, plan.steps)) or 'nothing to do'}.")
        endings = {Ending.SUCCESS: "It is done", Ending.CANCELLED: "It was stopped"}
        ending = endings.get(result.outcome, "It is not done")
        told.append(f"{ending}: {result.reason}")
        return " ".join(told)
