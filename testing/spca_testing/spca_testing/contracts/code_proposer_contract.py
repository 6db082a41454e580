"""The contract of the port `CodeProposer`."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from spca_core.plan import ActionSchema
from spca_core.ports.proposer import CodeProposer, ModelError
from spca_core.skill import CtxApi, CtxMethod

SCHEMA = ActionSchema(
    name="wave-at",
    parameters=(("thing", "object"),),
    pddl="(:action wave-at :parameters (?thing - object) "
    ":precondition (near ?thing) :effect (greeted ?thing))",
)
API = CtxApi(
    environment="contract",
    methods=(CtxMethod(name="nod", signature="nod(name: str) -> bool", doc="Nod at a thing."),),
    helpers=("pose(x, y) -> Pose: a place",),
)
CODE = 'def wave_at(ctx, thing):\n    """Wave."""\n    return ctx.nod(thing)\n'

MakeProposer = Callable[[str], CodeProposer]


def write(proposer: CodeProposer, **changes: str) -> str:
    """Ask for `SCHEMA`, with the texts in `changes`."""
    texts = {"relevant": "", "situation": "Task: wave", "previous": "", "rejection": "", **changes}
    return proposer.write((SCHEMA,), API, **texts)


class CodeProposerContract:
    """Subclass it with a fixture `make`, which takes an answer and returns a proposer for it."""

    def test_it_has_a_name(self, make: MakeProposer) -> None:
        """For records."""
        assert make(CODE).name

    @pytest.mark.parametrize(
        "answer",
        [
            CODE,
            f"```python\n{CODE}```",
            f"Here you are:\n\n```py\n{CODE}```\nGood luck!",
            f"~~~\n{CODE}~~~",
            CODE.replace("\n", "\r\n"),
        ],
    )
    def test_the_answer_is_python_source(self, make: MakeProposer, answer: str) -> None:
        """However the model wraps it."""
        assert ast.dump(ast.parse(write(make(answer)))) == ast.dump(ast.parse(CODE))

    def test_it_takes_all_there_is_to_tell(self, make: MakeProposer) -> None:
        """The library, situation, last draft and rejection may be of any length."""
        long = "# " + "x" * 100_000
        assert "wave_at" in write(make(CODE), relevant=long, situation=long, previous=long, rejection=long)

    @pytest.mark.parametrize("answer", ["", "   \n", "I would rather not.", "```python\nprint(1)\n```"])
    def test_an_answer_without_a_function_is_a_model_error(self, make: MakeProposer, answer: str) -> None:
        """It is reported as a ModelError, not returned as code."""
        with pytest.raises(ModelError) as error:
            write(make(answer))
        assert error.value.kind in ("empty", "invalid")
