"""The proposer's drafts are carried out, and kept."""

from __future__ import annotations

import spca


def test_drafts_are_kept(tmp_path) -> None:
    run = spca.run("touch_02", transport="inproc", proposer="scribe", video=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason
    assert "(:goal" in (tmp_path / "run" / "scribe.pddl").read_text()
