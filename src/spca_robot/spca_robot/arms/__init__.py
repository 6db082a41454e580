"""The arms that come with spca, a file each; see `spca_core.arms`."""

from pathlib import Path

FILES = Path(__file__).parent
