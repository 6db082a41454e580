"""What task texts mean: every level's task in many words."""

from __future__ import annotations

import pytest

from spca_core.plan import PlanRequest
from spca_planner.critics.goal import off_topic
from spca_planner.critics.scene import contradiction
from spca_planner.pddl.lint import parse
from spca_planner.tabletop.examples import goals, scene, task
from spca_planner.tabletop.proposer import BuiltinProposer
from spca_planner.tabletop.understanding import understand
from spca_planner.tabletop.vocabulary import TabletopVocabulary

# In the scene: green left, blue middle and nearest, red right and farthest. Goal → texts that mean it.
MEANINGS: dict[str, list[str]] = {
    "touched B": [
        "Touch the blue cube.",
        "touch the blue block",
        "Please touch the blue box",
        "Could you please gently tap the blue cube?",
        "Bring the gripper into contact with the blue cube.",
        "Make contact with the blue cube.",
        "The robot should touch the blue cube.",
        "The gripper must touch the blue cube.",
        "Move the gripper to the blue cube and touch it.",
        "Find the blue cube and touch it with the gripper.",
        "Go to the blue cube, then touch it.",
        "I want you to poke the blue cube with your fingertips.",
        "Your task is to touch the blue one.",
        "Touch the middle cube",
        "Touch the cube in the middle.",
        "Touch the cube that lies in the middle, counted from left to right.",
        "Touch the central block, please.",
        "Touch the nearest cube.",
        "Touch the cube closest to the robot.",
        "Touch the cube that is closest to you.",
        "Touch the near cube",
        "touch the cube nearest to the robot arm",
        "Touch the cube that lies nearest to the robot's base.",
        "Touch the middle one of the cubes",
        "The blue cube must be touched.",
        "Use the gripper to touch the blue cube",
        "Let the gripper touch the blue cube.",
        "Tap the front cube",
        "TOUCH THE BLUE CUBE!",
    ],
    "touched G": [
        "Touch the left cube.",
        "Touch the leftmost cube.",
        "Touch the cube on the left.",
        "Touch the cube on the left side.",
        "Touch the left-hand cube",
        "Touch the cube that lies farthest to the left.",
        "Touch the cube furthest to the left",
        "Touch the green cube.",
        "touch the one on the left",
    ],
    "touched R": [
        "Touch the right cube.",
        "Touch the far cube",
        "Touch the cube that lies farthest from the robot.",
        "Touch the cube furthest away from the robot.",
        "Touch the farthest cube",
        "Touch the most distant block.",
        "Touch the cube on the right-hand side of the table.",
        "Touch the rightmost block",
        "Touch the cube at the back.",
    ],
    "touched pR": [
        "Touch the red plate.",
        "Touch the red disc",
        "Tap the red dish",
        "Bring the gripper into contact with the red plate.",
        "Touch the right plate.",
        "Touch the plate on the right",
    ],
    "touched R | touched G | touched B": [
        "Touch any cube",
        "Touch a cube.",
        "Touch one of the cubes. It does not matter which one.",
        "Touch any one of the cubes",
        "Touch one cube of your choice",
        "Touch either of the blocks",
        "Choose a cube and touch it.",
        "Pick any cube and touch it.",
        "Touch some cube.",
    ],
    "touched R, touched B": [
        "Touch the red and the blue cube",
        "Touch the red cube and the blue cube.",
        "Touch the red cube, then touch the blue cube.",
        "Touch the red and blue cubes.",
        "Touch the red cube. Then touch the blue one.",
    ],
    "touched R, touched G, touched B": [
        "Touch all cubes.",
        "Touch every cube",
        "Touch each of the three cubes",
    ],
    "holding R": [
        "Pick up the red cube.",
        "Pick the red cube up.",
        "Grasp the red cube and lift it off the table.",
        "Lift the red cube.",
        "Grab the red box and hold it in the air.",
        "Take the red cube.",
        "Take the red cube from the table",
        "Lift up the red block",
        "Please could you pick up the red cube for me",
        "Raise the red cube above the table",
        "Pick up the cube on the right.",
        "Grasp the cube that lies farthest to the right and lift it off the table.",
        "Hold the red cube",
        "Get the red cube",
        "Pick up the farthest cube from the table.",
        "Pick up the red cube and keep holding it.",
        "Find the red cube, grasp it and lift it up.",
        "Pick up the red cube without touching the table.",
        "Pick up the red cube. Do not touch the blue cube.",
        "The red cube should be lifted.",
    ],
    "holding G": ["Pick up the left cube", "Grasp the leftmost cube and lift it.", "Pick up the green cube"],
    "holding B": [
        "Pick up the middle cube",
        "Grasp the cube that lies in the middle and lift it off the table.",
    ],
    "holding R | holding G | holding B": [
        "Pick up any cube",
        "Grasp one of the cubes, whichever is easiest, and lift it off the table.",
        "Pick up a cube from the table",
        "Choose a cube that stands on the table, not on a plate, and lift it.",
        "Lift any block off the table.",
        "Pick up one of the cubes on the table",
    ],
    "on R pR": [
        "Put the red cube on the red plate",
        "Pick up the red cube, put it down on the red plate and let go.",
        "Place the red block onto the red disc.",
        "Move the red cube to the red plate.",
        "Take the red cube and put it on the red plate.",
        "Take the red cube from the table and place it on the red plate",
        "Put the red cube on its plate",
        "Put the red cube on the plate of its colour",
        "Put the red cube on the plate of the same color",
        "Put the red cube on the matching plate",
        "Put the red cube on the plate with the same colour.",
        "Place the red cube onto the same-coloured plate.",
        "The red cube must end up on the red plate.",
        "The red cube should be placed on the red plate.",
        "The red cube belongs on the red plate",
        "I want the red cube on the red plate.",
        "Make sure that the red cube is on the red plate",
        "Get the red cube onto the red plate",
        "Lift the red cube and set it down on the red plate.",
        "Put the farthest cube on the right plate",
        "Deposit the red cube in the red dish.",
        "Carry the red cube to the red plate and release it there",
        "Pick up the right cube and place it on the red plate.",
        "The red cube is on the red plate.",
        "red cube on red plate",
        "Transfer the red box to the red tray",
        "Drop the red cube on the red plate.",
        "Pick up the red cube; then put it onto the red plate; let it go.",
    ],
    "on R pB": ["Put the red cube on the blue plate", "Pick up the red cube and put it on the middle plate."],
    "on B pR": [
        "Put the blue cube on the red plate",
        "Place the nearest cube on the red plate and release it",
    ],
    "on G pG, on B pB": [
        "Put the green and the blue cube on their plates",
        "Put the green cube on the green plate, and the blue cube on the blue plate.",
        "Put the green cube on the green plate and the blue cube on the blue plate.",
        "Put the green cube on the green plate. Put the blue cube on the blue plate.",
        "Place the green cube on the green plate, then place the blue cube on the blue plate.",
        "Put the green and blue cubes on the plates of their colours.",
        "First put the green cube on its plate and then put the blue one on its plate",
        "Put the green and blue cubes on the green and blue plates respectively.",
        "Move the green block to the green plate; move the blue block to the blue plate",
    ],
    "on R pR, on G pG, on B pB": [
        "Put every cube on the plate of its colour",
        "Put each cube on its own plate",
        "Place all cubes on their plates",
        "Put all three cubes on the plates of the same colour.",
        "Sort the cubes by colour",
        "Sort the cubes onto their plates.",
        "Put the red cube on the red plate, the green cube on the green plate and the blue cube on the blue plate.",
        "Put each cube on the matching plate.",
        "Match each cube to its plate.",
        "Every cube must be on the plate that matches its colour.",
        "Put each of the cubes onto the plate that has the same colour as the cube",
        "Put all the blocks on the corresponding plates",
        "red cube on red plate, green cube on green plate, blue cube on blue plate",
    ],
    "on R pR | on G pG | on B pB": [
        "Put any cube on the plate of its colour",
        "Choose a cube and put it down on the plate that has the same colour as the cube.",
        "Pick up any cube and place it on its plate",
        "Place one of the cubes on the matching plate.",
    ],
    "on R pG, on G pB, on B pR | on R pB, on G pR, on B pG": [
        "Shuffle all cubes",
        "Put each cube on a plate of another colour, one cube on each plate.",
        "Put every cube on a plate of a different colour",
        "Move each cube to a plate of another color.",
        "Shuffle the cubes: put each cube on a plate of another colour.",
        "Place all cubes on plates of a different colour.",
        "Put each cube on a differently coloured plate",
    ],
    "on R pR, on G pR, on B pR": [
        "Put all cubes on the red plate",
        "Put all three cubes on the red plate.",
        "Place the red, the green and the blue cube side by side on the red plate; each of them rests on the plate itself.",
        "Move every cube to the red plate",
        "Put the red, green and blue cubes on the red plate",
        "Put the three cubes on the red disc.",
    ],
    "on R pR | on R pG | on R pB": ["Put the red cube on any plate", "Put the red cube on a plate."],
    "next_to B R": [
        "Put the blue cube next to the red cube",
        "Place the blue cube beside the red one.",
        "Move the blue cube right next to the red cube",
        "Put the blue cube adjacent to the red cube",
        "Put the blue cube next to the red cube so that they touch.",
        "Pick up the blue cube and place it alongside the red one",
        "Put the middle cube next to the right cube.",
        "The blue cube should be next to the red cube.",
    ],
    "next_to B R, on B T": [
        "Place the blue cube on the table right beside the red cube, so that the two touch.",
        "Put the blue cube on the table next to the red cube",
    ],
    "on R B, on B T": [
        "Stack the red cube on the blue cube",
        "Put the red cube on top of the blue cube, which stays on the table, and let go.",
        "Place the red block on the blue block.",
        "Stack red on blue",
        "red on blue",
        "Put the red cube onto the blue one.",
        "Pick up the red cube and stack it on the blue cube.",
        "The red cube must be on top of the blue cube.",
        "Build a tower with the red cube on top of the blue cube",
        "Put the right cube on top of the middle one",
        "Pile the red box on the blue box",
        "Set the red cube down on top of the blue one.",
        "Stack the far cube on the near cube.",
        "Take the red cube, then place it on the blue cube and release it.",
        "Build a tower of two cubes with red on top and blue at the bottom",
    ],
    "on B R, on R T": ["Stack the blue cube on the red cube", "Put the blue cube on top of the red cube."],
    "on G R, on R T": ["Stack the green cube on the red cube", "Place green on red"],
    "on R B, on B G, on G T": [
        "Build a tower with red on top, blue in the middle and green at the bottom.",
        "build a tower with the red cube on top, the blue cube in the middle and the green cube at the bottom",
        "Build a tower of green, blue and red from bottom to top",
        "Build a tower of three cubes on the table: the green cube at the bottom, the blue cube in the middle and the red cube on top.",
        "From bottom to top: green, blue, red",
        "Build a tower. From bottom to top: green, blue, red.",
        "Stack the cubes from bottom to top: green, blue, red",
        "Stack the cubes from top to bottom: red, blue, green.",
        "red on blue on green",
        "Stack red on blue on green",
        "Stack the red cube on the blue cube and the blue cube on the green cube.",
        "Stack the blue cube on the green cube, then stack the red cube on the blue cube.",
        "Put the blue cube on the green cube and then the red cube on the blue cube",
        "Put the blue cube on the green cube and the red cube on top.",
        "Make a tower: green at the bottom, then blue, then red.",
        "Make a tower: green at the bottom, then blue, then red on top.",
        "Build a stack with green as the base, blue in the middle and red on top",
        "Construct a tower from the three cubes with green at the bottom, blue in the middle, red at the top.",
        "Stack red/blue/green (top/middle/bottom)",
        "Build a tower: bottom: green, middle: blue, top: red",
        "Build a tower of all cubes, red on top and green at the bottom.",
        "Stack all three cubes with red on top and green at the bottom",
        "Tower with red on top, blue in the middle and green at the bottom",
        "Build a tower: first the green cube, then the blue one on top of it and finally the red cube on top of that.",
        "Stack the three cubes on top of each other: green at the bottom, blue in the middle, red on top",
        "Build a tower. The green cube is at the bottom, the blue cube is in the middle and the red cube is on top.",
        "Place the blue cube on the green cube. Place the red cube on the blue cube.",
        "Build a three-high tower with the red cube at the top and the green cube at the bottom.",
    ],
    "on B R, on R G, on G T": [
        "Build a tower of green, red and blue from bottom to top",
        "blue on red on green",
    ],
    "on G B, on B R, on R T": ["Build a tower with green on top, blue in the middle, red at the bottom"],
    "on B G, on G R, on R T": ["Stack blue on green on red"],
    "on R G, on G B, on B T": ["Build a tower, from top to bottom: red, green, blue"],
    "on B G, on G R, on R pR": [
        "Build a tower on the red plate: the red cube on the plate, the green cube on the red one and the blue cube on top.",
        "Build a tower on the red plate with red at the bottom, green in the middle and blue on top.",
        "Stack the cubes on the red plate: red at the bottom, then green, then blue.",
        "Put the red cube on the red plate, the green cube on the red cube and the blue cube on the green cube.",
        "Put the red cube on the red plate. Then put the green cube on it. Then put the blue cube on the green cube.",
    ],
    "on R B, on B T | on R G, on G T | on B R, on R T | on B G, on G T | on G R, on R T | on G B, on B T": [
        "Build a tower of any two cubes",
        "Put any cube on top of any other cube that stands on the table.",
        "Stack any two cubes",
        "Stack a cube on another cube",
        "Build a two-high tower",
        "Build a tower two cubes high",
        "Make a tower of two cubes of your choice.",
        "Stack two cubes on top of each other.",
    ],
    "discarded R": [
        "Discard the red cube",
        "Pick up the red cube, carry it beyond the edge of the table and drop it onto the ground.",
        "Throw the red cube off the table.",
        "Drop the red cube on the floor.",
        "Throw away the red cube",
        "Get rid of the red block.",
        "Put the red cube on the ground",
        "Push the red cube off the table",
        "Drop the red cube over the edge of the table.",
        "Remove the red cube from the table.",
        "Toss the red cube onto the ground",
        "Pick up the red cube and discard it.",
        "Take the red cube and throw it off the table",
        "The red cube should be discarded.",
        "Dump the right cube.",
    ],
    "on_edge R pR": [
        "Put the red cube on the edge of the red plate",
        "Place the red cube half on the red plate, so that it touches the plate and the table at the same time.",
        "Put the red cube on the rim of the red plate",
        "Place the red cube on the red plate's edge.",
        "Place the red cube at the edge of the red plate",
        "Put the red cube on the edge of its plate.",
        "Place the red cube so that it touches both the red plate and the table.",
        "Put the red cube half onto the red plate",
        "Put the red cube on the border of the red disc so that it touches both the plate and the table",
    ],
    "across R B G, next_to B G | across R G B, next_to G B": [
        "Build a bridge with blue and green side by side and red on top.",
        "Build a bridge: blue and green side by side, red on top",
        "Place the red cube across the blue and the green cube.",
        "Place the blue and the green cube side by side, and put the red cube on top so that it rests on both.",
        "Put the blue and green cubes next to each other and the red cube on top of both",
        "Build a bridge with the red cube on top of the blue and the green cube",
        "Put the red cube on top of the blue and the green cube",
    ],
    "across R B G, next_to B G, on B T, on G T | across R G B, next_to G B, on B T, on G T": [
        "Place the blue and the green cube side by side on the table so that they touch, and put the red cube on top so that it rests on both."
    ],
    "next_to B G | next_to G B": [
        "Place the blue and the green cube side by side.",
        "Put blue and green next to each other",
    ],
    "holding R, on B pB": ["Put the blue cube on the blue plate and pick up the red cube"],
    "on R T": ["Put the red cube on the table.", "Put the red cube down on the table"],
}


