from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_planbench",
    {
        "spca.benches": [
            "planbench = spca_planbench.commands:PLANBENCH",
            "planetarium = spca_planbench.commands:PLANETARIUM",
        ]
    },
)
