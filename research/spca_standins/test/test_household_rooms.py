"""The household as a world to learn: what a language model would have to write is judged and played."""

from __future__ import annotations

import numpy as np
import pytest

from spca_programs.experience import Experience, NotLearnable, Program, Transition
from spca_programs.factories import stand_in
from spca_standins.household.rooms import household
from spca_worldcoder.agent.modelling import judge
from spca_worldcoder.options import WorldOptions
from spca_worldcoder.sandbox import ModelRunner

RULES = """
def named(state, name):
    return next((one for one in state if one["name"] == name), None)

def transition(state, action):
    verb, *names = action.split()
    me = find(state, "agent")
    things = [named(state, name) for name in names]
    place = things[-1]
    if verb == "goto":
        if me["at"] != names[0]:
            me["at"] = names[0]
        return state
    if me["at"] != names[-1] and verb != "use":
        return state
    if verb == "open" and place["open"] is False:
        place["open"] = True
    if verb == "close" and place["open"]:
        place["open"] = False
    if len(names) == 2:
        thing = things[0]
        there = thing["inside"] == names[1] and place["open"] is not False
        if verb == "take" and me["holding"] is None and there:
            me["holding"], thing["inside"] = names[0], None
        elif me["holding"] == names[0]:
            if verb == "put" and place["open"] is not False:
                me["holding"], thing["inside"] = None, names[1]
            if verb == "heat" and thing["heatable"]:
                thing["hot"] = True
                thing.values.pop("cool", None)
    return state

def reward(before, action, after, mission):
    words = mission.lower().replace(".", "").split()
    won = any(
        one["hot"] and one.kind in words and one["inside"] and named(after, one["inside"]).kind in words
        for one in after
    )
    return (1.0, True) if won else (0.0, False)
"""


def test_a_program_for_heating_agrees_with_the_world() -> None:
    """Step by step: fetch the thing, heat it, put it where it is wanted."""
    (world,) = household(WorldOptions(world="household", environments=("heat",)))
    state, mission = world.reset(4)
    words = mission.lower().replace(".", "").split()
    things = {one.get("name"): one for one in state if one.get("name")}
    wanted = next(one for one in state if one.kind in words and one.get("inside"))
    place = next(name for name, one in things.items() if one.kind == words[-1])

    def go(name: str) -> list[str]:
        return [f"goto {name}", *([f"open {name}"] if things[name].get("open") is False else [])]

    name, source = wanted.get("name"), wanted.get("inside")
    plan = [*go(source), f"take {name} {source}", "goto microwave_1", f"heat {name} microwave_1"]
    plan += [*go(place), f"put {name} {place}"]
    program = Program(source=RULES)
    with ModelRunner() as runner:
        states = runner.replay(program, state, mission, plan)
        assert states is not None
        data = []
        for action, expected in zip(plan, states, strict=True):
            made = world.step(action)
            assert made.state == expected, action
            data.append(Transition(state, action, made.state, made.reward, made.done, mission))
            state = made.state
        assert made.done
        assert judge(runner, program, data).fits


def test_the_built_in_synthesizer_declines_in_one_line() -> None:
    (world,) = household(WorldOptions(world="household", environments=("pick",)))
    rng = np.random.default_rng(0)
    experience = Experience(world.actions)
    state, mission = world.reset(0)
    while not experience.transitions:
        action = world.actions[int(rng.integers(len(world.actions)))]
        made = world.step(action)
        if made.state != state:
            experience.add(Transition(state, action, made.state, made.reward, made.done, mission))
        state = made.state
    with pytest.raises(NotLearnable, match="without a grid"):
        stand_in("inductive").synthesizer().first(experience)
