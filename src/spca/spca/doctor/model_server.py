"""Check of the language-model server, if one is configured: whether it answers, and has the model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from spca.doctor.finding import Finding
from spca_core.errors import SpcaError

WHAT = "model server"


def model_server() -> Finding:
    """Which models are configured, and whether their servers answer. No tokens are spent."""
    from spca_llm.config import is_configured, load_config
    from spca_llm.connect import open_chat

    if not is_configured():
        return Finding(
            WHAT,
            "off",
            "none configured; the built-in proposer needs none",
            "set SPCA_LLM_MODEL and SPCA_LLM_BASE_URL or OPENAI_API_KEY (src/spca_llm/README.md)",
        )
    try:
        config = load_config()
        if not config.roles:
            return Finding(
                WHAT, "missing", "a configuration without any model", "name a model (src/spca_llm/README.md)"
            )
        models = ", ".join(
            f"{role}: {model.model} at {model.base_url}" for role, model in config.roles.items()
        )
        with tempfile.TemporaryDirectory() as folder:
            open_chat("", Path(folder), config).preflight(list(config.roles))
    except SpcaError as error:
        return Finding(WHAT, "missing", str(error), "see src/spca_llm/README.md")
    return Finding(WHAT, "ready", models)
