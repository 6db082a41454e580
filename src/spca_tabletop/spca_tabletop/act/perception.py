"""What a skill may ask about the scene."""

from __future__ import annotations

from spca_act.declared import offered
from spca_core.scene import Fact
from spca_tabletop.act.conversion import thing_value
from spca_tabletop.act.values import Thing
from spca_tabletop.act.workbench import Workbench


class Perception(Workbench):
    """The scene as last seen, and another look at it."""

    @offered
    def _do_locate(self, name: str) -> Thing:
        """The object with that name as last seen; the table is one, too. Fails if unknown."""
        return thing_value(self._thing(name))

    @offered
    def _do_scene(self) -> list[Thing]:
        """Every object as last seen, without the table."""
        return [thing_value(o) for o in self.scene.objects]

    @offered
    def _do_look(self) -> list[Thing]:
        """Move the arm out of the camera's view, look again, return every object."""
        return [thing_value(o) for o in self.look().objects]

    @offered
    def _do_holds(self, relation: str, *names: str) -> bool:
        """Whether a relation was seen at the last look, such as holds("on", cube, plate).

        Of two things: on, next_to; of one: held, clear, leftmost, rightmost, middle, nearest, farthest.
        """
        return Fact(predicate=relation, args=names) in self.scene.relations
