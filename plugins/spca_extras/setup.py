from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_extras",
    {
        "spca.commands": [
            "calibrate = spca_extras.commands.calibrate:CALIBRATE",
            "dataset = spca_extras.commands.dataset:DATASET",
            "mcap = spca_extras.commands.mcap:MCAP",
            "mcp = spca_extras.commands.mcp:MCP",
        ]
    },
)
