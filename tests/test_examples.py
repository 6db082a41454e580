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
from spca_testing.command import spca
from spca_testing.contracts.kit_contract import KitContract

NAMES = {
    "environment": "my_maze",
    "skill": "my_skill",
    "detector": "edges",
    "proposer": "notary",
    "engine": "by_waves",
    "kind": "beaker",
    "relation": "cater_corner",
    "bench": "sharp_eyes",
}
SECOND = "vase"
"""A second kind, beside the first."""
WHEELS = """
import os, sys
from setuptools import build_meta
for name in sys.argv[1:]:
    os.chdir(name)
    build_meta.build_wheel("../wheels")
    os.chdir("..")
"""
"""What pip does for each package in two processes of its own, in one for all."""
EXAMINED = """
import pytest, sys
from spca import doctor
installed = doctor.installed
doctor.installed = lambda group: {n: p for n, p in installed(group).items() if n in sys.argv}
for row in doctor.examine_plugins():
    print(row.what, row.state, row.found, row.remedy)
doctor.installed = installed
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:-1]]))
"""
"""What `spca doctor` says of plugins with these names, and the tests of all but the last."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a new package of each kind, and in `installed` what pip makes of them."""
    folder = tmp_path_factory.mktemp("new")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind, name in (*NAMES.items(), ("kind", SECOND)):
            done = spca("new", kind, name)
            assert done.returncode == 0 and done.stdout.strip() == name, done.stderr
            assert not list((folder / name).rglob(f"*{EXAMPLES[kind][0]}*"))
        for path in (path for path in (folder / SECOND).rglob("*") if path.is_file()):
            assert "mug" not in path.read_text().lower(), path
    built = run(folder, "-c", WHEELS, *NAMES.values(), SECOND)
    assert built.returncode == 0, built.stderr
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", "installed")
    done = run(folder, *pip, *(str(wheel) for wheel in folder.glob("wheels/*.whl")))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_new_packages_lack_nothing_and_pass_their_own_tests(written: Path) -> None:
    assert NAMES.keys() == set(EXAMPLES)
    done = run(written, "-c", EXAMINED, *NAMES.values(), SECOND)
    for kind, name in (*NAMES.items(), ("kind", SECOND)):
        assert f"\n{kind} {name} ready" in f"\n{done.stdout}", done.stdout + done.stderr
    assert done.returncode == 0, done.stdout


def test_names_that_cannot_be_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    for kind, name, reason in (
        ("enviroment", "maze", "unknown kind"),
        ("skill", "Slide-Up", "no name"),
        ("kind", "my_mug", "no name"),
        ("skill", "pick_up", "something installed"),
        ("detector", "taken", "exists already"),
    ):
        refused = spca("new", kind, name)
        assert refused.returncode == 2 and reason in refused.stderr, refused.stderr


class TestTabletopKit(KitContract):
    kit, unknown = TabletopKit, "no_such_level"


class TestMinigridKit(KitContract):
    kit, unknown = MinigridKit, "minigrid:no_such_level"


def run(
    folder: Path, *arguments: str, program: str = sys.executable, **more: str
) -> subprocess.CompletedProcess[str]:
    """Python in a folder, with what is installed below it in `installed`."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "installed"), "SPCA_ROOT": str(ROOT), **more}
    return subprocess.run(
        [program, *arguments],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_loop_on_one_screen_runs() -> None:
    done = run(ROOT, str(ROOT / "examples" / "loop.py"), "touch_02")
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line.split()[0] for line in done.stdout.splitlines()]
    stages = ["sense", "plan", "code", "act", "judge"]
    assert [word for word in said if word in stages] == stages
