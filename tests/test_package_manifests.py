"""What each package imports is what its package.xml declares, so that rosdep and colcon know all of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from catkin_pkg.package import parse_package

ROOT = Path(__file__).resolve().parents[1]
_spec = importlib.util.spec_from_file_location("manifests", ROOT / "scripts" / "manifests.py")
assert _spec is not None and _spec.loader is not None
manifests = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(manifests)


@pytest.mark.parametrize("folder", manifests.PYTHON_PACKAGES, ids=lambda p: p.name)
def test_imports_are_declared(folder: Path) -> None:
    run, tests, unknown = manifests.lacking(folder)
    assert not run | tests, "declare them: python scripts/manifests.py --write"
    assert not unknown, "name them in scripts/manifests.py, as rosdep keys or as known to pip"


@pytest.mark.parametrize("folder", manifests.PYTHON_PACKAGES, ids=lambda p: p.name)
def test_what_is_declared_of_ours_is_imported(folder: Path) -> None:
    """An unused dependency would constrain the build order and mislead readers."""
    package = parse_package(str(folder / "package.xml"))
    ours = {p.name for p in manifests.PACKAGES} - {
        "spca_python"
    }  # has no modules: it puts others' on the path
    used = manifests.imports(folder) | manifests.imports(folder / "test")
    if folder.name == manifests.BRING_UP:
        used |= manifests.imports(manifests.LAUNCH)
    idle = {d for d in manifests.declared(package, "exec", "test") & ours if d not in used}
    assert not idle, sorted(idle)
