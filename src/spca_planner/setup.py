import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package("spca_planner", {"spca.engines": ["fast-downward = spca_planner.solver.downward:FastDownward"]})
