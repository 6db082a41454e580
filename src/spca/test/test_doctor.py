from importlib.metadata import EntryPoint, EntryPoints

from spca.doctor import CHECKS, Check, Finding, examine, examine_plugins, ways
from spca_core import extensions


def test_this_machine_can_be_examined_and_what_the_suite_uses_is_ready():
    findings = {f.what: f for f in examine()}
    assert list(findings) == [check.what for check in CHECKS]
    for what in ("Python", "embedded run"):
        assert findings[what].state == "ready", findings[what]
    for finding in findings.values():
        assert finding.found and (finding.state == "ready" or finding.remedy), finding
    assert "mujoco" in findings["embedded run"].found


def test_a_check_that_breaks_is_reported_and_ends_nothing():
    def broken():
        raise OSError("disk on fire")

    (finding,) = examine([Check("thing", broken, "")])
    assert finding.state == "missing" and "disk on fire" in finding.found


def test_an_unreachable_model_server_is_named(monkeypatch):
    monkeypatch.setenv("SPCA_LLM_MODEL", "some-model")
    monkeypatch.setenv("SPCA_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    (finding,) = examine(check for check in CHECKS if check.what == "model server")
    assert finding.state == "missing" and "127.0.0.1:9" in finding.found


def test_each_way_to_run_says_what_it_lacks():
    ready = [Finding(what, "ready", "x") for what in ("Python", "embedded run", "ROS 2")]
    open_ways = dict(ways(ready))
    assert open_ways["spca run LEVEL"] == []
    assert open_ways["spca run LEVEL --ros"] == ["spca_interfaces"]


def test_extensions_are_listed_with_the_package_that_brings_them(monkeypatch, tmp_path):
    """One that cannot be loaded is a line there: off where it lacks another's package, missing otherwise."""
    (tmp_path / "spca_far_away.py").write_text("import libcst_of_nobody.matchers")
    (tmp_path / "spca_far.py").write_text(
        "from spca_benchmarks.campaigns.command import BenchCommand\n"
        "STARS = BenchCommand('spca_far_away:Stars', print, '')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    broken = EntryPoints(
        EntryPoint(name, value, f"spca.{group}")
        for name, value, group in (
            ("moon", "moon.kit:MoonKit", "environments"),
            ("sky", "spca_far_away:Sky", "environments"),
            ("stars", "spca_far:STARS", "benches"),
        )
    )
    declared = extensions._declared
    monkeypatch.setattr(extensions, "_declared", lambda g: (*declared(g), *broken.select(group=g)))
    found = {finding.what: finding for finding in examine_plugins()}
    tabletop = found["environment tabletop"]
    assert tabletop.state == "ready" and "spca_tabletop" in tabletop.found
    assert found["environment moon"].state == "missing" and "moon" in found["environment moon"].found
    for away in ("environment sky", "bench stars"):
        assert found[away] == Finding(away, "off", "lacks libcst_of_nobody")
