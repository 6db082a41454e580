from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

import spca
from spca.progress import Progress
from spca_core.run_folder import RunFolder


def test_no_spinner_stands_before_the_report_line_and_the_video_tells_how_far_it_is(tmp_path: Path):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100)
    with Progress(console) as progress:
        run = spca.run("touch_02", on_event=progress, out=tmp_path / "run", report=False)
        progress.show_result(run.result)
        assert not progress._status._live.is_started
        told: list[float] = []
        again = spca.runs.Run(run.options.model_copy(update={"video": True}), RunFolder(run.folder))
        again.files.on_video = told.append
        again.document()
    assert told[0] == 0.0 < told[-1] <= 1.0 and told == sorted(told)
    progress.drawn(0.5)
    progress.pause()
    assert "drawing the video … 50%" in shown.getvalue()
