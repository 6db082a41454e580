"""`spca new` writes packages that are installed as anybody's are; their own tests pass.

They are copies of the examples with another name, so that this tests the examples, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spca.commands.new import EXAMPLES
from spca_core.paths import ROOT
from spca_minigrid.kit import MinigridKit
from spca_tabletop.kit import TabletopKit
from spca_testing.contracts.kit_contract import KitContract

NAMES = {
    "environment": "my_maze",
    "skill": "slide_up",
    "detector": "edges",
    "proposer": "notary",
    "engine": "by_waves",
    "bench": "sharp_eyes",
}
DOCTOR = """
from spca.doctor.plugins import examine_plugins
(row,) = [r for r in examine_plugins() if r.what == "{kind} {name}"]
print(row.state, row.found, row.remedy)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_new_package_passes_its_own_tests(kind: str, tmp_path: Path) -> None:
    name = NAMES[kind]
    written = run(tmp_path, "-m", "spca", "new", kind, name)
    assert written.returncode == 0 and written.stdout.strip() == name, written.stderr
    assert not list((tmp_path / name).rglob(f"*{EXAMPLES[kind][0]}*"))
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", "installed")
    assert run(tmp_path, *pip, f"./{name}").returncode == 0
    found = run(tmp_path, "-c", DOCTOR.format(kind=kind, name=name))
    assert found.stdout.startswith("ready"), found.stdout + found.stderr
    tested = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", name)
    assert tested.returncode == 0, tested.stdout


def test_names_that_cannot_be_are_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    for kind, name, reason in (
        ("enviroment", "maze", "unknown kind"),
        ("skill", "Slide-Up", "no name"),
        ("environment", "tabletop", "something installed"),
        ("bench", "json", "something installed"),
        ("detector", "taken", "exists already"),
    ):
        refused = run(tmp_path, "-m", "spca", "new", kind, name)
        assert refused.returncode == 2 and reason in refused.stderr, refused.stderr


class TestTabletopKit(KitContract):
    kit, unknown = TabletopKit, "no_such_level"


class TestMinigridKit(KitContract):
    kit, unknown = MinigridKit, "minigrid:no_such_level"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder, with what is installed below it in `installed`."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "installed"), "SPCA_ROOT": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=250,
    )  # fmt: skip
