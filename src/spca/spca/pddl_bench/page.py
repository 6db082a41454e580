"""The bench's page: solved@k curves, a table of models, a table of tasks, and every draft; one HTML file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from spca.pddl_bench.judge import STATUSES
from spca.pddl_bench.run import DESCRIPTION, PddlBench, read_trials
from spca.pddl_bench.statistics import ModelRow, model_rows
from spca.pddl_bench.trial import Trial
from spca_core.run_folder import write_atomically

matplotlib.use("svg")
import matplotlib.pyplot as plt

PAGE = "index.html"
_STYLE: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}


def write_page(folder: Path, note: str = "") -> Path:
    """Write `index.html` into a bench's folder; `note` says why it ended early. Returns the page's path."""
    bench = PddlBench.model_validate_json((folder / DESCRIPTION).read_bytes())
    trials = read_trials(folder)
    rows = model_rows(trials, bench.attempts)
    environment = Environment(
        loader=PackageLoader("spca.pddl_bench"), autoescape=select_autoescape(default=True), trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    text = environment.get_template("bench.html.j2").render(
        bench=bench,
        rows=rows,
        statuses=STATUSES,
        curves=Markup(curves(rows)) if rows else "",
        tasks=_by_task(trials),
        trials=trials,
        note=note,
        marks=sorted({1, 2, 4, bench.attempts} & set(range(1, bench.attempts + 1))),
    )
    write_atomically(folder / PAGE, text.encode())
    return folder / PAGE


def curves(rows: Sequence[ModelRow]) -> str:
    """Solved@k as lines, accepted@k dashed, as SVG text."""
    with plt.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(6.4, 3.0))
        for i, row in enumerate(rows):
            k = range(1, len(row.solved) + 1)
            axis.plot(k, row.solved, "o-", ms=3, color=f"C{i}", label=row.model)
            axis.plot(k, row.accepted, "--", lw=1, color=f"C{i}", alpha=0.6)
        axis.set_ylim(-0.02, 1.02)
        axis.set_xticks(range(1, len(rows[0].solved) + 1))
        axis.set_xlabel("attempt k")
        axis.set_ylabel("share solved by attempt k")
        axis.legend(frameon=False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", bbox_inches="tight")
        plt.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _by_task(trials: Sequence[Trial]) -> dict[str, dict[str, list[Trial]]]:
    found: dict[str, dict[str, list[Trial]]] = {}
    for trial in trials:
        found.setdefault(trial.task, {}).setdefault(trial.model, []).append(trial)
    return found