@pytest.mark.parametrize(("meaning", "text"), [(m, t) for m, texts in MEANINGS.items() for t in texts])
def test_text_means(meaning: str, text: str) -> None:
    assert set(understand(task(text), scene())) == goals(meaning)


SHUFFLED = scene(row=("cube_red", "cube_green", "cube_blue"), depth=("cube_green", "cube_red", "cube_blue"))


SHUFFLED_TEXTS = {
    "Touch the left cube.": "touched R",
    "Touch the cube in the middle.": "touched G",
    "Touch the right cube.": "touched B",
    "Touch the cube farthest from the robot.": "touched B",
    "Touch the near cube.": "touched G",
    "Stack the left cube on the right cube.": "on R B, on B T",
    "Put the rightmost cube on the leftmost plate.": "on B pG",
}


@pytest.mark.parametrize(("text", "meaning"), SHUFFLED_TEXTS.items())
def test_roles_come_from_what_is_seen_not_from_the_nominal_table(text: str, meaning: str) -> None:
    assert set(understand(task(text), SHUFFLED)) == goals(meaning)


STACKED = scene(on={"cube_red": "cube_green", "cube_blue": "plate_blue"})


STACKED_TEXTS = {
    "Pick up a cube from a plate.": "holding B",
    "Choose a cube that stands on a plate, not on the table, and lift it off the plate.": "holding B",
    "Pick up the cube on the green cube.": "holding R",
    "Pick up the cube on the blue plate.": "holding B",
    "Pick up the cube under the red cube.": "holding G",
    "Take the red cube off the green cube.": "holding R",
    "Remove the red cube from the green cube.": "on R T",
    "Put the red cube on the blue cube.": "on R B, on B pB",  # a stack may stand on a plate
    "Put the blue cube on the red cube.": "on B R, on R T",
    "Stack the green cube on the blue cube.": "on G B, on B pB",
    "Clear the blue plate.": "on B T",
    "Unstack the red cube.": "on R T",
    "Pick up the cube that is on the table.": "holding G",
    "Put the green cube on the blue plate and the red cube on the red plate.": "on G pB, on R pR",
}


