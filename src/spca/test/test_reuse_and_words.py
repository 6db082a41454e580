"""Reuse has a way out, the vocabulary is told and checked, and no question is asked twice."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from pydantic import BaseModel

from spca.dialogue import Dialogue
from spca_coder.drafting import TOKEN_BUDGET, relevant, situation, tokens_of
from spca_coder.language import LanguageCoder
from spca_coder.source import LibraryReader, read
from spca_core.options import RunOptions
from spca_core.plan import ActionSchema, CodeRequest, Draft, Execution, Plan, PlanRequest, PlanResult, Step
from spca_core.ports.chat import ChatReply, Message, Role
from spca_core.ports.proposer import ModelError, NotUnderstood
from spca_core.scene import Fact, Observation
from spca_core.skill import SkillSignature
from spca_core.skill_package import library_source
from spca_core.verdict import Ending
from spca_llm.chat import NotInVain
from spca_planner.critics import with_named_places, with_synonyms
from spca_planner.language import LanguageProposer, in_words, messages, told_of
from spca_planner.pddl.syntax import parse_domain
from spca_planner.planner import DraftingPlanner
from spca_planner.prediction import PddlReader
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains, actions_of
from spca_referee.level import load_level
from spca_referee.level import task as task_of
from spca_tabletop.kit import TabletopKit
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing import pddl
from spca_testing.models.fallible_model import SKILLS
from spca_testing.observations import scene, task

WORDS = TabletopVocabulary().words()
READER = PddlReader(TabletopVocabulary())
ACTIONS = actions_of([domain()])
TASK = task("Put the red cube on the blue plate.", group="pick_and_place")


class Script:
    """A chat model that gives prepared answers and notes what it was asked."""

    def __init__(self, answers: Sequence[dict[str, str] | ModelError]) -> None:
        self.answers, self.asked = list(answers), []

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        self.asked.append((schema.__name__ if schema else "", str(messages[-1]["content"])))
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        assert schema is not None
        return ChatReply(text=json.dumps(answer), parsed=schema.model_validate(answer))


def request(**values: object) -> PlanRequest:
    return PlanRequest.model_validate(
        {"attempt": "a", "task": TASK, "observation": scene(), "skills": (), **values}
    )


def prompt(asked: PlanRequest, previous: Draft | None) -> str:
    """What the planner's model is asked."""
    return str(messages(asked, previous, None, TabletopVocabulary(), ACTIONS)[1]["content"])


# --- a trusted domain that does not fit ---------------------------------------------------------------------


def test_one_question_allows_the_known_domain_or_a_new_one(tmp_path: Path) -> None:
    """The trusted domain cannot pick up: the answer is one that can. One that only touches is not shown."""
    trusted = TrustedDomains(tmp_path)
    touch, known = (
        f"(define (domain d) (:types cube plate table) (:predicates ({brings})) "
        f"(:action do :parameters (?x - cube ?p - plate) :effect ({brings})))\n"
        for brings in ("touched ?x", "on ?x ?p")
    )
    trusted.add("tabletop", TASK, touch)
    trusted.add("tabletop", TASK, known)
    good = BuiltinProposer().draft(request(), None, None)
    chat = Script([{"domain": good.domain, "problem": good.problem}])
    with SolverProcess() as solver:
        planner = DraftingPlanner(
            "tabletop", LanguageProposer(chat), trusted, TabletopVocabulary(), solver=solver
        )
        result = planner.plan(request())
    assert result.status == "solved", result.message
    assert [(d.mode, d.rejection is None) for d in result.drafts] == [("fresh", True)]
    assert known in chat.asked[0][1] and "leave `domain` empty" in chat.asked[0][1]
    kept = LanguageProposer(Script([{"problem": good.problem}]))
    assert kept.draft(request(mode="reuse"), Draft(domain=known, problem=""), None).domain == known


