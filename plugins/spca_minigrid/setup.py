import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package(
    "spca_minigrid",
    {"spca.environments": ["minigrid = spca_minigrid.kit:MinigridKit"]},
    extras={"rl": ["stable-baselines3"]},
)
