import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package(
    "spca_sense",
    {
        "console_scripts": ["sense = spca_sense.node:main"],
        "spca.detectors": ["shapes = spca_sense.search:ShapeDetector"],
    },
)
