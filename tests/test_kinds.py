"""Every kind that comes along keeps the contract of kinds; what is wrong with a package's is said."""

from __future__ import annotations

from spca_testing.contracts.kind_contract import KindContract


class TestCube(KindContract):
    kind, size = "cube", (0.04, 0.04, 0.04)


class TestCuboid(KindContract):
    kind, size = "cuboid", (0.07, 0.035, 0.03)


class TestCylinder(KindContract):
    kind, size = "cylinder", (0.045, 0.045, 0.05)


class TestBall(KindContract):
    kind, size = "ball", (0.05, 0.05, 0.05)


class TestPlate(KindContract):
    kind, size = "plate", (0.11, 0.11, 0.008)


class TestMat(KindContract):
    kind, size = "mat", (0.09, 0.09, 0.002)


class TestBowl(KindContract):
    kind, size = "bowl", (0.13, 0.13, 0.022)


class TestTray(KindContract):
    kind, size = "tray", (0.2, 0.14, 0.03)
