"""The world `household` under the name that records and commands of earlier revisions have for it."""

from spca_copic.worlds.household.world import HouseholdWorld as RulesWorld

__all__ = ["RulesWorld"]
