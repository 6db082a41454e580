"""Record and replay."""

import contextlib
from pathlib import Path

import pytest
from pydantic import BaseModel

from spca_core.errors import InputError
from spca_core.ports.proposer import ModelError
from spca_core.prompting import system, user
from spca_llm.chat import Chat, open_chat
from spca_llm.config import ROLES, LlmConfig, ModelConfig
from spca_llm.exchange import Request
from spca_testing.models.behaviours import Say, Status, refuse
from spca_testing.models.server import ModelServer

QUESTION = [system("You plan."), user("There is a red cube.\nThere is a blue cube.\nStack them.")]


class Draft(BaseModel):
    domain: str


def record(
    folder: Path, script: object, *asked: list[dict[str, object]], schema: type[Draft] | None = None
) -> None:
    with ModelServer(script, models=None) as server:  # type: ignore[arg-type]
        model = ModelConfig(model="m", base_url=server.base_url, wait_s=0.0, attempts=2)
        chat = open_chat("", folder, LlmConfig(roles=dict.fromkeys(ROLES, model)))
        for messages in asked:
            with contextlib.suppress(ModelError):
                chat.complete("planner_big", messages, schema)


def replay(tmp_path: Path, **options: object) -> Chat:
    return open_chat(f"replay:{tmp_path / 'recorded'}", tmp_path / "run", **options)  # type: ignore[arg-type]


def test_answers_come_back_without_a_server(tmp_path: Path):
    record(tmp_path / "recorded", lambda seen: Say(seen.text.upper(), usage=(7, 3)), QUESTION)
    chat = replay(tmp_path)
    chat.preflight(["planner_big"])
    reply = chat.complete("planner_big", QUESTION)
    assert reply.text.endswith("STACK THEM.")
    assert (reply.model, reply.usage.input_tokens, reply.usage.output_tokens) == ("m", 7, 3)
    assert chat.ledger.totals()["planner_big"].input_tokens == 7
    again = open_chat(f"replay:{tmp_path / 'run'}", tmp_path / "third")
    assert again.complete("planner_big", QUESTION).text == reply.text, "the record of a replay is one, too"


def test_the_same_question_twice_gets_both_answers_in_turn(tmp_path: Path):
    record(tmp_path / "recorded", [Say("first"), Say("second")], QUESTION, QUESTION)
    chat = replay(tmp_path)
    assert [chat.complete("planner_big", QUESTION).text for _ in range(2)] == ["first", "second"]
    with pytest.raises(InputError, match="recorded 2 times and is asked once more"):
        chat.complete("planner_big", QUESTION)


def test_an_answer_fits_its_schema_again_and_failures_fail_again(tmp_path: Path):
    said = [Say('{"domain": "d"}'), Say("[1, 2]"), Status(500), Status(500), refuse("no")]
    record(tmp_path / "recorded", said, *[QUESTION] * 4, schema=Draft)
    chat = replay(tmp_path)
    assert chat.complete("planner_big", QUESTION, Draft).parsed == Draft(domain="d")
    for kind in ("invalid", "broken", "refused"):
        with pytest.raises(ModelError) as error:
            chat.complete("planner_big", QUESTION, Draft)
        assert error.value.kind == kind and "\n" not in str(error.value)


def test_a_request_never_recorded_names_what_differs(tmp_path: Path):
    record(tmp_path / "recorded", [Say("x"), Say("y")], [user("Something else entirely.")], QUESTION)
    asked = [system("You plan."), user("There is a red cube.\nThere is a green cube.\nStack them.")]
    words = (
        "the nearest is 0002-planner_big.json",
        "differs in message 2 (user), line 2: "
        "recorded 'There is a blue cube.', asked 'There is a green cube.'",
    )
    with pytest.raises(InputError) as error:
        replay(tmp_path).complete("planner_big", asked)
    assert all(part in str(error.value) for part in words) and "\n" not in str(error.value)
    with pytest.raises(InputError, match=r"goes on with message 2 \(user\), line 1: 'There is a red cube.'"):
        replay(tmp_path).complete("planner_big", asked[:1])


@pytest.mark.parametrize(
    ("llm", "words"),
    [
        ("replay:/no/such/folder", "no such folder"),
        ("replay:{folder}/empty", "no recorded exchanges"),
        ("replay:{folder}", "cannot record into the folder it reads"),
    ],
)
def test_a_wrong_llm_option_is_bad_input(tmp_path: Path, llm: str, words: str):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=words):
        open_chat(llm.format(folder=tmp_path), tmp_path)


def test_characters_that_turn_or_hide_text_are_sent_to_no_model() -> None:
    hidden = "def f(ctx):\n\tctx.log('\u202eon\u202c\u200b')  # \x07\x1b[2J"
    (message,) = Request.of("coder", [user(hidden, b"png")], None).messages
    assert message["content"][0]["text"] == "def f(ctx):\n\tctx.log('on')  # [2J"
