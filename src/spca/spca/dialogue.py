"""Memory of a conversation: what "it", "put it back", "undo", "again" and an answer refer to."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product, takewhile
from operator import itemgetter
from typing import NamedTuple, NoReturn

from spca.runs import Run
from spca_core.errors import InputError
from spca_core.geometry import Vec3
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.kit import Kit
from spca_core.relation import in_words, place_of, resting
from spca_core.result import Ending
from spca_core.scene import Observation
from spca_llm.exchange import read_exchange

_CLAUSE = re.compile(r"[,.;:]|\b(?:and|then)\b|(?<=\w )(?:so|because|until|while|which)\b")
_PRONOUN = re.compile(r"\b(?:it(?! (?:be )?(?:possible|ok|okay|fine|all right)\b)|that one|this one)\b", re.I)
_THAT_ONE = re.compile(r"\b(?:that|this) one\b", re.IGNORECASE)
_THEM = re.compile(r"\b(?:them(?: all| both)?|(?:both|all) of them)\b", re.IGNORECASE)
_THERE = re.compile(r"(?i)\bthere(?=(?: too| as well)?[.!]*$)|\bin(?:to)? it\b")
_PLACE = re.compile(r"(?:on|in|next|beside|behind|between|to)\b")
_TASK = re.compile(rf"(?i)\b{_PLACE.pattern}|\w (?:the|an?) ")  # names a place, or what is done to a thing
_BACK = re.compile(
    r"(?i)\b(?:put|move|bring|take|turn) "
    r"(?:(it|the .+?)|(them(?: all| both)?|both)|(everything|(?:it )?all|all of (?:it|them)))"
    r" back(?: (?:to )?where (?:it was|they were)| again)?[.!]*$"
)
_AGAIN = re.compile(r"(?i)(?:now |please )*(?:do (?:it|that) )?(?:once )?(?:again|more)[.!]*")
_MORE = re.compile(r"(?i)(?:a (?:bit|little) |some )?(?:more|further)[.!]*")
_AMOUNT = re.compile(r"\d|\b(?:left|right|forward|back|away|closer|degrees?)\b")
_CONTINUE = re.compile(r"(?i)(?:now |please )*(?:continue|go on|carry on|resume)(?: with (?:it|that))?[.!]*")
_UNDO = re.compile(
    r"(?i)(?:now |please )*"
    r"(undo|redo)(?: it| that| (everything|all|it all)| the last(?: (two|three|four))?(?: \w+)?)?[.!]*"
)
_COUNTS = {"two": 2, "three": 3, "four": 4}
_WHY = re.compile(
    r"(why|how|what)( not)?( happened)?"
    r"( (did|didn't|can't|couldn't) (you|it)( just)?( not)?( do| fail| refuse| stop)?"
    r"( that| this| it)?)?(?: in)?(?: (?:that|this) (?:order|way))?"
    r"|how come|why (so|(is|was)(n't)? (it|that)( not)?( done)?)"
)
_WORKED = re.compile(r"did (?:it|that) work(?: out)?|(?:is (?:it|that)|are you) (?:done|finished)")
_PLAN = re.compile(r"(?:what(?: is|'s| was)|(?:show|tell) me) (?:your|the) plan(?: again)?")
_ABOUT = re.compile(r"(?:(?:and|so|then) )?(?:where |what colour )?(?:is|are) ", re.IGNORECASE)
_WHY_THAT = re.compile(r"why (?:did|have) you (?:\w+ )+?(the (?:\w+ )?\w+)(?: (?:up|there|first|away))?")
_SAID = re.compile(
    r"what (?:did|have) (?:i (?:say|said|ask|asked|tell you)|(you)(?: all)? (?:done|do(?= so far)))"
    r"(?: (first|last|before|so far|until now|already))?"
)
_QUOTED = re.compile(r"'([^']+)'")
_YES = re.compile(r"(?:yes|yeah|yep|ok|okay|sure|do that|please do)(?:,? please)?[.!]*", re.IGNORECASE)
_MOST_WHOLE, _MOST_SHORT, _LONGEST = 2, 6, 300
"""Most turns that a model is told of in full, and those before in short, with so many characters of each."""
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
    r"(?:no,? )?not (?:that|this)(?: one)?": "Say which one instead, as in: no, the blue one.",
    r"(?:no,? )?(?:don't|do not)(?: move| do anything)?|do nothing": "All right.",
    r"never ?mind|forget (?:it|that|about it)|no (?:more|further)": "All right.",
    r"(?:that is |that's )?enough|(?:that is|that's) all": "All right.",
    r"(?:please )?(?:stop|halt|abort|cancel|hold on|wait)(?: it| that| now)?": (
        "Nothing is moving; Ctrl-C stops the arm."
    ),
}


class _Spot(NamedTuple):
    """Where a thing was seen: a task that puts it there, and its centre (metres in `world`)."""

    order: str
    at: Vec3


@dataclass(frozen=True)
class _Turn:
    """What was said and what came of it, as far as it may be referred to later: there may be thousands."""

    said: str = ""
    """The user's own words."""
    text: str = ""
    """The task, or the question, with everything spelt out."""
    task: str = ""
    """The same without what it takes back first; empty where it does nothing else, or was not understood."""
    about: str = ""
    """The thing that was asked about, or that the last step of a plan handles; empty where there is none."""
    told: str = ""
    """What a model is told of what the robot did or answered."""
    short: str = ""
    """The same when more has been said since: what was done, or why not."""
    run: Run | None = None
    """None where a question was answered."""
    proposal: str = ""
    """The sentence that was proposed in place of this one."""
    goal: str = ""
    """As it was understood; empty where it was not, and where it leaves a choice."""
    lay: Mapping[str, _Spot] = field(default_factory=dict)
    """Where the things that its steps have handled were seen before."""
    first: Mapping[str, _Spot] = field(default_factory=dict)
    """The same, before what it corrects was done."""
    left: int | None = None
    """Number of turns that are left to be undone after it; None where it is neither `undo` nor `redo`."""
    undone: _Turn | None = None
    """The turn that it has taken back."""

    @property
    def sentence(self) -> str:
        """What it was taken for, without what was taken back first."""
        return self.task or self.text


