from importlib.metadata import EntryPoint, EntryPoints

from spca.doctor import CHECKS, Finding, examine, examine_plugins
from spca_core import extensions


def test_this_machine_can_be_examined_and_what_the_suite_uses_is_ready():
    findings = {f.what: f for f in examine()}
    assert list(findings) == [check.what for check in CHECKS]
    for finding in findings.values():
        assert finding.found and (finding.state == "ready" or finding.remedy), finding
    assert findings["embedded run"].state == "ready", findings["embedded run"]


def test_extensions_are_listed_with_the_package_that_brings_them(monkeypatch, tmp_path):
    """One that cannot be loaded is a line there: off where it lacks another's package, missing otherwise."""
    (tmp_path / "spca_far_away.py").write_text("import libcst_of_nobody.matchers")
    monkeypatch.syspath_prepend(tmp_path)
    named = {"moon": "moon.kit:MoonKit", "sky": "spca_far_away:Sky"}
    broken = EntryPoints(EntryPoint(name, value, "spca.environments") for name, value in named.items())
    declared = extensions._declared
    monkeypatch.setattr(extensions, "_declared", lambda g: (*declared(g), *broken.select(group=g)))
    found = {finding.what: finding for finding in examine_plugins()}
    tabletop = found["environment tabletop"]
    assert tabletop.state == "ready" and "spca_tabletop" in tabletop.found
    assert found["environment moon"].state == "missing" and "moon" in found["environment moon"].found
    assert found["environment sky"] == Finding("environment sky", "off", "lacks libcst_of_nobody")
