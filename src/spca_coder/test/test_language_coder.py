"""Skills by a language model, over HTTP to a server on loopback."""

from collections.abc import Callable
from typing import Any

import pytest

from spca_coder.drafting import DraftingCoder
from spca_coder.language import LanguageCoder, code_in
from spca_core.plan import PLAN_AT_FAULT, ActionSchema
from spca_core.ports.proposer import ModelError, PlanAtFault
from spca_testing.coding import API, request
from spca_testing.models.behaviours import Say

SCHEMA = ActionSchema(name="wave-at", parameters=(("thing", "object"),), pddl="(:action wave-at)")
CODE = 'def wave_at(ctx, thing):\n    """Wave."""\n    return ctx.nod(thing)\n'

Start = Callable[..., Any]


def test_the_prompt_is_bounded_whatever_comes_in() -> None:
    coder = LanguageCoder(chat=None)  # type: ignore[arg-type]
    asked = coder.messages((SCHEMA,), API, *["x" * 1_000_000] * 4)
    assert len("\n".join(m["content"] for m in asked)) < 45_000


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```bash\nls\n```\n```python\nA = 1\n```\n```python\ndef b(): 0\n```", "A = 1\n\ndef b(): 0\n"),
        (f"Here you are:\n\n```py\n{CODE}```\nGood luck!", CODE),
        (CODE.replace("\n", "\r\n"), CODE),
    ],
)
def test_code_is_found_in_the_answer(answer: str, code: str) -> None:
    assert code_in(answer) == code


@pytest.mark.parametrize("text", ["no", "```python\nprint(1)\n```"])
def test_an_answer_without_a_function_is_a_model_error(start: Start, text: str) -> None:
    with pytest.raises(ModelError):
        LanguageCoder(start([Say(text)])[1]).write((SCHEMA,), API, "", "Task: wave", "", "")


def test_a_coder_can_say_that_the_plan_is_wrong(start: Start) -> None:
    """It is asked once, and the planner hears why."""
    server, chat = start([Say("PLAN: nothing on this table can wave.\n")])
    result = DraftingCoder(LanguageCoder(chat), API).complete(request("wave_at"))
    assert (result.status, result.library) == ("exhausted", request("wave_at").library)
    assert result.message == PLAN_AT_FAULT + "nothing on this table can wave."
    assert len(server.requests) == 1
    with pytest.raises(PlanAtFault, match="no way"):
        code_in("**PLAN:** no way")
    with pytest.raises(ModelError, match="no Python function"):
        code_in("\\\n" * 200_000)
