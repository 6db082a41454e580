"""What tests of the Code stage ask for: a library of one skill, and requests for others."""

from __future__ import annotations

from spca_core.plan import ActionSchema, CodeRequest, Draft, Plan, Step, Task
from spca_core.scene import Observation
from spca_core.skill import CtxApi, CtxMethod

API = CtxApi(
    environment="contract",
    methods=(CtxMethod(name="nod", signature="nod(name: str) -> bool", doc="Nod at a thing."),),
)
LIBRARY = '''# A library with one skill.

def nod_at(ctx, thing):
    """Nod at a thing."""   # three spaces
    return ctx.nod(thing)
'''
WAVE = '''def wave_at(ctx, thing):
    """Wave at a thing."""
    return ctx.nod(thing)
'''


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
