"""Drafts written by a language model, which is told what known actions need and bring about."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, pairwise

from pydantic import BaseModel, ConfigDict, Field

from spca_core.errors import one_line
from spca_core.kinds import KINDS
from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.chat import ChatModel, Message, Role
from spca_core.ports.proposer import Answered, Impossible, ModelError, NotUnderstood, PlanProposer
from spca_core.ports.vocabulary import ObservableWord, Vocabulary
from spca_core.prompting import fenced, prompts, system, user
from spca_core.scene import ROLES, TIE, Observation
from spca_core.skill import SkillSignature, python_name
from spca_planner.critics import meant, unstated, with_named_places, with_synonyms
from spca_planner.pddl.formula import Atom, atoms, ground
from spca_planner.pddl.lint import examine, quantified
from spca_planner.pddl.sexpr import Group
from spca_planner.pddl.syntax import OBJECT, Action
from spca_planner.trusted import Actions, stems

_MOST_SKILLS, _MOST_TOLD = 12, 3
_MOST_FACTS, _MOST_SENTENCES, _MOST_STEPS = 200, 12, 40
_MOST_WORDS = 60
"""Maximum number of words from a model to the user; the prompt asks for fewer."""
_LONGEST = {"pddl": 16_000, "failure": 1500, "message": 800, "sentence": 300, "doc": 400, "task": 2000}
"""Maximum number of characters of each part of a prompt, whatever the library, scene and history."""

_LOGIC = ("and", "not", "forall", "when", "or", "imply", "exists", "assign")
_MORE, _WHEN = "…", "(when"


class WholeDraft(BaseModel):
    """What a model is asked for: both files as text, or what it has to know, or to tell the user, instead."""

    model_config = ConfigDict(extra="forbid")
    domain: str = Field(
        default="",
        description="the whole PDDL domain, from (define (domain …) to the last parenthesis; "
        "empty if the one shown stays as it is",
    )
    problem: str = Field(default="", description="the whole PDDL problem")
    remark: str = Field(
        default="", description="one sentence on what you changed or assumed, or left out of the task"
    )
    question: str = Field(default="", description="empty, or what you must ask the user before you can plan")
    proposal: str = Field(default="", description="empty, or the whole task that a yes to the question means")
    answer: str = Field(default="", description="empty, or the answer to a user who only asks")
    impossible_because: str = Field(
        default="", description="empty, or what of the task cannot be done with what is observed"
    )
    measure: list[str] = Field(
        default=[], description="empty, or the things whose places and sizes you have to know in numbers"
    )

    def refusal(self) -> NotUnderstood | Impossible | None:
        """Return the model's refusal as a harmless, short error; a question first, as it can be answered."""
        if said := _told(self.question):
            return NotUnderstood(said, _told(self.proposal))
        if answer := _told(self.answer):
            return Answered(answer)
        return Impossible(why) if (why := _told(self.impossible_because)) else None