def test_a_model_gets_measures_once_where_it_asks_for_them() -> None:
    asks = {"measure": ["cube_red", "plate_blue"]}
    chat = Script([asks, {**asks, "question": "Which corner?"}, {"domain": "(d)", "problem": "(p)"}])
    room, known = TabletopKit().room(RunOptions(level="stack_01")), dict[str, list[str]]()
    roles: tuple[Role, ...] = ("planner_small", "planner_big")
    words = TabletopVocabulary()
    small, big = (LanguageProposer(chat, role, words, room=room, measures=known) for role in roles)
    with pytest.raises(NotUnderstood, match="Which corner"):
        small.draft(request(), None, None)
    draft = Draft(domain="(d)", problem="(p)")
    big.draft(request(mode="replan", failure="it fell"), draft, None)
    first, second, third = (text for _, text in chat.asked)
    assert "cube_red to plate_blue: " in third, "a plan is mended by the same measures"
    assert "size 40" not in first
    assert re.search(r"cube_red: at [-\d ]+, size 40 40 40", second)
    assert "a gap of 40 mm; things can be put at x 340 to 660 mm, y -280 to 280 mm\n" in first, (
        "where the arm reaches, before it has failed to"
    )
    assert "cube_red to plate_blue: " in second and "cube_green: " not in second
    said = "robot: impossible: No room.; measured: cube_red, cube_green"
    later = LanguageProposer(chat := Script([{"domain": "(d)", "problem": "(p)"}]), "planner_big", words)
    later.draft(request(task=TASK.model_copy(update={"conversation": (said,)})), None, None)
    assert "cube_green to cube_red: " in chat.asked[0][1], "in the next sentence, too"


def test_what_was_said_before_is_told() -> None:
    """Whole, as where the things of many steps were comes last; later without plan and reason."""
    steps = ", ".join(["pick_up(cube_red, plate_red)"] * 12)
    long = f"robot: success: done [{steps}]; to put back: put the red cube on the red plate"
    assert long in prompt(request(task=TASK.model_copy(update={"conversation": (long,)})), None)
    talk = prompt(
        request(task=TASK.model_copy(update={"conversation": (long, *["user: and so on"] * 6)})), None
    )
    assert '"robot: success; to put back: put the red cube on the red plate"' in talk


def test_for_a_task_that_the_grammar_does_not_know_the_usual_skills_are_told() -> None:
    """What brings about what any task may ask for; not what needs what is not there, such as a bridge."""
    asked = task("Would you take the blue block off to the middle dish?")
    skills = LibraryReader().signatures(TabletopKit.builtin_skills.read_text())
    told = str(messages(request(task=asked, skills=skills), None, None, TabletopVocabulary(), ACTIONS)[1])
    listed = re.findall(r"- (\w+)\([^)]*\): needs", told)
    assert {*listed} == {"pick_up", "place_on", "stack_on", "place_on_table", "place_at", "place_next_to"}
    said = TASK.model_copy(update={"conversation": ("user: touch the red cube", "robot: done")})
    assert '["user: touch the red cube", "robot: done"]' in prompt(request(task=said), None)
    assert "Said and done so far" not in prompt(request(), None)


def test_what_was_seen_in_a_failed_round_alone_has_no_name_yet() -> None:
    """Everything is put back: a draft that names it is about things that are not there."""
    draft = pddl.draft(prompt(request(), None), "Put the red cube on the blue plate.")
    later = Fact(predicate="on", args=("cube_new", "table"))
    executed = Execution(steps=("1. look(): done",), predicted=(), seen=(*scene().facts, later))
    told = prompt(request(mode="replan", failure="it is not there", executed=executed), draft)
    came = "seen only afterwards (a thing that is not listed above has no name yet)"
    assert f'{came}: "(on cube_new table)' in told


