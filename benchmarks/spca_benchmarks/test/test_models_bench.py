"""Comparing models: they are ranked, share nothing, and every trial is counted exactly once."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca.api import select_levels
from spca_benchmarks.campaigns.campaign import ResultLine, StoredCampaign, bench_in, read_campaign
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import share, write_report
from spca_benchmarks.campaigns.statistics import Paired
from spca_benchmarks.models.bench import ModelsBench
from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_testing.models.behaviours import Behaviour, Status
from spca_testing.models.fallible_model import MODELS, FallibleModel, configuration
from spca_testing.models.server import ModelServer, Seen
from spca_testing.pddl import goal

LEVELS = ("touch_02", "touch_03")


def test_the_levels_that_the_page_names_are_known_to_the_scripted_model() -> None:
    page = (ROOT / "docs" / "compare-models.md").read_text()
    named = select_levels(re.findall(r'--levels "(\S+)"', page))
    assert len(named) == 14
    for level in named:
        goal(level.title)


def scripted(folder: Path, name: str, price: float = 2.0, **rates: float) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({"scripted": rates, "price": {"input": price, "output": 4 * price}}))
    return str(path)


def two_models(folder: Path) -> ModelsBench:
    better = scripted(folder, "better", syntax=0.2, code_syntax=0.1)
    worse = scripted(folder, "worse", price=0.5, seed=3, lost=0.9, syntax=0.3)
    return ModelsBench(models=(better, worse), levels=LEVELS, tables=2)


class Killed(BaseException):
    """As Ctrl-C or a kill: nothing in between gets to tidy up."""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StoredCampaign, Path]]:
    """A campaign of two models, killed after random trials and resumed until it was done."""
    place = tmp_path_factory.mktemp("models")
    bench, chance = two_models(place), random.Random(5)

    def maybe_kill(campaign: StoredCampaign, entry: ResultLine) -> None:
        if chance.random() < 0.3:
            raise Killed

    for _ in range(40):
        try:
            campaign = run_campaign(bench, place / "campaign", workers=1, on_entry=maybe_kill)
        except Killed:  # and in the middle of a trial: its library had been changed already
            for chain in (place / "campaign" / "libraries").glob("*/*/*"):
                (chain / "work" / "skills").mkdir(parents=True, exist_ok=True)
                (chain / "work" / "skills" / "half_written.py").write_text("def touch_thing(")
            continue
        break
    yield campaign, place


@pytest.mark.slow
def test_the_better_model_is_better_and_each_learns_for_itself_alone(
    compared: tuple[StoredCampaign, Path],
) -> None:
    campaign, _ = compared
    assert len(campaign.done) == 8 and not campaign.broken
    solved = {(d.trial.model, d.trial.number, d.trial.level): d.result.success for d in campaign.done}
    pairs = Paired.of(
        (solved["better", n, level], solved["worse", n, level]) for n in range(2) for level in LEVELS
    )
    assert pairs.difference > 0 and pairs.interval[0] > 0, pairs
    page = write_report(campaign).read_text()
    assert "Pairs on the same trials" in page and f"{100 * pairs.difference:+.1f} %" in page
    tables: dict[tuple[str, int], list] = {}
    for d in campaign.done:
        tables.setdefault((d.trial.model, d.trial.number), []).append(d.result)
    for (model, _), own in tables.items():
        skills = [r.skills for r in own if r.success]
        assert [s.written for s in skills[:1]] == [("touch_thing",)] * len(skills[:1]), model
        assert all(s.written == () and s.reused == ("touch_thing",) for s in skills[1:]), model


@pytest.mark.slow
def test_the_table_is_what_the_records_say(compared: tuple[StoredCampaign, Path]) -> None:
    """Added up again from the lines on disk, without the code that made the table."""
    campaign, place = compared
    lines = [json.loads(line) for line in (place / "campaign" / "results.jsonl").read_text().splitlines()]
    table = campaign.bench.table(read_campaign(campaign.bench, place / "campaign").done)
    for row in table.shown():
        cells = dict(zip(table.heads, row, strict=True))
        own = [e["result"] for e in lines if e["trial"].startswith(f"{cells['model']}/")]
        roles = [u for r in own for u in r["usage"].values()]
        assert cells["solved"] == f"{sum(r['outcome'] == 'success' for r in own)}/{len(own)}"
        assert cells["tokens in"] == str(round(sum(u["input_tokens"] for u in roles) / len(own)))
        assert cells["USD"] == f"{sum(u['usd'] for u in roles) / len(own):.4f}" != "0.0000"
        drafts = [sum(r["planner"].values()) for r in own]
        assert cells["plan drafts"] == f"{sum(drafts) / len(own):.2f}"


@pytest.mark.slow
def test_what_is_shared_is_shown_anywhere_and_repeats_bit_for_bit_without_kills(
    compared: tuple[StoredCampaign, Path],
) -> None:
    """From the exported folder alone: no model files, no libraries, no paths of this machine, no keys."""
    campaign, place = compared
    shared = place / "shared"
    share(campaign, shared)
    assert not (shared / "libraries").exists() and (shared / "results.parquet").is_file()
    for name in ("bench.json", "index.html", "results.csv"):
        assert str(place) not in (shared / name).read_text(), name
    for model in ("better", "worse"):
        (place / f"{model}.yaml").unlink()
    bench = bench_in(shared)
    assert bench.table(read_campaign(bench, shared).done) == campaign.bench.table(campaign.done)
    once = {"llm": f"replay:{shared}", "tables": 1, "models": bench.models[:1]}
    again = run_campaign(bench.model_copy(update=once), place / "again", workers=1)
    assert len(again.done) == 2
    for d in again.done:
        first = campaign.results[d.trial.key]
        assert d.result.digest == first.digest and d.result.outcome == first.outcome
        assert (d.result.fates, d.result.skills) == (first.fates, first.skills)
        used = [{role: usage.model_copy(update={"seconds": 0.0}) for role, usage in result.usage.items()}
                for result in (d.result, first)]  # fmt: skip
        assert used[0] == used[1]


@pytest.mark.slow
def test_a_server_that_dies_half_way_loses_nothing_and_counts_nothing_wrongly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, good = False, FallibleModel()

    def script(seen: Seen) -> Behaviour:
        return Status(503, "out of order") if dead else good(seen)

    def die(campaign: StoredCampaign, entry: ResultLine) -> None:
        nonlocal dead
        dead = True

    with ModelServer(script, models=MODELS) as server:
        (tmp_path / "m.yaml").write_text(configuration(server.base_url, attempts=1))
        bench = ModelsBench(models=(str(tmp_path / "m.yaml"),), levels=LEVELS, tables=1)
        campaign = run_campaign(bench, tmp_path / "c", workers=1, on_entry=die)
        assert [d.result.success for d in campaign.done] == [True]
        assert list(campaign.broken) == ["m/full/0/touch_03"]
        assert all("503" in cause for cause in campaign.broken.values())
        dead = False
        campaign = run_campaign(bench, tmp_path / "c", workers=1)
    assert [d.result.success for d in campaign.done] == [True] * 2 and not campaign.broken
    assert [d.result.skills.reused for d in campaign.done] == [(), ("touch_thing",)]


def test_bad_input_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted(tmp_path, "m")
    good = ModelsBench(models=(model,), levels=("touch_02",), tables=1)
    (tmp_path / "other").mkdir()
    same_name = scripted(tmp_path / "other", "m")
    away = tmp_path / "away.yaml"
    away.write_text(
        json.dumps({"roles": {"coder": {"model": "x", "base_url": "http://127.0.0.1:9/v1", "attempts": 1}}})
    )
    for change, words in (
        ({"variants": ("ful",)}, "unknown variant 'ful' (--variant): did you mean 'full'"),
        ({"models": (model, same_name)}, "two models of the same name"),
        ({"models": (str(away),)}, "cannot reach"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            run_campaign(good.model_copy(update=change), tmp_path / "c", workers=1)
    monkeypatch.setenv("SPCA_LLM_MODEL", "another")
    with pytest.raises(InputError, match="SPCA_LLM_MODEL is set"):
        run_campaign(good, tmp_path / "c", workers=1)
    assert not (tmp_path / "c").exists()


def test_another_model_under_the_same_name_is_another_campaign(tmp_path: Path) -> None:
    bench = ModelsBench(
        models=(scripted(tmp_path, "m", syntax=0.1),), levels=("touch_02",), tables=1, usd=1.0
    )
    before = bench.identity()
    assert bench.model_copy(update={"usd": 2.0}).identity() == before
    scripted(tmp_path, "m", syntax=0.2)
    assert bench.identity() != before
