"""Variants of a model: each exchanges the part that it names, and nothing else."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from spca.kits import PROPOSERS, kit_named
from spca.proposals import Proposals
from spca_benchmarks.models import variants
from spca_benchmarks.models.words_alone import WordsAlone, observed_in_words
from spca_coder.language import LanguageCoder
from spca_core.extensions import find
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder
from spca_core.scene import Scene


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("one-validator", {"solver"}),
        ("small-repair", {"planner"}),
        ("vision-alone", {"vision"}),
        ("whole-library", {"coder", "token_budget"}),
    ],
)
def test_a_variant_exchanges_the_part_that_it_names(
    name: str, changed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unasked: Any = object()
    planner = {"fresh": unasked, "reuse": object(), "repair": unasked}
    usual = Proposals(planner=planner, coder=LanguageCoder(unasked), vision=unasked)
    monkeypatch.setattr(variants, "open_openai", lambda *_: nullcontext(usual))
    options = RunOptions(level="touch_02", llm="m.yaml", transport="inproc", vision=True)
    named = options.model_copy(update=variants.VARIANTS[name])
    with find(PROPOSERS, named.proposer).load()(kit_named("tabletop"), named, RunFolder(Path())) as parts:
        own = vars(parts)
    assert {part for part, value in vars(usual).items() if own[part] != value} == changed
    assert isinstance(parts.vision, WordsAlone) == (name == "vision-alone")
    assert parts.planner == {**planner, "repair": planner["reuse"]} or name != "small-repair"


def test_a_vision_model_alone_makes_the_observation() -> None:
    """Objects and relations are those of its sentences, whatever the detector has seen."""
    empty = Scene(stamp=3.0, objects=(), relations=(), sentences=("nothing",))
    said = ("The red cube is on a blue plate.", "There is no green plate on the table.", "A blue block, too.")
    seen = observed_in_words(empty, said)
    assert set(seen.objects) == {"cube_red", "plate_blue", "plate_green", "cube_blue", "table"}
    assert seen.holds("on", "cube_red", "plate_blue") and not seen.holds("on", "plate_green", "table")
    assert seen.holds("clear", "cube_red") and not seen.holds("clear", "plate_blue")
    assert seen.sentences == said and seen.stamp == 3.0
