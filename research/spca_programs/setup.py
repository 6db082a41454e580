import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package(
    "spca_programs",
    {
        "spca.commands": ["ipp = spca_programs.cli:IPP"],
        "spca.benches": ["grasp = spca_programs.commands:GRASP", "ipp = spca_programs.commands:IPP"],
    },
)