class LanguageProposer(PlanProposer):
    """A `PlanProposer` that asks a chat model in a given role.

    The modes are those of the specification of the Plan stage.

    `vocabulary` is that of the environment's observations; `actions` gives the known actions, `room` says
    where things can be put. Proposers that share `measures` tell what any of them was asked to measure, as
    the conversation does of the sentences before.
    """

    def __init__(
        self,
        chat: ChatModel,
        role: Role = "planner_big",
        vocabulary: Vocabulary | None = None,
        actions: Callable[[], Actions] = dict,
        room: str = "",
        measures: dict[str, list[str]] | None = None,
    ) -> None:
        self._chat, self._role, self._room = chat, role, room
        self._vocabulary, self._actions = vocabulary or Vocabulary(), actions
        self._refused: dict[str, Exception] = {}
        self._measured = {} if measures is None else measures  # names, by the task that needs them
        self.name = f"openai:{role}"

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """The model's draft, with the domain of `previous` where the model leaves that as it is.

        Measures that it asks for are told whenever the task is planned anew. Raises ModelError, and in the
        model's words NotUnderstood and Impossible; these again for the same request, which is not sent twice,
        nor because a look's error has changed a measure.
        """
        before = re.findall(r"; measured: (.+)$", "\n".join(request.task.conversation), re.MULTILINE)
        names = self._measured.get(request.task.text) or (before[-1].split(", ") if before else [])
        told = measured(request.observation, names) if names else "", self._room
        asked = messages(request, previous, rejection, self._vocabulary, self._actions(), *told)
        if (key := json.dumps(asked)) in self._refused:
            raise self._refused[key]
        answer = self._chat.complete(self._role, asked, WholeDraft).parsed
        if not isinstance(answer, WholeDraft):
            raise ModelError("the model gave no draft", kind="invalid")
        if not answer.problem.strip():
            if {*answer.measure} - {*names} and len(names) < _MOST_MEASURED:
                self._measured[request.task.text] = list(dict.fromkeys((*names, *answer.measure)))
                return self.draft(request, previous, rejection)
            if refusal := answer.refusal():
                self._refused[key] = refusal
                raise refusal
        kept = previous.domain if previous else ""
        same = answer.domain.strip() in ("", kept.strip())
        domain = kept if same else _bare(answer.domain)
        remark = f"(The model: {said})" if (said := _told(answer.remark)) else ""
        draft = Draft(domain=domain, problem=_bare(answer.problem), remark=remark)
        return draft.model_copy(update={"problem": self._observed(draft, request.observation)})

    def _observed(self, draft: Draft, observation: Observation) -> str:
        """Return a draft's problem with what is observed and its init leaves out."""
        reading, problem = examine(draft.domain, draft.problem), draft.problem
        if reading.domain is None or reading.problem is None:
            return problem
        extensions = self._vocabulary.extensions(with_named_places(observation, draft, self._vocabulary))
        words = self._vocabulary.words()
        seen, _ = with_synonyms(reading.domain, words, extensions)
        told, _ = with_synonyms(reading.domain, words, Vocabulary().extensions(observation))
        for name, one in told.items():
            known = seen.get(name, one)  # and what no critic misses: a plate's place
            more = {args for args in one.atoms if known.truth(args, observation.objects) is None}
            seen[name] = replace(known, atoms=known.atoms | more)
        facts = "".join(f" ({' '.join(a)})" for a in unstated(reading.domain, reading.problem, seen))
        return re.sub(r"\(\s*:init\b", lambda begin: begin[0] + facts, problem, count=1, flags=re.IGNORECASE)


