"""The contract of the port `ChatModel`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import BaseModel

from spca_core.ports.chat import ChatModel, Message
from spca_core.ports.proposer import ModelError


class Fruit(BaseModel):
    """Answer that the contract asks for."""

    name: str
    legs: int


QUESTION: list[Message] = [
    {"role": "system", "content": "You answer in JSON."},
    {"role": "user", "content": [{"type": "text", "text": "Which fruit has no legs?"}]},
]
GOOD = '{"name": "apple", "legs": 0}'
BAD = '{"name": "apple"}'

MakeChat = Callable[[str], ChatModel]


class ChatModelContract:
    """Subclass it with a fixture `make`, which turns an answer's text into a chat model that gives it."""

    def test_an_answer_is_text(self, make: MakeChat) -> None:
        """Without a schema, nothing is parsed."""
        reply = make(GOOD).complete("coder", QUESTION)
        assert reply.text == GOOD
        assert reply.parsed is None

    def test_a_schema_gives_an_instance(self, make: MakeChat) -> None:
        """With a schema, `parsed` is one."""
        assert make(GOOD).complete("planner_big", QUESTION, Fruit).parsed == Fruit(name="apple", legs=0)

    @pytest.mark.parametrize(
        "text", [BAD, "apples, of course", "", "[1, 2]", '{"name": "apple", "legs": "four"}']
    )
    def test_an_unusable_answer_is_a_model_error_in_one_line(self, make: MakeChat, text: str) -> None:
        """Whatever is wrong with it, there is no half-parsed reply."""
        with pytest.raises(ModelError) as error:
            make(text).complete("planner_big", QUESTION, Fruit)
        assert str(error.value)
        assert "\n" not in str(error.value)
        assert error.value.kind in ("invalid", "empty")

    def test_usage_is_counted(self, make: MakeChat) -> None:
        """Tokens and seconds of each exchange come with the reply."""
        usage = make(GOOD).complete("coder", QUESTION).usage
        assert usage.input_tokens > 0
        assert usage.output_tokens > 0
        assert usage.usd >= 0
        assert usage.seconds >= 0

    def test_the_messages_are_left_alone(self, make: MakeChat) -> None:
        """A caller may go on with its list of messages."""
        before = [dict(message) for message in QUESTION]
        make(GOOD).complete("coder", QUESTION, Fruit)
        assert before == QUESTION
