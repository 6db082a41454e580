import io
from pathlib import Path

import pytest
from rich.console import Console

import spca
from spca.console import Progress
from spca_core.result import Ending, Usage, dollars
from spca_core.run_folder import RunFolder


def test_no_spinner_stands_before_the_report_line_and_the_video_tells_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100)
    with Progress(console) as progress:
        run = spca.run("touch_02", on_event=progress, out=tmp_path / "run", report=False)
        progress.show_result(run.result)
        assert not progress._status._live.is_started
        told: list[tuple[int, int]] = []
        again = spca.runs.Run(run.options.model_copy(update={"video": True}), RunFolder(run.folder))
        again.files.on_video = lambda *counts: told.append(counts)
        again.document(reported=lambda report: told.append((-1, "<video" in report.read_text())))
    assert repr(run).startswith("<touch_02: success, ") and run._repr_jpeg_()
    used = {"coder": Usage(calls=2, input_tokens=1200, output_tokens=30, seconds=1.5)}
    more = {"usage": {"coder": used["coder"].plus(failed=3)}}
    once = {"usage": {"coder": Usage(calls=1, failed=1)}}
    for changes in ({"usage": used}, more, once):
        progress.show_result(run.result.model_copy(update=changes))
    said = capsys.readouterr().out
    assert "2 calls, 1,200 tokens in, 30 out, no price, 1.5 s waited" in said
    assert "2 calls (3 failed or timed out), 1,200" in said
    assert "1 call (1 failed or timed out), 0" in said
    assert Usage(calls=1, priced=1).cost == "0.0000 US dollars", "a server on this machine costs nothing"
    assert [dollars([one]) for one in (*used.values(), Usage(), Usage(calls=1, usd=0.5))] == [
        "no price", "0.0000", "0.5000",
    ]  # fmt: skip
    for ending, reason in ("question", "Which plate?"), ("not understood", "I do not know 'cub'. 'cube'?"):
        refused = {"outcome": Ending.NOT_UNDERSTOOD, "reason": reason}
        assert run.result.model_copy(update=refused).words == ending
    total = len(told) - 1
    assert told == [(-1, False), *((done, total) for done in range(total))] and total > 5
    assert "<video" in run.report.read_text()
