"""The server side of a tabletop skill's `ctx`.

It answers requests to perception and to the arm in plain JSON values.
"""

from __future__ import annotations

from dataclasses import astuple

from spca_core.names import TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.relation import place_of
from spca_core.scene import Fact, Scene
from spca_sandbox.declared import api_of, offered
from spca_tabletop.act import placements
from spca_tabletop.act.alternatives import Alternatives
from spca_tabletop.act.motion import Motion
from spca_tabletop.act.obstructions import obstructions, out_of_reach, suspicions
from spca_tabletop.act.skill_context import SkillContext
from spca_tabletop.act.values import Grasp, Pose, Spot, Thing, thing_value

Memory = tuple[Scene | None, tuple[float, ...], tuple[str, ...]]
"""What a ctx remembers within a level.

It is what it saw last, how it holds what it holds (see `placements.Hold`), and at which things room was
lacking.
"""
FRESH: Memory = (None, astuple(placements.Hold()), ())


class Perception(SkillContext):
    """The scene as last seen, and another look at it."""

    @offered
    def _do_locate(self, name: str) -> Thing:
        """The object as last seen."""
        return thing_value(self._thing(name))

    @offered
    def _do_scene(self) -> list[Thing]:
        """All objects but the table, as last seen."""
        return [thing_value(o) for o in self.scene.objects]

    @offered
    def _do_look(self) -> list[Thing]:
        """Move the arm out of view and look again."""
        return [thing_value(o) for o in self.look().objects]

    @offered
    def _do_holds(self, relation: str, *names: str) -> bool:
        """Whether it was last seen: "on", a, b; "clear", a; "at", a, place; and so on."""
        if relation == "at" and len(names) == 2 and (place := place_of(names[1])) is not None:
            return place.holds(self._thing(names[0]), self.scene.objects)
        return Fact(predicate=relation, args=names) in self.scene.relations


class TabletopCtx(Perception, Alternatives, Motion):
    """Serves the calls of `TABLETOP_API`, the offered methods of its parts. See `SkillContext`."""

    # --- CtxServer ------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time in simulated seconds."""
        return self._now()

    def stop(self) -> None:
        """Stop the arm; running and further motion calls raise MotionError('cancelled')."""
        self._arm.stop()

    def notice(self, since: float) -> Observation | None:
        """Return what the gripper holds, and what a look showed.

        The look counts if it was taken after `since` and before any handling.
        """
        scene = self._scene
        if scene is None:
            return None
        held = self._arm.held if self._arm.holding() else None
        if scene.stamp >= since and not self._handled:
            return Observation.of(scene).model_copy(update={"sentences": ()})
        objects = {o.id: o.kind for o in scene.objects} | {TABLE_SYMBOL: "table"}
        return Observation(
            stamp=self._now(),
            objects=objects,
            facts=(Fact(predicate="held", args=(held,)),) if held else (),
            sentences=(),
            hidden=tuple(o for o in objects if o not in (held, TABLE_SYMBOL)),
        )

    # --- for the environment --------------------------------------------------------------------------------

    def survey(self) -> Scene:
        """Look, and find out what is in the way of what, and out of reach (see `obstructions`)."""
        scene = self.look()
        facts = dict.fromkeys(obstructions(scene, self._arm, self._tip_reach))
        found = {(fact.predicate, fact.args[1]) for fact in facts}
        unexplained = {n: h for n, h in self._hindered.items() if (h[0], n) not in found}
        facts |= dict.fromkeys(suspicions(scene, unexplained))
        facts |= dict.fromkeys(out_of_reach(scene, self._tools))
        self._hindered.clear()
        return scene.model_copy(update={"relations": (*scene.relations, *facts)})

    @property
    def memory(self) -> Memory:
        """Memory besides the arm's own state, for a checkpoint."""
        return self._scene, astuple(self._hold), tuple(sorted(self._cramped))

    def recall(self, memory: Memory, held: str | None) -> None:
        """Restore the memory after the world was rewound to a checkpoint with `held` in the gripper."""
        self._scene, hold, cramped = memory
        self._hold, self._cramped = placements.Hold(*hold), set(cramped)
        self._hindered.clear()
        self._handled = True  # that may be so: only the next look says where things are
        self._arm.resume()
        self._arm.detach()
        if self._scene is not None:
            self._arm.set_scene(self._scene)
        if held is not None:
            self._arm.attach(held)


TABLETOP_API = TabletopCtx.api = api_of(
    TabletopCtx, "tabletop", types=(Pose, Thing, Grasp, Spot), helpers=("pose(x, y, z, yaw=0.0) -> Pose",)
)