def test_skills_come_with_what_they_need_and_bring_in_observable_words() -> None:
    """The built-in domain's own bookkeeping (`kept`, `unfit`, `one_place`) means nothing to a model."""
    skills = (
        SkillSignature(name="place_on", parameters=("cube", "plate"), doc="Put it down."),
        SkillSignature(name="touch", parameters=("thing",), doc="Touch it."),
        SkillSignature(name="whistle", parameters=(), doc="Whistle."),
    )
    text = prompt(request(skills=skills), None)
    assert (
        "- place_on(cube - solid, plate - support): needs (held ?cube) (clear ?plate) …; "
        "brings (not (held ?cube)) (hand_empty) (on ?cube ?plate) (when … (not (clear ?plate))) …\n" in text
    )
    assert "- of less use here: touch(thing)\n" in text, (
        "of what has nothing to do with the goal, the name is enough"
    )
    assert "- whistle(): Whistle.\n" in text, "nobody knows what it does"
    text = prompt(request(task=task("Touch the red cube."), skills=skills), None)
    assert "brings (touched ?thing) …\n" in text and "- of less use here: place_on(cube, plate)\n" in text
    skills = LibraryReader().signatures(TabletopKit.builtin_skills.read_text())
    text = prompt(request(task=task("Whatever is nearest had better be touched."), skills=skills), None)
    assert "\n- touch(thing - item): needs" in text and text.count("; brings") == 7, (
        "and what any task may ask for"
    )
    for skill in read(TabletopKit.builtin_skills.read_text()).functions.values():
        if skill.is_skill:
            told = SkillSignature(name=skill.name, parameters=skill.parameters[1:], doc=skill.doc)
            about = in_words(told, ACTIONS[skill.name, len(told.parameters)], WORDS)
            assert not re.search(r"holding|kept|unfit|crowded|topped|twice|one_place|bridging", about), about


LEARNED = """\
(define (domain grid)
  (:types key) (:constants table)
  (:predicates
    (held ?x - object) (clear ?x - object)
    (way_clear) ; nothing stands before the door
    (opened ?d - object) ; the door ?d stands open
    (hand_empty))
  (:action unlock_way
    :parameters (?k - key ?from - object)
    :precondition (and (held ?k) (way_clear) (opened ?from) (not (exists (?x - object) (on ?x ?k))))
    :effect (and (hand_empty) (when (not (= ?from table)) (clear ?from)) (forall (?x) (not (opened ?x)))))
  (:action clear_way :parameters () :precondition (and) :effect (way_clear)))
"""
"""A learned domain: a condition, a quantifier, and predicates of its own, one of them about no thing."""


def test_no_part_of_a_skill_is_left_out_unsaid() -> None:
    known = actions_of([], [LEARNED])
    skills = tuple(
        SkillSignature(name=n, parameters=p) for n, p in (("unlock_way", ("k", "from_")), ("clear_way", ()))
    )
    text = str(messages(request(skills=skills), None, None, TabletopVocabulary(), known)[1]["content"])
    assert (
        "- unlock_way(k - key, from_): needs (held ?k) (way_clear) (opened ?from_) (not (on * ?k)); "
        "brings (hand_empty) (when (not (= ?from_ table)) (clear ?from_)) …\n"
        "- clear_way(): brings (way_clear)\n" in text
    )
    bare = LEARNED.replace("(way_clear) (opened ?from)", "(forall (?x - object) (clear ?x))")
    (action, _) = actions_of([], [bare]).values()
    assert in_words(skills[0], action, WORDS).startswith("needs (held ?k) (all (clear *)) ("), "not of any"
    assert '(way_clear): "nothing stands before the door"\n(opened ?d): "the door ?d stands open"\n' in text
    assert text.count("nothing rests on or in") == 1, "what is observed is explained above"


def test_a_hidden_thing_is_explained_and_may_be_held() -> None:
    seen = scene()
    held = Fact(predicate="held", args=("unknown",))
    changed = {"objects": {**seen.objects, "unknown": "unknown"}, "facts": (*seen.facts, held)}
    told = "gets its name when it is seen"
    hidden = seen.model_copy(update=changed)
    assert told in prompt(request(observation=hidden), None) and told not in prompt(request(), None)
    assert TabletopVocabulary().extensions(hidden)["hand_empty"].atoms == frozenset()


def test_what_a_shown_domain_says_is_not_said_again() -> None:
    skills = tuple(
        SkillSignature(name=name, parameters=("cube", "plate"), doc="Put it down.")
        for name in ("place_on", "drop_on")
    )
    reuse = prompt(request(mode="reuse", skills=skills), Draft(domain=domain(), problem=""))
    assert "- place_on(cube, plate): as below\n" in reuse and reuse.count("(:action place_on\n") == 1
    assert "- drop_on(cube, plate): Put it down.\n" in reuse, "a new domain may need it"


