import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package(
    "spca_copic",
    {
        "spca.commands": ["copic = spca_copic.cli:COPIC"],
        "spca.benches": ["copic = spca_copic.commands:COPIC"],
        "spca.plan_worlds": [
            "household = spca_copic.worlds.household.world:HouseholdWorld",
            "build_order = spca_copic.worlds.build_order.world:BuildOrderWorld",
            "nethack = spca_copic.worlds.nethack.world:NethackWorld",
        ],
    },
)
