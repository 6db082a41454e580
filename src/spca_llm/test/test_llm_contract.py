"""Both sources of answers keep the contract of a chat model."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca_core.ports.chat import Role
from spca_core.ports.proposer import ModelError
from spca_llm.chat import Chat, open_chat
from spca_llm.client import OpenAISource
from spca_llm.config import ROLES, LlmConfig, ModelConfig
from spca_llm.exchange import ExchangeLog
from spca_testing.contracts.chat_contract import QUESTION, ChatModelContract, Fruit, MakeChat
from spca_testing.models.behaviours import Say
from spca_testing.models.server import ModelServer


def over_http(server: ModelServer, folder: Path) -> Chat:
    model = ModelConfig(model="test-model", base_url=server.base_url, wait_s=0.0)
    return Chat(OpenAISource(LlmConfig(roles=dict.fromkeys(ROLES, model))), ExchangeLog(folder))


class TestOverHttp(ChatModelContract):
    @pytest.fixture(params=[True, False], ids=["enforces schemas", "knows no schemas"])
    def make(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeChat]:
        servers = []

        def make(text: str) -> Chat:
            servers.append(ModelServer([Say(text)], supports_schema=request.param))
            return over_http(servers[-1], tmp_path)

        yield make
        for server in servers:
            server.close()


class TestReplay(ChatModelContract):
    @pytest.fixture
    def make(self, tmp_path: Path) -> MakeChat:
        def make(text: str) -> Chat:
            with ModelServer(lambda seen: Say(text)) as server:
                recorder = over_http(server, tmp_path / "recorded")
                for role, schema in asked:
                    with contextlib.suppress(ModelError):  # an unusable answer is recorded like any other
                        recorder.complete(role, QUESTION, schema)
            return open_chat(f"replay:{tmp_path / 'recorded'}", tmp_path / "run")

        asked: list[tuple[Role, type[Fruit] | None]] = [
            ("coder", None),
            ("coder", Fruit),
            ("planner_big", Fruit),
        ]
        return make