def test_prompts_are_short() -> None:
    """In tokens, on a table of seven things: fresh, with skills, and two to write."""
    text = TabletopKit.builtin_skills.read_text()
    seen = scene().model_copy(update={"restated": True})
    planner = [
        sum(
            tokens_of(str(m["content"]))
            for m in messages(request(observation=seen, skills=s), None, None, TabletopVocabulary(), ACTIONS)
        )
        for s in ((), LibraryReader().signatures(text))
    ]
    schemas = tuple(a.schema for a in parse_domain(pddl.DOMAIN).actions.values())[1:4:2]
    shown = relevant(text, schemas, TOKEN_BUDGET, actions=told_of(ACTIONS, WORDS))
    coder = LanguageCoder(None)  # type: ignore[arg-type]
    plan = Plan(steps=(), schemas=schemas, draft=Draft(domain="", problem=""))
    asked = CodeRequest(attempt="", task=TASK, observation=seen, plan=plan, library=text)
    code = coder.messages(schemas, TabletopKit().api, shown, situation(asked), "", "")
    sizes = [*planner, sum(tokens_of(str(m["content"])) for m in code)]
    assert all(size <= most for size, most in zip(sizes, (900, 1200, 1400), strict=True)), sizes


def test_a_domain_that_forgets_what_is_seen_is_not_trusted() -> None:
    """After placing, the hand is seen to be empty; a domain without a word of that worked only by chance."""
    effect = "(on ?cube ?plate) (hand_empty) (not (holding ?cube))"
    good = pddl.draft(prompt(request(), None), "Put the red cube on the blue plate.")
    steps = (
        Step(action="lift_cube", args=("cube_red", "table")),
        Step(action="set_on_plate", args=("cube_red", "plate_blue")),
    )
    held, placed = scene(held="cube_red"), scene({"cube_red": "plate_blue"})
    for forgotten, missed in (
        ("", []),
        ("(hand_empty) ", ["(hand_empty)"]),
        (" (not (holding ?cube))", ["(not (holding cube_red))"]),
    ):
        draft = good.model_copy(update={"domain": good.domain.replace(effect, effect.replace(forgotten, ""))})
        plan = Plan(steps=steps, schemas=(), draft=draft)
        evidence = READER.weigh(plan, [held, placed], placed, scene())
        assert not evidence.contradicted
        assert [str(o) for step in evidence.steps for o in step.overlooked] == missed


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("(exists (?p - plate) (on cube_red ?p))",
         "the red cube on the green plate; or the red cube on the blue plate; or"),
        ("(forall (?p - cube) (touched ?p))", "touched"),
        ("(and (clear cube_red) (clear cube_blue))", "the blue cube clear, the red cube clear"),
        ("(and (not (= cube_red cube_blue)) (imply (clear cube_red) (holding cube_red)))", "gripper"),
    ],
)  # fmt: skip
def test_a_goal_is_told_in_words(goal: str, words: str) -> None:
    good = pddl.draft(prompt(request(), None), "Put the red cube on the blue plate.")
    problem = re.sub(r"\(:goal .*\)\)", f"(:goal {goal}))", good.problem)
    told = READER.goal(Draft(domain=good.domain, problem=problem))
    assert words in told and "(" not in told and "?" not in told


def test_a_conversation_reaches_the_model(tmp_path: Path) -> None:
    """What was said and done, where things were before, a question that was asked, the user's own words."""
    step = Step(action="touch", args=("cube_red",))
    plan = Plan(steps=(step,), schemas=(), draft=Draft(domain="", problem=""))
    planned = PlanResult(attempt="", status="solved", plan=plan, drafts=())
    talk, told = Dialogue(TabletopKit(), scene), []
    endings = [(Ending.SUCCESS, "carried out"), (Ending.NOT_UNDERSTOOD, "Which 'the plate'?"),
               (Ending.SUCCESS, "carried out")]  # fmt: skip
    words = ("touch the left cube", "put it on the plate", "the blue one")
    touched = SimpleNamespace(kind="step", data={"args": ["cube_red"]})
    for sentence, (outcome, reason) in zip(words, endings, strict=True):
        meant = talk.meant(sentence)
        told.append((meant, *talk.conversation(sentence, meant)))
        result = SimpleNamespace(outcome=outcome, reason=reason, answer="")
        run = SimpleNamespace(
            folder=tmp_path, result=result, events=[touched], seen=(scene(),), planning=planned
        )
        talk.remember(sentence, meant, run)  # type: ignore[arg-type]
    lay = "to put back: put the red cube at x = 0.500 m, y = -0.150 m"
    done = f"robot: success: carried out; {lay}"
    asked = f"robot: Which 'the plate'? [touch(cube_red)]; {lay}"
    assert told == [
        ("touch the left cube",),
        ("put the red cube on the plate", "user: touch the left cube", done, "user: put it on the plate"),
        ("put the red cube on the blue plate", *told[1][1:], asked, "user: the blue one"),
    ]
    (tmp_path / "task.yaml").write_text(TabletopKit().sentence_level("touch it", "", told[1][1:]))
    assert task_of(load_level(tmp_path / "task.yaml")).conversation == told[1][1:]


