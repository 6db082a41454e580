"""Units and structures of the Terrans: prices, times and needs, as public game data has them (patch 5)."""

from __future__ import annotations

from typing import Literal

from spca_core.model import Record

COMMAND_CENTER, SUPPLY_DEPOT, REFINERY, SCV = "CommandCenter", "SupplyDepot", "Refinery", "SCV"


class Entry(Record):
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


def _unit(name: str, minerals: int, gas: int, seconds: int, supply: int, maker: str, *needs: str) -> Entry:
    return Entry(
        name=name,
        kind="unit",
        minerals=minerals,
        gas=gas,
        seconds=seconds,
        maker=maker,
        supply=supply,
        needs=needs,
    )


def _structure(name: str, minerals: int, gas: int, seconds: int, *needs: str, provides: int = 0) -> Entry:
    return Entry(
        name=name, kind="structure", minerals=minerals, gas=gas, seconds=seconds, maker=SCV, needs=needs,
        provides=provides,
    )  # fmt: skip


def _techlab(maker: str) -> Entry:
    return Entry(name=f"{maker}TechLab", kind="addon", minerals=50, gas=25, seconds=18, maker=maker)


ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        _structure(COMMAND_CENTER, 400, 0, 71, provides=15),
        _structure(SUPPLY_DEPOT, 100, 0, 21, provides=8),
        _structure(REFINERY, 75, 0, 21),
        _structure("Barracks", 150, 0, 46, SUPPLY_DEPOT),
        _structure("Factory", 150, 100, 43, "Barracks"),
        _structure("Starport", 150, 100, 36, "Factory"),
        _structure("Armory", 150, 50, 46, "Factory"),
        _structure("GhostAcademy", 150, 50, 29, "Barracks"),
        _structure("FusionCore", 150, 150, 46, "Starport"),
        _techlab("Barracks"),
        _techlab("Factory"),
        _techlab("Starport"),
        _unit(SCV, 50, 0, 12, 1, COMMAND_CENTER),
        _unit("Marine", 50, 0, 18, 1, "Barracks"),
        _unit("Marauder", 100, 25, 21, 2, "Barracks", "BarracksTechLab"),
        _unit("Reaper", 50, 50, 32, 1, "Barracks"),
        _unit("Ghost", 150, 125, 29, 2, "Barracks", "BarracksTechLab", "GhostAcademy"),
        _unit("Hellion", 100, 0, 21, 2, "Factory"),
        _unit("Hellbat", 100, 0, 21, 2, "Factory", "Armory"),
        _unit("WidowMine", 75, 25, 21, 2, "Factory"),
        _unit("Cyclone", 125, 50, 32, 3, "Factory", "FactoryTechLab"),
        _unit("SiegeTank", 150, 125, 32, 3, "Factory", "FactoryTechLab"),
        _unit("Thor", 300, 200, 43, 6, "Factory", "FactoryTechLab", "Armory"),
        _unit("VikingFighter", 150, 75, 30, 2, "Starport"),
        _unit("Medivac", 100, 100, 30, 2, "Starport"),
        _unit("Liberator", 150, 125, 43, 3, "Starport"),
        _unit("Raven", 100, 150, 34, 2, "Starport", "StarportTechLab"),
        _unit("Banshee", 150, 100, 43, 3, "Starport", "StarportTechLab"),
        _unit("BattleCruiser", 400, 300, 64, 6, "Starport", "StarportTechLab", "FusionCore"),
    )
}
UNITS = tuple(name for name, entry in ENTRIES.items() if entry.kind == "unit")
ORDERS = {entry.order: entry for entry in ENTRIES.values()}
