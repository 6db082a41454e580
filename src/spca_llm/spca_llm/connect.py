"""Builds the chat model from the value of `--llm`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from spca_core.errors import InputError
from spca_core.validation import YAML_FILES
from spca_llm.chat import Chat
from spca_llm.config import REPLAY, Budget, LlmConfig, load_config
from spca_llm.ledger import ExchangeLog
from spca_llm.replay import ReplaySource


def open_chat(
    llm: str,
    folder: Path,
    config: LlmConfig | None = None,
    budget: Budget | None = None,
    env: Mapping[str, str] = os.environ,
) -> Chat:
    """Open a chat model that records into `folder`.

    `llm` is empty for the configured server, `replay:FOLDER` for recorded answers, or the path of a
    configuration file. Raises InputError with one clear line. No server is contacted yet: see
    `Chat.preflight`.
    """
    if llm.startswith(REPLAY):
        recorded = Path(llm[len(REPLAY) :])
        if recorded.resolve() == folder.resolve():
            raise InputError("a replay cannot record into the folder it reads", where=str(folder))
        return Chat(ReplaySource(recorded), ExchangeLog(folder, budget or Budget()))
    if llm and Path(llm).suffix not in YAML_FILES:
        raise InputError(
            f"--llm {llm!r}", hint="use replay:FOLDER, or the path of a model configuration (YAML)"
        )
    # Imported here because the client library loads slowly and most runs use no server.
    from spca_llm.client import OpenAISource

    config = config or load_config(Path(llm) if llm else None, env)
    source = OpenAISource(config, env=env)
    return Chat(source, ExchangeLog(folder, budget or config.budget, source.secrets))
