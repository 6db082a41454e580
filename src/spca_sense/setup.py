from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package(
    "spca_sense",
    {
        "console_scripts": ["sense = spca_sense.node:main"],
        "spca.detectors": ["shapes = spca_sense.search:ShapeDetector"],
    },
)
