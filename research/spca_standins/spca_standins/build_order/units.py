"""Units and structures of the Terrans: prices, times and needs, as public game data has them (patch 5)."""

from __future__ import annotations

from typing import Literal, NamedTuple

COMMAND_CENTER, SUPPLY_DEPOT, REFINERY, SCV = "CommandCenter", "SupplyDepot", "Refinery", "SCV"


class Entry(NamedTuple):
    """A unit, structure or add-on. `maker` is the structure that trains it, or SCV; `seconds` at “faster”."""

    name: str
    kind: Literal["unit", "structure", "addon"]
    minerals: int
    gas: int
    seconds: int
    maker: str
    supply: int = 0
    """Supply that it takes up."""
    provides: int = 0
    """Supply that it provides."""
    needs: tuple[str, ...] = ()
    """Structures that must stand before it can be begun."""

    @property
    def order(self) -> str:
        """The action that begins it."""
        return f"{'TRAIN' if self.kind == 'unit' else 'BUILD'} {self.name}"


ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(COMMAND_CENTER, "structure", 400, 0, 71, SCV, 0, 15),
        Entry(SUPPLY_DEPOT, "structure", 100, 0, 21, SCV, 0, 8),
        Entry(REFINERY, "structure", 75, 0, 21, SCV),
        Entry("Barracks", "structure", 150, 0, 46, SCV, 0, 0, (SUPPLY_DEPOT,)),
        Entry("Factory", "structure", 150, 100, 43, SCV, 0, 0, ("Barracks",)),
        Entry("Starport", "structure", 150, 100, 36, SCV, 0, 0, ("Factory",)),
        Entry("Armory", "structure", 150, 50, 46, SCV, 0, 0, ("Factory",)),
        Entry("GhostAcademy", "structure", 150, 50, 29, SCV, 0, 0, ("Barracks",)),
        Entry("FusionCore", "structure", 150, 150, 46, SCV, 0, 0, ("Starport",)),
        Entry("BarracksTechLab", "addon", 50, 25, 18, "Barracks"),
        Entry("FactoryTechLab", "addon", 50, 25, 18, "Factory"),
        Entry("StarportTechLab", "addon", 50, 25, 18, "Starport"),
        Entry(SCV, "unit", 50, 0, 12, COMMAND_CENTER, 1),
        Entry("Marine", "unit", 50, 0, 18, "Barracks", 1),
        Entry("Marauder", "unit", 100, 25, 21, "Barracks", 2, 0, ("BarracksTechLab",)),
        Entry("Reaper", "unit", 50, 50, 32, "Barracks", 1),
        Entry("Ghost", "unit", 150, 125, 29, "Barracks", 2, 0, ("BarracksTechLab", "GhostAcademy")),
        Entry("Hellion", "unit", 100, 0, 21, "Factory", 2),
        Entry("Hellbat", "unit", 100, 0, 21, "Factory", 2, 0, ("Armory",)),
        Entry("WidowMine", "unit", 75, 25, 21, "Factory", 2),
        Entry("Cyclone", "unit", 125, 50, 32, "Factory", 3, 0, ("FactoryTechLab",)),
        Entry("SiegeTank", "unit", 150, 125, 32, "Factory", 3, 0, ("FactoryTechLab",)),
        Entry("Thor", "unit", 300, 200, 43, "Factory", 6, 0, ("FactoryTechLab", "Armory")),
        Entry("VikingFighter", "unit", 150, 75, 30, "Starport", 2),
        Entry("Medivac", "unit", 100, 100, 30, "Starport", 2),
        Entry("Liberator", "unit", 150, 125, 43, "Starport", 3),
        Entry("Raven", "unit", 100, 150, 34, "Starport", 2, 0, ("StarportTechLab",)),
        Entry("Banshee", "unit", 150, 100, 43, "Starport", 3, 0, ("StarportTechLab",)),
        Entry("BattleCruiser", "unit", 400, 300, 64, "Starport", 6, 0, ("StarportTechLab", "FusionCore")),
    )
}
UNITS = tuple(name for name, entry in ENTRIES.items() if entry.kind == "unit")
ORDERS = {entry.order: entry for entry in ENTRIES.values()}