def test_a_coder_is_told_what_a_plan_s_own_predicates_mean_and_how_to_touch() -> None:
    """Of those that its actions name, in the words of whoever made them up."""
    text = """(define (domain d) (:predicates (on ?a ?b) (hand_empty)
      (in_row ?a ?b ?c) ; ?a goes on the row of ?b and ?c
      (painted ?a)) ; ?a was painted
      (:action extend :parameters (?a ?b ?c) :effect (and (in_row ?a ?b ?c)
        (on ?a ?b))) ; and so on
      ; Take it away.
      (:action take :parameters (?a ?b) :effect (not (on ?a ?b))))"""
    schemas = tuple(action.schema for action in parse_domain(text).actions.values())
    plan = Plan(steps=(), schemas=schemas, draft=Draft(domain=text, problem=""))
    told = situation(CodeRequest(attempt="", task=TASK, observation=scene(), plan=plan, library=""))
    assert "In the plan, (in_row ?a ?b ?c): ?a goes on the row of ?b and ?c" in told.splitlines()
    assert not any(words in told for words in ("painted", "hand_empty", "and so on", "Take it away"))
    rules = str(LanguageCoder(None).messages(schemas, TabletopKit().api, "", told, "", "")[0]["content"])  # type: ignore[arg-type]
    assert "closed fingertips touch its top: go above with move_to, down with move_linear" in rules
    assert "may be touched and pushed" in rules


# --- which skills a coder is shown --------------------------------------------------------------------------

PATTERNS = yaml.safe_load(Path(__file__).with_name("patterns.yaml").read_text())
ALIKE = {
    "lift_cube": "pick_up", "set_on_plate": "place_on", "set_on_cube": "stack_on",
    "drop_off_table": "discard", "touch_thing": "touch",
}  # fmt: skip


def atoms(text: str) -> str:
    told = (f"({part.lstrip('!')})" for part in text.split(", "))
    return " ".join(
        f"(not {a})" if part[0] == "!" else a for part, a in zip(text.split(", "), told, strict=True)
    )


def test_the_pattern_that_is_needed_is_shown() -> None:
    """Among all that a library knows after thirty levels: the built-in skills, and those of a model."""
    text = f"{library_source('tabletop', TabletopKit.builtin_skills)}\n\n\n{SKILLS.read_text()}"
    known = actions_of(TabletopKit().builtin().domains, [pddl.DOMAIN])
    told = told_of(known, TabletopVocabulary().words())
    lacking = []
    for line in PATTERNS["skills"]:
        head, needs, brings, patterns = line.split("; ")
        name, *things = head.split()
        action = f"(:action {name} :precondition (and {atoms(needs)}) :effect (and {atoms(brings)}))"
        wanted = ActionSchema(name=name, parameters=tuple((t, "item") for t in things), pddl=action)
        shown = read(relevant(text, (wanted,), TOKEN_BUDGET, actions=told)).functions
        lacking += [line] if {ALIKE.get(n, n) for n in shown}.isdisjoint(patterns.split()) else []
    assert len(lacking) <= 0.05 * len(PATTERNS["skills"]), lacking


# --- which domain a planner is shown ------------------------------------------------------------------------


