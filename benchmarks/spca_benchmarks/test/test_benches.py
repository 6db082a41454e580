"""The benches that run levels: each is installed whole, and its trials repeat."""

import pytest
from typer.testing import CliRunner

from spca_benchmarks.campaigns.campaign import bench_in, read_campaign
from spca_benchmarks.campaigns.command_line import benches
from spca_benchmarks.campaigns.engine import run_campaign
from spca_core.errors import InputError
from spca_core.extensions import installed
from spca_testing.bench import ToyBench


def test_a_campaign_of_a_bench_that_is_not_installed_is_bad_input(tmp_path) -> None:
    """Its package was there when the campaign was run, and is named by nothing but the campaign."""
    run_campaign(ToyBench(length=1), tmp_path, workers=1)
    with pytest.raises(InputError, match=r"no bench 'toy' is installed .*installed: .*levels"):
        bench_in(tmp_path)


def test_every_installed_bench_has_its_class_and_options() -> None:
    for name, plugin in installed("spca.benches").items():
        command = plugin.load()
        assert command.load().name == name and command.options.__doc__ and "spca bench" in command.examples


@pytest.mark.slow
def test_a_trial_of_levels_repeats_bit_for_bit(tmp_path) -> None:
    """With `--rehearse always` every plan is tried."""
    call = ["levels", "touch_02", "--tables", "1", "--workers", "1", "--rehearse", "always", "--out"]
    ended = CliRunner().invoke(benches, [*call, str(tmp_path / "c")])
    assert ended.exit_code == 0, ended.output
    bench = bench_in(tmp_path / "c")
    campaign = read_campaign(bench, tmp_path / "c")
    (trial,) = bench.trials()
    again = bench.run_trial(trial, tmp_path / "again")
    assert again.success and again.stage_wall["rehearse"] > 0.1
    assert again.digest == campaign.results[trial.key].digest
    assert "1 of 1 trials solved" in (tmp_path / "c" / "index.html").read_text()
    assert (tmp_path / "c" / "paper" / "figure_4.pdf").read_bytes().startswith(b"%PDF")
