import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

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