def test_the_domain_that_is_shown_has_the_pattern(tmp_path: Path) -> None:
    """After thirty tasks, each with a domain of its own whose names say nothing."""
    trusted, whole, vocabulary = TrustedDomains(tmp_path), parse_domain(domain()), TabletopVocabulary()
    head = re.sub(";.*", "", domain().partition("(:action")[0])
    for number, line in enumerate(PATTERNS["solved"]):
        text, kind, actions = line.split("; ")
        used = list(dict.fromkeys((*actions.split(), "touch" if actions == "touch" else "pick_up")))
        texts = (re.sub(r"(?<=:action )\w+", f"do_{i}", whole.actions[n].text) for i, n in enumerate(used))
        schemas = " ".join(texts).replace("- support", f"- {kind}")
        trusted.add("tabletop", task(text, group=f"group_{number}"), f"{head}{schemas})\n;{' '.join(used)}")
    lacking = []
    for line in PATTERNS["asked"]:
        text, kind, actions = line.split("; ")
        seen = Observation.model_validate_json(scene().model_dump_json().replace("plate", kind))
        goals = vocabulary.asked(task(text), seen)
        shown = trusted.fitting("tabletop", task(text), seen.objects, goals, vocabulary.words())
        has = shown.text.rpartition(";")[2].split() if shown else []
        lacking += [f"{line}: {has}"] if not {*actions.split()} <= {*has} else []
    assert len(lacking) <= 0.05 * len(PATTERNS["asked"]), lacking


# --- words --------------------------------------------------------------------------------------------------


def test_every_predicate_and_type_of_a_skill_is_explained() -> None:
    """What the built-in skills need and bring, and what a support is, on the tables of six levels."""
    skills = LibraryReader().signatures(TabletopKit.builtin_skills.read_text())
    for level in ("pyramid_02", "mats_05", "packing_02", "touch_03", "stack_01", "arrange_05"):
        seen, asked = nominal_observation(level), task_of(load_level(level))
        text = prompt(request(observation=seen, task=asked, skills=skills), None)
        skilled = re.findall(r"^- .*?: needs .*$", text, re.MULTILINE)
        told, forms = "".join(s.partition(": ")[2] for s in skilled), "".join(skilled)
        named = {*re.findall(r"\(([a-z]\w*) ", told)} - {"not", "and", "when", "all", "or"}
        explained = {*re.findall(r"^(?:- )?\(([a-z]\w*)[^()]*\): ", text, re.MULTILINE)}
        assert named <= explained, (level, named - explained)
        types = {*re.findall(r" - (\w+)[,)]", forms)} - {*seen.objects.values(), "place"}
        assert all(f"{t} = " in text for t in types), (level, types)


def test_everything_observable_is_told_whether_it_holds_or_not() -> None:
    text = prompt(request(), None)
    facts = text.partition("facts that hold now: ")[2].partition("\n")[0]
    assert "(hand_empty)" in facts, "init is every observed fact"
    free = scene().model_copy(update={"facts": (*scene().facts, Fact(predicate="hand_free", args=()))})
    assert "(hand_free) (hand_empty); (on ?a" in prompt(request(observation=free), None)
    for words in (
        "(hand_empty): the gripper holds nothing",
        "(held ?a)",
        "(next_to ?a ?b)",
    ):
        assert words in text
    assert "(in ?a ?b)" not in text, "there is nothing for a thing to be in"
    assert "(in ?a ?b)" in prompt(request(observation=nominal_observation("bowls_01")), None)


def test_what_holds_of_many_things_is_told_once() -> None:
    seen = nominal_observation("bowls_06")
    text = prompt(request(observation=seen), None)
    assert (
        'facts that hold now: "(on cube_red bowl_blue) (in cube_red bowl_blue) (hand_empty); '
        '(on ?a table) for all but cube_red table; (clear ?a) for all but bowl_blue table"\n' in text
    )
    facts = {(f.predicate, *f.args) for f in seen.told if f.predicate in ("on", "in", "clear")}
    assert facts == {tuple(a) for a in pddl.facts_in(text)} - {("hand_empty",)}


def test_what_the_gripper_is_too_narrow_for_is_told_where_there_is_such_a_thing() -> None:
    text = prompt(request(observation=nominal_observation("shapes_01")), None)
    assert "(too_wide cuboid_pink)" in text and "- (too_wide ?a): ?a is too wide to be held\n" in text
    assert "too_wide" not in prompt(request(), None)
    seen = TabletopVocabulary().extensions(nominal_observation("shapes_01"))["too_wide"]
    assert seen.atoms == {("cuboid_pink",)}, "so that a draft may ask for it"


