"""Language models behind any OpenAI-compatible server: requests, budgets, records and replay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from spca_core.paths import ROOT

CONFIG_VARIABLE = "SPCA_LLM_CONFIG"
DEFAULT_FILE = ROOT / "llm.yaml"


def is_configured(env: Mapping[str, str] = os.environ) -> bool:
    """Return whether the user has named a model at all. A key alone is not a wish to spend it."""
    return config_file(env) is not None or any(
        name.startswith("SPCA_LLM_") and "MODEL" in name for name in env
    )


def config_file(env: Mapping[str, str]) -> Path | None:
    """Return the file that configures models: the environment's, else the project's, if any."""
    if env.get(CONFIG_VARIABLE):
        return Path(env[CONFIG_VARIABLE])
    return DEFAULT_FILE if DEFAULT_FILE.is_file() else None
