"""Runs with models: preflight, replay, promotion with revalidation, limits of the configuration."""

import json
from pathlib import Path

import pytest

from spca.learned import Learned
from spca.proposals import open_stages
from spca.run_command import begun, follow
from spca_coder.trusted import TrustedLibrary
from spca_core.errors import EXIT_BAD_INPUT, InputError
from spca_core.options import RunOptions
from spca_core.plan import Plan
from spca_core.run_folder import RunFolder
from spca_core.skill_package import library_source
from spca_planner.prediction import PddlReader
from spca_tabletop.environment import Tabletop
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.command import spca
from spca_testing.models.behaviours import Say
from spca_testing.models.fallible_model import MODELS, SKILLS, FallibleModel, configuration
from spca_testing.models.model_run import run_with_model
from spca_testing.models.server import ModelServer


def options(folder: Path, **values: object) -> RunOptions:
    plain = {"level": "touch_02", "transport": "inproc", "proposer": "openai", "video": False,
             "library": str(folder / "library"), "skills": "empty", **values}  # fmt: skip
    return RunOptions.model_validate(plain)


def test_an_unreachable_server_is_bad_input_and_leaves_no_folder(tmp_path: Path) -> None:
    llm = tmp_path / "llm.yaml"
    llm.write_text(configuration("http://127.0.0.1:9/v1", attempts=1))
    with pytest.raises(InputError, match="cannot reach the language-model server"):
        follow(begun(options(tmp_path, llm=str(llm)), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_recorded_run_is_repeated_without_a_server(tmp_path: Path) -> None:
    model = FallibleModel(planner=[Say("Of course!")], coder=[Say("def")])
    first = run_with_model("touch_02", model, tmp_path)
    replay = {"llm": f"replay:{first.folder}", "library": ""}
    again = run_with_model("touch_02", FallibleModel(), tmp_path, **replay)
    assert again.requests == []
    # As if for the first time, and only in its own folder.
    assert again.result.skills.promoted == ("touch_thing",)
    assert (again.folder / "library_replayed/skills/tabletop/touch_thing.py").is_file()
    for name in ("planner", "coder", "skills", "steps", "sim"):
        assert getattr(again.result, name) == getattr(first.result, name), name
    with pytest.raises(InputError, match=r"never recorded; the nearest is 000.-planner_big\.json"):
        run_with_model("touch_03", FallibleModel(), tmp_path, **replay)


@pytest.fixture(scope="module")
def lifted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that has learned to lift, by solving pickup_02 (the red cube)."""
    folder = tmp_path_factory.mktemp("lifted")
    assert run_with_model("pickup_02", FallibleModel(), folder).result.success
    return folder


def lift_plan(folder: Path) -> Plan:
    (path,) = folder.glob("library/from_nothing/levels/tabletop/pickup_02.json")
    return Plan.model_validate(json.loads(path.read_text())["plan"])


@pytest.mark.slow
def test_a_changed_skill_is_trusted_only_if_what_it_solved_still_passes(lifted: Path) -> None:
    with ModelServer([], models=MODELS) as server:
        llm = lifted / "other.yaml"
        llm.write_text(configuration(server.base_url))
        asked = options(lifted, level="pickup_03", llm=str(llm))
        with open_stages(asked, TabletopKit(), RunFolder(lifted / "unused")) as stages:
            assert stages.promote is not None
            grasps = "ctx.grasps(cube)"
            harmful = stages.library.replace(grasps, f'{grasps} if cube == "cube_green" else []')
            harmless = stages.library.replace("tool.z + 0.09", "tool.z + 0.10")
            assert stages.library not in (harmful, harmless)
            refused = stages.promote(harmful, lift_plan(lifted), {})
            assert refused.promoted == ()
            assert "pickup_02 would not pass any more" in refused.refused["lift_cube"]
            promoted = stages.promote(harmless, lift_plan(lifted), {})
            assert promoted.promoted == ("lift_cube",)
        trusted = (lifted / "library/from_nothing/skills/tabletop/lift_cube.py").read_text()
        assert "tool.z + 0.10" in trusted


def test_what_was_never_solved_or_whose_record_is_damaged_does_not_pass(tmp_path: Path) -> None:
    (damaged := tmp_path / "levels/tabletop/pickup_02.json").parent.mkdir(parents=True)
    damaged.write_text("{")
    learned = Learned(tmp_path, "tabletop", "", TabletopKit().build, PddlReader(TabletopVocabulary()))
    assert not any(learned.passes(SKILLS.read_text(), level) for level in ("pickup_02", "pickup_07"))


def test_every_table_that_a_skill_was_proven_on_is_kept(lifted: Path, tmp_path: Path) -> None:
    builtin, plan = Tabletop.builtin_skills.read_text(), lift_plan(lifted)
    steps = tuple(s.model_copy(update={"action": "pick_up"}) for s in plan.steps)
    plan = plan.model_copy(update={"steps": steps})
    learned = Learned(tmp_path, "tabletop", builtin, TabletopKit().build, PddlReader(TabletopVocabulary()))
    for seed in (1, 2):
        learned.promote(options(lifted, level="pickup_02", preset="hard", seed=seed), builtin, plan, {})
    both = {"pickup_02@hard-1", "pickup_02@hard-2"}
    assert set(learned.skills.levels("pick_up")) == both
    assert {path.stem for path in (tmp_path / "levels" / "tabletop").glob("*.json")} == both
    learned.promote(options(lifted, level="pickup_02"), builtin, plan, {"pick_up": "it happened by chance"})
    assert set(learned.skills.levels("pick_up")) == both, "what proves nothing is not kept"


def test_what_grew_from_nothing_stays_apart_from_the_builtin_skills(lifted: Path) -> None:
    builtin = library_source("tabletop", Tabletop.builtin_skills)
    for skills, known in (("builtin", {"pick_up"}), ("trusted", {"pick_up"}), ("empty", {"lift_cube"})):
        asked = options(lifted, proposer="builtin", skills=skills)
        with open_stages(asked, TabletopKit(), RunFolder(lifted / "unused")) as stages:
            assert all(f"def {name}(" in stages.library for name in known)
            assert (stages.library == builtin) == (skills != "empty")


SKILL = '"""Skills."""\n\n\ndef wave(ctx, cube):\n    """Wave with a cube."""\n    ctx.open()\n'


def test_a_skill_is_shown_and_what_is_not_there_is_bad_input(tmp_path: Path) -> None:
    TrustedLibrary(tmp_path / "from_nothing/skills/tabletop").promote(SKILL, ["wave"], "wave_01")
    where = "--library", str(tmp_path)
    told = spca("library", "show", "wave", *where, "--from-nothing").stdout
    assert "proved by: wave_01" in told and "promoted wave_01" in told
    said = spca("library", "show", "wave", *where)
    assert said.returncode == EXIT_BAD_INPUT and "--from-nothing" in said.stderr
