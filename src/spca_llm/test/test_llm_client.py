"""The client against servers that misbehave, over real HTTP on loopback."""

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from spca_core.errors import BudgetExhausted, InputError
from spca_core.ports.chat import ChatReply
from spca_core.ports.proposer import ModelError
from spca_core.prompting import system, user
from spca_llm.answer import parse
from spca_llm.chat import Chat, ReplaySource
from spca_llm.client import OpenAISource
from spca_llm.config import Budget, LlmConfig, ModelConfig
from spca_llm.exchange import ExchangeLog, read_exchange
from spca_testing.models.behaviours import (
    Drip,
    Flow,
    Raw,
    Reset,
    Say,
    Stall,
    Status,
    Truncated,
    cut_off,
    refuse,
    say_json,
)
from spca_testing.models.server import ModelServer, Seen

KEY = "sk-test-1234567890"


class Answer(BaseModel):
    domain: str
    steps: list[str] = []


GOOD = say_json({"domain": "(define)", "steps": ["a"]})
NO_LIMITS = Budget()
ASK = [system("be brief"), user("plan")]


class Bench:
    """A server, a client, and the folder of its ledger."""

    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self.folder, self.servers = folder, servers

    def serve(self, script: Any, **options: Any) -> ModelServer:
        return self.servers.enter_context(ModelServer(script, **options))

    def chat(
        self, server: ModelServer, env: dict[str, str] | None = None, budget: Budget = NO_LIMITS, **model: Any
    ) -> Chat:
        fast = {"wait_s": 0.001, "timeout_s": 5.0, "attempts": 3, "max_wait_s": 0.2}
        config = ModelConfig(model="test-model", base_url=server.base_url, **{**fast, **model})
        source = OpenAISource(LlmConfig(roles={"planner_big": config}, budget=budget), env=env or {})
        return Chat(source, ExchangeLog(self.folder, budget, source.secrets))

    def ask(self, script: Any, schema: Any = None, **model: Any) -> ChatReply:
        return self.chat(self.serve(script), **model).complete("planner_big", ASK, schema)

    def exchanges(self) -> list[Any]:
        return [read_exchange(path) for path in sorted(self.folder.glob("*.json"))]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with ExitStack() as servers:
        yield Bench(tmp_path / "llm", servers)


def error_of(call: Callable[[], Any], kind: type[Exception] = ModelError) -> Any:
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return caught.value


# --- what is sent


def test_the_request_is_what_the_configuration_says(bench: Bench):
    server = bench.serve([Say("hi")])
    chat = bench.chat(server, temperature=0.3, max_output_tokens=77, extra={"reasoning_effort": "low"})
    chat.complete("planner_big", [system("s"), user("look", b"png")])
    body = server.requests[0].body
    image = body.pop("messages")[1]["content"][1]["image_url"]["url"]
    asked = {"model": "test-model", "temperature": 0.3, "max_tokens": 77, "reasoning_effort": "low"}
    assert body == asked and image == "data:image/png;base64,cG5n"


