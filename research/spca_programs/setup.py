from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_programs",
    {
        "spca.commands": ["ipp = spca_programs.commands:COMMAND"],
        "spca.benches": ["grasp = spca_programs.commands:GRASP", "ipp = spca_programs.commands:IPP"],
    },
)
