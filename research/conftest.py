"""What tests of several systems share: a language model that does what its script says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from spca_llm.chat import Chat, open_chat
from spca_llm.config import LlmConfig, ModelConfig
from spca_testing.models.behaviours import Behaviour
from spca_testing.models.server import ModelServer, Seen


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[ModelServer, Chat]]]:
    """A function that starts a server with a script, and returns it with a chat over it.

    The first chat records in `llm-0`, the second in `llm-1`, and so on.
    """
    count = 0
    with ExitStack() as opened:

        def make(script: list[Behaviour] | Callable[[Seen], Behaviour]) -> tuple[ModelServer, Chat]:
            nonlocal count
            server = opened.enter_context(ModelServer(script))
            config = ModelConfig(model="test-model", base_url=server.base_url, attempts=1)
            roles = LlmConfig(roles={"coder": config, "planner_big": config})
            chat = open_chat("", tmp_path / f"llm-{count}", config=roles)
            count += 1
            return server, chat

        yield make
