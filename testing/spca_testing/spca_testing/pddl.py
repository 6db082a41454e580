"""The scripted model's PDDL: one domain, and problems made from the scene and task in a prompt."""

from __future__ import annotations

import json
import re

from spca_core.plan import Draft
from spca_planner.pddl.syntax import with_actions

DOMAIN = """\
(define (domain tidy_table)
  (:requirements :strips :typing)
  (:types cube plate table - thing)
  (:predicates (on ?cube - cube ?thing - thing) (clear ?cube - cube) (holding ?cube - cube) (hand_empty)
               (touched ?thing - thing) (on_ground ?cube - cube))
  (:action touch_thing
    :parameters (?thing - thing)
    :precondition (hand_empty)
    :effect (touched ?thing))
  (:action lift_cube
    :parameters (?cube - cube ?support - thing)
    :precondition (and (hand_empty) (clear ?cube) (on ?cube ?support))
    :effect (and (holding ?cube) (not (hand_empty)) (not (on ?cube ?support))))
  (:action set_on_plate
    :parameters (?cube - cube ?plate - plate)
    :precondition (holding ?cube)
    :effect (and (on ?cube ?plate) (hand_empty) (not (holding ?cube))))
  (:action set_on_cube
    :parameters (?cube - cube ?base - cube)
    :precondition (and (holding ?cube) (clear ?base))
    :effect (and (on ?cube ?base) (hand_empty) (not (holding ?cube)) (not (clear ?base))))
  (:action drop_off_table
    :parameters (?cube - cube)
    :precondition (holding ?cube)
    :effect (and (on_ground ?cube) (hand_empty) (not (holding ?cube)) (not (clear ?cube)))))
"""

_RED = r"(red|green|blue)"
_GOALS = (
    (rf"\b(?:put|stack|place) the {_RED} cube (?:down )?(?:on top of|on|onto) the {_RED} (cube|plate)\b",
     "(on {0} {1})", "set_on_{kind}"),
    (rf"\b(?:pick up|grasp|lift) the {_RED} (cube)\b", "(holding {0})", "lift_cube"),
    (rf"\bdiscard the {_RED} (cube)\b", "(on_ground {0})", "drop_off_table"),
    (rf"\btouch the {_RED} (cube|plate)\b", "(touched {0})", "touch_thing"),
)  # fmt: skip


def draft(text: str, task: str) -> Draft:
    """A good draft from what a request (`text`) says was observed; it keeps a domain shown that can do it."""
    known, (wanted, deed) = re.findall(r"\(:action (\w+)", text), goal(task)
    objects, resting = _scene(text)
    facts = [f"(on {cube} {support})" for cube, support in resting.items()]
    facts += [f"(clear {o})" for o in objects if o.startswith("cube") and o not in resting.values()]
    things = " ".join(f"{o} - {o.partition('_')[0]}" for o in objects)
    problem = (
        f"(define (problem today)\n  (:domain tidy_table)\n  (:objects {things} table - table)\n"
        f"  (:init (hand_empty) {' '.join(facts)})\n  (:goal {wanted}))\n"
    )
    return Draft(domain=with_actions(DOMAIN, known) if deed in known else DOMAIN, problem=problem)


def goal(task: str) -> tuple[str, str]:
    """The goal of a task text, and the action for it. ValueError where the model does not understand it."""
    for pattern, form, deed in _GOALS:
        if match := re.search(pattern, task, re.IGNORECASE):
            *colours, kind = (g.lower() for g in match.groups())
            names = [f"cube_{colours[0]}" if len(colours) > 1 else f"{kind}_{colours[0]}"]
            names += [f"{kind}_{c}" for c in colours[1:]]
            return form.format(*names), deed.format(kind=kind)
    raise ValueError(f"no goal for {task!r}")


def _scene(text: str) -> tuple[list[str], dict[str, str]]:
    """Cubes and plates, and what each cube rests on, from what a request says was observed."""
    objects = [name for name, kind in kinds_in(text).items() if kind in ("cube", "plate")]
    return objects, {a[1]: a[2] for a in reversed(facts_in(text)) if a[0] == "on" and a[1].startswith("cube")}


def facts_in(text: str) -> list[list[str]]:
    """The facts that a request tells, of each of the things that it tells one of at once."""
    found = []
    for form, of in re.findall(r"\(([^()]+)\)(?: for ([^;]*))?", said(text, "facts that hold now: ")):
        few = of.split() or [""]
        things = [n for n in kinds_in(text) if n not in few] if few[0] == "all" else few
        found += [[thing if word == "?a" else word for word in form.split()] for thing in things]
    return found


def kinds_in(text: str) -> dict[str, str]:
    """The objects and their kinds, which a request tells as PDDL lists objects."""
    listed = re.findall(r"(.*?) - (\S+) ?", said(text, "objects and their kinds: "))
    return {name: kind for names, kind in listed for name in names.split()}


def said(text: str, words: str) -> str:
    """What a request says after these words."""
    return str(json.loads(text.partition(words)[2].partition("\n")[0]))