def test_what_lies_left_and_near_of_what_is_told_of_all_things() -> None:
    """Not only who is the first of its kind: a task may speak of the cube to the right of another one."""
    seen = scene(row=("cube_red", "cube_blue", "cube_green")).model_copy(update={"restated": True})
    text = prompt(request(observation=seen), None)
    line = next(line for line in text.splitlines() if line.startswith("from left to right"))
    places = [line.index(name) for name in ("cube_red", "cube_blue", "cube_green")]
    assert places == sorted(places) and "cube_blue = plate_" in line and "(= equally far)" in line
    assert "leftmost" not in text
    told = prompt(request(observation=seen.model_copy(update={"restated": False})), None)
    assert "from left to right" not in told and "(leftmost cube_red)" in told


def test_a_place_that_the_domain_names_as_a_constant_is_there() -> None:
    draft = Draft(domain="(define (domain d) (:constants left_half - place))", problem="")
    assert with_named_places(scene(), draft, TabletopVocabulary()).objects["left_half"] == "place"


@pytest.mark.parametrize(
    ("predicate", "meant", "fault"),
    [
        ("(gripper_empty)", "hand_empty", ""),
        ("(robot_hand_free)", "hand_empty", ""),
        ("(is_holding ?c)", "held", ""),
        ("(rests_on ?a ?b)", "on", ""),
        ("(adjacent_to ?a ?b)", "next_to", ""),
        ("(gripper_empty ?g)", "", "seems to mean what is observed as (hand_empty)"),
        ("(holding ?g ?c)", "", "(held ?a)"),
        ("(clear ?a) (uncovered ?a ?b)", "clear", ""),
        ("(painted ?c)", "", ""),
        ("(middle ?a ?b ?c ?d)", "", ""),
    ],
)
def test_a_synonym_is_mapped_or_refused(predicate: str, meant: str, fault: str) -> None:
    found = parse_domain(
        f"(define (domain d) (:predicates {predicate}) (:action a :parameters () :effect (and {predicate})))"
    )
    extensions = TabletopVocabulary().extensions(scene())
    known, faults = with_synonyms(found, WORDS, extensions)
    name = predicate.strip("()").split()[0]
    if meant:
        assert known[name] == extensions[meant]
    assert bool(faults) == bool(fault)
    if fault:
        assert fault in faults[0]


# --- what is asked, and how often ---------------------------------------------------------------------------


def test_a_replan_shows_what_was_done_predicted_and_seen() -> None:
    executed = Execution(
        steps=("1. place_on(cube_red, plate_blue): done",),
        predicted=("(on cube_red plate_blue)",),
        seen=(
            Fact(predicate="on", args=("cube_red", "table")),
            Fact(predicate="touched", args=("cube_red",)),
        ),
    )
    draft = Draft(domain="(define)", problem="(define)")
    asked = request(mode="replan", failure="it fell", executed=executed)
    text = messages(asked, draft, None, TabletopVocabulary())[1]["content"]
    for words in (
        "place_on(cube_red, plate_blue): done",
        "(on cube_red plate_blue)",
        "no longer seen",
        "it fell",
        "failed when it was run; everything was put back since",
    ):
        assert words in text
    assert "(on ?a table) for all but table" in text and "touched" not in text.partition("seen only")[2]


def test_the_same_question_is_not_asked_twice() -> None:
    unusable = ModelError("no", "refused")
    chat = Script([ModelError("busy", "busy"), {"domain": "(", "problem": "("}, unusable, unusable])
    asking = LanguageProposer(NotInVain(chat, {}, 8))
    with pytest.raises(ModelError, match="busy"):
        asking.draft(request(), None, None)
    asking.draft(request(), None, None)  # it was not answered, so it may be asked again
    with pytest.raises(ModelError, match="answered before"):
        asking.draft(request(), None, None)
    for _ in range(2):  # what the first answer was no use for, the second may serve
        with pytest.raises(ModelError, match="no"):
            asking.draft(request(failure="something new"), None, None)
    with pytest.raises(ModelError, match="answered before"):
        asking.draft(request(failure="something new"), None, None)
    assert len(chat.asked) == 4
