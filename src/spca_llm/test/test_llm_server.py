"""The test server itself speaks the API well enough for the official client, streams included."""

from __future__ import annotations

import openai
import pytest

from spca_testing.models.behaviours import Say, Truncated
from spca_testing.models.server import ModelServer, Seen


def client(server: ModelServer, key: str = "none") -> openai.OpenAI:
    http = openai.DefaultHttpxClient(trust_env=False)
    return openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0, timeout=5, http_client=http)


def ask(server: ModelServer, text: str = "hello", **options: object):
    messages = [{"role": "user", "content": text}]
    return client(server).chat.completions.create(model="m", messages=messages, **options)  # type: ignore[call-overload]


def test_whole_answers():
    with ModelServer([Say("good day", usage=(3, 2))]) as server:
        answer = ask(server)
    assert answer.choices[0].message.content == "good day"
    assert answer.usage.total_tokens == 5
    assert server.requests[0].text == "hello"


def test_streams():
    text = "a rather long answer that comes in several pieces"
    with ModelServer([Say(text)]) as server:
        chunks = list(ask(server, stream=True, stream_options={"include_usage": True}))
    assert len(chunks) > 4
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text
    assert chunks[-1].usage.completion_tokens == 5


def test_truncated_streams_have_no_end():
    with ModelServer([Truncated("a rather long answer that comes in several pieces")]) as server:
        chunks = list(ask(server, stream=True))
    assert all(c.choices[0].finish_reason is None for c in chunks)


def test_a_script_can_be_a_function_of_the_request():
    def script(seen: Seen) -> Say:
        return Say(f"{seen.index}: {seen.text}")

    with ModelServer(script) as server:
        assert [ask(server, t).choices[0].message.content for t in ("a", "b")] == ["0: a", "1: b"]


def test_the_end_of_the_script_and_its_faults_are_told():
    def broken(seen: Seen) -> Say:
        raise KeyError("oops")

    for script, words in (([], "script of this test server has ended"), (broken, "KeyError")):
        with ModelServer(script) as server, pytest.raises(openai.BadRequestError, match=words):
            ask(server)


def test_models_and_keys():
    with ModelServer([], models=["a", "b"], api_key="k") as server:
        assert [m.id for m in client(server, "k").models.list()] == ["a", "b"]
        with pytest.raises(openai.AuthenticationError):
            client(server, "wrong").models.list()
