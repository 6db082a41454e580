"""What must not be guessed, and in which words it is refused; and that no text breaks anything."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.paths import LEVELS as LEVEL_FILES
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Observation
from spca_core.validation import parse_yaml
from spca_tabletop.language.understanding import nearest, understand
from spca_tabletop.level_check import nominal_observation
from spca_testing.observations import scene, task

FAMILIES = parse_yaml((Path(__file__).parent / "families.yaml").read_text())


@pytest.mark.parametrize(("text", "near"), FAMILIES["nearest"].items())
def test_asks_about_the_nearest_sentence_that_keeps_all_that_counts(text: str, near: str) -> None:
    assert nearest(task(text), scene()) == near


ON_PLATES = scene({f"cube_{c}": f"plate_{c}" for c in ("red", "green", "blue")})
_REDS = ("cube_red", "cube_red_2", "cube_red_3", "cube_blue")
THREE_RED = scene(objects=(*_REDS, "plate_red", "plate_blue"), row=_REDS, depth=_REDS)
_LEFT, _OTHER = "Put the left red cube on the red plate and", "the other red cube on the blue plate."
DEFINITE = [
    (ON_PLATES, "Touch the cube that stands on the table.", "no cube that is on the table. I see: "),
    (ON_PLATES, "Touch the red cube that stands on the table.", "The red cube is on the red plate."),
    (ON_PLATES, "Pick up the cube from the table.", "no cube that is on the table"),
    (ON_PLATES, "Put the red cube on the cube that stands on the table.", "no cube that is on the table"),
    (THREE_RED, "Touch the red cube.", "which one 'the red cube' is"),
    (THREE_RED, "Put both red cubes on the red plate.", "'both red cubes': there are 3, not 2"),
    (THREE_RED, f"{_LEFT} {_OTHER}", "which one 'the other red cube' is; there are: red 2 cube, red 3 cube"),
    (THREE_RED, f"Put a red cube on the red plate and {_OTHER}", "which one 'the other red cube' is"),
]


@pytest.mark.parametrize(("seen", "text", "words"), DEFINITE, ids=[d[1] for d in DEFINITE])
def test_what_is_spoken_of_as_if_it_were_there_must_be_there_once(
    seen: Observation, text: str, words: str
) -> None:
    with pytest.raises((NotUnderstood, Impossible)) as caught:
        understand(task(text), seen)
    assert words in str(caught.value)


def test_the_others_are_all_that_are_left() -> None:
    others = "Put a red cube on the red plate and the other red cubes on the blue plate."
    assert len(understand(task(others), THREE_RED)) == 3


def test_a_missing_cube_is_impossible() -> None:
    without_red = scene(objects=("cube_green", "cube_blue", "plate_red"))
    with pytest.raises(Impossible, match=r"no red cube.*I see: green cube, blue cube, red plate"):
        understand(task("Pick up the red cube."), without_red)
    with pytest.raises(Impossible, match="no green plate"):
        understand(task("Put each cube on its own plate."), without_red)


LEVELS = sorted(LEVEL_FILES.glob("*/*.yaml"))


@pytest.mark.parametrize("path", LEVELS, ids=lambda p: p.stem)
def test_every_level_is_understood_by_description_and_by_title(path: Path) -> None:
    """The twelve levels that others left empty included; what they mean is the referee's."""
    level = parse_yaml(path.read_text())
    seen = scene(on={"cube_blue": "plate_blue"})  # so that one cube can be taken from a plate
    if "world" in level:
        seen = nominal_observation(path.stem)
    for text in (level["description"], level["title"]) if "world" not in level else (level["description"],):
        assert understand(task(text), seen)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_any_text_is_understood_or_refused_in_plain_words(text: str) -> None:
    with contextlib.suppress(NotUnderstood, Impossible):
        understand(task(text), scene())


WORDS = (
    "put touch stack build red blue green cube cubes plate the a on of top bottom it them and , : tower with "
    "is from each"
)


@given(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=9))
def test_any_order_of_known_words_is_understood_or_refused(words: list[str]) -> None:
    with contextlib.suppress(NotUnderstood, Impossible):
        for goal in understand(task(" ".join(words)), scene()):
            assert goal
