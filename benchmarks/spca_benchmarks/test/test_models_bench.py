"""Comparing models: they are ranked, share nothing, and every trial is counted exactly once."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import ResultLine, StoredCampaign, bench_in, read_campaign
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import share, write_report
from spca_benchmarks.campaigns.statistics import Paired
from spca_benchmarks.models.bench import ModelsBench
from spca_core.errors import InputError

LEVELS = ("touch_02", "touch_03")


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


def test_bad_input_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted(tmp_path, "m")
    good = ModelsBench(models=(model,), levels=("touch_02",), tables=1)
    away = tmp_path / "away.yaml"
    away.write_text(
        json.dumps({"roles": {"coder": {"model": "x", "base_url": "http://127.0.0.1:9/v1", "attempts": 1}}})
    )
    for change, words in (
        ({"variants": ("ful",)}, "unknown variant 'ful' (--variant): did you mean 'full'"),
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
