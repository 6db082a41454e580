"""Contract of every relation on the table, built in or brought by a package."""

from __future__ import annotations

from itertools import islice

from spca_core.geometry import Pose
from spca_core.names import words_of
from spca_core.plan import PlanRequest
from spca_core.relation import place_of, things_of
from spca_core.world import load_world
from spca_planner.pddl.lint import parse
from spca_tabletop.language.understanding import describe, understand
from spca_tabletop.plan.problem import with_places
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_testing.observations import scene, task


class RelationContract:
    """Subclass it with a `text` that puts the red cube there, and the symbol of that `place`."""

    text: str
    place: str

    def test_it_is_read(self) -> None:
        """The text asks for that place and for nothing else, and is told by its words."""
        (goal,) = understand(task(self.text), scene())
        assert ("at", "cube_red", self.place) in goal
        assert goal <= {("at", "cube_red", self.place), ("on", "cube_red", "table")}
        assert words_of(self.place) in describe([goal])
        place = place_of(self.place)
        assert place is not None and place.symbol == self.place

    def test_what_is_put_there_is_there(self) -> None:
        """Every place that is offered fulfils the relation; where the thing stood does not."""
        seen, place = scene(), place_of(self.place)
        assert place is not None
        thing = next(o for o in seen.things if o.id == "cube_red")
        assert not place.holds(thing, seen.things)
        spots = list(islice(place.spots(thing, seen.things, load_world("tabletop")), 30))
        assert spots
        for x, y, yaw in spots:
            pose = Pose.from_xyz_yaw(x, y, thing.pose.position[2], thing.pose.yaw if yaw is None else yaw)
            moved = thing.model_copy(update={"pose": pose})
            assert place.holds(moved, [moved, *(o for o in seen.things if o.id != thing.id)]), (x, y)

    def test_it_is_planned(self) -> None:
        """The problem knows the place, what it is told by, and that nothing is there yet."""
        request = PlanRequest(attempt="1", task=task(self.text), observation=scene(), skills=())
        draft = BuiltinProposer().draft(request, None, None)
        _, problem = parse(draft.domain, draft.problem)
        stated = {str(fact) for fact in problem.init}
        assert {f"(of {self.place} {thing})" for thing in things_of(self.place)} <= stated
        assert f"(at cube_red {self.place})" not in stated
        known = with_places(scene(), [self.place])
        assert known.objects[self.place] == "place" and not known.holds("at", "cube_red", self.place)
