"""In a bowl or a tray: on its floor, between its walls."""

from spca_core.kinds import CONTAINERS
from spca_core.relation import Relation

ROWS = (
    Relation(
        name="in",
        meaning="?a is in bowl or tray ?b; then also (on ?a ?b)",
        names=("inside", "within", "contained_in"),
        put="on",
        of=CONTAINERS,
        things=range(1, 2),
        forms=("IN Things",),
    ),
)