def test_nothing_else_is_sent_and_nothing_to_anybody_else(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    """OpenAI's key goes to OpenAI only; no proxy is asked for the way to this machine."""
    for variable in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    server = bench.serve([Say("hi")])
    bench.chat(server, env={"OPENAI_API_KEY": KEY}).complete("planner_big", [user("look: \ud800")])
    assert set(server.requests[0].body) == {"model", "messages"}
    assert server.requests[0].body["messages"][0]["content"] == "look: ?", "half a surrogate pair"
    assert KEY not in str(server.requests[0].headers)


def test_a_schema_is_enforced_by_the_server_where_it_can(bench: Bench):
    server = bench.serve([GOOD])
    reply = bench.chat(server).complete("planner_big", ASK, Answer)
    assert reply.parsed == Answer(domain="(define)", steps=["a"])
    asked = server.requests[0].body["response_format"]["json_schema"]
    assert asked["strict"] and asked["schema"]["additionalProperties"] is False
    assert asked["schema"]["required"] == ["domain", "steps"], "strict servers want every property"


def test_a_server_without_schemas_is_told_in_words_and_remembered(bench: Bench):
    server = bench.serve([GOOD, GOOD], supports_schema=False)
    chat = bench.chat(server)
    for _ in range(2):
        assert chat.complete("planner_big", ASK, Answer).parsed.domain == "(define)"
    assert [system("be brief"), user("plan")] == ASK, "the caller's messages are left alone"
    assert ["response_format" in r.body for r in server.requests] == [True, False, False]
    assert '"domain"' in server.requests[-1].text


PARTS = [{"type": "text", "text": '{"domain": '}, {"type": "text", "text": '"d"}'}]


@pytest.mark.parametrize(
    ("said", "domain"),
    [
        (Say('```json\n{"domain": "d"}\n```'), "d"),
        (Say('I think {this} is it: {"domain": "d"} {'), "d"),
        (Say('{"domain": "line\nbreak"}'), "line\nbreak"),
        (Say('{"domain": "\\ud800"} I mean {"domain": "\\ud83d\\ude00"}'), "😀"),
        (Raw(json.dumps({"choices": [{"message": {"role": "assistant", "content": PARTS}}]}).encode()), "d"),
    ],
    ids=["fenced", "after braces", "broken", "half a pair before", "in parts"],
)
def test_json_is_found_among_other_words(bench: Bench, said: Any, domain: str):
    assert bench.ask([said], Answer).parsed.domain == domain


def test_tokens_are_estimated_when_the_server_gives_some_back(bench: Bench):
    used = bench.ask([Say("x" * 400, usage=(10, -5))]).usage
    assert used.input_tokens > 0 and used.output_tokens == 100 and bench.exchanges()[0].answer.estimated


def test_passing_trouble_is_tried_again(bench: Bench):
    server = bench.serve([Status(408), Reset(), Status(429), Truncated(), Say("at last")])
    assert bench.chat(server, attempts=5).complete("planner_big", ASK).text == "at last"
    assert [bool(a.problem) for a in bench.exchanges()[0].attempts] == [True] * 4 + [False]


def test_a_server_that_asks_for_too_much_patience_is_given_up_at_once(bench: Bench):
    after = formatdate(4102444800, usegmt=True)
    server = bench.serve([Status(429, "slow down", headers={"retry-after": after}), Say("never")])
    error = error_of(lambda: bench.chat(server).complete("planner_big", ASK))
    assert error.kind == "busy" and "more than max_wait_s" in str(error) and len(server.requests) == 1


# --- trouble that does not


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        (refuse("not my thing"), "refused", "the model refused: not my thing"),
        (cut_off('{"domain": "(def'), "truncated", "cut off"),
        (Say('{"domain": 1, "steps": 2}'), "invalid", "does not fit the schema Answer: domain"),
        (Raw(b'{"error": "odd"}'), "invalid", "not a chat completion: choices"),
        (Raw(b"\xff\xfe\x00"), "invalid", "not JSON"),
        (Status(400, "context length exceeded"), "rejected", "context length exceeded"),
    ],
    ids=str,
)
def test_what_another_try_cannot_mend_is_told_at_once(bench: Bench, behaviour: Any, kind: str, words: str):
    server = bench.serve([behaviour] * 2)
    error = error_of(lambda: bench.chat(server).complete("planner_big", ASK, Answer))
    assert error.kind == kind and words in str(error)
    asked = 2 if isinstance(behaviour, Status) and behaviour.status == 400 else 1  # once without the schema
    assert len(server.requests) == asked
    assert len(bench.exchanges()) == 1, "paid for or not, it is on record"


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (Status(429), "busy"),
        (Reset(), "unreachable"),
        (Drip(), "timeout"),
        (Flow(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
        (Flow(b"HTTP/1.1 500 Broken\r\ncontent-length: 9999\r\n\r\n", b" "), "timeout"),
    ],
    ids=str,
)
def test_lasting_trouble_ends_after_the_attempts(bench: Bench, behaviour: Any, kind: str):
    server = bench.serve(lambda seen: behaviour)
    patience = 0.3 if kind == "timeout" else 60.0
    error = error_of(lambda: bench.chat(server, attempts=2, timeout_s=patience).complete("planner_big", ASK))
    assert error.kind == kind
    assert len(server.requests) == 2
    assert (bench.exchanges()[0].answer, bench.exchanges()[0].error) == (None, str(error))


NESTED = b"[" * 100_000 + b"]" * 100_000
PACKED = gzip.compress(b" " * 50_000_000)


def sent(status: bytes, body: bytes, more: bytes = b"") -> Flow:
    """A response as a whole."""
    head = b"HTTP/1.1 %s\r\n%scontent-length: %d\r\n\r\n" % (status, more, len(body))
    return Flow(head + body, b"", 0.01)


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        (Flow(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000, 0), "truncated", "longer than 100000 bytes"),
        (sent(b"200 OK", PACKED, b"content-encoding: gzip\r\n"), "", "compressed, which nobody asked for"),
        (sent(b"400 Wrong", b'{"error": %s}' % NESTED), "rejected", ""),
    ],
    ids=["endless", "packed", "nested part of an error"],
)
def test_a_response_that_is_too_much_is_not_swallowed(bench: Bench, behaviour: Any, kind: str, words: str):
    most = 2_000_000 if kind == "rejected" else 100_000
    error = error_of(lambda: bench.ask([behaviour] * 2, max_answer_bytes=most, attempts=1))
    assert words in str(error) and (not kind or error.kind == kind)


def test_a_prompt_is_not_sent_where_a_server_redirects_it(bench: Bench):
    other = bench.serve([Say("hi")])
    server = bench.serve([Status(307, headers={"location": f"{other.base_url}/chat/completions"})])
    error = error_of(lambda: bench.chat(server).complete("planner_big", ASK), InputError)
    assert "redirects are not followed" in str(error)
    assert len(server.requests) == 1 and other.requests == []


def test_no_byte_of_a_header_breaks_the_client(bench: Bench):
    odd = b"x-odd: \xff\x80\r\nretry-after: \xff\r\ncontent-type: \xc3\xa9\r\n"
    said = json.dumps(Say("hi").completion({})).encode()
    assert bench.ask([sent(b"503 Busy", said, odd), sent(b"200 OK", said, odd)]).text == "hi"