@pytest.mark.parametrize(("text", "meaning"), STACKED_TEXTS.items())
def test_where_things_are_tells_which_are_meant(text: str, meaning: str) -> None:
    assert set(understand(task(text), STACKED)) == goals(meaning)


ALL_TEXTS = [(text, scene()) for texts in MEANINGS.values() for text in texts]
ALL_TEXTS += [(text, STACKED) for text in STACKED_TEXTS] + [(text, SHUFFLED) for text in SHUFFLED_TEXTS]


def test_the_critics_have_nothing_against_the_builtin_drafts() -> None:
    """Else a task would be understood and then refused."""
    vocabulary = TabletopVocabulary()
    for text, seen in ALL_TEXTS:
        request = PlanRequest(attempt="1", task=task(text), observation=seen, skills=())
        draft = BuiltinProposer().draft(request, None, None)
        domain, problem = parse(draft.domain, draft.problem)
        assert contradiction(domain, problem, seen, vocabulary.extensions(seen)) is None, text
        assert off_topic(problem, request.task, seen, vocabulary) is None, text


def test_a_modifier_that_distinguishes_nothing_yields_to_a_second_place() -> None:
    """The green cube is on the green plate already; still two cubes shall be placed, not one from there."""
    seen = scene(on={"cube_green": "plate_green"})
    text = "Put the green cube on the green plate and the blue cube on the blue plate."
    assert set(understand(task(text), seen)) == goals("on G pG, on B pB")


def test_two_readings_that_differ_are_not_chosen_from() -> None:
    """With red on green already, "the red cube on the green cube" may be the thing or its place."""
    seen = scene(on={"cube_red": "cube_green"})
    assert set(understand(task("Pick up the red cube on the green cube."), seen)) == goals("holding R")


def test_the_title_stands_in_for_a_missing_description() -> None:
    assert set(understand(task("", title="Touch the red cube"), scene())) == goals("touched R")
    assert set(understand(task("Touch the blue cube.", title="Nonsense"), scene())) == goals("touched B")


@pytest.mark.parametrize("text", ["Put cube_red on plate_blue.", "Place box_red onto plate_blue"])
def test_symbols_are_words_too(text: str) -> None:
    assert set(understand(task(text), scene())) == goals("on R pB")
