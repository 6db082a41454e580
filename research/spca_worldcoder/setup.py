from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_worldcoder",
    {
        "spca.commands": ["learn = spca_worldcoder.commands:LEARN"],
        "spca.benches": ["worldcoder = spca_worldcoder.commands:WORLDCODER"],
        "spca.learnable_worlds": [
            "sokoban = spca_worldcoder.worlds.catalogue:sokoban",
            "minigrid = spca_worldcoder.worlds.catalogue:minigrid",
        ],
    },
)
