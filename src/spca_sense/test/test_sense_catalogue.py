"""The prior knowledge of Sense."""

from spca_core.world import World
from spca_sense.catalogue import PALETTE, Catalogue


def test_the_catalogue_knows_classes_only(world: World, twin_world: World) -> None:
    catalogue = Catalogue.from_world(world)
    assert (catalogue.cube_edge, catalogue.plates) == (0.04, ((0.11, 0.11, 0.008),))
    assert catalogue.cubes
    moved = world.model_copy(
        update={"objects": tuple(o.model_copy(update={"position": (0.4, 0.0)}) for o in world.objects)}
    )
    assert Catalogue.from_world(moved) == catalogue
    assert Catalogue.from_world(twin_world) == catalogue, "the catalogue does not contain counts"


def test_a_thing_whose_name_tells_no_colour_has_that_of_its_values(world: World) -> None:
    yellow = {"model": "box_y", "colour": (0.8, 0.7, 0.1), "size": (0.03, 0.03, 0.03)}
    grey = {"model": "box_g", "colour": (0.5, 0.5, 0.49), "size": (0.05, 0.05, 0.05)}
    own = [world.objects[0].model_copy(update=update) for update in (yellow, grey)]
    catalogue = Catalogue.from_world(world.model_copy(update={"objects": (*world.objects, *own)}))
    assert {c.name for c in catalogue.palette} == {c.name for c in PALETTE}
    assert ("cube", (0.03, 0.03, 0.03)) in catalogue.likely("yellow")
