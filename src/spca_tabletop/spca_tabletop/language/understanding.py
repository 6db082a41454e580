"""Turns a task text and a scene into a goal, by the cheapest of its readings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, islice, permutations, product
from typing import NamedTuple

from spca_core.kinds import SOLIDS, STACKABLE
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.plan import Draft, Task
from spca_core.ports.proposer import Answered, Impossible, NotUnderstood
from spca_core.scene import Fact, Observation
from spca_core.skill_package import SkillPhrase, skill_packages
from spca_tabletop.language import bans, building, clauses, commands, nouns, order, phrases, places, questions
from spca_tabletop.language.chart import Unexpected
from spca_tabletop.language.goal import Goal, alternatives, describe
from spca_tabletop.language.lexicon import FORMS, TOO_OPEN, UNREAD
from spca_tabletop.language.talk import Contradiction, Meaning, Needed, Sight, Talk, every, refuse
from spca_tabletop.language.things import NoneOfThem, NoSuchThing, Phrase, Thing, Undecided, rule
from spca_tabletop.language.words import ASKED, ASKS, Sentence, kinds_in, known_part, sentences, words_in

_SENTENCE = re.compile(r"[^.!;]+")
_ONLY_ASKS = re.compile(r"(?i)\s*(?:what|which|who|how (?:many|much))\b(?! about| if)[^.!;?]*\?\s*")
Ways = list[tuple[int, Meaning]]

for _part in (nouns, phrases, places, commands, building, clauses, bans, order, questions):
    rule.read(FORMS[_part.__name__.rpartition(".")[2]], vars(_part))
_VERBS = {"PUT", "ADD", "TAKE", "TOUCH", "LIFT", "PICK", "STACK", "BUILD", "THROW", "TOSS", "REMOVE", "SWAP",
          "SORT", "LINE_UP", "CLEAR", "EMPTY", "FILL", "DISCARD", "TURN"}  # fmt: skip
rule.rules["Command"] += [replace(r, left="Command") for r in rule.rules["Clause"] if r.right[0] in _VERBS]
"""Clauses that begin with their verb: one may follow another without a pause."""
_MOST_READINGS = 128
_MOST_TRIED = 100  # ways to take a text, over its readings
_MOST_SUPPOSED = 24  # ways in which what is hidden may be what is named
_TALL = 0.08  # metres of height that hide a small thing from a camera that looks at the table's middle


class _Reading(NamedTuple):
    """A way to take a text, as far as it has been read: what it costs, its ways, and the nouns supplied."""

    cost: int
    meanings: tuple[Meaning, ...]
    table: Sight


def understand(task: Task, observation: Observation) -> list[Goal]:
    """The goals any of which fulfils the task.

    The description is the text that counts, the title stands in for it.

    Where it only makes sense once a cube has been set down on the table ("a cube from the table"), that is
    part of the goals; not where it speaks of a thing that is not there ("the cube that is on the table").
    Raises NotUnderstood, and Impossible where the text makes sense but not on this table.
    """
    try:
        return _understood(task, observation)
    except NoSuchThing:
        raise
    except Impossible:
        if goals := _set_down_first(task, observation):
            return goals
        raise


def answer(question: str, look: Callable[[], Observation]) -> str | None:
    """The answer to a question; None for what is none."""
    if not reads_as("Question", question):
        return None
    try:
        _understood(Task(group="", id="", title=question, description=question), look())
    except Answered as answered:
        return answered.answer
    return None


def makes_sense(text: str, observation: Observation) -> bool:
    """Whether a text is understood, be it possible or not."""
    try:
        understand(Task(group="", id="", title=text, description=text), observation)
    except (NotUnderstood, Impossible) as error:
        return isinstance(error, Impossible)
    return True


def _understood(task: Task, observation: Observation) -> list[Goal]:
    for text in (task.description, task.title):
        if said := ways_to_read(text):
            break
    else:
        raise NotUnderstood("The task says nothing that could be done.")
    found: dict[tuple[Goal, ...], None] = {}
    problem: Exception | None = None
    sight = Sight(observation, tuple(kinds_in(text)))
    ways = islice(product(*said), _MOST_READINGS)
    readings = [_Reading(sum(c for c, _ in w), tuple(m for _, m in w), sight) for w in ways]
    readings.sort(key=lambda r: r.cost)
    least, tried, doubted = None, 0, None
    while readings and (least is None or readings[0].cost <= least):
        refuse(tried > _MOST_TRIED, TOO_OPEN)
        reading = readings.pop(0)
        table = reading.table
        try:
            talks = _talked(reading)
            refuse(not talks, "There are not so many of one colour; name each thing once.")  # "red, red"
            tried += len(talks)
            goals = tuple(alternatives(talks))
        except Undecided as error:
            key, kinds = error.args
            more = (replace(table, supplied=(*table.supplied, (key, kind))) for kind in kinds)
            readings = sorted((*(reading._replace(table=t) for t in more), *readings), key=lambda r: r.cost)
            continue
        except NotUnderstood as error:  # this reading makes no sense
            guessed = isinstance(problem, NoSuchThing) and table.supplied  # what is not there was never named
            problem = error if problem is None or guessed else problem
            continue
        except Contradiction as error:
            problem = Impossible(str(error))
        except Impossible as error:  # what is meant cannot be; nothing else is meant
            # "all cubes on the red plate, but not the red one" is of no plate for that
            doubted = doubted or (error if isinstance(error, Needed) and reading.table.supplied else None)
            problem = error if problem is None or not isinstance(error, NoSuchThing | NoneOfThem) else problem
        else:
            found[goals] = None
        least = reading.cost
    if not found or doubted:
        assert problem is not None
        raise NotUnderstood(f"{doubted} Name it with its noun.") if found else problem
    if len(found) > 1:
        meanings = " or: ".join(describe(goals) for goals in list(found)[:2])
        raise NotUnderstood(f"That can mean several things: {meanings}. Say it in separate sentences.")
    return list(next(iter(found)))


def nearest(task: Task, observation: Observation) -> str:
    """The sentence that is understood, and says what a text does but for words unknown; empty if none is."""
    text = known_part(task.description or task.title)
    with suppress(NotUnderstood, Impossible):
        understand(task.model_copy(update={"description": text, "title": text}), observation)
        return text
    return ""


def _talked(reading: _Reading) -> list[Talk]:
    """Every way to take a reading. A question is context where the next sentence goes on about its answer."""
    talks = [Talk(reading.table)]
    for number, meaning in enumerate(reading.meanings, 1):
        try:
            talks = list(dict.fromkeys(every(talks, meaning)))
        except Answered as answered:
            if not answered.about or number == len(reading.meanings):
                raise
            if len(answered.about) > 1:  # "which bowls are empty? Put the red cube in the blue one"
                continue
            asked = (answered.about[0], "what was asked for")
            talks = [t.about(answered.about).but(spoken=(*t.spoken, asked)) for t in talks]
    return talks


def uncovering(task: Task, observation: Observation, before: Draft | None = None) -> list[Goal]:
    """Goals that bring to light what is hidden, where the text would make sense if that were what it names.

    Empty where nothing is, or where it would not. What is tall, too, is set down elsewhere, but not `before`.
    """
    hidden, kinds, scene = out_of_sight(observation), STACKABLE, observation.scene
    goals: list[Goal] = [frozenset({("clear", thing)}) for thing in hidden]
    solids = (o for o in observation.things if o.kind in SOLIDS and o.size[2] > _TALL)
    tall = [o for o in solids if observation.holds("on", o.id, TABLE_SYMBOL)]
    if scene and tall and not hidden and not (before and before.uncovers):
        hidden, kinds, goals = ["unknown"], SOLIDS, [frozenset(("put_down", o.id) for o in tall)]
        things = *scene.objects, tall[0].model_copy(update={"id": "unknown"})
        there = *observation.facts, Fact(predicate="on", args=("unknown", TABLE_SYMBOL))
        observation = Observation.of(scene.model_copy(update={"objects": things, "relations": there}))
    colours = dict.fromkeys(w for text in (task.title, task.description) for w in words_in(text, "COLOUR"))
    for kind, together in product(kinds, range(1, len(hidden) + 1)):
        ways = product(combinations(hidden, together), permutations(colours, together))
        for unseen, named in islice(ways, _MOST_SUPPOSED):
            with suppress(NotUnderstood, Impossible):
                _understood(task, _supposing(observation, dict(zip(unseen, named, strict=True)), kind))
                return goals
    return []


def _supposing(observation: Observation, colours: Mapping[str, str], kind: str) -> Observation:
    """Return what would be seen if unknown things were of this kind and these colours."""
    # Another of its kind and colour may be in sight.
    supposed = {thing: f"{kind}_{colour}_{thing}" for thing, colour in colours.items()}
    args = [tuple(supposed.get(a, a) for a in f.args) for f in observation.facts]
    facts = tuple(f.model_copy(update={"args": a}) for f, a in zip(observation.facts, args, strict=True))
    objects = {supposed.get(s, s): kind if s in supposed else k for s, k in observation.objects.items()}
    new = {s: {"id": supposed[s], "kind": kind, "colour": colour} for s, colour in colours.items()}
    things = [t.model_copy(update=new.get(t.id, {})) for t in observation.things]
    scene = observation.scene and observation.scene.model_copy(update={"objects": tuple(things)})
    return observation.model_copy(update={"objects": objects, "facts": facts, "scene": scene})


def out_of_sight(observation: Observation) -> list[str]:
    """Return unseen things that carry something: they may be whatever the task names that is not seen."""
    return [s for s in observation.hidden if observation.objects.get(s) == "unknown"]


def _set_down_first(task: Task, observation: Observation) -> list[Goal]:
    """Goals about a cube that has to be taken off a plate or another cube before the text fits it."""
    found: dict[Goal, None] = {}
    for fact in observation.facts:
        lifted = fact.predicate == "on" and observation.objects.get(cube := fact.args[0]) in SOLIDS
        if not lifted or {*fact.args} & {TABLE_SYMBOL, GROUND_SYMBOL} or not observation.holds("clear", cube):
            continue
        moved = fact.model_copy(update={"args": (cube, TABLE_SYMBOL)})
        facts = tuple(moved if f == fact else f for f in observation.facts)
        with suppress(NotUnderstood, Impossible):
            goals = _understood(task, observation.model_copy(update={"facts": facts}))
            about = (goal for goal in goals if any(cube in a and a[0] != "kept" for a in goal))
            found |= dict.fromkeys(goal | {("put_down", cube)} for goal in about)
    return list(found)


def ways_to_read(text: str) -> list[Ways]:
    """For each sentence of a text, every way to understand it, cheapest first. Raises NotUnderstood."""
    phrases = [phrase for package in skill_packages("tabletop") for phrase in package.phrases]
    found: list[Ways] = []
    rest = ""
    for raw in _SENTENCE.findall(text) if phrases else ():
        if not (asked := _asked(raw, phrases)):
            rest += raw if raw.rstrip().endswith("?") else f"{raw}."
            continue
        found += [*map(readings, sentences(rest)), asked]
        rest = ""
    return found + [readings(sentence) for sentence in sentences(rest if phrases else text)]


@lru_cache(maxsize=256)
def readings(sentence: Sentence, start: str = "Said") -> Ways:
    """Every way to understand a sentence, remembered for the next round. Raises NotUnderstood."""
    try:
        asks = start == "Said" and _ONLY_ASKS.fullmatch(sentence.text)
        return rule.parse(sentence.tokens, "Question" if asks else start)
    except Unexpected as error:
        for token in sentence.tokens[: error.at + 1]:
            if token.type in UNREAD:
                raise NotUnderstood(UNREAD[token.type].format(token.text.strip(" ,"))) from error
        refuse(ASKS.fullmatch(sentence.text), ASKED)
        before = sentence.until(error.at)
        if error.at >= len(sentence.tokens):
            missing = "something is missing at its end, or is not understood there."
            raise NotUnderstood(f"'{before}' does not make a task: {missing}") from error
        where = f"after '{before}'" if before else "at the beginning of a sentence"
        raise NotUnderstood(f"I do not understand '{sentence.tokens[error.at].text}' {where}.") from error


def reads_as(start: str, text: str) -> bool:
    """Whether a text is one sentence of that kind, such as a `Question` or a `Thing`."""
    with suppress(NotUnderstood):
        said = sentences(text)
        return len(said) == 1 and bool(readings(said[0], start))
    return False


def _asked(sentence: str, phrases: Sequence[SkillPhrase]) -> Ways:
    for phrase in phrases:
        if (nouns := phrase.match(sentence)) is not None:
            return [(0, _asking(phrase.predicate, tuple(_thing(nouns[name]) for name in phrase.arguments)))]
    return []


def _asking(predicate: str, things: Phrase) -> Meaning:
    def meaning(talk: Talk) -> Iterator[Talk]:
        for symbols, after in clauses.about(things, talk):
            refuse(len(symbols) != len(things), "Several things are named where only one can be meant.")
            yield after.ask([(predicate, *symbols)]).about(symbols)

    return meaning


def _thing(words: str) -> Thing:
    """What a noun phrase means that is of one thing."""
    said = sentences(words)
    found = readings(said[0], "Thing") if len(said) == 1 else []
    refuse(not found, f"I do not know which thing '{words}' means.")
    return found[0][1]  # type: ignore[return-value]
