from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_robot",
    {"spca.arms": [f"{name} = spca_robot:ARMS" for name in ("ur3e", "ur5", "ur5e", "ur10e", "panda")]},
)