def test_the_time_of_the_level_ends_the_attempts(bench: Bench):
    chat = bench.chat(bench.serve(lambda seen: Stall()), budget=Budget(seconds=0.5), attempts=100)
    error_of(lambda: chat.complete("planner_big", ASK), (ModelError, BudgetExhausted))  # type: ignore[arg-type]
    error_of(lambda: chat.complete("planner_big", ASK), BudgetExhausted)


# --- preflight and keys


@pytest.mark.parametrize("listens", [False, True], ids=["unreachable", "hanging"])
def test_a_server_that_does_not_answer_is_bad_input(listens: bool):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        if listens:
            silent.listen()
        model = ModelConfig(model="m", base_url=url, connect_timeout_s=0.2)
        source = OpenAISource(LlmConfig(roles={"coder": model}), env={})
        error = error_of(lambda: source.preflight(["coder"]), InputError)
    assert "cannot reach the language-model server of role 'coder'" in str(error) and url in str(error)


MINE = {"api_key_env": "MY_KEY"}


@pytest.mark.parametrize(
    ("role", "options", "words"),
    [
        ("coder", {}, "role 'coder'"),
        ("planner_big", MINE, "set the environment variable MY_KEY"),
        ("planner_big", {"env": {"MY_KEY": "sk-\u043a"}, **MINE}, "the API key in MY_KEY has characters"),
    ],
)
def test_what_cannot_be_asked_is_bad_input(bench: Bench, role: str, options: Any, words: str):
    chat = bench.chat(bench.serve([]), **options)
    error = error_of(lambda: chat.complete(role, ASK), InputError)
    assert words in str(error) and "sk-" not in str(error)


def test_an_unknown_model_gets_near_names_and_a_web_page_is_no_server(bench: Bench):
    chat = bench.chat(bench.serve([], models=["test-model-2", "other"]))
    error = error_of(lambda: chat.preflight(["planner_big"]), InputError)
    assert "no model 'test-model'" in str(error) and "test-model-2" in str(error)
    server = bench.serve([Raw(b"<html>Welcome</html>", "text/html")] * 2)
    told = error_of(lambda: bench.chat(server).complete("planner_big", ASK, Answer), InputError)
    assert "web page" in str(told) and "base_url" in str(told) and len(server.requests) == 1


@pytest.mark.parametrize("escaped", ["sk-", "\\u0073k-"])
def test_the_key_is_sent_and_never_comes_back(bench: Bench, escaped: str):
    def echo(seen: Seen) -> Raw:
        said = Say(f"your key is {seen.headers['authorization']}").completion(seen.body)
        return Raw(json.dumps(said).replace("sk-", escaped).encode())

    server = bench.serve(echo, api_key=KEY)
    chat = bench.chat(server, env={"MY_KEY": KEY}, api_key_env="MY_KEY")
    chat.preflight(["planner_big"])
    assert chat.complete("planner_big", ASK).text == "your key is Bearer [key]"
    written = "".join(path.read_text() for path in bench.folder.iterdir())
    assert KEY not in written and "your key is Bearer [key]" in written


def test_a_rejected_key_is_bad_input_and_not_repeated(bench: Bench):
    server = bench.serve([Say("hi")], api_key="another")
    chat = bench.chat(server, env={"MY_KEY": KEY}, api_key_env="MY_KEY")
    for call in (lambda: chat.preflight(["planner_big"]), lambda: chat.complete("planner_big", ASK)):
        error = error_of(call, InputError)
        assert "check the key in MY_KEY" in str(error) and KEY not in str(error)
    assert KEY not in "".join(path.read_text() for path in bench.folder.iterdir())


# --- half a surrogate pair: JSON can carry it, no file and no request can


def test_an_answer_with_a_lone_surrogate_is_invalid_and_its_recording_too(bench: Bench):
    error = error_of(lambda: bench.ask([say_json({"domain": "d", "steps": ["\udc00"]})], Answer))
    assert error.kind == "invalid" and "surrogate" in str(error)
    replayed = Chat(ReplaySource(bench.folder), ExchangeLog(bench.folder.with_name("again")))
    again = error_of(lambda: replayed.complete("planner_big", ASK, Answer))
    assert str(again) == str(error)


def test_an_answer_that_can_just_be_read_is_no_more_than_invalid(many: Callable[[range], range]):
    for deep in many(range(50, 1100)):
        text = f'{{"domain": {"[" * deep}{"]" * deep}}}'
        assert error_of(partial(parse, text, Answer)).kind == "invalid"


def test_what_is_wrong_in_every_choice_is_told_of_the_first(bench: Bench):
    body = ", ".join(['{"message": {"content": [1, 1]}}'] * 30_000)
    error = error_of(lambda: bench.ask([Raw(f'{{"choices": [{body}]}}'.encode())]))
    assert "not a chat completion: choices.0" in str(error)
    assert "more" not in str(error) or "(and 1 more)" in str(error)
