from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_copic",
    {
        "spca.commands": ["copic = spca_copic.commands:COMMAND"],
        "spca.benches": ["copic = spca_copic.commands:COPIC"],
        "spca.plan_worlds": [
            "household = spca_copic.worlds.household.world:HouseholdWorld",
            "nethack = spca_copic.worlds.nethack.world:NethackWorld",
        ],
    },
)