def messages(
    request: PlanRequest,
    previous: Draft | None,
    rejection: Rejection | None,
    vocabulary: Vocabulary | None = None,
    actions: Actions | None = None,
    measures: str = "",
    room: str = "",
) -> list[Message]:
    """Return the conversation that is sent: rules, then one request with everything in it."""
    vocabulary = vocabulary or Vocabulary()
    observation = vocabulary.shown(request.observation)
    kinds, goals = {*observation.objects.values()}, vocabulary.asked(request.task, observation)
    domain = previous.domain if previous else ""
    # of places, only those have to know whose task asks for one
    about = {a[0] for goal in goals for a in goal} | {*re.findall(r"\((\w+)", domain)}
    words = [w for w in vocabulary.words() if not w.of or kinds & {*w.of}]
    words = [w for w in words if "?p" not in w.args or not goals or w.name in about]
    seen = {name for name, one in vocabulary.extensions(observation).items() if one.atoms}
    text, task = request.task.text, {*re.findall(r"[a-z]+?(?=s?\b)", request.task.text.lower())}
    other = ((n, k) for k in KINDS.keys() & kinds for n in KINDS[k].nouns if n in task - kinds)
    nouns = tuple(f"'{n}' may mean a {k}" for n, k in sorted(other))
    said = [_clip(s, "message") for s in request.task.conversation if s != f"user: {request.task.text}"]
    skills, others, own, types = _described(request, actions or {}, words, domain, goals, seen)
    told_rows = rows(observation)
    untold = ROLES if told_rows else ()
    holding = {fact.predicate for fact in observation.facts}.difference(untold)
    question = prompts("spca_planner").get_template("planner_request.j2")
    return [
        system(prompts("spca_planner").get_template("planner_system.j2").render().rstrip()),
        user(
            question.render(
                mode=request.mode if previous is not None else "fresh",
                task=_clip(request.task.text, "task"),
                conversation=said,
                measures=measures,
                room=room,
                objects=observation.objects,
                facts=_facts(observation, vocabulary, untold),
                rows=told_rows,
                hidden_things=observation.hidden,
                remarks=[_clip(s, "sentence") for s in observation.remarks[:_MOST_SENTENCES] + nouns],
                words=[w for w in words if not w.aside or w.name in holding or f"({w.name} " in str(skills)],
                more={w.name: "; ".join(m for r, m in w.more if re.search(r, text, re.I)) for w in words},
                skills=skills,
                own=own,
                types=types,
                others=others,
                hidden=len(request.skills) - len(skills) - len(others),
                domain=_clip(domain, "pddl"),
                problem=_clip(previous.problem, "pddl") if previous else "",
                failure=_clip(request.failure, "failure"),
                executed=_executed(request, words, domain),
                critic=rejection.critic if rejection else "",
                rejection=_clip(rejection.message, "message") if rejection else "",
            )
        ),
    ]


def _described(
    request: PlanRequest,
    actions: Actions,
    words: Sequence[ObservableWord],
    domain: str,
    goals: Sequence[frozenset[Atom]],
    seen: Collection[str],
) -> tuple[list[str], list[str], dict[str, str], str]:
    """Return skills for a prompt, what they need and bring, or say, their own words, explained, and types.

    They are those of the shown `domain`, which tells of them; those that serve one of the `goals`, or, if
    nothing is known of its goals, those that bring what any task may ask for and those that share most words
    with it, unless they need what is not `seen`, such as a bridge; and those that bring what these need,
    unless they need what is not `seen`, either; and, by name alone, those that share most.
    """
    known = {s.name: actions.get((s.name.lower(), len(s.parameters))) for s in request.skills}
    plain = [*words, *own_words(actions, words)]
    told = {s.name: in_words(s, action, plain) for s in request.skills if (action := known[s.name])}
    asked = {(word.name if (word := meant(a[0], words)) else a[0], *a[1:]) for goal in goals for a in goal}
    moved = {a[:2] for a in asked}  # what rests on that is put back where it has to stay
    seen_now = ((f.predicate, *f.args) for f in request.observation.facts)
    asked |= {a for a in seen_now if (a[0], a[-1]) in moved}
    shown = {n for n in known if re.search(rf"\(:action\s+{re.escape(n)}\s", domain, re.IGNORECASE)}
    task, says = stems(request.task.text), {s.name: stems(f"{s.name} {s.doc}") for s in request.skills}
    often = Counter(chain.from_iterable(says.values()))
    alike = {name: sum(1 / often[word] for word in task & said) for name, said in says.items()}
    rest = sorted((n for n in told if n not in shown), key=lambda n: -alike[n])
    twice = any(len({a[:2] for a in goal}) < len(goal) for goal in goals)
    needs = {n: _told_atoms(about.partition("; brings ")[0]) for n, about in told.items()}
    brought = {n: _told_atoms(about.partition("brings ")[2]) for n, about in told.items()}
    any_task = {w.name for w in words if w.args and not (w.aside or w.of)}
    usual = [n for n in told if any_task & {a[0] for a in brought[n]}]
    able = [n for n in (*usual, *rest[:_MOST_TOLD]) if {a[0] for a in needs[n] if a[2:]} <= {"=", *seen}]
    objects = request.observation.objects
    barred = {s.name: _barred(s, action, objects) for s in request.skills if (action := known[s.name])}
    near = [n for n in told if _brings(told[n], asked, twice, barred[n])] or able
    needed = {a for n in near for a in needs[n] if len(a) == 2}
    more = (n for n in told if _brings(told[n], needed) and {a[0] for a in needs[n] if a[2:]} <= {"=", *seen})
    serving = {*near, *more, *(n for n in known if n not in told)}
    weights = {s: (s.name in shown, s.name in serving, alike[s.name]) for s in request.skills}
    chosen = sorted(weights, key=weights.__getitem__, reverse=True)[:_MOST_SKILLS]
    found, others, own, types = list[str](), list[str](), dict[str, str](), dict[str, str]()
    kinds = dict.fromkeys(request.observation.objects.values())
    for skill in (s for s in request.skills if s in chosen):
        action, names = known[skill.name], skill.parameters
        if skill.name in shown or skill.name not in serving:
            listed = f"{skill.name}({', '.join(names)})"
            (found if skill.name in shown else others).append(listed + ": as below" * (skill.name in shown))
            continue
        given = [p.type for p in action.parameters] if action else [OBJECT] * len(names)
        typed = [n if t == OBJECT else f"{n} - {t}" for n, t in zip(names, given, strict=True)]
        for t in given:
            of = [k for k in kinds if action and k != t and k in action.kinds.get(t, ())]
            types[t] = "any" if len(of) == len(kinds) else " ".join(of)
        about = told.get(skill.name) or " ".join(skill.doc.split())
        found.append(f"{skill.name}({', '.join(typed)})" + (about and f": {_clip(about, 'doc')}"))
        for form, why in action.said if action else ():
            name = form.strip("()").split()[0]
            if not meant(name, words) and re.search(rf"\({re.escape(name)}[ )]", about):
                own.setdefault(form, _clip(why, "sentence"))
    return found, others, own, "; ".join(f"{t} = {of}" for t, of in types.items() if of and t != OBJECT)


