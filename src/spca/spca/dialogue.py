"""Memory of a conversation: what "it", "put it back", "undo", "again" and an answer refer to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product, takewhile
from typing import NamedTuple, NoReturn

from spca.order import newest_planning
from spca.runs import Run
from spca_core.errors import InputError
from spca_core.geometry import Vec3
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.kit import Kit
from spca_core.relation import in_words, resting
from spca_core.run_folder import RunFolder
from spca_core.scene import Observation
from spca_core.verdict import Ending

_CLAUSE = re.compile(r"[,.;:]|\b(?:and|then)\b|(?<=\w )(?:so|because|until|while|which)\b")
_PRONOUN = re.compile(r"\b(?:it|that one|this one)\b", re.IGNORECASE)
_THEM = re.compile(r"\b(?:them(?: all| both)?|(?:both|all) of them)\b", re.IGNORECASE)
_THERE = re.compile(r"(?i)\bthere(?=(?: too| as well)?[.!]*$)|\bin(?:to)? it\b")
_PLACE = re.compile(r"(?:on|in|next|beside|behind|between|to)\b")
_BACK = re.compile(
    r"(?i)\b(?:put|move|bring|take) (?:(it|the .+?)|(them|both)|(everything|(?:it )?all|all of (?:it|them)))"
    r" back(?: (?:to )?where (?:it was|they were)| again)?[.!]*$"
)
_AGAIN = re.compile(r"(?i)(?:now |please )*(?:do (?:it|that) )?(?:once |a bit )?(?:again|more|redo)[.!]*")
_CONTINUE = re.compile(r"(?i)(?:now |please )*(?:continue|go on|carry on|resume)(?: with (?:it|that))?[.!]*")
_UNDO = re.compile(
    r"(?i)(?:now |please )*"
    r"undo(?: it| that| (everything|all|it all)| the last(?: (two|three|four))?(?: \w+)?)?[.!]*"
)
_COUNTS = {"two": 2, "three": 3, "four": 4}
_WHY = re.compile(r"(why|how|what)( not)?( happened)?( (did|didn't) (you|it)( do| fail)?( that| this| it)?)?")
_PLAN = re.compile(r"what(?: is|'s| was) (?:your|the) plan")
_ABOUT = re.compile(r"(?:(?:and|so|then) )?(?:where |what colour )?(?:is|are) ", re.IGNORECASE)
_WHY_THAT = re.compile(r"why (?:did|have) you (?:\w+ )+?(the (?:\w+ )?\w+)(?: (?:up|there|first|away))?")
_SAID = re.compile(r"what (?:did|have) i (?:say|said|ask|asked|tell you)(?: (first|last|before|so far))?")
_QUOTED = re.compile(r"'([^']+)'")
_YES = re.compile(r"(?:yes|yeah|yep|ok|okay|sure|do that|please do)(?:,? please)?[.!]*", re.IGNORECASE)
_MOVED = 0.01
"""Metres from where it was that a thing on the table is taken for moved."""
_MISSING = re.compile(r"[Tt]here (?:is|are) no ([\w ]+)\.")
_MEANT = re.compile(
    r"(?i)(?P<no>(?:(?:no|nope|oops|sorry|wait|not (?:that|this|there|the \w+)(?: one| cube)?)\b[,.!;: ]*)*)"
    r"(?P<meant>i (?:meant?|said|wanted) )?(?P<now>(?:and |now |then )+)?(?P<on>(?:on|onto|in|into|to) )?"
    r"(?P<thing>(?:(?!\b(?:not|no)\b).)+?)(?P<instead>,? instead)?(?P<too>,? (?:too|also|as well))?[.!]*"
)

HELP = (
    "Say what to do, such as: put the red cube on the blue plate · stack the blue one on it · "
    "now put it back · touch the left cube · build a tower of all cubes. "
    "Ask: what do you see? · where is the red cube? · how many cubes are there? · why? "
    "Ctrl-C stops the arm, `continue` goes on; Ctrl-D or `quit` ends."
)
_SMALL_TALK = {
    r"help|what can (?:you do|i say)": HELP,
    r"(?:hello|hi|hey|good (?:morning|day|evening))(?: there| robot)?": "Hello. Say what to do, or `help`.",
    r"(?:great |many |no )?(?:thanks|thank you|well done|good job)(?: a lot| very much)?": "You are welcome.",
    r"never ?mind|forget (?:it|that|about it)": "All right.",
    r"(?:please )?(?:stop|halt|abort|cancel)(?: it| that| now)?": "Nothing is moving; Ctrl-C stops the arm.",
}


class _Spot(NamedTuple):
    """Where a thing was seen: a task that puts it there, and its centre (metres in `world`)."""

    order: str
    at: Vec3


@dataclass(frozen=True)
class _Done:
    """One run, and no more of it than what is said later may refer to: there may be thousands."""

    sentence: str
    said: str
    """The user's own words for it."""
    run: Run
    steps: tuple[str, ...] | None
    """Of the plan, where there was one."""
    about: str
    """The symbol of the thing that its last step handles; empty where there is none."""
    proposal: str
    """The sentence that was proposed in place of this one."""
    goal: str
    """As it was understood; empty where it was not, and where it leaves a choice."""
    lay: Mapping[str, _Spot]
    """Where the things that its steps have handled were seen before."""
    first: Mapping[str, _Spot]
    """The same, before what it corrects was done."""


