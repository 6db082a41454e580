"""Every kind that comes along keeps the contract of kinds; what is wrong with a package's is said."""

from __future__ import annotations

import pytest

from spca_core.geometry import Vec3
from spca_testing.contracts.kind_contract import KindContract

SIZES = {
    "cube": (0.04, 0.04, 0.04),
    "cuboid": (0.07, 0.035, 0.03),
    "cylinder": (0.045, 0.045, 0.05),
    "ball": (0.05, 0.05, 0.05),
    "plate": (0.11, 0.11, 0.008),
    "mat": (0.09, 0.09, 0.002),
    "bowl": (0.13, 0.13, 0.022),
    "tray": (0.2, 0.14, 0.03),
}


@pytest.mark.parametrize(("kind", "size"), SIZES.items(), ids=SIZES)
class TestKinds(KindContract):
    @pytest.fixture(autouse=True)
    def _taken(self, kind: str, size: Vec3) -> None:
        self.kind, self.size = kind, size
