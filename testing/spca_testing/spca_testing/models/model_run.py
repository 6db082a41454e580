"""Whole runs with a scripted model behind a server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spca.runs import Run
from spca_core.options import Budgets, RunOptions
from spca_core.plan import ActResult, CodeResult, PlanResult
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder
from spca_testing.models.behaviours import Behaviour
from spca_testing.models.fallible_model import MODELS, configuration
from spca_testing.models.server import ModelServer, Seen

Script = Callable[[Seen], Behaviour]


@dataclass(frozen=True)
class ModelRun:
    """A run that has ended: its result, its folder, and what the model was asked."""

    result: RunResult
    folder: Path
    requests: Sequence[Seen]

    def asked(self, model: str) -> list[str]:
        """The requests to one model, as text."""
        return [seen.text for seen in self.requests if seen.body["model"] == model]

    def plan_rejections(self) -> list[tuple[str, str]]:
        """Critic and message of every rejected draft of a plan."""
        results = [PlanResult.model_validate_json(p.read_bytes()) for p in self._files("plan")]
        return [(d.rejection.critic, d.rejection.message) for r in results for d in r.drafts if d.rejection]

    def code_rejections(self) -> list[str]:
        """Return why drafts of code were rejected."""
        results = [CodeResult.model_validate_json(p.read_bytes()) for p in self._files("code")]
        return [d.rejection for r in results for d in r.drafts if d.rejection]

    def acts(self) -> list[ActResult]:
        """Every time a plan was carried out."""
        return [ActResult.model_validate_json(p.read_bytes()) for p in self._files("act")]

    def _files(self, kind: str) -> list[Path]:
        found = self.folder.glob(f"round_*/{kind}_*.json")
        return sorted(found, key=lambda p: int(p.stem.partition("_")[2]))


def run_with_model(
    level: str,
    script: Script,
    folder: Path,
    settings: Mapping[str, Any] | None = None,
    budgets: Budgets | None = None,
    **options: Any,
) -> ModelRun:
    """Run a level with scripted models and an empty library.

    Runs with the same `folder` learn from each other.

    `settings` go into the model configuration, `options` into the run's. In one process, unless the options
    say `transport="ros"`.
    """
    run_folder = RunFolder.create(level, parent=folder / "runs")
    with ModelServer(script, models=MODELS) as server:
        llm = folder / "llm.yaml"
        llm.write_text(configuration(server.base_url, **(settings or {})))
        values: dict[str, Any] = {
            "level": level, "transport": "inproc", "proposer": "openai", "llm": str(llm), "skills": "empty",
            "library": str(folder / "library"), "budgets": budgets or Budgets(), "video": False,
            "rehearse": "never",  # what the tests are about is what happens when a fault reaches the world
            **options,
        }  # fmt: skip
        run_options = RunOptions.model_validate(values)
        result = Run(run_options, run_folder).advance()
    return ModelRun(result, run_folder.path, server.requests)