class Dialogue:
    """Memory of a session: what was said and done so far; `look` shows how the table is now."""

    def __init__(self, kit: Kit, look: Callable[[], Observation]) -> None:
        self._kit, self._look = kit, look
        self._history: list[_Done] = []
        self._said: list[str] = []
        self._again = ""  # the last task that takes nothing back, or that was taken back
        self._redo = ""  # the goal of what was taken back last, which is of the same things
        self._asked = ""  # what the last question was about
        self._to_undo: list[_Done] = []
        self._undoing: tuple[str, int | None] = "", 0  # what takes back, and how many are then left to undo
        self._correcting: tuple[str, str, Mapping[str, _Spot]] = "", "", {}  # what does, its task, old places

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
        args = [step.args for step in (plan.steps if plan else ()) if step.args]
        handled = dict.fromkeys(e.data["args"][0] for e in run.events if e.kind == "step" and e.data["args"])
        lay = {name: spot for name in handled if before and (spot := self._spot(name, before))}
        steps = tuple(map(str, plan.steps)) if plan else None
        about, proposal = args[-1][0] if args else "", planned.proposal if planned else ""
        said = next((line[6:] for line in reversed(self._said) if line.startswith("user: ")), "")
        goal = next((e.text for e in reversed(run.events) if e.kind == "plan" and "; or " not in e.text), "")
        (back, left), self._undoing = self._undoing, ("", 0)  # the same words later are a task
        whole, task, first = self._correcting
        task, first = (task, {**lay, **first}) if sentence == whole else (sentence, lay)
        done = _Done(task, said, run, steps, about, proposal, goal, lay, first)
        self._asked, self._redo, asks = "", "", run.result.outcome is Ending.NOT_UNDERSTOOD
        self._history.append(done)
        if sentence != back and not asks:
            self._again = task
        if sentence != back or left is None:
            self._to_undo += [done] if lay else []
        elif run.result.success:
            self._again, self._redo = self._to_undo[left].sentence, self._to_undo[left].goal
            del self._to_undo[left:]
        told = f"robot: {run.result.outcome.value}: {run.result.reason} [{', '.join(steps or ())}]"
        told = told.replace(f"{Ending.NOT_UNDERSTOOD.value}: ", "") if asks else told
        places = "; ".join(spot.order for spot in lay.values())
        self._said.append(told.removesuffix(" []") + (f"; to put back: {places}" if places else ""))

    def _spot(self, thing: str, seen: Observation) -> _Spot | None:
        """Return where a thing was; None if that was not seen."""
        support = next((f.args[1] for f in seen.facts if f.predicate == "on" and f.args[0] == thing), "")
        held = seen.holds("held", thing)
        for found in (o for o in seen.things if o.id == thing and (support or held)):
            where = self._kit.spot_in_words(found) if support == TABLE_SYMBOL else ""
            put = f"put the {words_of(thing)} {where or resting(support)}"
            return _Spot(f"pick up the {words_of(thing)}" if held else put, found.pose.position)
        return None

    def spelt(self, sentence: str) -> str:
        """Spell out "it" and "them" in the first clause: what the last task was about.

        A later one is left alone, as it may be about a thing of this sentence.
        """
        last = next((done for done in reversed(self._history) if done.about), None)
        clause = _CLAUSE.search(sentence)
        end = clause.start() if clause and (last or self._asked) else len(sentence)
        thing = self._asked or (f"the {words_of(last.about)}" if last else r"\g<0>")
        first, said = sentence[:end], last.sentence if last else ""
        _, there = next(self._phrases(said), (0, len(said)))
        if not self._asked and _PLACE.match(place := said[there:].strip()) and not _CLAUSE.search(place):
            inside = place.startswith("in ")  # "in it" is in what something was put in
            first = _THERE.sub(lambda w: place if inside or w[0].lower() == "there" else w[0], first)
        first, moved = _PRONOUN.sub(thing, first, count=1), [*map(words_of, last.lay)] if last else []
        moved = [name for name in moved if name in said] or moved
        if not moved[1:] and not [*self._phrases(first)]:  # those of the last two tasks
            moved = [*dict.fromkeys(words_of(done.about) for done in self._history if done.about)][-2:]
        named = [f"the {name}" for name in moved]
        return (_THEM.sub(" and ".join(named), first, count=1) if named[1:] else first) + sentence[end:]

    def meant(self, sentence: str) -> str:
        """Spell out "it", "put it back", "undo", "again", a correction and an answer, as far as is known.

        Raises InputError where nothing is said, and where there is nothing to undo, or to do again.
        """
        if not (sentence := sentence.strip()):
            raise InputError("no task", hint='say what to do, such as "put the red cube on the blue plate"')
        if _AGAIN.fullmatch(sentence):
            return self._redo or self._again or _nothing("There is nothing to do again.")
        if _CONTINUE.fullmatch(sentence):
            stopped = [done for done in self._history[-1:] if done.run.result.outcome is Ending.CANCELLED]
            return stopped[0].sentence if stopped else _nothing("Nothing was stopped.")
        if undo := _UNDO.fullmatch(sentence):
            return self._undo(len(self._to_undo) if undo[1] else _COUNTS.get(undo[2], 1))
        if said := self._completed(sentence) or self._corrected(sentence):
            return said
        back = _BACK.search(sentence)
        before = self.spelt(sentence[: back.start()]) if back else ""
        if back is None or (back[1] == "it" and _CLAUSE.search(before)):
            return self.spelt(sentence)
        if back[3]:
            return before + self._undo(len(self._to_undo))
        moved = [done.lay for done in self._history if done.lay]
        one = {f"the {words_of(name)}": {name: lay[name]} for lay in moved for name in lay}
        lay = moved[-1] if back[2] and moved else one.get(self.spelt(back[1] or ""), {})
        self._undoing = before + "; ".join(spot.order for spot in lay.values()), None
        return self._undoing[0] if lay else _nothing(f"I have not moved {back[1] or back[2]} yet.")

    def known(self, meant: str) -> bool:
        """Return whether a task takes back or repeats what was done, so that nobody need be asked how."""
        known = {self._undoing[0], self._redo} - {""}
        return meant in known and self._kit.understands(meant, self._look())

    def _undo(self, count: int) -> str:
        """Return what takes back that many of the last tasks that moved something."""
        lay: dict[str, _Spot] = {}
        now = self._look() if self._to_undo else None
        for left, done in reversed([*enumerate(self._to_undo)]):
            lay |= done.lay
            if now and left <= max(len(self._to_undo) - count, 0) and (text := self._back(lay, now)):
                self._undoing = text, left
                return text
        return _nothing("There is nothing to undo.")

    def _back(self, lay: Mapping[str, _Spot], now: Observation) -> str:
        """Return what puts things back; empty if they are there. What was held is picked up last."""

        def gone(name: str, was: _Spot) -> bool:
            if (there := self._spot(name, now)) is None or there.order == was.order:
                return there is None
            points = " at x = " in there.order and " at x = " in was.order
            return not points or math.dist(there.at, was.at) >= _MOVED

        orders = [was.order for name, was in lay.items() if gone(name, was)]
        return "; ".join(sorted(orders, key=lambda order: order.startswith("pick up")))

    def asked(self, question: str) -> str:
        """Return a question spelt out; what it is about is "it" from now on."""
        question = self.spelt(question)
        begin = about.end() if (about := _ABOUT.match(question)) else 0
        self._asked = next((question[b:e] for b, e in self._phrases(question) if b == begin > 0), self._asked)
        return question

    def told(self, question: str) -> str | None:
        """Answer a question about what was done, or a call for help; return None for anything else."""
        asked = question.strip().rstrip("?!. ").lower()
        if said := _SAID.fullmatch(asked):
            own = [f'"{line[6:]}"' for line in self._said if line.startswith("user: ")]
            own = {"first": own[:1], "last": own[-1:]}.get(said[1], own)
            return f"You said {', then '.join(own)}." if own else "Nothing yet."
        if talk := next((told for said, told in _SMALL_TALK.items() if re.fullmatch(said, asked)), ""):
            return talk
        if not self._to_undo and _UNDO.fullmatch(asked):
            return "There is nothing to undo."
        if not any(done.lay for done in self._history) and _BACK.search(asked):
            return "Nothing has been moved yet."
        about = _WHY_THAT.fullmatch(asked)
        if not (about or _WHY.fullmatch(asked) or _PLAN.fullmatch(asked)):
            return None
        if not self._history:
            return "Nothing has been done yet."
        acted = [done for done in self._history if done.lay] if "you do" in asked else []
        last = [*self._history, *acted][-1]  # "what did you do" is about no refused sentence
        names = [f"the {words_of(name)}" for name in last.lay]
        moved = {n: was.order.partition(n)[2] for n, was in zip(names, last.lay.values(), strict=True)}
        if about and about[1] not in moved:
            return f"I did not move {about[1]}."
        told = [f'I took "{last.sentence}" as a task.']
        goals = [event.text for event in last.run.events if event.kind == "plan"]
        if goals:
            told.append(f"The goal as I understood it: {goals[-1]}.")
            for thing, was in moved.items() if "; or " not in goals[-1] else ():
                if thing not in goals[-1]:
                    told.append(f"It does not name {thing}, which was in the way{was}.")
        if last.steps is not None:
            told.append(f"The plan: {in_words(', '.join(last.steps)) or 'nothing to do'}.")
        endings = {Ending.SUCCESS: "It is done", Ending.CANCELLED: "It was stopped"}
        ending = endings.get(last.run.result.outcome, "It is not done")
        told.append(f"{ending}: {last.run.result.reason}")
        return " ".join(told)

    @property
    def asks(self) -> bool:
        """The last sentence was not understood, or is about a thing that is not there."""
        last = self._history[-1:]
        return any(done.run.result.outcome is Ending.NOT_UNDERSTOOD or _unclear(done) for done in last)

    def _completed(self, answer: str) -> str:
        """Return the last sentence, completed by an answer to the question about it; empty if it is none.

        Asked about 'the cube', "red" makes it "the red cube"; only what names a thing is an answer, and no
        task of its own where a word was asked about. "Yes" is one to a sentence that was proposed.
        """
        last = self._history[-1] if self.asks else None
        if last is None or _YES.fullmatch(answer):
            return last.proposal if last else ""
        meant, unclear = _MEANT.fullmatch(answer), _unclear(last)
        words = _bare(meant["thing"] if meant else answer)
        if not unclear or not words:
            return ""
        if phrase := self._kit.names_a_thing(unclear) or bool(_MISSING.search(last.run.result.reason)):
            thing = self._like(unclear, words)
            thing = thing if unclear.lower().startswith("the ") else thing.removeprefix("the ")
        else:
            before = last.sentence.lower().partition(unclear.lower())[0].split()
            while len(words) > 1 and words[0].lower() in before[-2:]:  # "the red cube" for "red cub"
                words.pop(0)
            thing = " ".join(words)
        text = re.sub(rf"\b{re.escape(unclear)}\b", thing, last.sentence, count=1, flags=re.IGNORECASE)
        now, understands = None if phrase else self._look(), self._kit.understands
        other = now and (understands(self.spelt(answer), now) or not understands(text, now))
        return text if thing and not other else ""

    def _corrected(self, sentence: str) -> str:
        """Return the last task with another thing, and what takes back the one that was done; else nothing.

        As in "no, I meant the blue one"; after "now the blue one" nothing is taken back. The first phrase is
        meant that can be of that thing, one of the user's own words before what "it" was. Raises InputError
        where something else was meant and that may be either.
        """
        said = _MEANT.fullmatch(sentence)
        again = self._history[-1].sentence if self.asks else self._again
        last = next((done for done in reversed(self._history) if done.sentence == again), None)
        if not last or not said or not any(said[n] for n in ("no", "meant", "instead", "now", "too")):
            return ""
        if self.asks:  # it was not understood: what was proposed in its place is corrected
            last = replace(last, sentence=last.proposal)
        words, spans = _bare(said["thing"]), [*self._phrases(last.sentence)]
        phrases, now, more = spans[bool(said["on"]) :], None, said["now"] or said["too"]
        if more and any(map(_PLACE.fullmatch, words)):  # "and the blue one on the red plate" is a task
            return ""
        if not more:
            phrases.sort(key=lambda at: last.sentence[slice(*at)] not in last.said)
        # of the same kind, if that can be: "the green plate" for "the blue plate", not for "the red cube"
        found = [
            (start, was, thing, text)
            for own, (start, end) in product((False, True), phrases if words else ())
            if (was := last.sentence[start:end])
            and (thing := self._like(words[-1] if own else was, words))
            and (text := f"{last.sentence[:start]}{thing}{last.sentence[end:]}") != last.sentence
            and self._kit.understands(text, now := now or self._look())
        ]
        if not found or now is None:
            return ""
        (start, was, thing, text), asked = found[0], said["thing"]
        it = [other for _, phrase, other, _ in found if phrase not in last.said and other[4:] not in asked]
        pronoun = _PRONOUN.search(last.said) and was in last.said
        if said["meant"] and it and pronoun and thing[4:] not in asked:
            raise InputError(f"{thing} or {it[0]}", hint=f'say "no, {thing}", or "no, {it[0]}"')
        # at another place is what was moved itself, and another thing in place of it
        moved = [n for n in last.lay if n == last.about or words_of(n) in last.sentence]
        moved = [n for n in moved if start == spans[0][0] and words_of(n) not in text and not more]
        whole = "; ".join(filter(None, (self._back({n: last.first[n] for n in moved}, now), text)))
        self._correcting = whole, text, {} if more else last.first
        return whole

    def _like(self, phrase: str, words: list[str]) -> str:
        """Return what words such as "red" name that stand for a phrase such as "the cube"; else nothing."""
        noun = phrase.rsplit(maxsplit=1)[-1]
        words = words if noun in words or noun == phrase else [*words, noun]
        thing = " ".join(words) if words[:1] in (["any"], ["all"]) else f"the {' '.join(words)}"
        return thing if self._kit.names_a_thing(thing) else ""

    def _phrases(self, sentence: str) -> Iterator[tuple[int, int]]:
        """Yield where the things of a sentence are named, without what tells them by others."""
        words = list(re.finditer(r"[\w'-]+", sentence))
        for n, word in enumerate(words):
            if word[0].lower() in ("the", "a", "an", "any"):
                spans = ((word.start(), end.end()) for end in words[n + 1 : n + 6])
                named = takewhile(lambda span: self._kit.names_a_thing(sentence[slice(*span)]), spans)
                yield from [*named][-1:]


def _nothing(why: str) -> NoReturn:
    """Refuse what refers to nothing that was done."""
    raise InputError(why)


def _unclear(done: _Done) -> str:
    """Return the words of a refused sentence that a question is about; empty where there is none."""
    reason = done.run.result.reason if done.run.result.outcome.refused else ""
    asked = [*_QUOTED.findall(reason), *_MISSING.findall(reason)]
    return next((words for words in asked if words.lower() in done.sentence.lower()), "")


def _bare(answer: str) -> list[str]:
    """Return the words of an answer that tell a thing from others: "red" of "the red one, please"."""
    words = re.findall(r"[\w'-]+", answer)
    return [word for word in words if word.lower() not in ("the", "one", "a", "an", "please")]
