"""The contract of the port `Coder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spca_core.observation import Observation
from spca_core.plan import ActionSchema, CodeRequest, Draft, Plan, Step
from spca_core.ports.proposer import CodeProposer, ModelError
from spca_core.ports.stages import Coder
from spca_core.skill import CtxApi, CtxMethod
from spca_core.task import Task

API = CtxApi(
    environment="contract",
    methods=(CtxMethod(name="nod", signature="nod(name: str) -> bool", doc="Nod at a thing."),),
)
BUDGET = 3
LIBRARY = '''# A library with one skill.

def nod_at(ctx, thing):
    """Nod at a thing."""   # three spaces
    return ctx.nod(thing)
'''
WAVE = '''def wave_at(ctx, thing):
    """Wave at a thing."""
    return ctx.nod(thing)
'''
BAD_DRAFTS = {
    "no Python": "def wave_at(ctx, thing:",
    "no skill": "x = 1\n",
    "wrong name": WAVE.replace("wave_at", "wave"),
    "wrong arity": WAVE.replace("ctx, thing", "ctx, thing, speed"),
    "no ctx": WAVE.replace("ctx, thing", "thing"),
    "unknown call": WAVE.replace("ctx.nod", "ctx.wave"),
    "forbidden import": "import os\n" + WAVE,
    "changes another skill": WAVE + LIBRARY.replace("return ctx", "return not ctx"),
    "does not import": "LIMIT = 1 / 0\n" + WAVE.replace("nod(thing)", "nod(thing) or LIMIT"),
    "does not end": "LIMIT = sum(range(10 ** 12))\n" + WAVE.replace("nod(thing)", "nod(thing) or LIMIT"),
}


def request(
    *actions: str, library: str = LIBRARY, suspects: tuple[str, ...] = (), failure: str = ""
) -> CodeRequest:
    """A request for a plan of those actions, each with the parameter `thing`."""
    schemas = tuple(
        ActionSchema(
            name=a, parameters=(("thing", "object"),), pddl=f"(:action {a} :parameters (?thing - object))"
        )
        for a in actions
    )
    steps = tuple(Step(action=a, args=("cube_red",)) for a in actions)
    return CodeRequest(
        attempt="attempt-7",
        task=Task(group="contract", id="01", title="Greet", description="Greet the red cube."),
        observation=Observation(
            stamp=0.0, objects={"cube_red": "cube"}, facts=(), sentences=("There is a red cube.",)
        ),
        plan=Plan(steps=steps, schemas=schemas, draft=Draft(domain="", problem="")),
        library=library,
        suspects=suspects,
        failure=failure,
    )


class Script:
    """A proposer that reads its drafts from a list; a ModelError in it is raised.

    It records the requests.
    """

    name = "script"

    def __init__(self, drafts: Sequence[str | ModelError]) -> None:
        self.drafts = list(drafts)
        self.asked: list[dict[str, object]] = []

    def write(
        self,
        missing: tuple[ActionSchema, ...],
        api: CtxApi,
        relevant: str,
        situation: str,
        previous: str,
        rejection: str,
    ) -> str:
        """The next draft."""
        self.asked.append(
            {
                "missing": [s.name for s in missing],
                "relevant": relevant,
                "situation": situation,
                "previous": previous,
                "rejection": rejection,
            }
        )
        draft = self.drafts[len(self.asked) - 1]
        if isinstance(draft, ModelError):
            raise draft
        return draft


MakeCoder = Callable[[CodeProposer | None], Coder]


class CoderContract:
    """Subclass it with a fixture `make` that builds a coder for `API` with `BUDGET` drafts.

    Its argument is the proposer, or None for a coder without a model.
    """

    def test_nothing_missing_needs_no_model(self, make: MakeCoder) -> None:
        """The library stays unchanged."""
        result = make(None).complete(request("nod_at"))
        assert (result.status, result.library, result.attempt) == ("complete", LIBRARY, "attempt-7")
        assert result.drafts == ()

    def test_without_a_model_it_says_what_is_missing(self, make: MakeCoder) -> None:
        """The message gives names and parameters, and says what to do."""
        result = make(None).complete(request("nod_at", "wave_at"))
        assert (result.status, result.library) == ("missing", LIBRARY)
        assert "wave_at(ctx, thing)" in result.message
        assert "nod_at" not in result.message
        assert "configure" in result.message

    def test_only_what_is_missing_is_written(self, make: MakeCoder) -> None:
        """Everything else in the library stays byte for byte."""
        script = Script([WAVE])
        result = make(script).complete(request("nod_at", "wave_at"))
        assert (result.status, result.written) == ("complete", ("wave_at",))
        assert result.library.startswith(LIBRARY)
        assert script.asked[0]["missing"] == ["wave_at"]
        assert [d.kind for d in result.drafts] == ["first"]

    def test_a_bad_draft_is_rejected_and_repaired(self, make: MakeCoder) -> None:
        """The next request contains the previous draft and the reason for its rejection."""
        for why, bad in BAD_DRAFTS.items():
            script = Script([bad, WAVE])
            result = make(script).complete(request("wave_at"))
            assert result.status == "complete", why
            assert [bool(d.rejection) for d in result.drafts] == [True, False], why
            assert [d.kind for d in result.drafts] == ["first", "syntax"], why
            assert script.asked[1]["previous"] == bad
            assert script.asked[1]["rejection"] == result.drafts[0].rejection

    def test_a_failing_model_costs_a_draft_and_nothing_more(self, make: MakeCoder) -> None:
        """It is asked again."""
        result = make(Script([ModelError("busy"), WAVE])).complete(request("wave_at"))
        assert result.status == "complete"
        assert "busy" in result.drafts[0].rejection

    def test_the_budget_ends_it_and_the_library_stays_as_it_was(self, make: MakeCoder) -> None:
        """Failed code never stays in the working library."""
        result = make(Script([BAD_DRAFTS["unknown call"]] * (BUDGET + 1))).complete(request("wave_at"))
        assert (result.status, result.library, len(result.drafts)) == ("exhausted", LIBRARY, BUDGET)
        assert "ctx has no 'wave'" in result.message

    def test_a_suspect_is_written_anew(self, make: MakeCoder) -> None:
        """The request contains its present code and the failure."""
        better = LIBRARY.partition("\n\n")[2].replace("return ctx", "return not ctx")
        script = Script([better])
        result = make(script).complete(request("nod_at", suspects=("nod_at",), failure="it did not nod"))
        assert (result.status, result.written) == ("complete", ("nod_at",))
        assert "return not ctx" in result.library
        assert result.library.startswith("# A library with one skill.\n\ndef nod_at(")
        assert script.asked[0]["rejection"] == "it did not nod"
        assert "return ctx.nod(thing)" in str(script.asked[0]["previous"])
        assert [d.kind for d in result.drafts] == ["semantic"]

    def test_it_can_be_cancelled(self, make: MakeCoder) -> None:
        """Between drafts."""
        script = Script([BAD_DRAFTS["no skill"]] * BUDGET)
        result = make(script).complete(request("wave_at"), cancelled=lambda: len(script.asked) == 1)
        assert (result.status, result.library, len(result.drafts)) == ("cancelled", LIBRARY, 1)
