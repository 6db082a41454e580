"""Variants of a model: each exchanges the part that it names, and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from spca.kits import PROPOSERS, kit_named
from spca.models import open_openai
from spca.proposals import Proposals
from spca_benchmarks.models import variants
from spca_benchmarks.models.one_validator import judged_once
from spca_benchmarks.models.words_alone import WordsAlone, observed_in_words
from spca_core.extensions import find
from spca_core.options import RunOptions
from spca_core.ports.engine import Engine
from spca_core.run_folder import RunFolder
from spca_core.scene import Scene
from spca_planner.solver import validation
from spca_planner.solver.engines import open_engine
from spca_planner.solver.judgement import Case
from spca_planner.solver.worker import judged
from spca_testing.models.fallible_model import MODELS, FallibleModel, configuration
from spca_testing.models.server import ModelServer

CASE = Case(
    domain="""(define (domain switches) (:predicates (off) (on))
      (:action switch :parameters () :precondition (off) :effect (and (on) (not (off)))))""",
    problem="(define (problem first) (:domain switches) (:init (off)) (:goal (on)))",
    timeout_s=5.0,
)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proposals, RunOptions]]:
    """What the model's own proposer brings."""
    folder = tmp_path_factory.mktemp("usual")
    with ModelServer(FallibleModel(), models=MODELS) as server:
        (folder / "llm.yaml").write_text(configuration(server.base_url))
        options = RunOptions(level="touch_02", llm=str(folder / "llm.yaml"), transport="inproc", vision=True)
        with open_openai(kit_named("tabletop"), options, RunFolder(folder)) as proposals:
            yield proposals, options


@pytest.fixture(params=["one-validator", "small-repair", "vision-alone", "whole-library"])
def exchanged(
    request: pytest.FixtureRequest, usual: tuple[Proposals, RunOptions], monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Proposals]:
    """A variant's name, and what its proposer brings in place of the usual."""
    proposals, options = usual

    @contextmanager
    def opened(*_: object) -> Iterator[Proposals]:
        yield proposals

    monkeypatch.setattr(variants, "open_openai", opened)
    named = options.model_copy(update=variants.VARIANTS[request.param])
    with find(PROPOSERS, named.proposer).load()(kit_named("tabletop"), named, RunFolder(Path())) as parts:
        return request.param, parts


def test_a_variant_exchanges_the_part_that_it_names(
    exchanged: tuple[str, Proposals], usual: tuple[Proposals, RunOptions]
) -> None:
    name, parts = exchanged
    before, _ = usual
    assert isinstance(parts.planner, dict) and isinstance(before.planner, dict)
    changed = {
        "one-validator": {"solver": parts.solver},
        "small-repair": {"planner": {**before.planner, "repair": before.planner["reuse"]}},
        "vision-alone": {"vision": parts.vision},
        "whole-library": {"coder": parts.coder, "token_budget": float("inf")},
    }[name]
    assert parts == replace(before, **changed) != before
    assert isinstance(parts.vision, WordsAlone) == (name == "vision-alone")
    assert (parts.solver is not None) == (name == "one-validator")


def test_tamer_is_not_asked_by_one_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    def rejecting(*_: object) -> object:
        raise AssertionError("TAMER was asked")

    engine: Engine = open_engine("fast-downward")
    monkeypatch.setattr(validation, "Tamer", rejecting)
    assert judged_once(CASE, engine).steps == (("switch",),)
    with pytest.raises(AssertionError, match="TAMER"):
        judged(CASE, engine)


def test_a_vision_model_alone_makes_the_observation() -> None:
    """Objects and relations are those of its sentences, whatever the detector has seen."""
    empty = Scene(stamp=3.0, objects=(), relations=(), sentences=("nothing",))
    said = ("The red cube is on a blue plate.", "There is no green plate on the table.", "A blue block, too.")
    seen = observed_in_words(empty, said)
    assert set(seen.objects) == {"cube_red", "plate_blue", "plate_green", "cube_blue", "table"}
    assert seen.holds("on", "cube_red", "plate_blue") and not seen.holds("on", "plate_green", "table")
    assert seen.holds("clear", "cube_red") and not seen.holds("clear", "plate_blue")
    assert seen.sentences == said and seen.stamp == 3.0
