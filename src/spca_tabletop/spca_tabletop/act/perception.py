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
        """The object as last seen; the table is one, too."""
        return thing_value(self._thing(name))

    @offered
    def _do_scene(self) -> list[Thing]:
        """All objects as last seen, without the table."""
        return [thing_value(o) for o in self.scene.objects]

    @offered
    def _do_look(self) -> list[Thing]:
        """Move the arm out of view and look again."""
        return [thing_value(o) for o in self.look().objects]

    @offered
    def _do_holds(self, relation: str, *names: str) -> bool:
        """Whether it was seen at the last look: on, in, next_to, larger of two things; held, clear of one."""
        return Fact(predicate=relation, args=names) in self.scene.relations
