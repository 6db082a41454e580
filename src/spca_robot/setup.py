import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package(
    "spca_robot",
    {"spca.arms": [f"{name} = spca_robot.arms:FILES" for name in ("ur3e", "ur5", "ur5e", "ur10e", "panda")]},
)