class Dialogue:
    """Memory of a session: its turns so far, from which all is read; `look` shows how the table is now."""

    def __init__(self, kit: Kit, look: Callable[[], Observation]) -> None:
        self._kit, self._look = kit, look
        self._turns: list[_Turn] = []
        self._next = _Turn()  # what was referred to last, in part

    @property
    def _done(self) -> list[_Turn]:
        return [turn for turn in self._turns if turn.run is not None]

    @property
    def _history(self) -> tuple[dict[int, _Turn], dict[int, _Turn]]:
        """The turns to undo, and those of `undo` to redo, each by the number that is then left to undo."""
        moved: list[_Turn] = []
        undone: dict[int, _Turn] = {}
        for turn in self._turns:
            there = min(undone, default=len(moved))
            if turn.left is None and turn.lay:
                moved, undone = [*moved[:there], turn], {}
            elif turn.left is not None and turn.run and turn.run.result.success:
                undone = {left: undo for left, undo in undone.items() if left >= turn.left}
                undone |= {turn.left: turn} if turn.left < there else {}
        done = moved[: min(undone, default=None)]
        return dict(enumerate(done)), dict(zip([len(moved), *undone], undone.values(), strict=False))

    @property
    def _again(self) -> str:
        """The last task that takes nothing back, or that was taken back."""
        tasks = (turn.undone.sentence if turn.undone else turn.task for turn in reversed(self._turns))
        return next(filter(None, tasks), "")

    def conversation(self, sentence: str, meant: str) -> tuple[str, ...]:
        """Return what was said and done, and this sentence, for a model; nothing where that says all."""
        older, latest = self._done[:-_MOST_WHOLE], self._done[-_MOST_WHOLE:]
        short = [(turn.said, turn.short) for turn in older[-_MOST_SHORT:]]
        left_out = (f"(older turns left out: {len(older) - _MOST_SHORT})",) * (len(older) > _MOST_SHORT)
        turns = [*short, *((turn.said, turn.told) for turn in latest)]
        before = (line for said, robot in turns for line in (f"user: {said}", robot))
        return (*left_out, *before, f"user: {sentence}") if turns or meant != sentence else ()

    def remember(self, said: str, meant: str, run: Run) -> None:
        """Remember the run that carried out what was said, which `meant` has spelt out."""
        before, planned = next(iter(run.seen), None), run.planning
        plan = planned.plan if planned else None
        args = [step.args for step in (plan.steps if plan else ()) if step.args]
        steps = [event for event in run.events if event.kind == "step" and event.data["args"]]
        handled = dict.fromkeys(step.data["args"][0] for step in steps)
        did = {s.data["args"][0]: in_words(s.text) for s in steps if s.data["status"] == "done"}
        lay = {name: spot for name in handled if before and (spot := self._spot(name, before))}
        turned = {a[0]: place for a in args if (place := place_of(a[-1])) and place.relation.name == "turned"}
        for thing in (thing for thing in before.things if thing.id in turned and lay) if before else ():
            by = round(turned[thing.id].values[-1] - math.degrees(thing.pose.yaw))
            back = f"turn the {words_of(thing.id)} {abs(by)} degrees {'counter' * (by < 0)}clockwise"
            lay[thing.id] = _Spot(back, thing.pose.position)
        asks = run.result.outcome is Ending.NOT_UNDERSTOOD
        turn = self._next if meant == self._next.text else _Turn(text=meant, task=meant)
        self._next = _Turn()  # the same words later are a task
        head, why = "robot: " if asks else f"robot: {run.result.outcome.value}: ", run.result.reason
        told = f"; did: {', '.join(did.values())}" if did else ""
        told += f"; to put back: {'; '.join(spot.order for spot in lay.values())}" if lay else ""
        told += f"; measured: {', '.join(named)}" if (named := dict.fromkeys(_measured(run))) else ""
        brief = "robot: success" if did and run.result.success else head + why.partition(". ")[0]
        goals = [e.text.partition(". (")[0] for e in run.events if e.kind == "plan" and "; or " not in e.text]
        turn = replace(
            turn,
            said=said,
            task="" if asks else turn.task,
            about=f"the {words_of(args[-1][0])}" if args else "",
            told=head + why + told,
            short=(brief + told)[:_LONGEST],
            run=run,
            proposal=planned.proposal if planned else "",
            goal=goals[-1] if goals else "",
            lay=lay,
            first={**lay, **turn.first},
            undone=self._history[0].get(turn.left) if turn.left is not None and run.result.success else None,
        )
        self._turns.append(turn)

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
        last = next((turn for turn in reversed(self._done) if turn.about), None)
        latest = next((turn for turn in reversed(self._turns) if turn.about), None)
        clause = _CLAUSE.search(sentence)
        end = clause.start() if clause and latest else len(sentence)
        first, said = sentence[:end], last.sentence if last else ""
        _, there = next(self._phrases(said), (0, len(said)))
        if latest is last and _PLACE.match(place := said[there:].strip()) and not _CLAUSE.search(place):
            inside = place.startswith("in ")  # "in it" is in what something was put in
            first = _THERE.sub(lambda w: place if inside or w[0].lower() == "there" else w[0], first)
        asked = self._turns[-1] if self._turns else _Turn()
        several = [] if asked.run or asked.about else [*self._phrases(asked.told)][1:]
        if (several or self._kit.names_a_thing(_unclear(asked))) and (one := _THAT_ONE.search(first)):
            raise InputError(f"several things may be '{one[0]}'", hint='say which, as in "the red cube"')
        first = _PRONOUN.sub(latest.about if latest else r"\g<0>", first, count=1)
        goal = last.goal if last else ""
        lay = [f"the {words_of(name)}" for name in last.lay] if last else []
        moved = [goal[b:e] for b, e in self._phrases(goal) if b == 0 or goal[b - 2 : b] == ", "]
        moved = moved or [name for name in lay if name[4:] in said] or lay
        if not moved[1:] and not [*self._phrases(first)]:  # those of several tasks, if they are just two
            them = [*dict.fromkeys(turn.about for turn in self._done if turn.about)]
            moved = them if len(them) == 2 else moved
        return (_THEM.sub(" and ".join(moved), first, count=1) if moved[1:] else first) + sentence[end:]

    def meant(self, sentence: str) -> str:
        """Spell out "it", "put it back", "undo", "again", a correction and an answer, as far as is known.

        Raises InputError where nothing or too much is said, for a question about what was done, and where
        nothing is there to undo, or to do again.
        """
        if not (sentence := _read(sentence)).strip(". "):
            raise InputError("no task", hint='say what to do, such as "put the red cube on the blue plate"')
        if told := self._told(sentence):
            raise InputError("nothing to carry out", hint=told)
        if _AGAIN.fullmatch(sentence):
            return self._again or _nothing("There is nothing to do again.")
        last = self._done[-1] if self._done else _Turn()
        ended = last.run.result.outcome if last.run else Ending.NOT_UNDERSTOOD
        if _MORE.fullmatch(sentence):
            more = last.run and not last.run.result.refused and _AMOUNT.search(last.sentence)
            return last.sentence if more else _nothing("More of what? Say the whole task.")
        if _CONTINUE.fullmatch(sentence):
            return last.sentence if ended is Ending.CANCELLED else _nothing("Nothing was stopped.")
        if undo := _UNDO.fullmatch(sentence):
            return self._undo(len(self._turns) if undo[2] else _COUNTS.get(undo[3], 1), undo[1].lower())
        if not self._asks_on(sentence) and (said := self._completed(sentence) or self._corrected(sentence)):
            return said
        back = _BACK.search(sentence)
        before = self.spelt(sentence[: back.start()]) if back else ""
        if back is None or (back[1] == "it" and _CLAUSE.search(before)):
            models = self.asks and last.run is not None and (last.run.folder / "llm").exists()
            return sentence if models else self.spelt(sentence)  # who has asked knows what "it" is
        if back[3]:
            return before + self._undo(len(self._turns))
        moved = [turn.lay for turn in self._turns if turn.lay]
        one = {f"the {words_of(name)}": {name: lay[name]} for lay in moved for name in lay}
        lay = moved[-1] if back[2] and moved else one.get(self.spelt(back[1] or ""), {})
        self._next = _Turn(text=before + "; ".join(spot.order for spot in lay.values()))
        return self._next.text if lay else _nothing(f"I have not moved {back[1] or back[2]} yet.")

    def known(self, meant: str) -> bool:
        """Return whether a task takes back what was done, or `undo`, so that nobody need be asked how."""
        return not self._next.task and meant == self._next.text and self._kit.understands(meant, self._look())

    def _undo(self, count: int, what: str = "undo") -> str:
        """Return what takes back that many of the last tasks that moved something; or of `undo`, to redo."""
        lay: dict[str, _Spot] = {}
        now = self._look() if (found := self._history[what == "redo"]) else None
        for place, (left, turn) in reversed([*enumerate(found.items())]):
            lay |= {n: was for n, was in turn.lay.items() if n not in lay or " degrees " not in was.order}
            if now and place <= max(len(found) - count, 0):
                if text := self._back(lay, now):
                    self._next = _Turn(text=text, left=left)
                    return text
                if not {*lay} & {*now.objects}:  # what was done before is not what was meant
                    return _nothing("I cannot bring back what I do not see.")
        return _nothing(f"There is nothing to {what}.")

    def _back(self, lay: Mapping[str, _Spot], now: Observation) -> str:
        """Return what puts things back; empty if they are there. What was held is picked up last."""

        def gone(name: str, was: _Spot) -> bool:
            if (there := self._spot(name, now)) is None or there.order == was.order:
                return there is None and name in now.objects
            points = " at x = " in there.order and " at x = " in was.order
            return not points or math.dist(there.at, was.at) >= _MOVED

        orders = [was.order for name, was in lay.items() if gone(name, was)]
        return "; ".join(sorted(orders, key=lambda order: order.startswith("pick up")))

    def answer(self, question: str) -> str | None:
        """Answer a question about the table or what was done, or a call for help; None for anything else.

        What a question is about is "it" from now on.
        """
        if (told := self._told(question := _read(question))) is not None:
            return told
        question = self._asked_too(question) or self.spelt(question)
        if (told := self._kit.answer(question, self._look)) is not None:
            begin = about.end() if (about := _ABOUT.match(question)) else 0
            thing = next((question[b:e] for b, e in self._phrases(question) if b == begin > 0), "")
            only = told.removesuffix(".").replace("The ", "the ", 1)  # thing that the answer names
            thing = thing or only * self._kit.names_a_thing(only)
            self._turns.append(_Turn(text=question, about=thing, told=told))
        return told

    def _asked_too(self, sentence: str) -> str:
        """Return the last question about another thing, as in "and the green one?"; empty if it is none."""
        last, said = self._turns[-1] if self._turns else None, _MEANT.fullmatch(sentence.strip("? "))
        if last is None or last.run or not self._asks_on(sentence) or not said:
            return ""
        return next((text for _, _, _, text in self._with(last.text, said)), "")

    def _asks_on(self, sentence: str) -> bool:
        """Return whether a sentence asks something: by its mark, or as it goes on from a question."""
        asked = bool(self._turns) and self._turns[-1].run is None
        return sentence.endswith("?") or (asked and sentence.lower().startswith("and "))

    def _told(self, question: str) -> str | None:
        """Answer a question about what was done, or a call for help; return None for anything else."""
        asked = question.strip().rstrip("?!. ").lower()
        if said := _SAID.fullmatch(asked):
            runs = [(turn.said, turn.run) for turn in self._done if turn.said]
            own = [f'"{text}"' + f" ({run.result.words})" * bool(said[1]) for text, run in runs if run]
            own = {"first": own[:1], "last": own[-1:]}.get(said[2], own)
            own = [f"{'So far:' if said[1] else 'You said'} {', then '.join(own)}."] * bool(own)
            return "".join(own) or "Nothing yet."
        if talk := next((told for said, told in _SMALL_TALK.items() if re.fullmatch(said, asked)), ""):
            return talk
        if (undo := _UNDO.fullmatch(asked)) and not self._history[undo[1] == "redo"]:
            return f"There is nothing to {undo[1]}."
        if not any(turn.lay for turn in self._turns) and _BACK.search(asked):
            return "Nothing has been moved yet."
        about = _WHY_THAT.fullmatch(asked)
        if not (about or any(asks.fullmatch(asked) for asks in (_WHY, _PLAN, _WORKED))):
            return None
        worked = _WORKED.fullmatch(asked)
        none = [Ending.NOT_UNDERSTOOD] if worked else []  # nothing was begun that could have worked
        results = ((turn, turn.run.result) for turn in self._done if turn.run)
        done = [turn for turn, result in results if not (result.answer or result.outcome in none)]
        if asked.startswith("why") and not about and self._done[-1:] != done[-1:]:
            return None  # whoever gave the last answer knows why
        if not done:
            return "Nothing has been done yet."
        moving = [turn for turn in done if about and about[1][4:] in map(words_of, turn.lay)]
        if about and not moving:
            return f"I did not move {about[1]}."
        acted = [turn for turn in done if turn.lay] if re.search("you (?:just )?do", asked) else []
        last = [*done, *acted, *moving][-1]  # "what did you do" is about no refused sentence
        assert last.run is not None
        ended, names = last.run.result, [f"the {words_of(name)}" for name in last.lay]
        moved = {n: was.order.partition(n)[2] for n, was in zip(names, last.lay.values(), strict=True)}
        told = [f'I took "{last.sentence}" as a task.']
        if goals := [e.text.partition(". (")[0] for e in last.run.events if e.kind == "plan"]:
            told.append(f"The goal as I understood it: {goals[-1]}.")
            for thing, was in moved.items() if "; or " not in goals[-1] else ():
                if thing not in goals[-1]:
                    told.append(f"It does not name {thing}, which was in the way{was}.")
        if (planned := last.run.planning) and planned.plan:
            told.append(f"The plan: {', '.join(map(str, planned.plan.steps)) or 'nothing to do'}.")
        endings = {Ending.SUCCESS: "It is done", Ending.CANCELLED: "It was stopped"}
        told.append(f"{endings.get(ended.outcome, 'It is not done')}: {ended.reason}")
        earlier = last is not self._done[-1]  # than what was said just now, so that it is told which
        return in_words(" ".join([*told[:earlier], told[-1]] if worked else told))

    @property
    def asks(self) -> bool:
        """The last sentence was not understood, or is about a thing that is not there."""
        last = self._done[-1] if self._done else None
        if last is None or last.run is None or last.run.result.answer:
            return False
        return last.run.result.outcome is Ending.NOT_UNDERSTOOD or bool(_unclear(last))

    def _completed(self, answer: str) -> str:
        """Return the last sentence, completed by an answer to the question about it; empty if it is none.

        Asked about 'the cube', "red" makes it "the red cube"; only what names a thing is an answer, and no
        task of its own where a word was asked about. "Yes" is one to a sentence that was proposed.
        """
        last = self._done[-1] if self.asks else None
        if last is None or _YES.fullmatch(answer):
            return last.proposal if last else ""
        meant, unclear = _MEANT.fullmatch(answer), _unclear(last)
        words = _bare(said := meant["thing"] if meant else answer)
        proposed = last.proposal and _continues(answer)  # which is what it corrects
        if proposed or not unclear or not words or _continues(last.said) or _TASK.search(said):
            return ""
        if phrase := self._kit.names_a_thing(unclear) or bool(_MISSING.search(last.told)):
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
        said, last = _MEANT.fullmatch(sentence), self._done[-1] if self.asks else None
        if last and not (about := last.proposal) and not _continues(last.said):
            return ""
        if last is None or not about:  # else it is what was proposed in its place
            about = self._again
            last = next((turn for turn in reversed(self._turns) if turn.sentence == about), None)
        if not last or not said or not _continues(sentence):
            return ""
        more = said["now"] or said["too"]
        if more and _bare(said["thing"]) == ["next"] and "the top " in about:
            return about
        if more and any(map(_PLACE.fullmatch, _bare(said["thing"]))):  # "and the blue one on it" is a task
            return ""
        now = self._look()
        found = [
            one
            for one in self._with(about, said, "" if more else last.said)
            if self._kit.understands(one[-1], now)
        ]
        if not found:
            return ""
        (start, was, thing, text), asked = found[0], said["thing"]
        it = [other for _, phrase, other, _ in found if phrase not in last.said and other[4:] not in asked]
        pronoun = _PRONOUN.search(last.said) and was in last.said
        if said["meant"] and it and pronoun and thing[4:] not in asked:
            raise InputError(f"{thing} or {it[0]}", hint=f'say "no, {thing}", or "no, {it[0]}"')
        # at another place is what was moved itself, and another thing in place of it
        moved = [n for n in last.lay if words_of(n) in last.about or words_of(n) in about]
        first = start == next(self._phrases(about))[0]
        moved = [n for n in moved if first and words_of(n) not in text and not more]
        whole = "; ".join(filter(None, (self._back({n: last.first[n] for n in moved}, now), text)))
        self._next = _Turn(text=whole, task=text, first={} if more else last.first)
        return whole

    def _with(self, about: str, said: re.Match[str], own: str = "") -> Iterator[tuple[int, str, str, str]]:
        """Yield where a sentence may be of what is said now, the phrase there, the thing, and that sentence.

        Phrases among the user's `own` words come first, and things of the same kind: "the green plate" for
        "the blue plate", not for "the red cube".
        """
        words, spans = _bare(said["thing"]), [*self._phrases(about)]
        spans = spans[bool(said["on"] and spans[1:]) :]  # "what is on the red plate?" names one
        spans.sort(key=lambda at: about[slice(*at)] not in own)
        for noun, (start, end) in product((False, True), spans if words else ()):
            thing = self._like(words[-1] if noun else about[start:end], words)
            if thing and (text := f"{about[:start]}{thing}{about[end:]}") != about:
                yield start, about[start:end], thing, text

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
                ends = (end.end() for end in words[n + 1 : n + 6])
                spans = ((word.start(), end) for end in ends if not sentence[end:].startswith(" of "))
                named = [(span, self._kit.names_a_thing(sentence[slice(*span)])) for span in spans]
                named = named[1:] if named and not named[0][1] else named  # "an empty" names none
                yield from [span for span, _ in takewhile(itemgetter(1), named)][-1:]