def _told_atoms(text: str) -> list[Atom]:
    return [tuple(atom.split()) for atom in re.findall(r"(?<!not )\(([^()]+)\)", text)]


def _barred(skill: SkillSignature, action: Action, objects: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the things that each parameter of a skill, such as ?cube, cannot be by its type."""
    of = [{p.type, *action.kinds.get(p.type, ())} for p in action.parameters]
    pairs = zip(skill.parameters, of, strict=True)
    return {f"?{name}": {o for o, k in objects.items() if not {OBJECT, o, k} & t} for name, t in pairs}


def _brings(
    about: str,
    wanted: Collection[Atom],
    twice: bool = False,
    barred: Mapping[str, Collection[str]] | None = None,
) -> bool:
    """Whether a skill told so may bring about one of these atoms, and no two of a thing unless `twice`."""
    told = _told_atoms(about.partition("brings ")[2])
    if not twice and len({a[:2] for a in told}) < len(told):
        return False
    alike = ((a, b) for a in told for b in wanted if a[0] == b[0] and (a[-1][0] in "?*" or a[-1] == b[-1]))
    pairs = (zip(a, b, strict=False) for a, b in alike)
    return any(all(thing not in (barred or {}).get(name, ()) for name, thing in both) for both in pairs)


def _executed(request: PlanRequest, words: Sequence[ObservableWord], domain: str) -> dict[str, object]:
    """Return how the last plan went, and what changed in the words that a model knows."""
    executed, known = request.executed, {word.name for word in words if not word.aside}
    if executed is None:
        return {}
    now = [f.pddl for f in request.observation.told]
    told = [f for f in executed.seen if f.predicate in known or not known or f"({f.predicate} " in domain]
    then = [f.pddl for f in told if f.predicate not in ROLES]
    return {
        "rehearsed": executed.rehearsed,
        "steps": [_clip(s, "sentence") for s in executed.steps[:_MOST_STEPS]],
        "predicted": " ".join(executed.predicted[:_MOST_FACTS]),
        "came": " ".join([fact for fact in then if fact not in now][:_MOST_FACTS]),
        "went": " ".join([fact for fact in now if fact not in then][:_MOST_FACTS]) if then else "",
    }


def _facts(observation: Observation, vocabulary: Vocabulary, untold: Collection[str]) -> str:
    """Return the observed facts, what holds of many things once, with those without arguments."""
    facts = [(f.predicate, *f.args) for f in observation.facts if f.predicate not in untold]
    extensions, of = vocabulary.extensions(observation), dict[Atom, list[str]]()
    bare = [w.name for w in vocabulary.words() if not w.args and w.name in extensions]
    facts += [(name,) for name in bare if () in extensions[name].atoms]
    for name, *args in dict.fromkeys(facts):
        of.setdefault((name, "?a" * bool(args), *args[1:]), []).extend(args[:1])
    told, many = list[str](), list[str]()
    for form, things in of.items():
        others = [thing for thing in observation.objects if thing not in things]
        if len(things) > 2:
            few = f"all but {' '.join(others)}" if len(others) < len(things) else " ".join(things)
            many.append(f"({' '.join(form)}) for {few if others else 'all'}")
        else:
            told += [f"({' '.join(filter(None, (form[0], thing, *form[2:])))})" for thing in things or [""]]
    told[_MOST_FACTS:] = [f"and {len(told) - _MOST_FACTS} more"] * (len(told) > _MOST_FACTS)
    return "; ".join([" ".join(told)] * bool(told) + many)


def _bare(text: str) -> str:
    """Return PDDL without a Markdown fence around it."""
    blocks = fenced(text) if text.lstrip().startswith("```") else []
    return (blocks[0] if len(blocks) == 1 else text).strip() + "\n"


def _told(text: str) -> str:
    """Reduce what a model says to the user to one line that steers no terminal, of bounded length."""
    words = one_line(text).split()
    return _clip(" ".join(words[:_MOST_WORDS]) + " …" * (len(words) > _MOST_WORDS), "sentence")


def _clip(text: str, part: str) -> str:
    limit = _LONGEST[part]
    return text if len(text) <= limit else text[:limit] + " (shortened)"


def in_words(skill: SkillSignature, action: Action, words: Sequence[ObservableWord]) -> str:
    """Precondition and effect of a skill's action, with "…" for what is bookkeeping of its own domain.

    That is what must not be, under names of its own; of what it brings about, what is not about all of its
    things, unless nothing observable is brought about, as by a touch.
    """
    names = {p.name: f"?{n}" for p, n in zip(action.parameters, skill.parameters, strict=True)}
    brought = [*_literals(action.effect, names, words, None)]
    seen = any(text.count(" ") for text in brought if not text.startswith("(not"))
    needs = _literals(action.precondition, names, words, bool)
    brings = _literals(action.effect, names, words, lambda args: not seen or {*names.values()} <= {*args})
    once = {t if meant(t.strip("()").split()[0], words) or " (" in t else t.split()[0]: t for t in brings}
    told = {"needs": dict.fromkeys(needs), "brings": once.values()}
    parts = ((w, sorted(f, key=lambda t: (t == _MORE, t.startswith(_WHEN)))) for w, f in told.items())
    return "; ".join(f"{word} {' '.join(found)}" for word, found in parts if found)


def told_of(actions: Actions, words: Sequence[ObservableWord]) -> dict[str, str]:
    """Return what each action needs and brings whatever holds, by the name of its skill."""
    found, known = {}, [*words, *own_words(actions, words)]
    for action in actions.values():
        skill = SkillSignature(name=action.name, parameters=tuple(p.name for p in action.parameters))
        found[python_name(action.name)] = in_words(skill, action, known).partition(_WHEN)[0]
    return found


def own_words(actions: Actions, words: Sequence[ObservableWord]) -> list[ObservableWord]:
    """Return words for what an action brings about that nobody observes and that is about no thing."""
    about = {a.head for action in actions.values() for a in atoms(action.effect) if len(a.items) == 1}
    return [ObservableWord(name=n, args=(), meaning="") for n in sorted(about) if not meant(n, words)]


def _literals(
    condition: Group | None,
    names: Mapping[str, str],
    words: Sequence[ObservableWord],
    own: Callable[[Sequence[str]], bool] | None,
) -> Iterator[str]:
    """Yield what a condition says in these words, or what `own` admits by its arguments; "…" for more."""
    if condition is None or not condition.items or condition.head == "increase":
        return
    if condition.head not in _LOGIC:
        predicate, *args = ground(condition, names)
        word = meant(predicate, words)
        known = word.name if word and len(args) == len(word.args) else predicate
        yield f"({' '.join((known, *args))})" if word or predicate == "=" or (own and own(args)) else _MORE
        return
    parts = condition.groups
    if condition.head in ("forall", "exists"):
        names = {**names, **dict.fromkeys(quantified(parts.pop(0)), "*")}
    own = None if condition.head == "not" else own
    yield from _connected(condition.head, parts, [[*_literals(part, names, words, own)] for part in parts])


def _connected(head: str, parts: Sequence[Group], ways: Sequence[list[str]]) -> Iterator[str]:
    """Yield what a connective says of its parts, of each of which a list says all."""
    single = [way[0] if len(way) == 1 else f"(and {' '.join(way)})" for way in ways if _MORE not in way]
    plain = [*map(len, ways)] == [1] == [len(single)] and parts[0].head != "forall"
    if head == "forall":
        yield from (t if t == _MORE or t.startswith(("(not", _WHEN)) else f"(all {t})" for t in ways[0])
    elif head == "and":
        yield from chain.from_iterable(ways)
    elif head == "when":
        given = _MORE if _MORE in ways[0] else single[0]
        vague = (e == _MORE or (given == _MORE and "?" not in e) for e in ways[1])
        yield from (_MORE if v else f"{_WHEN} {given} {e})" for e, v in zip(ways[1], vague, strict=True))
    elif head == "or" and len(single) == len(ways):
        yield f"(or {' '.join(single)})"
    elif head in ("not", "exists") and plain and not ways[0][0].startswith("(not"):
        yield f"(not {ways[0][0]})" if head == "not" else ways[0][0]
    else:
        yield _MORE


def rows(observation: Observation) -> dict[str, str]:
    """All things that rest somewhere, from left to right (-y) and near to far (x); none without a scene."""
    held = {f.args[0] for f in observation.facts if f.predicate == "held"}
    things = [t for t in observation.things if t.id not in held] if observation.restated else []
    if len(things) < 2:
        return {}
    found = {}
    for words, axis, sign in (("from left to right", 1, -1), ("from near to far", 0, 1)):
        places = sorted((sign * t.pose.position[axis], t.id) for t in things)
        groups = [[places[0][1]]]
        for (a, _), (b, name) in pairwise(places):
            groups.append([name]) if b - a >= TIE else groups[-1].append(name)
        found[words] = ", ".join(" = ".join(sorted(group)) for group in groups)
    return found


_MOST_MEASURED = 12


def measured(observation: Observation, names: Collection[str]) -> str:
    """Places, sizes and distances of the things of these names, in millimetres."""
    things = [t for t in observation.things if t.id in names][:_MOST_MEASURED]
    told = ["millimetres between centres; x away from the robot, y to the left, z up"]
    for thing in things:
        at, size = (" ".join(f"{1000 * v:.0f}" for v in xyz) for xyz in (thing.pose.position, thing.size))
        told.append(f"{thing.id}: at {at}, size {size}, turned by {math.degrees(thing.pose.yaw):.0f} degrees")
    for a, b in combinations(things, 2):
        told.append(f"{a.id} to {b.id}: {1000 * math.dist(a.pose.position[:2], b.pose.position[:2]):.0f}")
    unknown = ", ".join(sorted({*names} - {t.id for t in things}))[:200]
    return "; ".join(filter(None, (*told, unknown and f"not measured: {unknown}")))