def _read(said: str, most: int = 1000) -> str:
    """Return what was said. Raises InputError above `most` characters: twice as many take four times."""
    if not isinstance(said, str) or said != said.encode(errors="replace").decode():
        _nothing(f"a sentence is a text in UTF-8, and this is {said!r}")
    long = f"a sentence has at most {most} characters, and this one has {len(said := said.strip())}"
    return said if len(said) <= most else _nothing(long)


def _nothing(why: str) -> NoReturn:
    """Refuse what refers to nothing that was done."""
    raise InputError(why)


def _measured(run: Run) -> Iterator[str]:
    """Yield the things whose measures a model has asked for."""
    for path in sorted(run.folder.glob("llm/*-planner_*.json")):
        with suppress(InputError, ValueError, AttributeError):
            if answer := read_exchange(path).answer:
                yield from json.loads(answer.text).get("measure", ())


def _continues(sentence: str) -> bool:
    """Return whether a sentence says only what is other than in the last one."""
    said = _MEANT.fullmatch(sentence)
    return said is not None and any(said[n] for n in ("no", "meant", "instead", "now", "too"))


def _unclear(turn: _Turn) -> str:
    """Return the words of a refused sentence that a question is about; empty where there is none."""
    reason = turn.told if turn.run and turn.run.result.refused else ""
    asked = [*_QUOTED.findall(reason), *_MISSING.findall(reason)]
    return next((words for words in asked if words.lower() in turn.sentence.lower()), "")


def _bare(answer: str) -> list[str]:
    """Return the words of an answer that tell a thing from others: "red" of "the red one, please"."""
    words = re.findall(r"[\w'-]+", answer)
    return [word for word in words if word.lower() not in ("the", "one", "a", "an", "please")]
